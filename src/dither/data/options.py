"""What a caller states about a table: missing answers, values outside of the domain, how text is written."""

from __future__ import annotations

import codecs
import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from dither.errors import InvalidParameter, OutsideDomain, choose, found

SEPARATORS: Final = (",", ";", "\t", "|")  # the ones that are detected
_NAMES: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_MARKS: Final = (  # byte-order marks, the longer ones first
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_NAME: Final = 60  # of a column that an error shows


# What to do with a missing answer, an empty cell of a file or a null of a data frame: raise `OutsideDomain` and
# name the place, or declare that who did not answer is public, and draw no report for that answer. A file of
# reports then leaves the row out, a data frame keeps the null.
Missing = Literal["error", "skip"]
# What to do with a value outside of its domain, a number of a table or a location of a trip: raise
# `OutsideDomain` and name the place; move the value to the nearest one inside (angles are wrapped); leave the row
# of a table out, and declare that who was outside is public. Trips have no such choice.
Outside = Literal["error", "clip", "skip"]


def check_missing(choice: object) -> Missing:
    """Return the choice; raise InvalidParameter if there is no such one."""
    return choose("missing", choice, {name: name for name in get_args(Missing)})


def check_outside(choice: object) -> Outside:
    """Return the choice; raise InvalidParameter if there is no such one."""
    return choose("outside", choice, {name: name for name in get_args(Outside)})


def missing_answer(place: str) -> OutsideDomain:
    """Return the error for a missing answer at a place."""
    return OutsideDomain(
        f"{place}: the answer is missing, and a missing report would show who did not answer; fill it in, "
        'leave the row out, or declare that who did not answer is public (missing="skip", at the '
        "terminal --missing skip)"
    )


@dataclass(frozen=True)
class Dialect:
    """How a file of text is read. What is left out is detected, or is the default.

    `sep` separates the cells of CSV: a comma, unless the header has none and has semicolons, tabs or bars.
    `decimal` is the decimal sign of numbers, "." or ","; it is never detected, because 1,234 may mean either.
    `encoding` is the one that a byte-order mark states, or UTF-8. `na` are the words that stand for a missing
    answer, such as ("NA", "n/a"); an empty cell is always one.

    >>> Dialect(sep="tab", decimal=",").number("12,5")
    12.5
    """

    sep: str | None = None
    decimal: str = "."
    encoding: str | None = None
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sep is not None:
            sep = _NAMES.get(self.sep, self.sep) if isinstance(self.sep, str) else ""
            if len(sep) != 1 or sep in '"\r\n' or sep.isalnum() or ord(sep) > 127:
                raise InvalidParameter(
                    f"the separator is one character such as , or ; or tab, not {found(self.sep)}"
                )
            object.__setattr__(self, "sep", sep)
        if self.decimal not in (".", ","):
            raise InvalidParameter(f"the decimal sign is . or , and not {found(self.decimal)}")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        words: Any = self.na
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise InvalidParameter('na is a list of words that stand for no answer, such as ["NA", "n/a"]')
        object.__setattr__(self, "na", tuple(dict.fromkeys(word.strip() for word in words)))

    def number(self, cell: Any) -> float:
        """Return the number in a cell, NaN if the cell is not a number; infinite if no float is so large.

        With a decimal comma a point is not part of a number: 1.234 might mean 1 234.
        """
        if isinstance(cell, str) and self.decimal == ",":
            cell = "" if "." in cell else cell.replace(",", ".")
        try:
            return float(cell)
        except (ValueError, TypeError):
            return math.nan
        except OverflowError:  # a whole number of JSON with hundreds of digits
            return math.inf if cell > 0 else -math.inf

    def is_absent(self, cell: Any) -> bool:
        """Return whether a cell is a missing answer: empty, or a word of `na`."""
        return cell is None or (bool(self.na) and isinstance(cell, str) and cell.strip() in self.na)

    def separator_of(self, header: str) -> str:
        """Return `sep`, or the separator of a header line: the first line of a file."""
        if self.sep is not None:
            return self.sep
        counts = {sep: _fields(header, sep) for sep in SEPARATORS}
        return "," if counts[","] > 1 else max(SEPARATORS, key=lambda sep: counts[sep])

    def encoding_of(self, head: bytes) -> str:
        """Return `encoding`, or the one that the first bytes of a file state."""
        if self.encoding is not None:
            return "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")

    def has_other_decimal(self, cell: Any) -> bool:
        """Return whether a cell that is not a number is one with the other decimal sign."""
        other = Dialect(decimal="," if self.decimal == "." else ".")
        return isinstance(cell, str) and not math.isnan(other.number(cell))


USUAL: Final = Dialect()


def _encoding(name: Any) -> str:
    try:
        known = codecs.lookup(name)
        "a,b\n".encode(known.name)
    except (LookupError, TypeError, UnicodeError, ValueError):
        raise InvalidParameter(
            f"there is no text encoding {found(name)}; common ones are utf-8, utf-16, cp1252 and latin-1"
        ) from None
    return known.name


def _fields(line: str, sep: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=sep), []))
    except csv.Error:
        return 0


def is_header(names: Sequence[Any], below: Sequence[Any]) -> bool:
    """Return whether the first row of a table is surely its header, so that an error may show it.

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
