"""A caller's settings for a table: missing answers, values outside the domain, and the format of text."""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Literal, get_args

from dither.errors import InvalidParameter, OutsideDomain, choose, found

SEPARATORS: Final = (",", ";", "\t", "|")  # separators that are detected
_NAMES: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_MARKS: Final = (  # byte-order marks, the longer ones first
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_NAME: Final = 60  # largest number of letters of a column's name in an error


# What to do with a missing answer, an empty cell of a file or a null of a data frame: raise `OutsideDomain`
# and name the place, or declare that who did not answer is public, and draw no report for that answer. A file
# of reports then leaves the row out, a data frame keeps the null.
Missing = Literal["error", "skip"]
# What to do with a value outside of its domain, a number of a table or a location of a trip: raise
# `OutsideDomain` and name the place; move the value to the nearest one inside (angles are wrapped); leave the
# row of a table out, and declare that who was outside is public. Trips have no such choice.
Outside = Literal["error", "clip", "skip"]


def check_missing(choice: object) -> Missing:
    """Return the choice; raise InvalidParameter if it is unknown."""
    return choose("missing", choice, {name: name for name in get_args(Missing)})


def check_outside(choice: object) -> Outside:
    """Return the choice; raise InvalidParameter if it is unknown."""
    return choose("outside", choice, {name: name for name in get_args(Outside)})


def missing_answer(place: str) -> OutsideDomain:
    """Return the error for a missing answer at a place."""
    return OutsideDomain(
        f"{place}: the answer is missing, and a missing report would show who did not answer; fill it in, "
        'make "no answer" a private answer (dt.Nullable, or optional = true in a campaign), or '
        'declare that who did not answer is public (missing="skip"); an empty cell of a set is the empty set '
        'if the question says empty="none"'
    )


@dataclass(frozen=True)
class Dialect:
    """The format of a file of text. Omitted parameters are detected or have a default.

    `sep` separates the cells of CSV: a comma, unless the header has none and has semicolons, tabs or bars.
    `decimal` is the decimal sign of numbers, "." or ","; it is never detected, because 1,234 may mean either.
    `thousands` separates groups of three digits: ".", ",", "'" or a space. A column in which 3.500 may be 3.5
    or 3 500 is refused unless one of the two is given. `encoding` is the one that a byte-order mark states,
    or UTF-8. `na` are the words and numbers that mean a missing answer, such as ("NA", "-99"); -99.0 is
    the same number, in every format, and an empty cell is always one. `items_sep` separates the items of a
    set in a cell of text, as in "mail;maps"; a cell with only the separator is the empty set.

    `sheet` is the sheet of an Excel file, by name or by number from 1; else the first. `header_row` is the
    row with the names of the columns, from 1; "2-3" are two rows, whose names are joined.

    >>> Dialect(sep="tab", decimal=",").number("12,5"), Dialect(thousands=".").number("3.500")
    (12.5, 3500.0)
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    items_sep: str = ";"
    thousands: str | None = None
    sheet: str | int | None = None
    header_row: int | str = 1

    def __post_init__(self) -> None:
        if self.sep is not None:
            sep = _NAMES.get(self.sep, self.sep) if isinstance(self.sep, str) else ""
            if len(sep) != 1 or sep in '"\r\n' or sep.isalnum() or ord(sep) > 127:
                raise InvalidParameter(
                    f"expected the separator to be one character such as , or ; or tab, got {found(self.sep)}"
                )
            object.__setattr__(self, "sep", sep)
        if not isinstance(self.items_sep, str) or len(self.items_sep) != 1 or self.items_sep.isalnum():
            raise InvalidParameter(
                f"expected the separator of items to be one character such as ; or |, got "
                f"{found(self.items_sep)}"
            )
        if self.decimal not in (None, ".", ","):
            raise InvalidParameter(f"expected the decimal sign to be . or , got {found(self.decimal)}")
        if self.thousands is not None:
            mark = {"space": " ", "\u00a0": " ", "\u202f": " ", "’": "'"}.get(self.thousands, self.thousands)
            if mark not in (".", ",", "'", " ") or mark == self.decimal:
                raise InvalidParameter(
                    "expected the separator of thousands to be . or , or ' or a space, and not the decimal "
                    f"sign, got {found(self.thousands)}"
                )
            object.__setattr__(self, "thousands", mark)
        if self.header_rows[0] == self.header_rows[1]:
            object.__setattr__(self, "header_row", self.header_rows[0])
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        words: Any = self.na
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise InvalidParameter(
                'expected na to be a list of words that mean no answer, such as ["NA", "n/a"]'
            )
        object.__setattr__(self, "na", tuple(dict.fromkeys(word.strip() for word in words)))

    @property
    def point(self) -> str:
        """The decimal sign: the given one, or the sign that is not used for thousands."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @property
    def header_rows(self) -> tuple[int, int]:
        """The first and the last row with names of columns, counted from 1."""
        first, _, last = str(self.header_row).partition("-")
        rows = (int(first), int(last or first)) if first.isdigit() and (last or "1").isdigit() else (0, 0)
        if isinstance(self.header_row, bool) or not 1 <= rows[0] <= rows[1] <= rows[0] + 9:
            raise InvalidParameter(
                "expected the header row to be a number from 1, or two such as 2-3, got "
                f"{found(self.header_row)}"
            )
        return rows

    def numbers_for_missing(self) -> list[float]:
        """Return the numbers among the words of `na`."""
        read = (self.number(word) for word in self.na)
        return [number for number in read if math.isfinite(number)]

    def may_be_thousands(self, text: object) -> bool:
        """Return whether a text is a number with groups of three digits: 3.500 may be 3.5 or 3 500."""
        return isinstance(text, str) and _GROUPED.fullmatch(text.strip()) is not None

    def number(self, cell: Any) -> float:
        """Return the number in a cell, NaN if it is not a number, or infinity if it is too large for a float.

        With a decimal comma a point is not part of a number: 1.234 might mean 1 234.
        """
        if isinstance(cell, str) and self.thousands is not None:
            cell = _SPACES.sub(" ", cell.strip().replace("’", "'"))
            complete, sign, rest = cell.partition(self.point)
            if self.thousands in cell and not _groups(self.thousands).fullmatch(complete):
                return math.nan
            cell = complete.replace(self.thousands, "") + sign + rest
        if isinstance(cell, str) and self.point == ",":
            cell = "" if "." in cell else cell.replace(",", ".")
        try:
            return float(cell)
        except (ValueError, TypeError):
            return math.nan
        except OverflowError:  # an integer of JSON with hundreds of digits
            return math.inf if cell > 0 else -math.inf

    def items(self, cell: Any) -> list[Any] | None:
        """Return the items of a set in a cell (a list, or separated text), or None for other cells."""
        if isinstance(cell, str):
            return [part.strip() for part in cell.split(self.items_sep) if part.strip()]
        return list(cell) if isinstance(cell, list | tuple) else None

    def is_absent(self, cell: object) -> bool:
        """Return whether a cell is a missing answer: empty, or a word of `na`."""
        if cell is None or not self.na or isinstance(cell, bool):
            return cell is None
        if isinstance(cell, str) and cell.strip() in self.na:
            return True
        codes = self._codes
        return bool(codes) and self.number(cell) in codes

    @cached_property
    def _codes(self) -> frozenset[float]:
        return frozenset(self.numbers_for_missing())

    def separator_of(self, header: str) -> str:
        """Return `sep`, or the separator of a header line: the first line of a file."""
        if self.sep is not None:
            return self.sep
        counts = {sep: _fields(header, sep) for sep in SEPARATORS}
        return "," if counts[","] > 1 else max(SEPARATORS, key=lambda sep: counts[sep])

    def encoding_of(self, head: bytes) -> str:
        """Return `encoding`, or the encoding that the first bytes of a file state."""
        if self.encoding is not None:
            return "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")

    def has_other_decimal(self, cell: object) -> bool:
        """Return whether a cell that is not a number would be a number with the other decimal sign."""
        other = Dialect(decimal="," if self.point == "." else ".")
        return isinstance(cell, str) and not math.isnan(other.number(cell))


_GROUPED: Final = re.compile(r"[+-]?[1-9][0-9]{0,2}(([.][0-9]{3})+|(,[0-9]{3})+)")
_SPACES: Final = re.compile(r"[\u00a0\u202f\u2009]")
USUAL: Final = Dialect()


@cache
def _groups(mark: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?[0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+")


def _encoding(name: Any) -> str:
    try:
        known = codecs.lookup(name)
        "a,b\n".encode(known.name)
    except (LookupError, TypeError, UnicodeError, ValueError):
        raise InvalidParameter(
            f"expected a known text encoding such as utf-8, utf-16, cp1252 or latin-1, got {found(name)}"
        ) from None
    return known.name


def _fields(line: str, sep: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=sep), []))
    except csv.Error:
        return 0


def is_header(names: Sequence[Any], below: Sequence[Any]) -> bool:
    """Return whether the first row of a table is certainly its header, so that an error may show it.

    No cell of a header is empty, a number or a date, and some column below is a number. A first row of a
    table without a header holds a person's values.
    """
    if not names or not all(isinstance(name, str) and _is_name(name) for name in names):
        return False
    numbers = [not math.isnan(Dialect(decimal=sign).number(cell)) for cell in below for sign in ".,"]
    return any(numbers)


def _is_name(name: str) -> bool:
    text = name.strip()
    return bool(text) and not text[0].isdigit() and text[0] not in "+-.@" and len(text) <= _LONGEST_NAME
