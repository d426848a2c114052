"""Gaussian: the value plus normal noise, with an (ε, δ) guarantee."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Literal

import numpy as np

from dither.core.domains import finite
from dither.core.kernels.lattice.integers import Clamped
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.lattice.noise import End, LatticeNoise, Normal, fixed_exponential, in_few_bits
from dither.errors import InvalidParameter, check_choice
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import erf, erfc, survival
from dither.foundation.numerics.roots import smallest_positive_float
from dither.mechanisms.analysis.noise import SmoothDensity
from dither.mechanisms.numeric.base import END_MASS, AddedNoise

LEAST_DELTA: Final = 1e-15
_TRIES: Final = 8


# The theorem that determines the standard deviation of the noise.
Calibration = Literal["classic", "analytic", "pac", "exact pac"]

_SOLVED: Final = ("analytic", "exact pac")  # calibrations with the smallest σ that satisfies δ
_PROBABLE: Final = ("pac", "exact pac")


@dataclass(frozen=True)
class Gaussian(AddedNoise):
    """The value plus normal noise; unbiased.

    Promise:   (ε, δ), or with `calibration="pac"` or `"exact pac"` a loss ≤ ε with probability 1 − δ. δ at
               the given ε is computed from the integer weights and never exceeds the given δ.
    Reports:   steps of a lattice that goes at least 6 standard deviations beyond the domain and is clamped
               there, with a probability of at most 10⁻¹⁰.
    Use when:  normal noise is required. Unless δ is near ε, `Laplace` has a smaller error and a stronger
               guarantee.
    Reference: analytic [Balle18, Thm 8]; classic [Dwork14, Thm A.1], valid for ε ≤ 1 and refused if its δ
               exceeds the given one; PAC [Thesis, Thm 18]; the σ of `"exact pac"` is up to 40 % smaller.
    """

    _draws = ("lattice normal",)

    _: KW_ONLY
    delta: float
    calibration: Calibration = "analytic"

    def _check(self) -> None:
        object.__setattr__(self, "delta", finite("δ", self.delta))
        if not LEAST_DELTA <= self.delta < 1.0:
            raise InvalidParameter(
                f"δ must be at least {LEAST_DELTA:g} and below 1, not {self.delta:g}; choose it far below "
                "1/(number of people)"
            )
        check_choice("calibration", self.calibration, Calibration)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise, in the user's units."""
        return self.line.length * self._sigma

    @cached_property
    def _sigma(self) -> float:
        epsilon, delta = self.epsilon, self.delta
        if self.calibration == "classic":
            return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon  # [Dwork14, Thm A.1]
        if self.calibration == "pac":
            log = math.log(2.0 / delta)
            # [Thesis, Thm 18]
            return (math.sqrt(log + epsilon) + math.sqrt(log)) / (math.sqrt(2.0) * epsilon)
        if self.calibration == "exact pac":
            # The privacy loss between the two ends is normal with mean 1/2σ² and standard deviation 1/σ.
            return smallest_positive_float(lambda sigma: survival(epsilon * sigma - 0.5 / sigma) <= delta)
        return smallest_positive_float(lambda sigma: balle(epsilon, sigma) <= delta)

    def lattice(self) -> Clamped:
        sigma = self._sigma
        for _ in range(_TRIES if self.calibration in _SOLVED else 1):
            lattice = self._with(sigma)
            kernel = LatticeKernel.on(self.line, lattice)
            over = kernel.delta(self.epsilon, probable=self.calibration in _PROBABLE) / Fraction(self.delta)
            if over <= 1:
                break
            sigma *= float(over) * (1.0 + 1e-9)  # δ decreases at least in proportion to 1/σ
        return lattice

    def _with(self, sigma: float) -> Clamped:
        reach = self.cells // 2 - 1
        end = min(END_MASS, 1e-6 * self.delta)
        tail = smallest_positive_float(lambda z: survival(z) <= end)
        last, fraction = Clamped.room(reach, tail * sigma)
        steps = sigma * last / (1 << fraction)
        base = fixed_exponential(in_few_bits(0.5 / steps**2))
        return Clamped(LatticeNoise(Normal(), base, reach, End.PILED), last, fraction)

    def density(self) -> NormalDensity:
        return NormalDensity(self._sigma)


def balle(epsilon: float, sigma: float) -> float:
    """Return δ(ε) of normal noise: Φ(1/2σ − εσ) − e^ε·Φ(−1/2σ − εσ) [Balle18, Thm 8]."""
    far = survival(epsilon * sigma + 0.5 / sigma)
    return survival(epsilon * sigma - 0.5 / sigma) - math.exp(epsilon) * far


@dataclass(frozen=True)
class NormalDensity(SmoothDensity):
    """The normal density with standard deviation σ."""

    sigma: float

    monotone_ratios: ClassVar[bool] = True

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The scale σ/3: on panels of this length the density is nearly a polynomial."""
        return self.sigma / 3.0

    def density(self, gap: Floats) -> Floats:
        return np.asarray(np.exp(-((gap / self.sigma) ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * self.sigma))

    def below(self, gap: Floats) -> Floats:
        return erfc(-np.asarray(gap) / (math.sqrt(2.0) * self.sigma)) / 2.0

    def beside(self, distance: Floats) -> Floats:
        return erf(np.asarray(distance) / (math.sqrt(2.0) * self.sigma)) / 2.0
