"""Dividing a budget: shares of ε as floats whose exact sum is at most ε.

A float stands for its exact rational value. Shares that are rounded to the nearest float can together exceed
ε; here they are rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dither.errors import InvalidParameter, found


def split(epsilon: float, weights: Sequence[float]) -> tuple[float, ...]:
    """Return one share of ε for each weight, in proportion to the weights; their exact sum is at most ε.

    Each share is the largest float at most ε·weight/Σ weights.

    >>> split(3.0, [1, 2])
    (1.0, 2.0)
    """
    sizes = [_positive("a weight", weight) for weight in weights]
    if not sizes:
        raise InvalidParameter("splitting a budget needs at least one weight; the list is empty")
    whole, total = _positive("epsilon", epsilon), sum(sizes)
    return tuple(rounded_down(whole * size / total) for size in sizes)


def share(epsilon: float, count: int) -> float:
    """Return the largest float that, times `count`, is at most ε.

    >>> share(1.0, 3)
    0.3333333333333333
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidParameter(
            f"the number of shares must be a whole number from 1 upwards, not {found(count)}"
        )
    return rounded_down(_positive("epsilon", epsilon) / count)


def rest(epsilon: float, spent: float) -> float:
    """Return the largest float at most ε − spent; it is negative if `spent` exceeds ε.

    Use it if the first share is fixed, and the second is the remainder.

    >>> rest(1.0, 0.75)
    0.25
    """
    return rounded_down(Fraction(epsilon) - Fraction(spent))


def divide(epsilon: float, part: float) -> tuple[float, float]:
    """Return two budgets whose exact sum is at most ε: `part` of ε, to the nearest float, and the rest."""
    if not (isinstance(part, int | float) and math.isfinite(part) and 0.0 < part < 1.0):
        raise InvalidParameter(f"a share of the budget must be strictly between 0 and 1, not {found(part)}")
    first = epsilon * part
    return first, rest(epsilon, first)


def rounded_down(exact: Fraction) -> float:
    """Return the largest float that is at most a rational number."""
    near = float(exact)
    return near if near <= exact else math.nextafter(near, -math.inf)


def _positive(name: str, number: float) -> Fraction:
    if not 0.0 < number < math.inf:
        raise InvalidParameter(f"{name} must be a positive, finite number, not {found(number)}")
    return Fraction(number)
