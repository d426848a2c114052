"""The ids of persons: one rule for every format."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
import uuid
from decimal import Decimal
from typing import Final

_DECIMAL: Final = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")


def person_text(cell: object) -> str | None:
    """Return the id of a person as text, "" if it is empty, None if it is not an id.

    Two rows with the same text are about one person. A number is its shortest decimal text, so 1, 1.0 and the
    text "1" are one person, as they are in CSV, where every cell is text; "1.0" is so too, because many
    programs write whole numbers with a point. Other text counts as it is read, without spaces around it:
    "007" and "7" are two persons. None and NaN are empty. A list or an object is not an id.
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = unicodedata.normalize("NFC", cell).strip()
        return _shortest(text) if _DECIMAL.fullmatch(text) else text
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, float | Decimal):
        return _number(cell)
    if isinstance(cell, bytes):
        return _bytes(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta | uuid.UUID):
        return str(cell)
    return None


def _number(cell: float | Decimal) -> str:
    if math.isnan(cell):
        return ""
    if not math.isfinite(cell):
        return "inf" if cell > 0 else "-inf"
    if cell == int(cell):
        return str(int(cell))
    # `repr` is the shortest decimal text that reads back as the same float.
    return _shortest(f"{Decimal(repr(cell)) if isinstance(cell, float) else cell:f}")


def _shortest(text: str) -> str:
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _bytes(cell: bytes) -> str | None:
    try:
        return person_text(cell.decode())
    except UnicodeDecodeError:
        return cell.hex()
