"""Certified rational bounds of e^ε and of logarithms.

Every number here is an integer or a `Fraction`, rounded in a stated direction. A double ε stands for its
exact rational value.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dither.errors import InvalidParameter

_BITS: Final = 320  # fixed-point digits; e^50 needs 73 before the point
_HALVINGS: Final = 8


@lru_cache(maxsize=512)
def exp_below(exponent: Fraction) -> Fraction:
    """Return a rational lower bound of e^exponent, with a relative error below 2^−200."""
    if exponent < 0:
        return 1 / exp_above(-exponent)
    one = 1 << _BITS
    step = exponent / (1 << _HALVINGS)
    numerator, denominator = step.numerator, step.denominator
    term = total = one
    count = 1
    while term:  # partial sums of the series of positive terms, each rounded down
        term = term * numerator // (denominator * count)
        total += term
        count += 1
    for _ in range(_HALVINGS):
        total = total * total >> _BITS
    return Fraction(total, one)


@lru_cache(maxsize=512)
def exp_above(exponent: Fraction) -> Fraction:
    """Return a rational upper bound of e^exponent, with a relative error below 2^−200."""
    if exponent < 0:
        return 1 / exp_below(-exponent)
    one = 1 << _BITS
    step = exponent / (1 << _HALVINGS)
    numerator, denominator = step.numerator, step.denominator
    term = total = one
    count = 1
    while term > 1 or numerator > denominator * count:
        term = -(-term * numerator // (denominator * count))
        total += term
        count += 1
    total += 2 * term + 2  # the rest of the series is below a geometric series of ratio 1/2
    for _ in range(_HALVINGS):
        total = -(-total * total >> _BITS)
    return Fraction(total, one)


def log_above(ratio: Fraction) -> float:
    """Return a double that is certainly at least ln(ratio), the smallest one found; ratio ≥ 1."""
    if ratio < 1:
        raise InvalidParameter("a ratio of probabilities must be at least 1")
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
