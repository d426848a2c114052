"""Numbers in sentences: digits in groups of three, with a thin space that does not break a line."""

from __future__ import annotations

from typing import Final

THIN: Final = "\u202f"


def whole(number: int) -> str:
    """Return an integer in groups of three digits: 40 000."""
    return f"{number:,}".replace(",", THIN)


def plain(number: float) -> str:
    """Return a number on an axis, with a typographic minus sign and grouped digits."""
    text = f"{number:,.6g}" if abs(number) < 1e6 else f"{number:.3g}"
    return text.replace(",", THIN).replace("-", "−")
