"""Budgets as whole numbers: ε in units of 2^−64, δ in units of 2^−128. Sums are exact in any language.

A charge is rounded up to the next unit. A double of at least 2^−11 is a whole number of units of ε, so there
nothing is rounded. See docs/account.md, which is normative.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dither.errors import InvalidParameter
from dither.numerics.rounding import float_at_least
from dither.privacy import Approximate, Pure

EPSILON: Final = 64  # binary places of a unit of ε
DELTA: Final = 128  # binary places of a unit of δ
_SLACK: Final = 52  # a limit admits 1 + 2^−52 times its double
MOST: Final = float(1 << 20)  # the largest ε of a budget


def charge(number: float, places: int) -> int:
    """Return the least whole number of units that is at least a double.

    >>> charge(0.5, EPSILON) == 2**63
    True
    """
    return math.ceil(Fraction(number) * (1 << places))


def limit(number: float, places: int) -> int:
    """Return the units that a budget admits: u + ⌊u/2^52⌋ + 1, where u is its double in units; 0 for 0.

    Decimal fractions are not doubles: ten times the double 0.1 is more than 1. The relative slack of 2^−52
    lets ten answers at 0.1 fit into a budget of 1. The account's guarantee states the number with the slack.
    """
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= MOST:
        raise InvalidParameter(f"a budget is a number from 0 to {MOST:g}")
    units = math.floor(Fraction(number) * (1 << places))
    return units + (units >> _SLACK) + 1 if units else 0


def as_float(units: int, places: int) -> float:
    """Return the smallest double that is at least a number of units."""
    return float_at_least(Fraction(units, 1 << places))


def as_bound(epsilon: int, delta: int) -> Pure | Approximate:
    """Return the bound of two numbers of units, rounded up."""
    if not delta:
        return Pure(as_float(epsilon, EPSILON))
    return Approximate(as_float(epsilon, EPSILON), min(1.0, as_float(delta, DELTA)))


def shown(units: int, places: int, *, whole: int | None = None) -> str:
    """Return what is left, or was spent, as a decimal number of at most six digits without rounding dust.

    It is rounded down, unless the nearest such number differs by less than 2^−40 of the whole.

    >>> shown(charge(0.3, EPSILON) - charge(0.1, EPSILON), EPSILON, whole=charge(0.3, EPSILON))
    '0.2'
    """
    exact = Fraction(units, 1 << places)
    dust = Fraction(max(units, whole or 0), 1 << (places + 40))
    if exact <= dust:
        return "0"
    nearest = Fraction(f"{float(exact):.6g}")
    if abs(nearest - exact) > dust and nearest > exact:
        power = math.floor(math.log10(float(exact))) - 5
        step = Fraction(10) ** power
        nearest = (exact // step) * step
    text = f"{float(nearest):.6g}"
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")
