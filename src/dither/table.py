"""Tables as text, Markdown, HTML or CSV, and results that are tables.

All tables of the library, the command line and the reports are formatted here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import MissingExtra, unknown_name
from dither.html import Markup, element

Row = Mapping[str, Any]


def shown(value: object) -> str:
    """Return the text of a cell: a float with four digits, an empty text for None, otherwise str(value)."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "0" if abs(value) < 1e-12 else f"{value:.4g}"
    return str(value)


def percent(share: float, digits: int = 2) -> str:
    """Return a share in per cent, with `digits` significant digits."""
    return f"{100.0 * share:.{digits}g} %"


def as_text(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    align: str = "",
    indent: str = "",
    emphasis: Callable[[str], str] = str,
) -> str:
    """Return a table as lines of plain text, its columns two spaces apart.

    `align` has a letter for each column, "l" or "r"; by default the first column is aligned to the left and
    all others to the right. An empty `head` is left out; `emphasis` is applied to its line, as for bold type.
    """
    lines = ([list(head)] if head else []) + [[shown(value) for value in row] for row in rows]
    if not lines:
        return ""
    sides = align or "l" + "r" * (len(lines[0]) - 1)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        indent
        + "  ".join(
            cell.ljust(width) if side == "l" else cell.rjust(width)
            for cell, width, side in zip(line, widths, sides, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([emphasis(written[0]), *written[1:]] if head else written)


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown. A vertical bar in a cell is escaped; line breaks become spaces."""
    lines = [head, ["---"] * len(head), *([shown(value) for value in row] for row in rows)]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def as_html(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Return a table in HTML; all text is escaped."""
    lines = [element("tr", *(element("th", name) for name in head))]
    lines += [element("tr", *(element("td", shown(value)) for value in row)) for row in rows]
    return element("table", *lines)


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV with all their digits; the columns are in the order in which they first appear."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def from_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows that `as_csv` wrote: numbers as floats, and no entry for an empty cell."""
    return [
        {name: _number(value) for name, value in row.items() if value != ""}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable:
    """Rows of named values with a title; the first value of a row is the row's name.

    `list(table)` returns the rows as dictionaries, and `table["PM"]` the row of that name. pandas, Polars,
    PyArrow and DuckDB read the table through Arrow's stream protocol.
    """

    title: str
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the values, in order."""
        return list(self.rows[0]) if self.rows else []

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> Row:
        if isinstance(key, int):
            return self.rows[key]
        names = [str(next(iter(row.values()))) for row in self.rows]
        if key not in names:
            raise unknown_name("row", key, names)
        return self.rows[names.index(key)]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow batches; needs the extra `frames`."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("a table as a data frame", "frames") from None
        return pyarrow.Table.from_pylist([dict(row) for row in self.rows]).__arrow_c_stream__(
            requested_schema
        )

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame; needs the extra `frames`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a table as a data frame", "frames") from None
        return pandas.DataFrame.from_records([dict(row) for row in self.rows], columns=self.columns)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the cells as they are printed."""
        return self.columns, [[shown(value) for value in row.values()] for row in self.rows]

    def __repr__(self) -> str:
        return f"{self.title}\n\n{as_text(*self._cells())}"

    def _repr_html_(self) -> str:
        """Return the table as notebooks show it."""
        return element("p", self.title) + as_html(*self._cells())
