"""Means, sums and counts by a trusted curator."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from dither.core.domains import Interval
from dither.errors import InvalidParameter, check_choice, choose
from dither.extensions.central.answer import (
    PUBLIC_COUNT,
    Answer,
    Shares,
    Symmetric,
    record_guarantee,
    to_float,
)
from dither.extensions.central.integer_noise import DiscreteLaplace, DiscreteStaircase, budget
from dither.extensions.central.learned_bounds import LearnedBounds, gather
from dither.extensions.central.pairs import (
    METHODS,
    MeanMethodName,
    PairNoiseName,
    hourglass_law,
    in_units,
    largest,
    make_noise,
    offset,
)
from dither.extensions.central.tally import Tally, records
from dither.foundation.randomness import SYSTEM, Source

# The mean if the released count is zero or negative, as can happen for small n: the middle of the domain, or
# the clipped quotient of the paper's algorithms.
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
    total = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, left = gather(data, domain, total, source)
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
    spread, promise = uncertain * grid.domain.length, record_guarantee(total)
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
        raise InvalidParameter(
            "expected a public domain for swap_mean, got LearnedBounds; pass an Interval, or use mean"
        )
    complete = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, _ = gather(data, domain, complete, source)
    grid = secret.grid
    law = DiscreteStaircase.best(grid.cells, complete)  # the sensitivity of a change is all cells
    total, count = secret.secret()
    records = max(count, 1)
    if not count:  # the count is public; an empty data set counts as one record in the middle
        total = grid.cells // 2
    share = _clip(Fraction(total + law.draw(source), grid.cells * records))
    value, unit = grid.at(share), grid.cell / records
    uncertain = min(law.variance**0.5 / records, float(max(share, 1 - share))) * grid.domain.length
    ends = Symmetric(value, unit, law, grid.domain)
    promise = record_guarantee(complete, PUBLIC_COUNT)
    return Answer(value, uncertain, count, promise, grid.domain, confidence=ends)


def quotient(numerator: Fraction, count: Fraction, convention: Convention) -> tuple[Fraction, Fraction]:
    """Return the mean as a share of the domain, and the count, from released numbers only; never raise."""
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

    Promise:   pure ε for one record added or removed; 2ε for one record changed. Noise:     staircase, for a
    sensitivity of max(|low|, |high|): the least possible variance for one number. Use when:  you need the
    total. It releases no count, so its `n` is 0; `mean` releases both.
    """
    total = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, left = gather(data, domain, total, source)
    grid = secret.grid
    law = DiscreteStaircase.best(largest(grid), left)
    unit = grid.cell / offset(grid).denominator
    value = to_float(unit * (in_units(*secret.secret(), grid) + law.draw(source)))
    error = law.variance**0.5 * float(unit * law.sensitivity)
    ends = Symmetric(value, unit, law)
    return Answer(value, error, 0, record_guarantee(total), grid.domain, confidence=ends)


def count(data: object, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release the number of records, with ε-DP for adding or removing a person.

    Promise:   pure ε for one record added or removed; nothing is needed for one record changed.
    Noise:     two-sided geometric (the staircase for sensitivity 1).
    """
    number = data.secret()[1] if isinstance(data, Tally) else int(records(data).size)
    answer = _release(number, DiscreteStaircase(1, 1, budget(epsilon)), source)
    return replace(answer, n=int(answer.value), limits=(0.0, math.inf))


def staircase(value: int, sensitivity: int, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release an integer that one record changes by at most `sensitivity`, with the noise of least variance.

    Promise:   pure ε for any two data sets whose values differ by at most the sensitivity.
    Reference: [GV14], on the integers.
    """
    return _release(value, DiscreteStaircase.best(_whole(sensitivity), budget(epsilon)), source)


def laplace(value: int, sensitivity: int, *, epsilon: float, source: Source | None = None) -> Answer:
    """Release an integer that one record changes by at most `sensitivity`, with discrete Laplace noise.

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
    """Release two integers whose sum changes by exactly `sensitivity` with one record.

    An added record changes them by (X, sensitivity − X) with 0 ≤ X ≤ sensitivity; a removed record changes
    them by the negative. Examples are the sums of x and of 100 − x for ages up to 100, or the numbers of
    people with and without a property. Each has the noise of `staircase`, and both together spend ε only
    once. This is more accurate than two answers with ε/2 each.

    Promise:   pure ε for one record added or removed, for both numbers together.
    Noise:     the hourglass; `gamma` is its innermost width, by default the one of least squared error.
    Reference: [AddRemove23, Thm 2], on the integers; docs/deviations.md lists the gap in its statement.

    >>> ages, rest = 31 + 45 + 27, 69 + 55 + 73  # the ages of three people, and 100 − age
    >>> first, second = hourglass(ages, rest, 100, epsilon=50)
    >>> (first.value + second.value) / 100  # the number of records, an integer
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
        raise InvalidParameter("expected an integer value; multiply it to integer units and round") from None


def _answer(noisy: int, law: DiscreteStaircase | DiscreteLaplace) -> Answer:
    error = law.variance**0.5 * law.sensitivity
    ends = Symmetric(to_float(noisy), Fraction(1), law)
    return Answer(noisy, error, 0, record_guarantee(law.epsilon), confidence=ends)


def _whole(sensitivity: object) -> int:
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or not 1 <= sensitivity <= 1 << 512:
        raise InvalidParameter("expected a sensitivity to be an integer from 1 to 2^512")
    return sensitivity
