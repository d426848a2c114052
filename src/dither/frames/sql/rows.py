"""Batches of devices as rows of a table of reports, for whoever loads such a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from dither.errors import InvalidParameter, Mismatch
from dither.question import Question
from dither.wire.batch import BatchBody
from dither.wire.campaign import Campaign


def report_rows(
    batch: BatchBody, questions: Mapping[str, Question] | Campaign, day: date
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch in the columns of `ReportTable`; `day` is the day on which it arrived.

    Raise Mismatch if a report is of none of the questions.
    """
    names: dict[str, str] = {}
    known = Campaign.of(questions).questions
    for name, mechanism in known.items():
        if names.setdefault(mechanism.fingerprint, name) != name:
            raise InvalidParameter(f"question {name!r} has the device text of another one; ask it elsewhere")
    for fingerprint, reports in batch.reports.items():
        if fingerprint not in names:
            raise Mismatch("a batch has reports of none of the questions: their fingerprint is another one")
        name = names[fingerprint]
        layout = known[name].layout
        whole = layout.subdtype is None
        for place, report in enumerate(reports):
            yield {
                "day": day,
                "label": batch.label,
                "question": name,
                "fingerprint": fingerprint,
                "batch": batch.id,
                "place": place,
                "report": int.from_bytes(report, "little") if whole else None,
                "report_hex": None if whole else report.hex(),
            }
