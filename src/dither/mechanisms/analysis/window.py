"""The distribution of a window's report given the input, in closed form.

For a window of share s starting at a, with density p inside and q = p/e^ε outside, and any function f:

    E[f(Y) | x] = q·Φ(1) + (p − q)·(Φ(a + s) − Φ(a)),   Φ(u) = ∫₀ᵘ f(codebook)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.core.kernels.window.codebook import Codebook
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.law import Law, Moment

_LAST_DIGIT: Final = 1e-15  # rounding error of a position on [0, 1]


@dataclass(frozen=True, eq=False)
class WindowLaw(Law):
    """A mixture: uniform on the window with weight `contrast` = (p − q)·s, else uniform on all, `rest` = q.

    The weights add up to 1. Both are stored, because at large ε `rest` is below the rounding error of
    1 − `contrast`.
    """

    share: float
    contrast: float
    rest: float
    start: Callable[[Floats], Floats]
    codebook: Codebook
    circular: bool = False
    kinks: tuple[float, ...] = ()

    def expect(self, x: Floats, moment: Moment) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        nothing, everything = np.zeros_like(x), np.ones_like(x)
        begin = self.start(x)
        end = begin + self.share
        window = self.codebook.integral(begin, np.minimum(end, 1.0), x, moment)
        if self.circular:  # the part of the window beyond 1 wraps around to 0
            window = window + self.codebook.integral(nothing, np.maximum(end - 1.0, 0.0), x, moment)
        base = self.codebook.integral(nothing, everything, x, moment)
        # Divide by the rounded width; a window narrower than the rounding error is treated as one point.
        point = moment.function(self.codebook(begin) - x)
        wide = end - begin > _LAST_DIGIT
        inside = np.where(wide, window / np.where(wide, end - begin, 1.0), point)
        return np.asarray(self.rest * base + self.contrast * inside)

    def density(self, y: Floats, x: Floats) -> Floats:
        y, x = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64))
        position = self.codebook.below(y)
        offset = position - self.start(x)
        if self.circular:
            offset = np.mod(offset, 1.0)
        inside = (offset >= 0.0) & (offset < self.share)
        level = self.rest + self.contrast / self.share * inside
        return np.asarray(level * self.codebook.stretch(y), dtype=np.float64)

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y, x = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64))
        return self._mass(np.zeros(y.shape), self.codebook.below(y), x)

    def between(self, first: Floats, last: Floats, x: Floats) -> Floats:
        begin, end = (self.codebook.below(np.asarray(y, dtype=np.float64)) for y in (first, last))
        return self._mass(begin, end, np.asarray(x, dtype=np.float64))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        positions, begins, ends = self.codebook.spans
        return positions, self._mass(begins, ends, np.asarray(x, dtype=np.float64)[..., None])

    def _mass(self, begin: Floats, end: Floats, x: Floats) -> Floats:
        """Return the probability of the interval [begin, end] of the report space."""
        start = self.start(np.asarray(x, dtype=np.float64))
        shared = _overlap(begin, end, start, start + self.share)
        if self.circular:
            shared = shared + _overlap(begin, end, start - 1.0, start - 1.0 + self.share)
        return np.asarray(self.rest * (end - begin) + self.contrast / self.share * shared)

    @property
    def support(self) -> tuple[float, float]:
        return self.codebook.ends

    def jumps(self, x: float) -> Floats:
        start = float(self.start(np.asarray(x)))
        ends = np.array([start, start + self.share])
        around = np.mod(ends, 1.0) if self.circular else ends
        return np.concatenate([self.codebook(around), self.support, self.codebook.corners])

    piecewise_constant = True

    def quantiles(self, x: float, shares: Floats) -> Floats:
        """Return reports for pairs of uniform numbers; the first number selects the window or all cells."""
        inside = float(self.start(np.asarray(x))) + self.share * shares[:, 1]
        position = np.where(shares[:, 0] < self.contrast, inside, shares[:, 1])
        return self.codebook(np.mod(position, 1.0) if self.circular else position)


@dataclass(frozen=True, eq=False)
class BlendedLaw(Law):
    """A mixture of two windows on one codebook, with weights that depend on the input."""

    below: WindowLaw
    above: WindowLaw
    weight: Callable[[Floats], Floats]  # the probability of `above`
    circular: bool = False
    kinks: tuple[float, ...] = ()

    def _blend(self, answer: Callable[[WindowLaw], Floats], x: Floats) -> Floats:
        weight = self.weight(np.asarray(x, dtype=np.float64))
        return np.asarray((1.0 - weight) * answer(self.below) + weight * answer(self.above))

    def expect(self, x: Floats, moment: Moment) -> Floats:
        return self._blend(lambda law: law.expect(x, moment), x)

    def density(self, y: Floats, x: Floats) -> Floats:
        return self._blend(lambda law: law.density(y, x), x)

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        return self._blend(lambda law: law.cumulative(y, x), x)

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        x = np.asarray(x, dtype=np.float64)
        return self.below.codebook.atoms, self._blend(lambda law: law.atoms(x)[1], x[..., None])

    @property
    def support(self) -> tuple[float, float]:
        return self.below.support

    def jumps(self, x: float) -> Floats:
        return np.concatenate([self.below.jumps(x), self.above.jumps(x)])

    piecewise_constant = True


def _overlap(begin: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    return np.asarray(np.maximum(np.minimum(end, last) - np.maximum(begin, first), 0.0), dtype=np.float64)
