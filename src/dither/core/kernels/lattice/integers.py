"""Noise on a lattice: an input is mapped to a step of the lattice, and a report is that step plus noise.

    Clamped   reports are clamped to a stated range, the same for every input
    Ring      steps of a circle, counted modulo N
    Bounded   reports outside the domain are drawn again, so the normalising total depends on the input

Floats may compute the step of an input, since privacy does not depend on that map. An input between two steps
of a `Clamped` lattice is rounded at random, which preserves the mean. A mixture preserves the bound on
ratios.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Final

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.alias import MOST_OUTCOMES, TOTAL_BITS
from dither.core.kernels.lattice.noise import FLOOR, End, LatticeNoise, fixed_point, largest_ratio, noise_with
from dither.core.kernels.lattice.samplers import BoundedSampler, ClampedSampler, NoiseSampler, RingSampler
from dither.core.kernels.window.start import LineStart
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_above, exp_below

_TOTAL: Final = 1 << TOTAL_BITS
_SAME: Final = 1e-9  # relative differences of ratios of weights that count as rounding
_SEEN: Final = 1e-16  # weights below this, relative to the largest, are not compared
_BITS: Final = 31  # bits of a position in units of 2^−fraction steps
SPENT: Final = 1 - Fraction(1, 1 << 40)  # the part of ε that is used; the rest is for rounding weights up


class Lattice(ABC):
    """Noise with integer weights, and the rule for a step plus noise outside the range."""

    noise: LatticeNoise

    kind: ClassVar[str]  # the name of the lattice in a device text
    fields: ClassVar[Fields]
    between = 0  # the number of fractional bits of an input's position; 0 if inputs are integer steps
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
    def draw_one(self, step: int, source: Source) -> int:
        """Draw the report of an integer step, in Python integers."""

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

    With G steps and noise from −R to R these are the steps from G − R to R. The length of a domain of more
    than one step is an integer number of steps. For wide noise the domain is shorter than one step. Its
    inputs are then rounded at random to one of two steps.
    """

    noise: LatticeNoise
    last: int
    fraction: int
    kind: ClassVar[str] = "clamped"
    fields = Fields(noise=noise_with(End.PILED), last=WHOLE, fraction=WHOLE)

    def __post_init__(self) -> None:
        if (
            self.noise.end is not End.PILED
            or not 1 <= self.last < 1 << _BITS
            or not 1 <= self.fraction < _BITS
        ):
            raise InvalidParameter("expected noise with End.PILED, last below 2^31 and fraction from 1 to 30")
        if self.last >= 1 << self.fraction and self.last % (1 << self.fraction):
            raise InvalidParameter(
                "expected a domain of one step or of an integer number of steps; choose another step"
            )
        if self.steps >= self.noise.reach:
            raise InvalidParameter(
                f"expected noise that reaches further than the domain of {self.steps} steps, got a "
                f"reach of {self.noise.reach}"
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
        """The largest ratio of two probabilities of one report. The two ends of the domain attain it.

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

        If the noise is exponential, all reports on one side of the domain are one group. If it is a staircase
        with steps as long as the domain, these are the reports that are an integer number of steps apart.
        None if the weights decrease in another way.
        """
        weights = self._row[self.noise.reach : -1]  # without the outermost weight: it includes the tail
        seen = int(np.searchsorted(-weights, -_SEEN * weights[0]))  # smaller weights depend on rounding
        for period in (1, self.steps):
            falls = weights[period:seen] / weights[: max(seen - period, 0)]
            if falls.size and np.ptp(falls) < _SAME * falls[0]:
                break
        else:
            return None
        positions = np.arange(self.cells) + self.first
        above = positions - self.steps
        groups = np.where(positions > 0, positions, positions % -period)
        groups = np.where(above >= 0, self.steps + above % period, groups)
        if period > 1:  # An outermost report includes the tail and is not in proportion.
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
            found[0], found[-1] = 0.0, sums[-1]  # reports beyond the range are clamped to the outermost one
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

    def draw_one(self, step: int, source: Source) -> int:
        position = step + self.noise.table.draw_one(source)
        return min(max(position, self.steps), 2 * self.noise.reach) - self.steps


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


@dataclass(frozen=True)
class Ring(Lattice):
    """N steps around a circle; a report is the input's step plus noise, modulo N."""

    noise: LatticeNoise
    kind: ClassVar[str] = "ring"
    fields = Fields(noise=noise_with(End.RING))

    def __post_init__(self) -> None:
        if self.noise.end is not End.RING:
            raise InvalidParameter("expected noise with End.RING for a circular lattice")

    @property
    def cells(self) -> int:
        return 2 * self.noise.reach

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.noise.weights[0], self.noise.weights[-1])

    def law(self, row: Array, step: int) -> Array:
        return np.roll(row, step)

    def start(self, domain: Line) -> LineStart:
        scale = self.cells / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, None)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        return not start.fraction  # modulo N every integer is a step of the circle

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return RingSampler(self.noise.table, start, size, self.cells)

    def draw_one(self, step: int, source: Source) -> int:
        return (step + self.noise.table.draw_one(source)) % self.cells


@dataclass(frozen=True)
class Bounded(Lattice):
    """G + 1 points from end to end of the domain; noise that leads outside is drawn again.

    Every point is a possible report of every input. The probability of staying inside depends on the input:
    the probability of a report is its weight over the total C of the input. The guarantee is for inputs at
    most `shift` steps apart.
    """

    noise: LatticeNoise
    shift: int
    kind: ClassVar[str] = "bounded"
    fields = Fields(noise=noise_with(End.CUT), shift=WHOLE)

    def __post_init__(self) -> None:
        if self.noise.end is not End.CUT or not 1 <= self.shift <= self.noise.reach:
            raise InvalidParameter(
                f"expected noise with End.CUT and a shift from 1 to {self.noise.reach}, "
                f"got {found(self.shift)}"
            )

    @property
    def cells(self) -> int:
        return self.noise.reach + 1

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The total weight inside the domain, by step of the input."""
        sums = tuple(accumulate(self.noise.weights))
        return tuple(below + above - sums[0] for below, above in zip(sums, reversed(sums), strict=True))

    @cached_property
    def ratio(self) -> Fraction:
        """An upper bound of the ratio of two probabilities of one report, with the totals of both inputs.

        Between inputs k steps apart it is at most ρ(k)·κ(k): the largest ratio of two weights times the
        largest ratio of two totals. From k to k + 1, ρ grows at least by the smallest ratio of neighbouring
        weights above the floor, and κ at least by the smallest ratio of neighbouring totals. If their product
        is at least 1, the largest shift is the worst.
        """
        totals, weights = self.totals, self.noise.weights
        falling = sum(weight > FLOOR for weight in weights) - 1
        steeper = 1 / largest_ratio(weights[1 : falling + 1], weights[:falling])
        flatter = 1 / largest_ratio(totals[:-1], totals[1:])
        if steeper * flatter < 1 or falling < self.shift:
            raise InvalidParameter(
                "expected noise that is wide enough to certify its bound, got narrower noise; choose more "
                "cells"
            )
        return self.noise.ratio(self.shift) * largest_ratio(totals[self.shift :], totals[: -self.shift])

    def law(self, row: Array, step: int) -> Array:
        reach = self.noise.reach
        return row[reach - step : 2 * reach - step + 1]

    def start(self, domain: Line) -> LineStart:
        scale = self.noise.reach / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, self.noise.reach)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        # With a larger scale, values to which the guarantee applies could be more than `shift` steps apart.
        near = start.scale <= self.noise.reach / domain.length
        return start.last == self.noise.reach and not start.fraction and near

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return BoundedSampler(self.noise.table, start, size, self.noise.reach)

    def draw_one(self, step: int, source: Source) -> int:
        while True:
            position = step + self.noise.table.draw_one(source) - self.noise.reach
            if 0 <= position <= self.noise.reach:
                return position
