"""The curator's answer with its error and guarantee, learned bounds, and what is kept of the data.

Means, sums and counts by a trusted curator.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, Protocol

import numpy as np

from dither.core.domains import BLOCK, Interval, finite
from dither.errors import InvalidParameter, check_choice, choose, found
from dither.estimation.estimate import Estimate, show
from dither.estimation.intervals import ConfidenceInterval
from dither.extensions.central.integer_noise import DiscreteLaplace, DiscreteStaircase, GeometricRatio, budget
from dither.extensions.central.pairs import (
    METHODS,
    MeanMethod,
    MeanMethodName,
    Pair,
    PairNoiseName,
    hourglass_law,
    in_units,
    largest,
    make_noise,
    offset,
)
from dither.extensions.central.tally import RecordGrid, Tally, records
from dither.foundation.arrays import Array, Integers
from dither.foundation.numerics.roots import farthest_float, smallest_positive_integer
from dither.foundation.randomness import SYSTEM, Source
from dither.privacy import Guarantee, Pure

PUBLIC_COUNT: Final = "the number of records is public"
LARGEST: Final = sys.float_info.max
_HALVINGS: Final = 10  # of the step at which a share first fails its test: to a thousandth of that step


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Estimate):
    """A released number. Its error is that of the noise, about the *data's* value and not a population's.

    `n` is the released count, or 0 if none was released; `domain` has the bounds that were used, given or
    learned. The interval is computed from the law of the noise; that of a mean stays inside the domain.
    """

    domain: Interval | None = None

    @property
    def swap_guarantee(self) -> Guarantee:
        """The guarantee for one record changed: 2ε, since that is a removal and an addition."""
        return self.guarantee if PUBLIC_COUNT in self.guarantee.assumes else self.guarantee.repeated(2)

    def __repr__(self) -> str:
        if self.n or not isinstance(self.confidence, Symmetric):
            return super().__repr__()
        return f"{show(self.confidence.centre, self.half_width())} (95 %)"  # no count was released


def to_float(number: Fraction | int) -> float:
    """Return the nearest float, or an infinity: raising an error would depend on the data."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


class Tail(Protocol):
    """A law of one integer with a known tail probability."""

    def tail(self, size: int) -> float:
        """Return P(|z| ≥ size)."""


@dataclass(frozen=True)
class Symmetric(ConfidenceInterval):
    """The interval about one noisy multiple of a unit, inside a domain if there is one."""

    centre: float
    unit: Fraction
    law: Tail
    domain: Interval | None = None

    def half_width(self, level: float) -> float:
        """Return the distance from the released value to the farther end."""
        size = smallest_positive_integer(lambda size: self.law.tail(size) <= 1.0 - level)
        half = to_float(self.unit * (size - 1))  # |z| ≤ size − 1 with probability ≥ level
        if self.domain is None:
            return half
        return min(half, max(self.centre - self.domain.low, self.domain.high - self.centre))

    def interval(self, level: float) -> tuple[float, float]:
        half = self.half_width(level)
        # A centre that is infinite as a float is at least LARGEST: the nearer end is computed from that.
        low, high = min(self.centre, LARGEST) - half, max(self.centre, -LARGEST) + half
        if self.domain is None:
            return low, high
        return max(low, self.domain.low), min(high, self.domain.high)


@dataclass(frozen=True)
class Shares(ConfidenceInterval):
    """The interval of a mean: all shares of the domain that a test of the noise does not reject.

    For the true share a, ŝ − a·n̂ is noise alone, of a known law, whatever the count is. So the shares that
    pass the test at a level form a set that covers the true share with that probability, at every n.
    """

    share: float
    error: float  # the standard error of the share
    first: int
    second: int
    method: MeanMethod
    law: Pair
    grid: RecordGrid

    def interval(self, level: float) -> tuple[float, float]:
        _, count = self.method.solve(self.first, self.second, self.grid)
        if count <= 0:
            return self.grid.domain.low, self.grid.domain.high
        # At least one standard error wide: a value that was clipped to an end can lie outside the set.
        passes = self._passes(level)
        step = max(self.error, 2.0**-50)
        low, high = (
            farthest_float(passes, self.share, end, step=step, steps=_HALVINGS) for end in (0.0, 1.0)
        )
        low = min(low, max(self.share - self.error, 0.0))
        high = max(high, min(self.share + self.error, 1.0))
        return self.grid.at(Fraction(low)), self.grid.at(Fraction(high))

    def half_width(self, level: float) -> float:
        """Return the distance from the released value to the farther end."""
        low, high = self.interval(level)
        value = self.grid.at(Fraction(self.share))
        return max(value - low, high - value)

    def _passes(self, level: float) -> Callable[[float], bool]:
        numerator, count = self.method.solve(self.first, self.second, self.grid)

        def passes(share: float) -> bool:
            distance = abs(float(numerator - count * Fraction(share)))
            return self.law.tail(self.method.weights(share, self.grid), distance) >= 1.0 - level

        return passes


@dataclass(frozen=True)
class LearnedBounds:
    """Learn the clamping bounds from the data with a share of ε, then spend the rest on the answer.

    Records are counted by sign and power of two, between ±2^smallest and ±2^largest. Every count gets exact
    geometric noise. The bounds are the outer edges of the outermost bins whose counts pass a threshold. So
    the bounds are powers of two. With probability `mistake` an empty bin passes, and the noise is that of
    bounds that are far too wide; at the default of 10⁻⁶ fewer than about 19/ε′ records beyond the bounds are
    clamped.
    """

    share: float = 0.2
    smallest: int = -20
    largest: int = 40
    mistake: float = 1e-6

    def __post_init__(self) -> None:
        if not 0.0 < finite("share", self.share) < 1.0:
            raise InvalidParameter(
                f"the share of ε for the bounds lies strictly between 0 and 1, not at {found(self.share)}"
            )
        if not 0.0 < finite("mistake", self.mistake) < 1.0:
            raise InvalidParameter(
                f"the probability of a mistake lies strictly between 0 and 1, not at {found(self.mistake)}"
            )
        for power in (self.smallest, self.largest):
            if isinstance(power, bool) or not isinstance(power, int) or not -500 <= power <= 500:
                raise InvalidParameter(
                    f"smallest and largest are whole powers of two from −500 to 500, not {found(power)}"
                )
        if not self.smallest < self.largest:
            raise InvalidParameter(
                f"the smallest power of two, {self.smallest}, must be below the largest, {self.largest}"
            )

    def learn(self, values: Array, epsilon: Fraction, source: Source) -> Interval:
        """Return bounds chosen with a budget of ε for one record added or removed.

        A record is in at most one bin, so it changes one count by 1: geometric noise of ratio e^(−ε) on every
        count is ε-private, and the bounds depend on the noisy counts alone.
        """
        ratio = GeometricRatio(epsilon)
        noisy = [int(count) + ratio.two_sided(source) for count in self._counts(values)]
        # P(noise ≥ t) = b^t/(1 + b) < b^t; summed over all bins, at most `mistake`.
        threshold = math.ceil(math.log(len(noisy) / self.mistake) / epsilon)
        full = [place for place, count in enumerate(noisy) if count >= threshold]
        if not full:  # no count passes: take the bin with the largest noisy count
            full = [max(range(len(noisy)), key=noisy.__getitem__)]
        edges = self._edges()
        return Interval(edges[full[0]], edges[full[-1] + 1])

    def _edges(self) -> list[float]:
        outer = [2.0**power for power in range(self.smallest, self.largest + 1)]
        return [-edge for edge in reversed(outer)] + outer

    def _counts(self, values: Array) -> Integers:
        """Return the number of records in each bin; those beyond are in the last one, NaN in none."""
        powers = self.largest - self.smallest
        counts = np.zeros(2 * powers + 1, dtype=np.int64)
        with np.errstate(all="ignore"):
            for begin in range(0, values.size, BLOCK):
                block = values[begin : begin + BLOCK].astype(np.float64)
                block = block[~np.isnan(block)]
                size = np.clip(np.abs(block), 2.0 ** (self.smallest - 1), 2.0 ** (self.largest - 1))
                place = np.maximum(np.frexp(size)[1] - self.smallest, 0)  # 0 below 2^smallest, then 1 a power
                place = np.where(block < 0, powers - place, powers + place)
                counts += np.bincount(place, minlength=counts.size)
        return counts


def gather(
    data: object, domain: Interval | LearnedBounds | None, epsilon: Fraction, source: Source
) -> tuple[Tally, Fraction]:
    """Return the tally of the data, and the budget that is left after learning its bounds."""
    if isinstance(data, Tally):
        if domain is not None and domain != data.grid.domain:
            raise InvalidParameter("a tally has its own domain: leave the domain out")
        return data, epsilon
    if isinstance(domain, LearnedBounds):
        values = records(data)
        spent = epsilon * Fraction(domain.share)
        return Tally.of(values, domain.learn(values, spent, source)), epsilon - spent
    if domain is None:
        raise InvalidParameter("values need a public domain, such as Interval(0, 100), or LearnedBounds()")
    return Tally.of(data, domain), epsilon


def record_guarantee(epsilon: Fraction, *assumes: str) -> Guarantee:
    """Return the guarantee for one record; ε is the exact rational number that was spent in all."""
    return Guarantee(Pure(float(epsilon)), "record", assumes)


# The mean where the released count is zero or negative, which happens at small n: the middle of the domain,
# or the clipped quotient, as the paper's algorithms have it.
Convention = Literal["midpoint", "literal"]


def mean(
    data: object,
    domain: Interval | LearnedBounds | None = None,
    *,
    epsilon: float,
    method: MeanMethodName = "transformed",
    noise: PairNoiseName = "hourglass",
    gamma: float | None = None,
    convention: Convention = "midpoint",
    source: Source | None = None,
) -> Answer:
    """Release the mean of one value per person, with ε-DP for adding or removing a person.

    Promise:   pure ε for one record added or removed; 2ε for one record changed.
    Data:      values with a domain, or a tally. The number of records is protected too.
    Use when:  a trusted curator holds the values; otherwise each person perturbs their own.
    Reference: [AddRemove23], Algorithm 3 with hourglass noise on an integer grid. `gamma` is the innermost
               width of hourglass or staircase noise.
    """
    sums, kind = choose("method", method, METHODS), make_noise(noise, gamma)
    check_choice("convention", convention, Convention)
    whole = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, left = gather(data, domain, whole, source)
    grid = secret.grid
    law = kind.law(sums, grid, left)
    exact, error = sums.query(*secret.secret(), grid), law.draw(source)
    first, second = exact[0] + error[0], exact[1] + error[1]
    # Everything below is computed from these two released integers and from public numbers.
    share, count = quotient(*sums.solve(first, second, grid), convention)
    worst = float(max(share, 1 - share))
    deviation = law.deviation(sums.weights(float(share), grid))
    uncertain = min(deviation / float(count), worst) if count > 0 else worst
    ends = Shares(float(share), uncertain, first, second, sums, law, grid)
    spread, promise = uncertain * grid.domain.length, record_guarantee(whole)
    return Answer(grid.at(share), spread, round(count), promise, grid.domain, confidence=ends)


def swap_mean(
    data: object, domain: Interval | None = None, *, epsilon: float, source: Source | None = None
) -> Answer:
    """Release the mean where the number of records is public, with ε-DP for changing one person's value.

    Promise:   pure ε for one record changed. The number of records is not protected: `n` is exact.
    Use when:  everybody knows the count; `mean` costs no more and hides it, but promises 2ε for a change.
    Reference: [GV14], staircase noise on the sum; the lower bound of [AddRemove23] is this variance.
    """
    if isinstance(domain, LearnedBounds):
        raise InvalidParameter("swap_mean needs a public domain; mean can learn its bounds")
    whole = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, _ = gather(data, domain, whole, source)
    grid = secret.grid
    law = DiscreteStaircase.best(grid.cells, whole)  # a changed record moves the sum by at most all cells
    total, count = secret.secret()
    records = max(count, 1)
    if not count:  # the count is public here; an empty data set counts as one record in the middle
        total = grid.cells // 2
    share = _clip(Fraction(total + law.draw(source), grid.cells * records))
    value, unit = grid.at(share), grid.cell / records
    uncertain = min(law.variance**0.5 / records, float(max(share, 1 - share))) * grid.domain.length
    ends = Symmetric(value, unit, law, grid.domain)
    promise = record_guarantee(whole, PUBLIC_COUNT)
    return Answer(value, uncertain, count, promise, grid.domain, confidence=ends)


def quotient(numerator: Fraction, count: Fraction, convention: Convention) -> tuple[Fraction, Fraction]:
    """Return the mean's share of the domain and the count; it uses released numbers only and never raises."""
    if convention == "midpoint" and count <= 0:
        return Fraction(1, 2), count
    if count == 0:  # the paper's quotient is then ±∞, or 0/0
        return Fraction((numerator > 0) - (numerator < 0) + 1, 2), count
    return _clip(numerator / count), count


def _clip(share: Fraction) -> Fraction:
    return min(max(share, Fraction(0)), Fraction(1))


def sum(
    data: object,
    domain: Interval | LearnedBounds | None = None,
    *,
    epsilon: float,
    source: Source | None = None,
) -> Answer:
    """Release the sum of one value per person, with ε-DP for adding or removing a person.

    Promise:   pure ε for one record added or removed; 2ε for one record changed.
    Noise:     staircase, for a sensitivity of max(|low|, |high|): the least variance there is for one number.
    Use when:  the total is wanted. It releases no count, so its `n` is 0; `mean` releases both.
    """
    whole = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, left = gather(data, domain, whole, source)
    grid = secret.grid
    law = DiscreteStaircase.best(largest(grid), left)
    unit = grid.cell / offset(grid).denominator
    value = to_float(unit * (in_units(*secret.secret(), grid) + law.draw(source)))
    error = law.variance**0.5 * float(unit * law.sensitivity)
    ends = Symmetric(value, unit, law)
    return Answer(value, error, 0, record_guarantee(whole), grid.domain, confidence=ends)


def count(data: object, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release the number of records, with ε-DP for adding or removing a person.

    Promise:   pure ε for one record added or removed; nothing is needed for one record changed.
    Noise:     two-sided geometric, which is the staircase for sensitivity 1.
    """
    number = data.secret()[1] if isinstance(data, Tally) else int(records(data).size)
    answer = _release(number, DiscreteStaircase(1, 1, budget(epsilon)), source)
    return replace(answer, n=int(answer.value), limits=(0.0, math.inf))


def staircase(value: int, sensitivity: int, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release an integer that one record moves by at most `sensitivity`, with the noise of least variance.

    Promise:   pure ε for any two data sets whose values differ by at most the sensitivity.
    Reference: [GV14], on the integers.
    """
    return _release(value, DiscreteStaircase.best(_whole(sensitivity), budget(epsilon)), source)


def laplace(value: int, sensitivity: int, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release an integer that one record moves by at most `sensitivity`, with discrete Laplace noise.

    Promise:   pure ε for any two data sets whose values differ by at most the sensitivity; less in proportion
               where they differ by less.
    Use when:  that proportion matters; otherwise `staircase` has less variance.
    """
    return _release(value, DiscreteLaplace(_whole(sensitivity), budget(epsilon)), source)


def hourglass(
    first: int,
    second: int,
    sensitivity: int,
    *,
    epsilon: float,
    gamma: float | None = None,
    source: Source | None = None,
) -> tuple[Answer, Answer]:
    """Release two integers of which one record moves the sum by exactly `sensitivity`.

    One record added moves them by (X, sensitivity − X) with 0 ≤ X ≤ sensitivity, and one removed by as much
    back: the sums of x and of 100 − x for ages up to 100, or people with and without a property. Each has the
    noise of `staircase`, and both together spend ε once: more accurate than two answers with ε/2 each.

    Promise:   pure ε for one record added or removed, for both numbers together.
    Noise:     the hourglass; `gamma` is its innermost width, by default that of least squared error.
    Reference: [AddRemove23, Thm 2], on the integers; docs/deviations.md says what its statement lacks.

    >>> ages, rest = 31 + 45 + 27, 69 + 55 + 73  # of three people, and what is left to 100
    >>> first, second = hourglass(ages, rest, 100, epsilon=50)
    >>> (first.value + second.value) / 100  # the number of records, a whole number
    3.0
    """
    exact = _integer(first), _integer(second)
    law = hourglass_law(_whole(sensitivity), budget(epsilon), gamma)
    drawn = law.draw(SYSTEM if source is None else source)
    return _answer(exact[0] + drawn[0], law.staircase), _answer(exact[1] + drawn[1], law.staircase)


def _release(value: object, law: DiscreteStaircase | DiscreteLaplace, source: Source | None) -> Answer:
    return _answer(_integer(value) + law.draw(SYSTEM if source is None else source), law)


def _integer(value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidParameter("the value must be an integer: multiply it to whole units and round") from None


def _answer(noisy: int, law: DiscreteStaircase | DiscreteLaplace) -> Answer:
    error = law.variance**0.5 * law.sensitivity
    ends = Symmetric(to_float(noisy), Fraction(1), law)
    return Answer(noisy, error, 0, record_guarantee(law.epsilon), confidence=ends)


def _whole(sensitivity: object) -> int:
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or not 1 <= sensitivity <= 1 << 512:
        raise InvalidParameter("a sensitivity is a whole number from 1 to 2^512")
    return sensitivity
