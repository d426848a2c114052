"""Rows of answers as JSON, CSV and Arrow. All digits of a number travel: it is read back bit for bit."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from dither.errors import MissingExtra
from dither.service.answers.rows import COLUMNS, LEVEL, PlainRow
from dither.table import as_csv

_NUMBERS: Final = frozenset({"from", "to", "value", "low", "high"})
_WHOLE: Final = frozenset({"n", "n of interval"})


class AnswerFormat(NamedTuple):
    """How rows are written, and the media type."""

    media: str
    write: Callable[[str, Sequence[PlainRow]], bytes]


def _json(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    whole = {"dither-answers": 1, "campaign": campaign, "level": LEVEL, "rows": list(rows)}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()


def _csv(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    return as_csv([{name: _cell(row[name]) for name in COLUMNS} for row in rows]).encode()


def _cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _arrow(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("answers as Arrow", "frames") from None
    kinds = {
        name: pyarrow.float64()
        if name in _NUMBERS
        else pyarrow.int64()
        if name in _WHOLE
        else pyarrow.string()
        for name in COLUMNS
    }
    schema = pyarrow.schema(list(kinds.items()), metadata={"campaign": campaign, "level": str(LEVEL)})
    stream = io.BytesIO()
    with pyarrow.ipc.new_stream(stream, schema) as writer:
        writer.write_table(pyarrow.Table.from_pylist(list(rows), schema=schema))
    return stream.getvalue()


FORMATS: Final = {
    "json": AnswerFormat("application/json", _json),
    "csv": AnswerFormat("text/csv; charset=utf-8", _csv),
    "arrow": AnswerFormat("application/vnd.apache.arrow.stream", _arrow),
}
