"""Directed rounding: the floats next to an exact rational number."""

from __future__ import annotations

import math
from fractions import Fraction


def float_at_most(exact: Fraction) -> float:
    """Return the largest float that is at most `exact`."""
    near = float(exact)
    return near if near <= exact else math.nextafter(near, -math.inf)


def float_at_least(exact: Fraction) -> float:
    """Return the smallest float that is at least `exact`."""
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)
