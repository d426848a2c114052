"""Laplace noise, plain, truncated and bounded."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dither.core.domains import finite
from dither.core.kernels.lattice.integers import SPENT, Bounded, Clamped, domain_base
from dither.core.kernels.lattice.kernel import largest_shift
from dither.core.kernels.lattice.noise import End, Geometric, LatticeNoise, fixed_exponential, in_few_bits
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import smallest_float
from dither.mechanisms.analysis.noise import InsideLaw, SmoothDensity
from dither.mechanisms.numeric.base import AddedNoise, LatticeMechanism, exponential_margin


@dataclass(frozen=True)
class Laplace(AddedNoise):
    """The value plus Laplace noise; unbiased.

    Promise:   pure ε.
    Reports:   steps of a lattice that goes about 22/ε lengths of the domain beyond its ends and is clamped
               there, with a probability of 10⁻¹⁰. `.truncated()` is T-Laplace.
    Use when:  a baseline is needed; `Podium` has a third less variance at small ε and far less at large ε.
    Reference: [Dwork06] with the domain's length as sensitivity.

    >>> import dither as dt
    >>> round(Laplace(dt.Interval(0, 1), epsilon=2).variance(0.3), 12)  # 2/ε²
    0.5
    """

    _draws = ("lattice clamped",)

    def lattice(self) -> Clamped:
        reach = self.cells // 2 - 1
        last, fraction = Clamped.room(reach, exponential_margin(self.epsilon))
        base = domain_base(self.epsilon, last, fraction, last >> fraction)
        return Clamped(LatticeNoise(Geometric(), base, reach, End.PILED), last, fraction)

    def density(self) -> LaplaceDensity:
        return LaplaceDensity(1.0 / self.epsilon)


@dataclass(frozen=True)
class LaplaceDensity(SmoothDensity):
    """The Laplace density e^(−|z|/b) / 2b."""

    scale: float

    monotone_ratios: ClassVar[bool] = True

    def density(self, gap: Floats) -> Floats:
        return np.exp(-np.abs(gap) / self.scale) / (2.0 * self.scale)

    def below(self, gap: Floats) -> Floats:
        tail = np.exp(-np.abs(gap) / self.scale) / 2.0
        return np.where(np.asarray(gap) < 0.0, tail, 1.0 - tail)

    def beside(self, distance: Floats) -> Floats:
        return -np.expm1(-np.asarray(distance) / self.scale) / 2.0


@dataclass(frozen=True)
class BoundedLaplace(LatticeMechanism):
    """A report inside the domain; reports nearer to the value are likelier.

    Promise:   pure ε; with a `sensitivity` below the domain's length, for values at most that far apart.
    Reports:   steps of a lattice over the domain. Noise is drawn again while the sum is outside (rejection
               sampling), so the running time depends slightly on the value.
    Use when:  a baseline is needed whose reports stay in the domain.
    Reference: [Holohan20, Thm 3.5], B-Laplace in the paper on OGPM. The normalising constant depends on the
               value; in [OGPM25, App. B.8] it does not, and the result is not a density: see deviations.
    """

    _draws = ("lattice bounded",)

    _: KW_ONLY
    sensitivity: float | None = None

    def _check(self) -> None:
        if self.sensitivity is not None:
            sensitivity = finite("the sensitivity", self.sensitivity)
            if not 0.0 < sensitivity <= self.line.length:
                raise InvalidParameter(
                    f"sensitivity must be positive and at most the domain's length, {self.line.length:g}, "
                    f"not {sensitivity:g}"
                )
            object.__setattr__(self, "sensitivity", sensitivity)

    @property
    def reach(self) -> float:
        """The largest distance of two protected values, in lengths of the domain."""
        return 1.0 if self.sensitivity is None else self.sensitivity / self.line.length

    def lattice(self) -> Bounded:
        steps = self.cells // 2 - 1
        if self.reach == 1.0:
            base = fixed_exponential(Fraction(self.epsilon) * SPENT / steps)
            return Bounded(LatticeNoise(Geometric(), base, steps, End.CUT), steps)
        slope = in_few_bits(1.0 / _scale(self.epsilon, self._shift, steps, 1.0))
        return Bounded(
            LatticeNoise(Geometric(), fixed_exponential(slope * SPENT), steps, End.CUT), self._shift
        )

    @property
    def _shift(self) -> int:
        """The largest distance of two protected values in steps of the lattice, with room for rounding."""
        return largest_shift(self.cells // 2 - 1, self.reach)

    @property
    def scale(self) -> float:
        """The scale b of the noise, in lengths of the domain."""
        if self.reach == 1.0:
            return 1.0 / self.epsilon  # This is exact: both ends have the same normalising constant.
        return _scale(self.epsilon, self.reach, 1.0, 0.0)

    @cached_property
    def law(self) -> InsideLaw:
        """The distribution of the continuous mechanism that the lattice approximates."""
        return InsideLaw(LaplaceDensity(self.scale))


def _scale(epsilon: float, apart: float, length: float, step: float) -> float:
    """Return the smallest b whose loss D/b + ln(C_D/C_0) is at most ε [Holohan20, Thm 3.5].

    C is the probability of staying inside the domain. Both for continuous noise (`step` 0) and on a lattice
    of steps of length 1, C_D/C_0 − 1 = q(1 − e^(−D/b))(1 − e^(−(L − D)/b)) / (1 − q·e^(−L/b)) with q =
    e^(−step/b).
    """

    def loss(b: float) -> float:
        gain = math.expm1(-apart / b) * math.expm1(-(length - apart) / b)
        return apart / b + math.log1p(math.exp(-step / b) * gain / -math.expm1(-(length + step) / b))

    # The loss decreases in b and is at most L/b, so it is below ε at the upper end: the result spends at most
    # ε.
    return smallest_float(lambda b: loss(b) <= epsilon, apart / epsilon, 1.01 * (length + step) / epsilon)
