"""The best weights of given columns: a convex program, solved by Newton's method with a logarithmic barrier.

A column is a pattern of {1, E}^k. With s such a column, c its weight and π uniform, the second moments are
K = Σ c·ssᵀ/(π·s); the average variance is tr(G·K⁻¹) up to a constant, subject to Σ c·s = 1 and c > 0. Where
the queries do not change when inputs are counted backwards, patterns and their mirror images have the same
weight, and K falls into two blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.errors import Infeasible

_NEWTON: Final = 50
_NEAR: Final = 0.95  # of the way to the nearest zero weight is gone at most
_SETTLED: Final = 1e-2  # root mean square of a relative step at which Newton's method stops


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """The queries of a workload, seen from the columns of a channel: G across 1, and its symmetry."""

    gram: Floats

    @cached_property
    def centred(self) -> Floats:
        """PGP: what matters of G, because shares sum to 1."""
        size = len(self.gram)
        centre = np.eye(size) - 1.0 / size
        return np.asarray(centre @ self.gram @ centre)

    @cached_property
    def mirrored(self) -> bool:
        """Whether counting the inputs backwards changes nothing."""
        turned = self.centred[::-1, ::-1]
        return bool(np.allclose(turned, self.centred, rtol=0.0, atol=1e-9 * np.abs(self.centred).max()))

    @cached_property
    def bases(self) -> list[Floats]:
        """Orthonormal bases of the blocks of K: even and odd vectors, or all of them."""
        identity = np.eye(len(self.gram))
        if not self.mirrored:
            return [identity]
        half, turned = (len(identity) + 1) // 2, identity[:, ::-1]
        even, odd = (identity + turned)[:, :half], (identity - turned)[:, : len(identity) // 2]
        return [even / np.linalg.norm(even, axis=0), odd / np.linalg.norm(odd, axis=0)]

    def canonical(self, patterns: Floats) -> Floats:
        """Return different patterns; of a pattern and its mirror image, one."""
        if self.mirrored and len(patterns):
            gap = patterns - patterns[:, ::-1]
            first = gap[np.arange(len(gap)), (gap != 0.0).argmax(axis=1)]
            patterns = np.where((first <= 0.0)[:, None], patterns, patterns[:, ::-1])
        return np.unique(patterns, axis=0)

    def copies(self, patterns: Floats) -> Floats:
        """Return how many columns each pattern stands for: 2 with a mirror image of its own."""
        if not self.mirrored:
            return np.ones(len(patterns))
        return np.where((patterns == patterns[:, ::-1]).all(axis=1), 1.0, 2.0)


@final
@dataclass(frozen=True, eq=False)
class Master:
    """The program for the weights of given patterns (rows of 0 and 1) at E = ratio."""

    moments: Moments
    patterns: Floats
    ratio: float

    @cached_property
    def copies(self) -> Floats:
        """How many columns each pattern stands for."""
        return self.moments.copies(self.patterns)

    @cached_property
    def columns(self) -> Floats:
        """The columns, one for each pattern: 1 or E."""
        return (1.0 + (self.ratio - 1.0) * self.patterns).T

    @cached_property
    def _parts(self) -> list[Floats]:
        scaled = self.columns / np.sqrt(self.columns.mean(axis=0))
        return [basis.T @ scaled for basis in self.moments.bases]

    @cached_property
    def _grams(self) -> list[Floats]:
        return [basis.T @ self.moments.centred @ basis for basis in self.moments.bases]

    @cached_property
    def _constraint(self) -> tuple[Floats, Floats]:
        basis = self.moments.bases[0]
        return basis.T @ self.columns * self.copies, basis.sum(axis=0)

    def start(self) -> Floats:
        """Return equal weights whose columns sum to 1 on average."""
        left, right = self._constraint
        return np.full(len(self.patterns), right.sum() / left.sum())

    def value(self, weights: Floats) -> float:
        """Return tr(PGP·K⁻¹)."""
        moments = (part * (weights * self.copies) @ part.T for part in self._parts)
        return float(
            sum(np.trace(np.linalg.solve(one, gram)) for one, gram in zip(moments, self._grams, strict=True))
        )

    def excess(self, weights: Floats) -> Floats:
        """Return Σ c·s − 1 for every input."""
        whole = self.columns @ weights
        both = self.columns[::-1] @ weights if self.moments.mirrored else whole
        single = self.copies == 1.0
        once = self.columns[:, single] @ weights[single] if self.moments.mirrored else whole
        return np.asarray((whole + both - once if self.moments.mirrored else whole) - 1.0)

    def solve(self, weights: Floats, barrier: float) -> tuple[Floats, Floats]:
        """Return the weights for a barrier's strength, and Z − sym(πνᵀ), by which columns are priced.

        Newton's method with an infeasible start: after a full step Σ c·s = 1 holds. Steps are relative to the
        weights, so that the barrier's part of the Hessian is the identity.
        """
        left, right = self._constraint
        size = weights.size
        multiplier: Floats = np.zeros(len(right))
        inner: list[Floats] = []
        for _ in range(_NEWTON):
            hessian, slope = np.zeros((size, size)), np.zeros(size)
            inner = []
            for part, gram in zip(self._parts, self._grams, strict=True):
                inverse = np.linalg.inv(part * (weights * self.copies) @ part.T)
                price = inverse @ gram @ inverse
                price = (price + price.T) / 2.0
                inner.append(price)
                moved = part.T @ price @ part
                slope -= self.copies * np.diag(moved)
                moved *= part.T @ inverse @ part
                hessian += moved
            scale = weights * self.copies
            hessian *= 2.0 * scale[:, None] * scale[None, :]
            hessian[np.diag_indices(size)] += barrier
            try:
                triangle: Floats = np.asarray(np.linalg.cholesky(hessian), dtype=np.float64)
            except np.linalg.LinAlgError:
                raise Infeasible(
                    "no channel was found for these queries at this ε; try a smaller ε"
                ) from None
            solved = _forward(triangle, np.column_stack([(left * weights).T, weights * slope - barrier]))
            rows, lean = solved[:, :-1], solved[:, -1]
            short = left @ weights - right
            multiplier = np.asarray(np.linalg.solve(rows.T @ rows, short - rows.T @ lean), np.float64)
            step = -_forward(triangle[::-1, ::-1].T, (lean + rows @ multiplier)[::-1])[::-1]
            length = min(1.0, _NEAR / max(1e-12, float((-step).max())))
            weights = weights * (1.0 + length * step)
            if length == 1.0 and math.sqrt(float((step**2).mean())) < _SETTLED:
                break
        price = np.zeros_like(self.moments.gram)
        for basis, block in zip(self.moments.bases, inner, strict=True):
            price += basis @ block @ basis.T
        full = self.moments.bases[0] @ multiplier / len(price)
        return weights, price - (full[:, None] + full[None, :]) / 2.0


def _forward(triangle: Floats, right: Floats) -> Floats:
    """Solve a lower triangular system, in blocks that numpy multiplies fast."""
    out = np.array(right, dtype=np.float64)
    block = 64
    for begin in range(0, len(triangle), block):
        end = min(begin + block, len(triangle))
        if begin:
            out[begin:end] -= triangle[begin:end, :begin] @ out[:begin]
        out[begin:end] = np.linalg.solve(triangle[begin:end, begin:end], out[begin:end])
    return out
