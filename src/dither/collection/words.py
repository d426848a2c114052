"""Words: texts that are shown to people. Every device has the same rule (docs/wire.md)."""

from __future__ import annotations

from typing import Final

from dither.errors import InvalidParameter
from dither_device.text import Malformed
from dither_device.text import check_words as check_on_device

MOST_CHARACTERS: Final = 500  # limit of a question, of the name of an answer, and of a label


def check_words(
    what: str, text: object, *, size: int | None = None, characters: int | None = None, lines: bool = False
) -> None:
    """Raise InvalidParameter unless a text can be shown, of at most `size` bytes or `characters`.

    Controls, line breaks (unless `lines`), invisible characters and unpaired direction marks are refused.
    """
    try:
        check_on_device(text, size=size, characters=characters, lines=lines)
    except Malformed as error:
        raise InvalidParameter(f"{what}: {error.args[0].removeprefix('terms: ')}") from None
    except UnicodeEncodeError:
        raise InvalidParameter(
            f"{what}: expected text without unpaired UTF-16 surrogates; write it again"
        ) from None
