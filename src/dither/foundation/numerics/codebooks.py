"""Codebooks for reports that are likelier at the K nearest points: fits, geometric medians, error bounds.

People are rows of coordinates with weights; distances are Euclidean. A report is point j with a probability
proportional to E = e^ε if j is one of the K points nearest to the person, and proportional to 1 otherwise.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dither.foundation.arrays import Floats, Integers, Mask
from dither.foundation.numerics.matrices import product

_TINY: Final = 1e-9  # units of length; a smaller distance counts as this, to avoid a division by 0
_RELAXED: Final = 1.5  # over-relaxation factor, because Weiszfeld's steps converge slowly
_PLAIN: Final = 12  # the last steps have no over-relaxation, because it oscillates around the solution
_CELLS: Final = 1 << 21  # weights in memory at once


def distances(first: Floats, second: Floats) -> Floats:
    """Return the matrix of distances from each of the first locations to each of the second."""
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - product(2.0 * first, second.T)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def near(far: Floats, width: int) -> Mask:
    """Return a mask of the `width` smallest entries of each row; with equal entries it may have more."""
    least = far.min(axis=1) if width == 1 else np.partition(far, width - 1, axis=1)[:, width - 1]
    return np.asarray(far <= least[:, None])


def errors(people: Floats, points: Floats, width: int, odds: float, read: Floats | None = None) -> Floats:
    """Return the mean distance of a report to each person; `read` are the decoded locations."""
    far = distances(people, points)
    chosen = near(far, width)
    apart = far if read is None else distances(people, read)
    served = np.where(chosen, apart, 0.0).sum(axis=1) * (width / np.maximum(chosen.sum(axis=1), 1))
    total = len(points) + (odds - 1.0) * width
    return np.asarray((apart.sum(axis=1) + (odds - 1.0) * served) / total)


def medians(weights: Floats, people: Floats, steps: int = 60) -> Floats:
    """Return the geometric median of people for each row of weights, by Weiszfeld's steps."""
    found = np.empty((len(weights), people.shape[1]))
    rows = max(1, _CELLS // len(people))
    for begin in range(0, len(weights), rows):
        part = weights[begin : begin + rows]
        at = product(part, people) / part.sum(axis=1, keepdims=True)
        for step in range(steps):
            at += _towards(part / np.maximum(distances(at, people), _TINY), people, at, step < steps - _PLAIN)
        found[begin : begin + rows] = at
    return found


def _towards(pull: Floats, people: Floats, at: Floats, relaxed: bool) -> Floats:
    mean = product(pull, people) / pull.sum(axis=1, keepdims=True)
    return np.asarray((_RELAXED if relaxed else 1.0) * (mean - at))


class FittedBook(NamedTuple):
    """Points, the number of likelier points per person, and the average or worst error."""

    points: Floats
    width: int
    error: float


def fit(
    people: Floats, weights: Floats, odds: float, start: Floats, width: int, steps: int = 60
) -> FittedBook:
    """Move points to reduce the average error, by the deterministic Weiszfeld–Lloyd iteration.

    Each step finds the K points nearest to every person. It then moves each point towards the weighted
    geometric median of *all* people. People who have the point among their K nearest weigh E times as much.
    """
    points = start.copy()
    for step in range(steps):
        far = distances(people, points)
        pull = np.where(near(far, width), odds, 1.0) / np.maximum(far, _TINY)
        points += _towards((pull * weights[:, None]).T, people, points, step < steps - _PLAIN)
    return FittedBook(points, width, float(weights @ errors(people, points, width, odds)))


def fit_worst(people: Floats, odds: float, start: Floats, width: int, rounds: int = 150) -> FittedBook:
    """Move points to reduce the largest error of a person, by multiplicative weights on people."""
    weights = np.full(len(people), 1.0 / len(people))
    best = FittedBook(start, width, float(errors(people, start, width, odds).max()))
    points = start
    for turn in range(rounds):
        points = fit(people, weights, odds, points, width, steps=4).points
        error = errors(people, points, width, odds)
        if error.max() < best.error:
            best = FittedBook(points.copy(), width, float(error.max()))
        weights = weights * np.exp((error / error.max() - 1.0) * (8.0 / (1.0 + 0.05 * turn)))
        weights = np.maximum(weights / weights.sum(), 1e-6 / len(people))
    return best


def farthest(apart: Floats, weights: Floats, count: int) -> Integers:
    """Return the indices of `count` locations, each in turn the farthest from those already chosen."""
    chosen = [int((weights @ apart).argmin())]
    for _ in range(count - 1):
        chosen.append(int((weights**0.5 * apart[:, chosen].min(axis=1)).argmax()))
    return np.array(chosen)


def greedy(apart: Floats, weights: Floats, odds: float, count: int) -> Integers:
    """Return the indices of `count` locations, each in turn the one that reduces the error for K = 1 most."""
    all_of_it = weights @ apart
    nearest = np.full(len(apart), np.inf)
    chosen: list[int] = []
    for _ in range(count):
        served = weights @ np.minimum(nearest[:, None], apart)
        chosen.append(int(((odds - 1.0) * served + all_of_it).argmin()))
        nearest = np.minimum(nearest, apart[:, chosen[-1]])
    return np.array(chosen)


def fit_among(
    apart: Floats,
    weights: Floats,
    odds: float,
    count: int,
    width: int,
    steps: int = 40,
    start: Integers | None = None,
) -> tuple[Integers, int, float]:
    """Choose `count` locations, given all distances; return their indices, K and the average error.

    Each step finds the K points nearest to every location. It then replaces each point by the location with
    the smallest weighted sum of distances (the medoid). The default start is `farthest`.
    """
    codes = farthest(apart, weights, count) if start is None else start
    best = codes, width, np.inf
    for _ in range(steps):
        far = apart[:, codes]
        order = np.argsort(far, axis=1, kind="stable")[:, :width]
        pull = np.ones(far.shape)
        np.put_along_axis(pull, order, odds, axis=1)
        error = float(weights @ (pull * far).sum(axis=1)) / (count + (odds - 1.0) * width)
        if not error < best[2]:
            break
        best = codes, width, error
        codes = (apart.T @ (pull * weights[:, None])).argmin(axis=0)
    return best


def cover(count: int, axes: int) -> Floats:
    """Return points that cover a unit cube evenly: a low-discrepancy sequence."""
    ratio = 2.0
    for _ in range(60):  # fixed-point iteration for the root of g^(d+1) = g + 1
        ratio = (1.0 + ratio) ** (1.0 / (axes + 1))
    steps = ratio ** -(1.0 + np.arange(axes))
    return np.asarray((0.5 + (1.0 + np.arange(count))[:, None] * steps) % 1.0)


def spread(count: int, box: Floats) -> Floats:
    """Return points that cover a box evenly, shrunk towards its centre."""
    unit = cover(count, box.shape[0])
    return np.asarray(box[:, 0] + (box[:, 1] - box[:, 0]) * (0.5 + 0.75 * (unit - 0.5)))


class Bound(NamedTuple):
    """A lower bound on the error of every ε-LDP mechanism, and the multipliers that prove it."""

    error: float
    radii: Floats


def dual_value(people: Floats, weights: Floats, odds: float, radii: Floats, outputs: Floats) -> float:
    """Return the lower bound on the error that the multipliers λ prove if all reports are in `outputs`.

    For any λ: error ≥ Σ π·λ + min(0, min_y Σ π(x)·min(E(d − λ), d − λ)).
    """
    return float(weights @ radii) + min(0.0, float(_phi(people, weights, odds, radii, outputs).min()))


def _phi(people: Floats, weights: Floats, odds: float, radii: Floats, outputs: Floats) -> Floats:
    gap = distances(outputs, people) - radii
    return np.asarray(np.minimum(odds * gap, gap) @ weights)


def first_radii(people: Floats, points: Floats, width: int, basis: Floats) -> Floats:
    """Return initial multipliers: each person's distance to the K-th nearest point, projected on a basis."""
    far = np.sort(distances(people, points), axis=1)[:, width - 1 : width + 1].mean(axis=1)
    return np.asarray(np.linalg.lstsq(basis.T, far, rcond=None)[0] @ basis)


def lowest_outputs(
    people: Floats, weights: Floats, odds: float, radii: Floats, outputs: Floats, steps: int = 40
) -> Floats:
    """Return 64 outputs that lower the dual, by Weiszfeld's steps from the 64 lowest of `outputs`.

    With the factors E and 1 held fixed, Σ π·min(E(d − λ), d − λ) is at most a weighted sum of distances.
    """
    at = outputs[np.argsort(_phi(people, weights, odds, radii, outputs))[:64]].copy()
    for _ in range(steps):
        far = distances(at, people)
        at += _towards(weights * np.where(far < radii, odds, 1.0) / np.maximum(far, _TINY), people, at, False)
    return at


def lower_bound(
    people: Floats, weights: Floats, odds: float, start: Floats, basis: Floats, outputs: Floats
) -> Bound:
    """Maximise the dual by cutting planes with a trust region; needs scipy.

    `start` is the initial λ of each person, such as the `first_radii` of a good design. λ changes only by
    combinations of the rows of `basis`, so there are few variables. The search begins with every fourth
    output and adds others that lower the dual. The returned error is the dual over all outputs.
    """
    active, radii, best = outputs[::4], start, -np.inf
    for _ in range(8):
        radii = _climb(people, weights, odds, radii, basis, active)
        value = _phi(people, weights, odds, radii, outputs)
        reached = float(weights @ radii) + min(0.0, float(value.min()))
        if reached > best:
            best, found = reached, radii
        seen = dual_value(people, weights, odds, radii, active)
        if seen - reached < 2e-4 * abs(best):
            break
        active = np.concatenate([active, outputs[np.argsort(value)[:200]]])
    return Bound(best, found)


def _climb(
    people: Floats, weights: Floats, odds: float, start: Floats, basis: Floats, outputs: Floats
) -> Floats:
    """Return the multipliers with the largest dual value over some outputs; each cut is one output."""
    from scipy.optimize import linprog

    centre, best = np.zeros(len(basis)), -np.inf
    reach = 0.1 * float(np.abs(start).mean())
    gain = basis @ weights
    slopes: list[Floats] = []
    levels: list[float] = []
    apart = distances(outputs, people)
    at = centre
    for _ in range(100):
        gap = apart - (start + at @ basis)
        value = np.minimum(odds * gap, gap) @ weights
        lowest = np.argsort(value)[:8]
        for y in lowest:
            slope = -basis @ (weights * np.where(gap[y] < 0.0, odds, 1.0))
            slopes.append(slope)
            levels.append(float(value[y] - slope @ at))
        reached = float(gain @ at) + min(0.0, float(value[lowest[0]]))
        if reached > best:
            centre, best = at, reached
        else:
            reach *= 0.7
        # Maximise gain·z + t, t ≤ 0, t ≤ level + slope·z for every cut, z within reach of the best z.
        cuts = np.column_stack([-np.array(slopes), np.ones(len(slopes))])
        limits = [*((c - reach, c + reach) for c in centre), (None, 0.0)]
        solved: Any = linprog(-np.append(gain, 1.0), A_ub=cuts, b_ub=np.array(levels), bounds=limits)
        if solved.status != 0 or -solved.fun - best < 3e-5 * float(weights @ np.abs(start)):
            break
        at = solved.x[:-1]
    return np.asarray(start + centre @ basis)
