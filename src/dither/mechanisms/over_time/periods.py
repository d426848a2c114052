"""Checks of days, and of sequences with a value for each day."""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Array
from dither.domains import Domain
from dither.errors import InvalidParameter, found
from dither.mechanisms.separate import labelled

MOST_DAYS: Final = 36_600


def check_days(name: str, given: object, *, least: int = 1, most: int = MOST_DAYS) -> None:
    """Raise InvalidParameter unless this is a whole number of days."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InvalidParameter(f"{name} is a whole number of days from {least} to {most}, not {found(given)}")


def check_rows(sequences: object, domain: Domain, days: int) -> Array:
    """Return people's values as an array, a row for each person; raise InvalidParameter if it is none."""
    kind = object if labelled(domain) else None
    try:
        rows = np.asarray(sequences, dtype=kind)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != days:
        raise InvalidParameter(f"give a row for each person with a value for each of the {days} days")
    return rows
