"""The domain of short texts, such as words and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Bytes
from dither.device_text import whole
from dither.domains.domain import Domain, objects
from dither.errors import InvalidParameter, OutsideDomain, found

MOST_SYMBOLS: Final = 255


class _Codes(dict[int, int]):
    """From code points to symbols; `str.translate` deletes all other letters, which shortens the text."""

    def __missing__(self, letter: int) -> None:
        return None


@final
@dataclass(frozen=True)
class Text(Domain):
    """All texts of up to `length` symbols: bytes of UTF-8, or letters of a public alphabet.

    A text is encoded as a row of `length` symbols from 1 upwards, padded with zeros. A short alphabet makes
    common texts easier to find.

    >>> Text(4, alphabet="abc").check(["cab", "b"])
    array([[3, 1, 2, 0],
           [2, 0, 0, 0]], dtype=uint8)
    """

    length: int
    alphabet: str | None = None

    kind: ClassVar[str] = "text"
    outside: ClassVar[str] = "refuse"

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or not 1 <= self.length <= 256:
            raise InvalidParameter(f"length must be a whole number from 1 to 256, not {found(self.length)}")
        if self.alphabet is None:
            return
        if not isinstance(self.alphabet, str) or not 1 <= len(self.alphabet) <= MOST_SYMBOLS:
            raise InvalidParameter(f"alphabet must be a text of 1 to {MOST_SYMBOLS} letters")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise InvalidParameter("a letter appears twice in the alphabet")

    @property
    def symbols(self) -> int:
        """The number of different symbols, without the padding."""
        return MOST_SYMBOLS if self.alphabet is None else len(self.alphabet)

    @cached_property
    def _codes(self) -> _Codes:
        return _Codes((ord(letter), code + 1) for code, letter in enumerate(self.alphabet or ""))

    def check(self, values: object) -> Bytes:
        """Return the symbols of texts along the last axis; raise `OutsideDomain` if a text is not valid."""
        if isinstance(values, np.ma.MaskedArray):
            raise OutsideDomain("masked arrays are not accepted; replace or drop missing texts first")
        array = objects(values)
        rows = b"".join([self._row(value) for value in array.flat])
        return np.frombuffer(rows, dtype=np.uint8).reshape(*array.shape, self.length)

    def _row(self, value: object) -> bytes:
        row = self._encoded(value)
        if row is None or len(row) > self.length or 0 in row:
            raise OutsideDomain(f"a value is not one of {self}; check the data, or use clip(values) first")
        return row.ljust(self.length, b"\0")

    def _encoded(self, value: object) -> bytes | None:
        """Return the symbols of one value, of any number, or None if it cannot be encoded."""
        if isinstance(value, bytes) and self.alphabet is None:
            return bytes(value)
        if not isinstance(value, str):
            return None
        if self.alphabet is not None:
            row = value.translate(self._codes).encode("latin-1")
            return row if len(row) == len(value) else None
        try:
            return value.encode()
        except UnicodeEncodeError:
            return None

    def clip(self, values: object) -> Array:
        """Return texts cut to the length, at the end of a letter; raise an error for unknown letters."""
        array = objects(values)
        cut = np.empty(array.shape, dtype=object)
        cut[...] = [self._cut(value) for value in array.flat] if array.ndim else self._cut(array.item())
        return cut

    def _cut(self, value: object) -> object:
        row = self._encoded(value)
        if row is None or 0 in row:
            self._row(b"\0")
        elif isinstance(value, str) and self.alphabet is None:
            return row[: self.length].decode(errors="ignore")
        return value[: self.length] if isinstance(value, str | bytes) else value

    def decode(self, rows: Bytes) -> list[str]:
        """Return the texts of rows of symbols; bytes that are not UTF-8 become escapes such as \\xff."""
        texts = [bytes(row).split(b"\0", 1)[0] for row in rows]
        if self.alphabet is None:
            return [text.decode(errors="backslashreplace") for text in texts]
        return ["".join(self.alphabet[code - 1] for code in text) for text in texts]

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "length": self.length, "alphabet": self.alphabet}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(whole(data["length"]), data["alphabet"])

    def __str__(self) -> str:
        kind = "bytes" if self.alphabet is None else f"letters of an alphabet of {len(self.alphabet)}"
        return f"the texts of up to {self.length} {kind}"
