"""Distributions of a value plus noise: on the line, clipped, inside the domain, and around the circle."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from dither.foundation.arrays import Floats
from dither.foundation.numerics.quadrature import between
from dither.mechanisms.analysis.law import Law, Moment, no_atoms

# Panels of the quadrature for a density of scale 1: finer towards the centre, where it may have a kink.
_PANELS: Final = np.concatenate([[0.0], 4.0 ** np.arange(-8, 1), np.arange(4.0, 92.0, 4.0)])


class NoiseDensity(ABC):
    """An even density on the line."""

    # Whether the ratio of two such densities is monotone on each side of the centre.
    monotone_ratios: ClassVar[bool] = False

    @abstractmethod
    def density(self, gap: Floats) -> Floats:
        """Return the density at a signed distance from the centre."""

    @abstractmethod
    def below(self, gap: Floats) -> Floats:
        """Return P(noise ≤ gap), with small relative error in the lower tail."""

    @abstractmethod
    def beside(self, distance: Floats) -> Floats:
        """Return P(0 ≤ noise ≤ distance), with small relative error near 0."""

    @abstractmethod
    def integral(self, begin: Floats, end: Floats, moment: Moment) -> Floats:
        """Return ∫ f·density from begin to end, for begin ≤ 0 ≤ end."""

    @abstractmethod
    def whole(self, moment: Moment) -> float:
        """Return E[f(noise)]."""


class SmoothDensity(NoiseDensity):
    """A density of the given scale that is smooth on each side of the centre and 0 beyond `limit`."""

    scale: float
    limit: float = math.inf

    def integral(self, begin: Floats, end: Floats, moment: Moment) -> Floats:
        def weigh(gap: Floats) -> Floats:
            return np.asarray(moment.function(gap) * self.density(gap))

        edges = self.scale * _PANELS
        above = between(weigh, np.minimum(edges, np.asarray(end)[..., None]))
        under = between(weigh, np.maximum(-edges, np.asarray(begin)[..., None]))
        return above - under

    def whole(self, moment: Moment) -> float:
        far = min(self.scale * float(_PANELS[-1]), self.limit)
        return float(self.integral(np.asarray(-far), np.asarray(far), moment))


@dataclass(frozen=True, eq=False)
class AddedLaw(Law):
    """A value plus noise. `ends` are the outermost reports."""

    noise: NoiseDensity
    ends: tuple[float, float]
    circular: bool = False

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        return no_atoms(x)

    def expect(self, x: Floats, moment: Moment) -> Floats:
        return np.full(np.shape(x), self.noise.whole(moment))

    def density(self, y: Floats, x: Floats) -> Floats:
        return self.noise.density(np.asarray(y - x))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        return self.noise.below(np.asarray(y - x))

    @property
    def falling(self) -> bool:  # type: ignore[override]
        """Whether the ratio of two densities of the noise is monotone on each side of the centre."""
        return self.noise.monotone_ratios

    @property
    def support(self) -> tuple[float, float]:
        return self.ends


@dataclass(frozen=True, eq=False)
class CutLaw(Law):
    """A value plus noise, clipped to the domain."""

    noise: NoiseDensity
    circular: bool = False

    def expect(self, x: Floats, moment: Moment) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        at_low, at_high = np.moveaxis(self.atoms(x)[1], -1, 0)
        outside = at_low * moment.function(-x) + at_high * moment.function(1.0 - x)
        return np.asarray(outside + self.noise.integral(-x, 1.0 - x, moment))

    def density(self, y: Floats, x: Floats) -> Floats:
        y = np.asarray(y, dtype=np.float64)
        return np.asarray(((y >= 0.0) & (y <= 1.0)) * self.noise.density(y - x))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y = np.asarray(y, dtype=np.float64)
        return np.where(y >= 1.0, 1.0, (y >= 0.0) * self.noise.below(y - x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        x = np.asarray(x, dtype=np.float64)
        masses = np.stack([self.noise.below(-x), self.noise.below(x - 1.0)], axis=-1)
        return np.array([0.0, 1.0]), masses

    @property
    def falling(self) -> bool:  # type: ignore[override]
        """Whether the ratio of two densities of the noise is monotone on each side of the centre."""
        return self.noise.monotone_ratios

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True, eq=False)
class InsideLaw(Law):
    """A value plus noise, conditioned on the sum being inside the domain."""

    noise: NoiseDensity
    circular: bool = False

    def _inside(self, x: Floats) -> Floats:
        """Return the probability that the sum is inside; it normalises the density."""
        return np.asarray(self.noise.beside(1.0 - x) + self.noise.beside(x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        return no_atoms(x)

    def expect(self, x: Floats, moment: Moment) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        return self.noise.integral(-x, 1.0 - x, moment) / self._inside(x)

    def density(self, y: Floats, x: Floats) -> Floats:
        y, x = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
        return np.asarray(((y >= 0.0) & (y <= 1.0)) * self.noise.density(y - x) / self._inside(x))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y, x = np.clip(y, 0.0, 1.0), np.asarray(x, dtype=np.float64)
        signed = np.sign(y - x) * self.noise.beside(np.abs(y - x))
        return np.asarray((signed + self.noise.beside(x)) / self._inside(x))

    @property
    def falling(self) -> bool:  # type: ignore[override]
        """Whether the ratio of two densities of the noise is monotone on each side of the centre."""
        return self.noise.monotone_ratios

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True, eq=False)
class RingLaw(Law):
    """A value plus noise modulo 1; the noise has the support [−1/2, 1/2]."""

    noise: NoiseDensity
    circular: bool = True

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        return no_atoms(x)

    def expect(self, x: Floats, moment: Moment) -> Floats:
        return np.full(np.shape(x), self.noise.whole(moment))

    def density(self, y: Floats, x: Floats) -> Floats:
        gap = np.asarray(y - x)
        return self.noise.density(gap - np.round(gap))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y, x = np.clip(y, 0.0, 1.0), np.asarray(x, dtype=np.float64)
        return np.asarray(self._mass_until(y - x) - self._mass_until(-x))

    def _mass_until(self, gap: Floats) -> Floats:
        turns = np.round(gap)
        rest = gap - turns
        return np.asarray(turns + np.sign(rest) * self.noise.beside(np.abs(rest)))

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0
