"""Noise on a lattice: an input is mapped to a step of the lattice, and a report is that step plus noise.

    Clamped   reports are clamped to a stated range, which is the same for every input
    Ring      steps of a circle, counted modulo N
    Bounded   reports outside the domain are drawn again, so the normalising total depends on the input

Floats may compute the step of an input, since privacy does not depend on that map. An input between two steps
of a `Clamped` lattice is rounded at random, which preserves the mean. A mixture preserves the bound on
ratios.

The δ of noise on a lattice for a given ε, in exact integers.

Weights decrease with the distance from the centre, so the two ends of the domain are the worst pair of
inputs. With weights w and a domain of G steps: if w(z) > E·w(z − G), then z is nearer to the centre, and a
smaller shift makes w(z − G) larger. The weight clamped to an outermost report is counted whole, which is an
upper bound.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.alias import MOST_OUTCOMES, TOTAL_BITS
from dither.core.kernels.lattice.noise import ClampedSampler, End, LatticeNoise, NoiseSampler, fixed_point
from dither.core.kernels.window.integers import LineStart
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import whole
from dither.foundation.randomness import Source
from dither.privacy.guarantee import exp_above, exp_below

_TOTAL: Final = 1 << TOTAL_BITS
_SAME: Final = 1e-9  # relative differences of ratios of weights that count as rounding
_SEEN: Final = 1e-16  # weights below this, relative to the largest, are not compared
_BITS: Final = 31  # bits of a position in units of 2^−fraction steps
SPENT: Final = 1 - Fraction(1, 1 << 40)  # the part of ε that is used, as weights are rounded up


class Lattice(ABC):
    """Noise with integer weights, and the rule for a step plus noise outside the range."""

    noise: LatticeNoise

    between = 0  # the number of fractional bits of an input's position; 0 if inputs are whole steps
    first = 0  # the position of the first report, in steps from the lower end of the domain

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of different reports."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report, from the integer weights."""

    @abstractmethod
    def law(self, row: Array, step: int) -> Array:
        """Return the weight of every report for an input step; `row` is `LatticeNoise.row`."""

    @abstractmethod
    def start(self, domain: Line) -> LineStart:
        """Return the rule that maps a value of the domain to a position on the lattice."""

    @abstractmethod
    def keeps(self, start: LineStart, domain: Line) -> bool:
        """Return whether a rule leads only to steps that `ratio` covers."""

    @abstractmethod
    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        """Return a sampler for blocks of up to `size` values, for one thread."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return the integers that determine the lattice and its weights, as JSON-compatible data."""

    @abstractmethod
    def draw_one(self, step: int, source: Source) -> int:
        """Draw the report of a whole step, in Python integers."""

    def probabilities(self, aim: int) -> list[Fraction]:
        """Return the exact probability of every report."""
        step, rest = divmod(aim, 1 << self.between)
        law = self._exact(step)
        if not rest:
            return law
        up = Fraction(rest, 1 << self.between)
        return [
            here + up * (next_step - here) for here, next_step in zip(law, self._exact(step + 1), strict=True)
        ]

    def _exact(self, step: int) -> list[Fraction]:
        weights = self.law(np.array(self.noise.row, dtype=object), step)
        total = int(weights.sum())
        return [Fraction(int(weight), total) for weight in weights]

    def chances(self, aim: int) -> Floats:
        """Return the probability of every report, in floats."""
        step, rest = divmod(aim, 1 << self.between)
        chances = self._in_floats(step)
        if rest:
            up = rest / (1 << self.between)
            chances = (1.0 - up) * chances + up * self._in_floats(step + 1)
        return chances

    def _in_floats(self, step: int) -> Floats:
        weights = self.law(self._row, step)
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    @cached_property
    def _row(self) -> Floats:
        return np.array([weight / _TOTAL for weight in self.noise.row])


@dataclass(frozen=True)
class Clamped(Lattice):
    """The domain is `last`/2^fraction steps long; reports are clamped to steps that every input can reach.

    With G whole steps and noise from −R to R these are the steps from G − R to R. A domain longer than one
    step has a whole number of steps. For wide noise the domain is shorter than one step; then its inputs are
    rounded at random to one of two steps.
    """

    noise: LatticeNoise
    last: int
    fraction: int

    def __post_init__(self) -> None:
        if (
            self.noise.end is not End.PILED
            or not 1 <= self.last < 1 << _BITS
            or not 1 <= self.fraction < _BITS
        ):
            raise InvalidParameter(
                "a clamped lattice needs noise with End.PILED, last below 2^31 and fraction from 1 to 30"
            )
        if self.last >= 1 << self.fraction and self.last % (1 << self.fraction):
            raise InvalidParameter("a domain of more than one step must have a whole number of steps")
        if self.steps >= self.noise.reach:
            raise InvalidParameter(
                f"the noise must reach further than the domain of {self.steps} steps, not {self.noise.reach}"
            )

    @staticmethod
    def room(reach: int, margin: float) -> tuple[int, int]:
        """Return `last` and `fraction` for noise that extends `margin` lengths of the domain beyond it."""
        steps = int(reach / (1.0 + margin))
        if steps >= 1:
            fraction = _BITS - steps.bit_length()
            return steps << fraction, fraction
        return max(1, round((reach - 1) / margin * (1 << (_BITS - 1)))), _BITS - 1

    @property
    def steps(self) -> int:
        """The length of the domain in steps, rounded up: the largest step of an input."""
        return -(-self.last >> self.fraction)

    @property
    def share(self) -> Fraction:
        """The length of the domain in steps, at most 1: below 1 if the domain is shorter than one step."""
        return min(Fraction(1), Fraction(self.last, 1 << self.fraction))

    @property
    def between(self) -> int:  # type: ignore[override]
        """The number of fractional bits of an input's position."""
        return self.fraction

    @property
    def first(self) -> int:  # type: ignore[override]
        """The position of the first report, in steps from the lower end of the domain."""
        return self.steps - self.noise.reach

    @property
    def cells(self) -> int:
        return 2 * self.noise.reach - self.steps + 1

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report, which is between the two ends of the domain.

        Weights decrease from the centre, and an outermost report is likelier for the nearer input, so no
        other pair of inputs has a larger ratio. For a domain of share f of one step it is 1 − f + f·(ratio of
        a step).
        """
        tails, steps = self.noise.tails, self.steps
        piles = Fraction(tails[self.noise.reach - steps], tails[self.noise.reach])
        whole = max(self.noise.ratio(steps), piles)
        return 1 - self.share + self.share * whole

    def law(self, row: Array, step: int) -> Array:
        first = self.steps - step
        last = first + self.cells - 1
        weights = row[first : last + 1].copy()
        weights[0], weights[-1] = row[: first + 1].sum(), row[last:].sum()
        return weights

    @cached_property
    def alike(self) -> Integers | None:
        """A group for each report: reports of one group have proportional probabilities under all inputs.

        Beyond the domain these are all reports of exponential noise, and those a whole number of domains
        apart if the noise is a staircase of such steps. None if the weights fall otherwise.
        """
        weights = self._row[self.noise.reach : -1]  # the outermost has the tail beyond it
        seen = int(np.searchsorted(-weights, -_SEEN * weights[0]))  # beyond, rounding to integers decides
        for period in (1, self.steps):
            falls = weights[period:seen] / weights[: max(seen - period, 0)]
            if falls.size and np.ptp(falls) < _SAME * falls[0]:
                break
        else:
            return None
        places = np.arange(self.cells) + self.first
        above = places - self.steps
        groups = np.where(places > 0, places, places % -period)
        groups = np.where(above >= 0, self.steps + above % period, groups)
        if period > 1:  # an outermost report has the tail, which is not in proportion
            groups[0], groups[-1] = groups.min() - 1, groups.max() + 1
        return np.asarray(groups - groups.min())

    def means(self, values: Floats) -> Floats:
        """Return the mean of a number per report, for every step of an input."""
        reach, size = self.noise.reach, self.steps + 2 * self.noise.reach + 1
        beyond = np.concatenate([np.full(reach + self.first, values[0]), values])
        beyond = np.concatenate([beyond, np.full(size - beyond.size, values[-1])])
        level = float(values.mean())  # a correlation of the noise's weights with the numbers, by FFT
        spectrum = np.fft.rfft(beyond - level) * np.conj(np.fft.rfft(self._row, size))
        return np.asarray(np.fft.irfft(spectrum, size)[: self.steps + 1] + level)

    def group_masses(self, aims: Array, groups: Array) -> Floats:
        """Return the probability of groups of neighbouring reports, a column for each aim.

        All inputs share one row of weights, shifted: a group is a difference of two of its prefix sums.
        """
        sums = np.concatenate([[0.0], np.cumsum(self._row)])
        ends = np.concatenate([groups, [self.cells]])[:, None]
        steps, rest = np.divmod(np.asarray(aims, dtype=np.int64).reshape(-1), 1 << self.between)

        def below(step: Array) -> Floats:
            found = sums[np.minimum(self.steps - step + ends, sums.size - 1)]
            found[0], found[-1] = 0.0, sums[-1]  # what would lie beyond is told as the outermost report
            return np.asarray(np.diff(found, axis=0) / sums[-1])

        up = rest / (1 << self.between)
        found = below(steps)
        return np.asarray(found if not rest.any() else (1.0 - up) * found + up * below(steps + 1))

    def start(self, domain: Line) -> LineStart:
        scale = self.last / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, self.last, self.fraction)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        return start.last == self.last and start.fraction == self.fraction

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return ClampedSampler(self.noise.table, start, size, self.steps, 2 * self.noise.reach)

    def device(self) -> dict[str, Any]:
        return {
            "kind": "clamped",
            "noise": self.noise.device(),
            "last": self.last,
            "fraction": self.fraction,
        }

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Clamped:
        """Return the lattice that `device` describes."""
        noise = LatticeNoise.from_device(data["noise"], End.PILED)
        return Clamped(noise, whole(data["last"]), whole(data["fraction"]))

    def draw_one(self, step: int, source: Source) -> int:
        place = step + self.noise.table.draw_one(source)
        return min(max(place, self.steps), 2 * self.noise.reach) - self.steps


def check_lattice(cells: object) -> None:
    """Raise InvalidParameter unless the size of a lattice is a power of two from 8 to 2^16."""
    wrong = InvalidParameter(
        f"the number of cells of a lattice must be a power of two from 8 to 2^16, not {found(cells)}"
    )
    if isinstance(cells, bool) or not isinstance(cells, int):
        raise wrong
    if not 8 <= cells <= MOST_OUTCOMES or cells & (cells - 1):
        raise wrong


def domain_base(epsilon: float, last: int, fraction: int, exponents: int) -> int:
    """Return the base of the weights for which `exponents` factors along the domain spend at most ε.

    If the domain is the share f of one step, e^ε = 1 − f + f/base.
    """
    budget = Fraction(epsilon) * SPENT
    if last >= 1 << fraction:
        return fixed_point(exp_above(-budget / exponents))
    return fixed_point(1 / (1 + (exp_below(budget) - 1) * (1 << fraction) / last))


@lru_cache(maxsize=64)
def excess(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of (ε, δ)-LDP: the largest P(S | x) − bound · P(S | x′), over sets S and inputs x, x′.

    It is convex in both distributions, so inputs that are rounded at random are no worse than whole steps.
    """
    weights, reach, steps = lattice.noise.weights, lattice.noise.reach, lattice.steps
    pile = lattice.noise.tails[reach - steps]
    scale, factor = bound.denominator, bound.numerator
    if lattice.share == 1:
        near = [weights[abs(place)] for place in range(steps - reach + 1, steps // 2 + 1)]
        far = [weights[steps - place] for place in range(steps - reach + 1, steps // 2 + 1)]
        spent = sum(max(0, scale * ours - factor * theirs) for ours, theirs in zip(near, far, strict=True))
        return min(Fraction(1), Fraction(spent + scale * pile, scale << TOTAL_BITS))
    # The domain is shorter than a step: its upper end is a mixture of two steps. Denominators are multiplied
    # out.
    share, whole = lattice.share.numerator, lattice.share.denominator
    first = second = 0
    for place in range(2 - reach, reach):
        ours = weights[abs(place)]
        mixed = (whole - share) * ours + share * weights[abs(place - 1)]
        first += max(0, scale * whole * ours - factor * mixed)
        second += max(0, scale * mixed - factor * whole * ours)
    spent = max(first, second) + scale * whole * pile
    return min(Fraction(1), Fraction(spent, scale * whole << TOTAL_BITS))


@lru_cache(maxsize=64)
def failure(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of probabilistic LDP: P(P(Y | x)/P(Y | x′) > bound) for a report Y of x, at the worst x, x′.

    Rounding at random mixes two neighbouring steps. A report exceeds the bound for the mixture only if it
    does so for one of the two, compared with a step at most one domain away from either.
    """
    tails, steps = lattice.noise.tails, lattice.steps
    if lattice.share == 1:
        worst = max(_furthest(lattice, bound, steps), _furthest(lattice, bound, steps - 1) + 1)
        return Fraction(_up_to(tails, worst), 1 << TOTAL_BITS)
    # With share f: 1 − f + f·ratio > bound, or its reciprocal, for one end of the short domain.
    share = lattice.share
    below = _furthest(lattice, 1 / (1 - (1 - 1 / bound) / share) if (1 - 1 / bound) < share else None, 1)
    above = _furthest(lattice, 1 + (bound - 1) / share, 1)
    rounded = (1 - share) * _up_to(tails, above - 1) + share * _up_to(tails, above)
    return max(Fraction(_up_to(tails, below)), rounded) / (1 << TOTAL_BITS)


def _furthest(lattice: Clamped, bound: Fraction | None, shift: int) -> int:
    """Return the largest place z at which w(z)/w(z − shift) may exceed the bound."""
    weights, reach = lattice.noise.weights, lattice.noise.reach
    last = lattice.steps - reach  # the outermost report, which is always counted
    if bound is None or shift < 1:
        return last
    for place in range(math.floor(shift / 2), last, -1):
        other = weights[abs(place - shift)]
        if weights[abs(place)] * bound.denominator > bound.numerator * other:
            return place
    return last


def _up_to(tails: tuple[int, ...], place: int) -> int:
    """Return the weight of all places up to `place`."""
    return tails[-place] if place <= 0 else (1 << TOTAL_BITS) - tails[place + 1]
