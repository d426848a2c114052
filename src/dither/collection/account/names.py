"""Names of questions and askers: public texts that are printed and compared."""

from __future__ import annotations

from typing import Final

from dither.errors import InvalidParameter

_MOST: Final = 200  # characters


def check_name(what: str, name: object, *, least: int) -> None:
    """Raise InvalidParameter unless a name is a text of `least` to 200 printable characters."""
    if not isinstance(name, str) or not least <= len(name) <= _MOST or not name.isprintable():
        raise InvalidParameter(f"expected {what} to be a text of {least} to {_MOST} printable characters")
