"""Formats of answers: the same columns as JSON, CSV and Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from dither.collection.campaign import Campaign
from dither.errors import MissingExtra
from dither.foundation.tables import as_csv
from dither_device.words import Words

LEVEL: Final = 0.95
COLUMNS: Final = (
    "question",
    "quantity",
    "day",
    "label",
    "version",
    "answer",
    "from",
    "to",
    "value",
    "low",
    "high",
    "unit",
    "interval",
    "p",
    "n",
    "n of interval",
    "state",
    "reason",
    "outside",
    "outside low",
    "outside high",
    "question in words",
    "answer in words",
)

PlainRow = dict[str, Any]


def question_text(name: str, contract: Campaign) -> str | None:
    """Return a question as people read it, in the campaign's first language; None if it has no words."""
    stated = contract.asks.get(name)
    return Words(name, contract.words(name)).text("") if stated and stated.text else None


def in_words(rows: Sequence[PlainRow], contract: Campaign) -> list[PlainRow]:
    """Return rows with question and answer as people read them, in the campaign's first language.

    The two cells are empty where the campaign has no words.
    """
    asked = {row["question"] for row in rows} & contract.asks.keys()
    texts = {name: question_text(name, contract) for name in asked}
    names = {
        (name, str(label)): text
        for name in asked
        if contract.asks[name].names
        for label, text in Words(name, contract.words(name)).labels("")
    }
    return [
        {
            **row,
            "question in words": texts.get(row["question"]),
            "answer in words": names.get((row["question"], row["answer"])),
        }
        for row in rows
    ]


_NUMBER_COLUMNS: Final = frozenset(
    {"from", "to", "value", "low", "high", "p", "outside", "outside low", "outside high"}
)
_WHOLE: Final = frozenset({"n", "n of interval"})


class AnswerFormat(NamedTuple):
    """The function that writes rows, and the media type."""

    media: str
    write: Callable[[str, Sequence[PlainRow]], bytes]


def _json(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    data = {"dither-answers": 1, "campaign": campaign, "level": LEVEL, "rows": list(rows)}
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


def _csv(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    return as_csv([{name: _cell(row[name]) for name in COLUMNS} for row in rows]).encode()


def _cell(value: object) -> object:
    """Return a cell that spreadsheets do not interpret as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _arrow(campaign: str, rows: Sequence[PlainRow]) -> bytes:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("answers as Arrow", "frames") from None
    kinds = {
        name: pyarrow.float64()
        if name in _NUMBER_COLUMNS
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
