"""The law of a report given the input: its interface, and the laws of noise.

The distribution of a window's report given the input, in closed form.

For a window of share s starting at a, with density p inside and q = p/e^ε outside, and any function f:

    E[f(Y) | x] = q·Φ(1) + (p − q)·(Φ(a + s) − Φ(a)),   Φ(u) = ∫₀ᵘ f(codebook)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dither.core.kernels.window.codebook import Codebook
from dither.foundation.arrays import Floats
from dither.foundation.losses import Power
from dither.foundation.numerics.quadrature import between
from dither.foundation.numerics.roots import bisect_arrays

Function = Callable[[Floats], Floats]

_HALVINGS: Final = 54  # bisection steps, down to the rounding error of a float
_MISSING: Final = 1e-9  # if the atoms lack less probability than this, the distribution is discrete


class Moment(NamedTuple):
    """A function of report − input, and its antiderivative."""

    function: Function
    antiderivative: Function


BIAS: Final = Moment(lambda gap: gap, lambda gap: gap**2 / 2.0)
COSINE: Final = Moment(
    lambda gap: np.cos(2.0 * np.pi * gap),
    lambda gap: np.sin(2.0 * np.pi * (gap - np.round(gap))) / (2.0 * np.pi),
)


def loss_moment(loss: Power, circular: bool) -> Moment:
    """Return a loss as a moment; on a circle distances are the short way round."""
    if circular:
        return Moment(loss.circular, loss.circular_antiderivative)
    return Moment(loss, loss.antiderivative)


class Law(ABC):
    """The distribution of the report Y for each input x ∈ [0, 1]. Arguments broadcast."""

    circular: bool

    kinks: tuple[float, ...] = ()  # inputs at which the expected loss may not be smooth in the input
    piecewise_constant: bool = False  # whether the density is constant between `jumps`
    falling: bool = False  # whether it is that of noise such as Laplace's or normal noise

    @abstractmethod
    def expect(self, x: Floats, moment: Moment) -> Floats:
        """Return E[f(Y − x) | x]."""

    @abstractmethod
    def density(self, y: Floats, x: Floats) -> Floats:
        """Return the density at y, without atoms."""

    @abstractmethod
    def cumulative(self, y: Floats, x: Floats) -> Floats:
        """Return P(Y ≤ y | x), atoms included."""

    def between(self, first: Floats, last: Floats, x: Floats) -> Floats:
        """Return P(first < Y ≤ last | x), atoms included."""
        return np.asarray(self.cumulative(last, x) - self.cumulative(first, x))

    @abstractmethod
    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the reports of positive probability, and their masses: shapes (m,) and x.shape + (m,)."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""

    def jumps(self, x: float) -> Floats:
        """Return the reports at which the density for x may jump, with both ends of the support."""
        return np.array(self.support)

    @property
    def monotone_ratios(self) -> bool:
        """Whether the extremes of the ratio of two such densities for one input are at the input or at jumps.

        Piecewise constant densities have constant ratios between jumps. The ratio of two Laplace or two
        normal densities with one centre is monotone on each side of it.
        """
        return self.piecewise_constant or self.falling

    def quantiles(self, x: float, shares: Floats) -> Floats:
        """Return a report for each pair (u, v) of uniform numbers: here, the smallest report with cdf ≥ u."""
        place, wanted = np.asarray(x), shares[:, 0]
        low, high = (np.full(wanted.size, end) for end in self.support)
        atoms, masses = self.atoms(place)
        if not is_discrete(masses):
            _, high = bisect_arrays(lambda y: self.cumulative(y, place) >= wanted, low, high, _HALVINGS)
        if atoms.size:  # bisection only approaches an atom; return the atom itself
            up_to = self.cumulative(atoms, place)
            which = np.minimum(np.searchsorted(up_to, wanted), atoms.size - 1)
            on = (up_to[which] >= wanted) & (up_to[which] - masses[which] < wanted)
            high = np.where(on, atoms[which], high)
        return np.asarray(high, dtype=np.float64)


def is_discrete(masses: Floats) -> bool:
    """Return whether the masses of the atoms add up to 1, so that the distribution has no density."""
    return float(masses.sum()) > 1.0 - _MISSING


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
    """A density that is smooth on each side of the centre, of the given scale, and 0 beyond `limit`."""

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


def no_atoms(x: Floats) -> tuple[Floats, Floats]:
    """Return the atoms of a law that has a density alone: none for any input."""
    return np.empty(0), np.empty((*np.shape(x), 0))


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
        """Return the probability that the sum is inside, which normalises the density."""
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


@dataclass(frozen=True, eq=False)
class TableLaw(Law):
    """A discrete distribution: a table, or a lattice as sampled."""

    chances: Callable[[float], Floats]
    values: Floats
    circular: bool = False
    kinks: tuple[float, ...] = ()

    def expect(self, x: Floats, moment: Moment) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        flat = [
            self.chances(value) @ moment.function(self.values - value) for value in x.reshape(-1).tolist()
        ]
        return np.array(flat).reshape(x.shape)

    def density(self, y: Floats, x: Floats) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(x)))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y, x = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64))
        out = np.empty(y.size)
        for value in np.unique(x).tolist():
            here = np.flatnonzero(x.reshape(-1) == value)
            places, masses = self.atoms(np.asarray(value))
            sums = np.concatenate([[0.0], np.cumsum(masses)])
            out[here] = sums[np.searchsorted(places, y.reshape(-1)[here], side="right")]
        return out.reshape(y.shape)

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        places, which = np.unique(self.values, return_inverse=True)
        x = np.asarray(x, dtype=np.float64)
        masses = [np.bincount(which, self.chances(value)) for value in x.reshape(-1).tolist()]
        return places, np.array(masses).reshape((*x.shape, places.size))

    piecewise_constant = True

    @property
    def support(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())


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
        place = self.codebook.below(y)
        offset = place - self.start(x)
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
        places, begins, ends = self.codebook.spans
        return places, self._mass(begins, ends, np.asarray(x, dtype=np.float64)[..., None])

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
        """Return reports for pairs of uniform numbers: the first one selects the window or all cells."""
        inside = float(self.start(np.asarray(x))) + self.share * shares[:, 1]
        place = np.where(shares[:, 0] < self.contrast, inside, shares[:, 1])
        return self.codebook(np.mod(place, 1.0) if self.circular else place)


@dataclass(frozen=True, eq=False)
class MixedLaw(Law):
    """A mixture of distributions whose weights do not depend on the input."""

    weights: tuple[float, ...]
    laws: tuple[Law, ...]
    circular: bool = False

    def _mix(self, answer: Callable[[Law], Floats]) -> Floats:
        mixed = sum(weight * answer(law) for weight, law in zip(self.weights, self.laws, strict=True))
        return np.asarray(mixed, dtype=np.float64)

    def expect(self, x: Floats, moment: Moment) -> Floats:
        return self._mix(lambda law: law.expect(x, moment))

    def density(self, y: Floats, x: Floats) -> Floats:
        return self._mix(lambda law: law.density(y, x))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        return self._mix(lambda law: law.cumulative(y, x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        parts = [law.atoms(x) for law in self.laws]
        places = np.concatenate([place for place, _ in parts])
        masses = [weight * mass for weight, (_, mass) in zip(self.weights, parts, strict=True)]
        order = np.argsort(places, kind="stable")
        return places[order], np.concatenate(masses, axis=-1)[..., order]

    @property
    def support(self) -> tuple[float, float]:
        ends = [law.support for law, weight in zip(self.laws, self.weights, strict=True) if weight > 0]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def kinks(self) -> tuple[float, ...]:  # type: ignore[override]
        """The inputs at which the expected loss of a part may not be smooth."""
        return tuple(sorted({kink for law in self.laws for kink in law.kinks}))

    def jumps(self, x: float) -> Floats:
        return np.concatenate([law.jumps(x) for law in self.laws])

    @property
    def piecewise_constant(self) -> bool:  # type: ignore[override]
        """Whether every density is constant between its jumps."""
        return all(law.piecewise_constant for law in self.laws)


@dataclass(frozen=True, eq=False)
class BlendedLaw(Law):
    """A mixture of two windows on one codebook whose weights depend on the input."""

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
