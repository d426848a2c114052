"""A small table: rows are dictionaries; it prints as plain text and speaks Arrow's stream protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import InvalidParameter, MissingExtra

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of named values, the first of which is the row's own name.

    `list(table)` gives the rows as dictionaries; `table["PM"]` gives one by name; pandas, Polars, PyArrow and
    DuckDB read the table as it is, through Arrow.
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
        for row in self.rows:
            if next(iter(row.values())) == key:
                return row
        names = ", ".join(str(next(iter(row.values()))) for row in self.rows)
        raise InvalidParameter(f"there is no such row; there are {names}")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the rows as a stream of Arrow batches; needs the extra `frames`."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("a table as a data frame", "frames") from None
        return pyarrow.Table.from_pylist([dict(row) for row in self.rows]).__arrow_c_stream__(
            requested_schema
        )

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        """Give the heads and the cells as they are printed."""
        return self.columns, [[shown(value) for value in row.values()] for row in self.rows]

    def __repr__(self) -> str:
        heads, cells = self._shown()
        return "\n".join([self.title, "", *aligned(heads, cells)])


def shown(value: object) -> str:
    """Write a value with four digits; nothing where there is none."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "0" if abs(value) < 1e-12 else f"{value:.4g}"
    return str(value)


def aligned(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Give lines with the first column to the left and all others to the right."""
    widths = [max(len(line[i]) for line in [heads, *cells]) for i in range(len(heads))]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [heads, *cells]
    ]
