"""Terms of a contract: texts that can be shown, and the promise that is computed from the questions."""

from __future__ import annotations

import datetime
import math
from typing import Any

from dither.errors import InvalidParameter, found
from dither.privacy import Guarantee


def promises(guarantee: Guarantee) -> dict[str, Any]:
    """Return what a person is promised, computed from the integers of the questions."""
    epsilon, delta = (getattr(guarantee.bound, name, None) for name in ("epsilon", "delta"))
    return {"epsilon": epsilon, "delta": delta, "assumptions": list(guarantee.assumes)}


def is_promise(stated: object, guarantee: Guarantee) -> bool:
    """Return whether a stated promise is the computed one; the last digits may be another version's."""
    computed = promises(guarantee)
    if not isinstance(stated, dict) or stated.keys() != computed.keys():
        return False
    for name in ("epsilon", "delta"):
        given, own = stated[name], computed[name]
        if own is None or given is None:
            if given is not own:
                return False
        elif (
            isinstance(given, bool)
            or not isinstance(given, int | float)
            or not math.isclose(given, own, rel_tol=1e-9)
        ):
            return False
    return bool(stated["assumptions"] == computed["assumptions"])


def read_day(text: object) -> datetime.date:
    """Return the day of a text such as 2026-05-01; raise ValueError for any other form of it."""
    day = datetime.date.fromisoformat(str(text))
    if day.isoformat() != text:
        raise ValueError("a day is written as 2026-05-01")
    return day


def from_digits(text: object) -> bytes:
    """Return the bytes of lower-case hexadecimal digits; raise ValueError for any other text."""
    data = bytes.fromhex(str(text))
    if data.hex() != text:
        raise ValueError("bytes are written as lower-case hexadecimal digits")
    return data


def check_text(what: str, text: object, most: int) -> None:
    """Raise InvalidParameter unless a term is a text that can be shown, of at most so many bytes."""
    if not isinstance(text, str) or not text.strip() or len(text.encode(errors="replace")) > most:
        raise InvalidParameter(f"{what} is a text of 1 to {most} bytes, not {found(text)}")
    if not text.replace("\n", " ").isprintable():
        raise InvalidParameter(f"{what} has characters that cannot be shown")
