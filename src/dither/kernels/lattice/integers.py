"""LatticeNoise added on a lattice: an input becomes a step of the lattice, a report is that step plus noise.

    Clamped   reports beyond a stated range are told as its end; the range is the same for every input
    Ring      steps of a circle, counted modulo N
    Bounded   reports outside the domain are drawn again, so the law of a report has its own total

Which step an input becomes may depend on floats: any map is private. An input between two steps of a
`Clamped` lattice is rounded at random, which keeps the mean; a mixture keeps the ratios that its parts have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import whole
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.lattice.noise import End, LatticeNoise, fixed_point
from dither.kernels.lattice.sampling import ClampedSampler, NoiseSampler
from dither.kernels.table.alias import MOST_OUTCOMES, TOTAL_BITS
from dither.kernels.window.start import LineStart
from dither.privacy.exact import exp_above, exp_below
from dither.randomness import Source

_TOTAL: Final = 1 << TOTAL_BITS
_BITS: Final = 31  # places between steps are counted in integers of so many bits
SPENT: Final = 1 - Fraction(1, 1 << 40)  # of ε is used, so that rounded weights stay within it


class Lattice(ABC):
    """A noise, and what becomes of a step of the lattice plus noise."""

    noise: LatticeNoise

    @property
    def between(self) -> int:
        """How many bits tell the places between two steps apart: none where inputs are whole steps."""
        return 0

    @property
    def first(self) -> int:
        """The place of the first report, in steps from the domain's lower end."""
        return 0

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many different reports there are."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report, from the integer weights."""

    @abstractmethod
    def law(self, row: Array, step: int) -> Array:
        """Give the weight of every report for a step, from the weights of the noise in drawing order."""

    @abstractmethod
    def start(self, domain: Line) -> LineStart:
        """Return the rule that brings a value of the domain to a step, or a place between two."""

    @abstractmethod
    def keeps(self, start: LineStart, domain: Line) -> bool:
        """Return whether a rule leads only to steps for which the ratio was computed."""

    @abstractmethod
    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        """Return scratch space for one thread: blocks of up to `size` values."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return the integers that name the lattice and all weights of its noise, as plain data."""

    @abstractmethod
    def draw_one(self, step: int, source: Source) -> int:
        """Draw the report of a whole step, in plain integers."""

    @final
    def probabilities(self, aim: int) -> list[Fraction]:
        """Give the exact probability of every report."""
        step, rest = divmod(aim, 1 << self.between)
        law = self._exact(step)
        if not rest:
            return law
        up = Fraction(rest, 1 << self.between)
        return [one + up * (two - one) for one, two in zip(law, self._exact(step + 1), strict=True)]

    def _exact(self, step: int) -> list[Fraction]:
        weights = self.law(np.array(self.noise.row, dtype=object), step)
        total = int(weights.sum())
        return [Fraction(int(weight), total) for weight in weights]

    @final
    def chances(self, aim: int) -> Floats:
        """Give the probability of every report, in floats."""
        step, rest = divmod(aim, 1 << self.between)
        chances = self._rounded(step)
        if rest:
            up = rest / (1 << self.between)
            chances = (1.0 - up) * chances + up * self._rounded(step + 1)
        return chances

    def _rounded(self, step: int) -> Floats:
        weights = self.law(self._row, step)
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    @cached_property
    def _row(self) -> Floats:
        return np.array([weight / _TOTAL for weight in self.noise.row])


@final
@dataclass(frozen=True)
class Clamped(Lattice):
    """The domain is `last`/2^fraction steps long; reports are the steps that every input can reach.

    With G whole steps and noise of ±R they are the places from G − R to R; what would lie beyond is told as
    the outermost one. A domain of many steps has a whole number of them. A wide noise makes the domain
    shorter than one step; then its inputs are rounded at random to one of two.
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
            raise InvalidParameter("a clamped lattice has piled ends and a domain of up to 2^31 places")
        if self.last >= 1 << self.fraction and self.last % (1 << self.fraction):
            raise InvalidParameter("a domain of more than one step has a whole number of them")
        if self.steps >= self.noise.reach:
            raise InvalidParameter("the noise must reach further than the domain")

    @staticmethod
    def room(reach: int, margin: float) -> tuple[int, int]:
        """Give `last` and `fraction` for noise that goes on for `margin` lengths beyond the domain."""
        steps = int(reach / (1.0 + margin))
        if steps >= 1:
            fraction = _BITS - steps.bit_length()
            return steps << fraction, fraction
        return max(1, round((reach - 1) / margin * (1 << (_BITS - 1)))), _BITS - 1

    @property
    def steps(self) -> int:
        """How many steps the domain touches: the largest whole step of an input."""
        return -(-self.last >> self.fraction)

    @property
    def share(self) -> Fraction:
        """How much of its last step the domain uses: all of it, unless it is shorter than one step."""
        return min(Fraction(1), Fraction(self.last, 1 << self.fraction))

    @property
    def between(self) -> int:
        return self.fraction

    @property
    def first(self) -> int:
        return self.steps - self.noise.reach

    @property
    def cells(self) -> int:
        return 2 * self.noise.reach - self.steps + 1

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report: between the two ends of the domain.

        Single weights fall from the centre, and a pile is larger for the nearer input, so no other pair of
        inputs has a larger one. A domain of share f of one step mixes: 1 − f + f·(ratio of a whole step).
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

    def grouped(self, aims: Array, groups: Array) -> Floats:
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
    """Raise unless the size of a lattice is a power of two from 8 to 2^16."""
    if isinstance(cells, bool) or not isinstance(cells, int):
        raise InvalidParameter("the number of cells is a whole number")
    if not 8 <= cells <= MOST_OUTCOMES or cells & (cells - 1):
        raise InvalidParameter("the number of cells of a lattice is a power of two from 8 to 2^16")


def domain_base(epsilon: float, last: int, fraction: int, exponents: int) -> int:
    """Give the base whose weights, `exponents` of them along the domain, use up ε and never more.

    Where the domain is the share f of one step, e^ε = 1 − f + f/base.
    """
    budget = Fraction(epsilon) * SPENT
    if last >= 1 << fraction:
        return fixed_point(exp_above(-budget / exponents))
    return fixed_point(1 / (1 + (exp_below(budget) - 1) * (1 << fraction) / last))
