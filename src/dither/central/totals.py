"""Sums, counts and other single integers, with exact noise for an integer sensitivity."""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction

from dither.central.answer import Answer, Symmetric, to_float
from dither.central.bounds import LearnedBounds
from dither.central.data import gather, record_guarantee
from dither.central.discrete import budget
from dither.central.methods import in_units, largest, offset
from dither.central.records import records
from dither.central.staircase import DiscreteLaplace, DiscreteStaircase
from dither.central.tally import Tally
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.randomness import SYSTEM, Source


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
    return replace(answer, n=int(answer.value))


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


def _release(value: object, law: DiscreteStaircase | DiscreteLaplace, source: Source | None) -> Answer:
    try:
        exact = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidParameter("the value must be an integer: multiply it to whole units and round") from None
    noisy = exact + law.draw(SYSTEM if source is None else source)
    error = law.variance**0.5 * law.sensitivity
    ends = Symmetric(to_float(noisy), Fraction(1), law)
    return Answer(noisy, error, 0, record_guarantee(law.epsilon), confidence=ends)


def _whole(sensitivity: object) -> int:
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or not 1 <= sensitivity <= 1 << 512:
        raise InvalidParameter("a sensitivity is a whole number from 1 to 2^512")
    return sensitivity
