"""SPSS's .sav and .zsav and Stata's .dta, with their value labels. Needs the extra `survey` (pyreadstat).

A cell with a value label is a category by its label, or by its code where the question has codes; as a number
it is its code. User-missing codes (−99 "refused", and Stata's .a to .z) are missing answers. These files are
read, not written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dither.core.question import Question
from dither.data.dialect import USUAL, Dialect
from dither.data.formats.format import (
    ROWS,
    Chunk,
    Columns,
    ItemLists,
    TableFormat,
    code_cells,
    require_columns,
    split_cells,
)
from dither.data.formats.text import numbers_in
from dither.errors import InvalidParameter, MissingExtra
from dither.foundation.arrays import Array, Floats, Integers, Mask


class LabelledCell(str):
    """The label of a value, with its code."""

    code: Any

    def __new__(cls, label: str, code: Any) -> LabelledCell:
        """Return the label with its code."""
        made = super().__new__(cls, label)
        made.code = int(code) if isinstance(code, float) and code.is_integer() else code
        return made


class LabelledChunk(Chunk):
    """Rows whose cells are codes, some of which have labels."""

    def __init__(
        self,
        path: Path,
        first: int,
        raw: Mapping[str, Sequence[Any]],
        labels: Mapping[str, Mapping[Any, str]],
        dialect: Dialect,
    ) -> None:
        shown = {name: [_show(cell, labels.get(name, {})) for cell in cells] for name, cells in raw.items()}
        super().__init__(path, first, dialect)
        self._raw, self._shown = raw, shown

    def __len__(self) -> int:
        return len(next(iter(self._raw.values()), ()))

    def cells(self, column: str) -> Sequence[Any]:
        return self._shown[column]

    def ids(self, column: str) -> None:
        return None  # labels and codes: one by one

    def lists(self, column: str, rows: Integers) -> ItemLists:
        return split_cells(self, column, rows)

    def take(self, column: str, rows: Integers) -> Sequence[Any]:
        return [self._shown[column][row] for row in rows.tolist()]

    def raw_reports(self, column: str, question: Question) -> Array:
        return self.from_cells(column, self._shown[column], question)

    def absent(self, column: str) -> Mask:
        cells, raw = self.cells(column), self._raw[column]
        absent = self.dialect.is_absent
        either = (absent(cell) or absent(code) for cell, code in zip(cells, raw, strict=True))
        return np.fromiter(either, np.bool_, len(cells))

    def numbers(self, column: str, rows: Integers) -> Floats:
        return numbers_in([self._raw[column][row] for row in rows.tolist()], self.dialect)

    def codes(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        return code_cells(self.take(column, rows))


def _show(cell: object, labels: Mapping[Any, str]) -> object:
    if cell in labels:
        return LabelledCell(labels[cell], cell)
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


class LabelledFile(TableFormat):
    """Files of SPSS and Stata, by pyreadstat."""

    def specification(self, path: Path) -> None:
        """Return None: files of SPSS and Stata never hold reports."""

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        return list(_open(path, dialect, metadataonly=True)[1].column_names)

    def value_labels(self, path: Path, dialect: Dialect = USUAL) -> dict[str, list[str]]:
        """Return the answers that the file's own codebook lists for its columns; no value is read."""
        meta = _open(path, dialect, metadataonly=True, user_missing=True)[1]
        found: dict[str, list[str]] = {}
        for name, labels in meta.variable_value_labels.items():
            gone = set(meta.missing_user_values.get(name, ()))
            ranges = meta.missing_ranges.get(name, ())
            found[name] = [
                label
                for code, label in labels.items()
                if code not in gone
                and not _is_missing_letter(path, code)
                and not any(part["lo"] <= code <= part["hi"] for part in ranges)
            ]
        return {name: labels for name, labels in found.items() if len(labels) > 1}

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        require_columns(path, columns, self.columns(path, dialect))
        first = 1
        while True:
            wanted: dict[str, Any] = {"usecols": list(columns), "row_offset": first - 1, "row_limit": ROWS}
            table, meta = _open(path, dialect, **wanted)
            raw = {name: [_plain(cell) for cell in table[name]] for name in columns}
            count = len(raw[columns[0]]) if columns else 0
            if not count:
                return
            yield LabelledChunk(path, first, raw, meta.variable_value_labels, dialect)
            first += count

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        raise InvalidParameter(
            f"expected reports in .csv, .parquet or .xlsx, got {path.suffix}; rename the file"
        )


def _is_missing_letter(path: Path, code: object) -> bool:
    """Return whether a code is one of Stata's .a to .z (missing answers)."""
    return isinstance(code, str) and path.suffix.lower() == ".dta"


def _plain(cell: object) -> object:
    """Return a cell, None where it is empty: texts of these files are never null."""
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return cell.rstrip() if isinstance(cell, str) else cell


def _open(path: Path, dialect: Dialect, **more: Any) -> tuple[Any, Any]:
    """Return columns by name and the file's metadata about them. User-missing codes are None."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra("files of SPSS and Stata", "survey") from None
    reader = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    with path.open("rb"):  # raises the system's error for a missing file
        pass
    try:
        found: tuple[Any, Any] = reader(str(path), output_format="dict", encoding=dialect.encoding, **more)
    except Exception:  # its text may hold a value
        raise InvalidParameter(
            f"expected {path.name} to be a valid {path.suffix} file; write it again"
        ) from None
    return found
