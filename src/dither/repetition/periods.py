"""Checks of days, and of sequences with a value for each day."""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Array
from dither.domains import Domain
from dither.domains.separate import labelled
from dither.errors import InvalidParameter, found
from dither.question import Question, as_question

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


def asked_alone(asked: object, name: str) -> Question:
    """Return the question that is asked again; raise InvalidParameter unless a device answers it alone."""
    wrong = f"{name} needs one mechanism that a device runs alone, not {type(asked).__name__}"
    try:
        question = as_question(asked)
    except InvalidParameter:
        raise InvalidParameter(wrong) from None
    if not question.alone:
        raise InvalidParameter(wrong)
    return question
