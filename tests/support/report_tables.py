"""Tables of reports in databases: rows of every kind of question, duplicates, and rows that are refused."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.core.question import as_question

HOSTILE = "it's \"a\" `name`\\; -- /* drop */ {0} %s \n☃ \\' $$"
MONDAY = datetime.date(2026, 11, 2)
LABELS = (None, "eu", 'o\'brien \\ "us"')
COLUMNS = ("day", "label", "question", "fingerprint", "batch", "place", "report", "report_hex")

QUESTIONS: dict[str, Any] = {
    "window": dt.Podium(dt.Interval(0, 1), epsilon=1),
    "two cells": dt.Duchi(dt.Interval(0, 1), epsilon=1),
    HOSTILE: dt.KRR(dt.Categories(5), epsilon=1),
    "hash": dt.OLH(dt.Categories(21), epsilon=2),  # 8 buckets: hardly a power of two away
    "uneven hash": dt.OLH(dt.Categories(9), epsilon=1.2),  # 4 buckets
    "binary hash": dt.rivals.BLH(dt.Categories(6), epsilon=1),
    "bits": dt.OUE(dt.Categories(13), epsilon=1),
    "few bits": dt.rivals.SUE(dt.Categories(3), epsilon=1),
    "whole bytes": dt.OUE(dt.Categories(16), epsilon=1),
    "subsets": dt.SubsetSelection(dt.Categories(12), epsilon=1),
    "indices": dt.SubsetSelection(dt.Categories(300), epsilon=4.5, report="indices"),
    "polynomials": dt.SetResponse(dt.Several(30, most=3), epsilon=0.7, report="polynomial", pairs=True),
    "sets": dt.SetResponse(dt.Several(30, most=3), epsilon=0.7),  # three numbers of six bits
    "hadamard": dt.HadamardResponse(dt.Categories(9), epsilon=1),
    "projective": dt.ProjectiveResponse(dt.Categories(20), epsilon=1),
    "noise": dt.Laplace(dt.Interval(0, 1), epsilon=1),
    "leading bits": dt.Podium(dt.Interval(0, 1), epsilon=1, cells=1 << 20),
}
WIDE = {name.replace("\n", " "): question for name, question in QUESTIONS.items()}  # names of columns


def drawn(mechanism: Any, count: int, seed: int) -> dt.Reports:
    """Reports of a mechanism on numbers from 0 to 1, or on numbered categories."""
    rng = np.random.default_rng(seed)
    if isinstance(mechanism.domain, dt.Several):
        return mechanism.perturb(rng.random((count, 30)) < 0.1, source=dt.Seeded(seed))
    if isinstance(mechanism.domain, dt.Categories):
        values: Any = rng.integers(0, len(mechanism.domain), count)
    else:
        values = rng.random(count)
    return mechanism.perturb(values, source=dt.Seeded(seed))


def row_of(name: str, mechanism: Any, cell: Any, number: int, **more: Any) -> dict[str, Any]:
    """One report as a row; its day, label and batch follow from its number."""
    whole = as_question(mechanism).layout.subdtype is None
    return {
        "day": MONDAY + datetime.timedelta(days=number % 3),
        "label": LABELS[number % len(LABELS)],
        "question": name,
        "fingerprint": mechanism.fingerprint,
        "batch": f"{number // 2:032x}",  # two reports a batch
        "place": number % 2,
        "report": int(cell) if whole else None,
        "report_hex": None if whole else np.ascontiguousarray(cell).tobytes().hex(),
        **more,
    }


def rows_of(reports: Mapping[str, dt.Reports]) -> list[dict[str, Any]]:
    """All reports as rows; both reports of a batch have one day and label."""
    found = []
    for name, some in reports.items():
        for number, cell in enumerate(some.cells):
            first = row_of(name, some.question, cell, number - number % 2)
            shared = {key: first[key] for key in ("day", "label")}
            found.append(row_of(name, some.question, cell, number, **shared))
    return found


def copies(rows: Sequence[dict[str, Any]], step: int = 5) -> list[dict[str, Any]]:
    """Some rows again, as a retry sends them: on the same day, and on a later one."""
    some, later = rows[::step], datetime.timedelta(days=1)
    return [dict(row) for row in some] + [{**row, "day": row["day"] + later} for row in some]


def refused(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that are not counted: of each question seven malformed ones and two of another fingerprint."""
    first = {row["question"]: row for row in rows}
    bad = []
    for row in first.values():
        width = len(row["report_hex"] or "")
        bad += [{**row, "batch": None, "place": place} for place in (0, 0, 1)]
        bad.append({**row, "batch": "negative", "report": -1, "report_hex": "zz" * (width // 2)})
        bad.append({**row, "batch": "absent", "report": None, "report_hex": None})
        bad.append({**row, "batch": "high", "report": (1 << 63) - 1, "report_hex": "F" * width})
        bad.append({**row, "batch": "long", "report": -(1 << 63), "report_hex": "0" * width + "\n"})
        bad += [{**row, "batch": f"other {number}", "fingerprint": "0" * 32} for number in (0, 1)]
    return bad


MALFORMED, OTHER = 7, 2  # rows of each question in `refused`


def values(rows: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows as tuples, in the order of `COLUMNS`."""
    return [tuple(row[name] for name in COLUMNS) for row in rows]


def wide_file(path: Path, count: int = 90) -> Path:
    """Write reports as `dither perturb` does: a row for each person, with a column for each question.

    Two other columns are kept, `on` and `city`, and some people do not answer one question or another.
    """
    import pyarrow as pa
    from pyarrow import parquet

    from dither.core.questionnaire import Questionnaire
    from dither.data.formats.arrow import to_column

    columns: dict[str, Any] = {}
    for place, (name, mechanism) in enumerate(WIDE.items()):
        cells = to_column(drawn(mechanism, count, place))
        answered = pa.array([(row + place) % 7 > 0 for row in range(count)])
        columns[name] = pa.compute.if_else(answered, cells, pa.nulls(count, cells.type))
    columns["on"] = pa.array([MONDAY + datetime.timedelta(days=row % 3) for row in range(count)])
    columns["city"] = pa.array([("Rome", "Paris")[row % 2] for row in range(count)])
    table = pa.table(columns)
    metadata = {b"dither": Questionnaire.of(WIDE).to_json().encode()}
    parquet.write_table(table.replace_schema_metadata(metadata), path)
    return path


def column_type(kind: Any) -> str:
    """Return the type of PostgreSQL for a column of Arrow."""
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_date(kind):
        return "DATE"
    return "TEXT" if pa.types.is_string(kind) else "BYTEA"
