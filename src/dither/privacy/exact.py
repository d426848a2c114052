"""Certified rational bounds of e^ε and of logarithms, and shares of a budget that never exceed it.

Every bound is an integer or a `Fraction`, rounded in a stated direction. A double ε stands for its exact
rational value. Shares that are rounded to the nearest float can together exceed ε; here they are rounded
down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dither.errors import InvalidParameter, found

_BITS: Final = 320  # binary digits after the point in fixed-point numbers
_HALVINGS: Final = 8


@lru_cache(maxsize=512)
def exp_below(exponent: Fraction) -> Fraction:
    """Return a rational lower bound of e^exponent, with a relative error below 2^−200.

    Proved for an exponent ≥ 0: exp_below_is_below (proofs/Exponential.v).
    """
    if exponent < 0:
        return 1 / exp_above(-exponent)
    unit = 1 << _BITS
    step = exponent / (1 << _HALVINGS)
    numerator, denominator = step.numerator, step.denominator
    term = total = unit
    count = 1
    while term:  # partial sums of the series of positive terms, each rounded down
        term = term * numerator // (denominator * count)
        total += term
        count += 1
    for _ in range(_HALVINGS):
        total = total * total >> _BITS
    return Fraction(total, unit)


@lru_cache(maxsize=512)
def exp_above(exponent: Fraction) -> Fraction:
    """Return a rational upper bound of e^exponent, with a relative error below 2^−200."""
    if exponent < 0:
        return 1 / exp_below(-exponent)
    unit = 1 << _BITS
    step = exponent / (1 << _HALVINGS)
    numerator, denominator = step.numerator, step.denominator
    term = total = unit
    count = 1
    while term > 1 or numerator > denominator * count:
        term = -(-term * numerator // (denominator * count))
        total += term
        count += 1
    total += 2 * term + 2  # the rest of the series is below a geometric series of ratio 1/2
    for _ in range(_HALVINGS):
        total = -(-total * total >> _BITS)
    return Fraction(total, unit)


def log_above(ratio: Fraction) -> float:
    """Return a double proven to be at least ln(ratio), the smallest one found; ratio ≥ 1."""
    if ratio < 1:
        raise InvalidParameter(
            "expected a ratio of probabilities of at least 1, got a smaller one; divide the larger "
            "probability by the smaller one"
        )
    if ratio == 1:
        return 0.0
    guess = math.log1p(float(ratio - 1)) if ratio < 2 else _log(ratio)
    for _ in range(8):  # step down while the next lower double is still an upper bound
        lower = math.nextafter(guess, 0.0)
        if exp_below(Fraction(lower)) < ratio:
            break
        guess = lower
    while exp_below(Fraction(guess)) < ratio:
        guess = math.nextafter(guess, math.inf)
    return guess


def _log(ratio: Fraction) -> float:
    shift = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    scaled = ratio / Fraction(2) ** shift
    return math.log(float(scaled)) + shift * math.log(2.0)


def split(epsilon: float, weights: Sequence[float]) -> tuple[float, ...]:
    """Return one share of ε for each weight, in proportion to the weights; their exact sum is at most ε.

    Each share is the largest float at most ε·weight/Σ weights.

    >>> split(3.0, [1, 2])
    (1.0, 2.0)
    """
    sizes = [_positive("a weight", weight) for weight in weights]
    if not sizes:
        raise InvalidParameter(
            "expected at least one weight to split a budget, got an empty list; pass a weight for each share"
        )
    total_epsilon, total = _positive("epsilon", epsilon), sum(sizes)
    return tuple(rounded_down(total_epsilon * size / total) for size in sizes)


def share(epsilon: float, count: int) -> float:
    """Return the largest float that, times `count`, is at most ε.

    >>> share(1.0, 3)
    0.3333333333333333
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidParameter(f"the number of shares must be an integer from 1 upwards, not {found(count)}")
    return rounded_down(_positive("epsilon", epsilon) / count)


def rest(epsilon: float, spent: float) -> float:
    """Return the largest float at most ε − spent; it is negative if `spent` exceeds ε.

    Use it if the first share is fixed and the second is the remainder.

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


def float_at_least(exact: Fraction) -> float:
    """Return the smallest float that is at least `exact`."""
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)
