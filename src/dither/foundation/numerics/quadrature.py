"""Quadrature, to nearly the last digit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np

from dither.foundation.arrays import Floats

Integrand = Callable[[Floats], Floats]

_MOST_PANELS: Final = 1 << 12
_SUM_NODES: Final = 16


@cache
def gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """Return the nodes of the Gauss–Legendre rule on [−1, 1] and their weights, with sum 2."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes.flags.writeable = weights.flags.writeable = False  # shared by every caller
    return nodes, weights


@cache
def _gauss_lobatto() -> tuple[Floats, Floats]:
    """Return the nodes of the 17-point Gauss–Lobatto rule on [0, 1] and their weights, with sum 1.

    The nodes include both ends, so a jump between an end and the nearest inner node is noticed.
    """
    last = np.polynomial.legendre.Legendre.basis(16)
    nodes = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    return (nodes + 1.0) / 2.0, 1.0 / (17.0 * 16.0 * last(nodes) ** 2)


def integrate(
    function: Integrand, low: float, high: float, breaks: Sequence[float] = (), tolerance: float = 1e-12
) -> float:
    """Return the integral of a vectorised function from low to high, by adaptive Gauss–Lobatto panels.

    A panel is halved until halving changes the integral by at most `tolerance`, relative to the complete
    integral. `breaks` are the points at which the function or its slope jumps; panels end there.
    """
    inner = sorted({point for point in breaks if low < point < high})
    edges = np.array([low, *inner, high])
    begins, ends = edges[:-1], edges[1:]
    total, coarse = 0.0, _panels(function, begins, ends)
    for _ in range(48):
        middles = (begins + ends) / 2.0
        left, right = _panels(function, begins, middles), _panels(function, middles, ends)
        change = np.abs(left + right - coarse)
        scale = abs(total) + float(np.abs(left + right).sum())
        open_ = change > tolerance * max(scale, 1e-300) * 0.1
        total += float((left + right)[~open_].sum())
        if not open_.any():
            break
        begins, ends = (
            np.concatenate([begins[open_], middles[open_]]),
            np.concatenate([middles[open_], ends[open_]]),
        )
        coarse = np.concatenate([left[open_], right[open_]])
        if begins.size > _MOST_PANELS:  # the remaining changes are rounding errors
            total += float(coarse.sum())
            break
    else:
        total += float(coarse.sum())
    return total


def _panels(function: Integrand, begins: Floats, ends: Floats) -> Floats:
    nodes, weights = _gauss_lobatto()
    lengths = ends - begins
    points = begins[:, None] + lengths[:, None] * nodes
    return np.asarray((function(points.reshape(-1)).reshape(points.shape) @ weights) * lengths)


def between(function: Integrand, edges: Floats) -> Floats:
    """Return the integral of a vectorised function over the panels between `edges`, summed.

    Edges are along the last axis; the result has the shape of the other axes.
    """
    shape = edges.shape[:-1]
    begins, ends = edges[..., :-1].reshape(-1), edges[..., 1:].reshape(-1)
    return np.asarray(_panels(function, begins, ends).reshape((*shape, -1)).sum(axis=-1))


def total(function: Integrand, count: int, run: int) -> float:
    """Return the sum of a vectorised function over the integers 0 … count − 1.

    The first terms are added one by one, the later ones in runs of length `run` over which the function is
    smooth: a run is summed from 16 values, exactly for the polynomial that interpolates them.
    """
    direct = min(count, max(1 << 12, run))
    answer = float(function(np.arange(direct, dtype=np.float64)).sum())
    runs = (count - direct) // run
    if runs:
        nodes, weights = gauss_legendre(_SUM_NODES)
        positions = (2.0 * np.arange(run) + 1.0) / run - 1.0
        orders = np.arange(_SUM_NODES)
        sums = np.polynomial.legendre.legvander(positions, _SUM_NODES - 1).sum(axis=0) * (orders + 0.5)
        shares = weights * (np.polynomial.legendre.legvander(nodes, _SUM_NODES - 1) @ sums)
        begins = direct + run * np.arange(runs)
        points = begins[:, None] + ((nodes + 1.0) * run - 1.0) / 2.0
        answer += float((function(points.reshape(-1)).reshape(points.shape) @ shares).sum())
    rest = np.arange(direct + runs * run, count, dtype=np.float64)
    return answer + float(function(rest).sum())
