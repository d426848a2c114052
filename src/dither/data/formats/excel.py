"""Excel's .xlsx: a sheet (by default the first) below one or several header rows. Needs the extra `frames`.

A cell that is merged over several columns is stored in the first of them. The others are named after it.

The specification is in a sheet of its own, named "dither", cut into cells of at most 32 000 characters.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dither.data.dialect import USUAL, Dialect, is_header
from dither.data.formats.format import ROWS, Chunk, Columns, TableFormat, require_columns
from dither.data.formats.text import TextChunk, text_rows
from dither.errors import DitherError, InvalidParameter, MissingExtra, found

_SHEET: Final = "dither"  # the sheet of the specification
_PIECE: Final = 32_000  # a cell holds 32 767 characters
_MOST_ROWS: Final = (1 << 20) - 1  # rows of a sheet below the header


class Excel(TableFormat):
    """Spreadsheets of Excel 2007 and later. Cells of formulas have their last computed value."""

    def specification(self, path: Path) -> str | None:
        with _open_book(path) as book:
            if _SHEET not in book.sheetnames:
                return None
            return "".join(str(row[0]) for row in book[_SHEET].iter_rows(values_only=True) if row)

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        with _open_book(path) as book:
            return _header(_rows(path, book, dialect), dialect)

    def remarks(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        """Return what to check before a header is used: other sheets, and a header in two rows."""
        with _open_book(path) as book:
            others = [found(name) for name in book.sheetnames if name != _SHEET]
            header = _header(_rows(path, book, dialect), dialect)
        remarks = []
        if dialect.sheet is None and len(others) > 1:
            remarks.append(f"read the sheet {others[0]}; --sheet names another: {', '.join(others[1:])}")
        if any(re.fullmatch(r".+ \(\d+\)", name) for name in header):
            row = dialect.header_rows[1]
            remarks.append(
                f"the header has merged cells; --header-row {row}-{row + 1} joins two rows of names"
            )
        return remarks

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        with _open_book(path) as book:
            rows = _rows(path, book, dialect)
            header = _header(rows, dialect)
            if not set(columns) <= set(header):
                require_columns(path, columns, header, shown=is_header(header, next(rows, ())))
            require_columns(path, columns, header)
            positions = {column: header.index(column) for column in columns}
            first = 1
            while some := list(islice(rows, ROWS)):
                kept = {column: [_cell(row, index) for row in some] for column, index in positions.items()}
                yield TextChunk(path, first, kept, dialect)
                first += len(some)

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        book = _openpyxl().Workbook(write_only=True)
        sheet, head = book.create_sheet("reports"), book.create_sheet(_SHEET)
        for begin in range(0, len(specification), _PIECE):
            head.append([specification[begin : begin + _PIECE]])
        try:
            _append(sheet, chunks)
        except BaseException:
            book.save(BytesIO())  # closes and removes openpyxl's own temporary files
            raise
        with path.open("xb") as stream:
            book.save(stream)


def _append(sheet: Any, chunks: Iterator[Columns]) -> None:
    count = 0
    for number, chunk in enumerate(chunks):
        if number == 0:
            sheet.append(list(chunk))
        for row in text_rows(chunk):
            count += 1
            if count > _MOST_ROWS:
                raise InvalidParameter(
                    f"expected at most {_MOST_ROWS} rows for a sheet of Excel; write .csv instead"
                )
            sheet.append(list(row))


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("a file of Excel", "frames") from None
    return openpyxl


@contextmanager
def _open_book(path: Path) -> Iterator[Any]:
    """Open a workbook to read its rows one by one."""
    openpyxl, book = _openpyxl(), None
    try:
        with warnings.catch_warnings(), path.open("rb") as stream:
            warnings.simplefilter("ignore")  # irrelevant warnings about styles and extensions
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            yield book
    except (DitherError, GeneratorExit):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # from the system: no such file
            raise
        raise InvalidParameter(f"expected {path.name} to be a valid .xlsx file; write it again") from None
    finally:
        if book is not None:
            book.close()


def _sheet(path: Path, book: Any, dialect: Dialect) -> Any:
    """Return the requested sheet by name or number, by default the first."""
    names = [name for name in book.sheetnames if name != _SHEET]
    wanted = dialect.sheet
    if wanted is None:
        return book.worksheets[0]
    if isinstance(wanted, str) and wanted in book.sheetnames:
        return book[wanted]
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 1 <= wanted <= len(names):
        return book[names[wanted - 1]]
    there = ", ".join(f"{number} {found(name)}" for number, name in enumerate(names, 1))
    raise InvalidParameter(f"cannot find the sheet {found(wanted)} in {path.name}; its sheets are {there}")


def _rows(path: Path, book: object, dialect: Dialect) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a sheet, the header first, without empty rows at the end."""
    waiting = 0
    for row in _sheet(path, book, dialect).iter_rows(min_row=dialect.header_rows[0], values_only=True):
        if all(cell is None for cell in row):
            waiting += 1
            continue
        yield from [()] * waiting
        waiting = 0
        yield row


def _header(rows: Iterator[tuple[Any, ...]], dialect: Dialect) -> list[str]:
    """Return the names of the columns; those below a merged cell are NAME (2), NAME (3), … in one row.

    Of several rows the names are joined by a space, where a merged cell above holds for all its columns.
    """
    first, last = dialect.header_rows
    levels = [_names(next(rows, ())) for _ in range(last - first + 1)]
    width = max(map(len, levels))  # the width of the sheet: a merged cell may be the last one
    names = [""] * width
    for level, row in enumerate(levels):
        above = ""
        for index, name in enumerate(row + [""] * (width - len(row))):
            above = name or above
            names[index] = f"{names[index]} {above if level < len(levels) - 1 else name}".strip()
    seen, before = 1, ""
    for index, name in enumerate(names):
        seen, before = (1, name) if name else (seen + 1, before)
        names[index] = name or (f"{before} ({seen})" if before else "")
    return names


def _names(row: Sequence[Any]) -> list[str]:
    return ["" if name is None else str(_plain(name)).strip() for name in row]


def _plain(cell: Any) -> object:
    """Return a cell as a date if it is a time at midnight (Excel's form of a date)."""
    midnight = isinstance(cell, datetime.datetime) and cell.time() == datetime.time()
    return cell.date() if midnight else cell


def _cell(row: Sequence[Any], index: int) -> object:
    cell = row[index] if index < len(row) else None
    return None if cell == "" else _plain(cell)
