"""Kept changes on the collector's page: the share of each day, as a picture, a table, CSV and counts."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Final

from dither.collection.kept_changes import change_counts, counts_changes
from dither.collection.published import Published
from dither.collection.web.answers import SHOWN, guard
from dither.collection.web.charts import draw_history
from dither.collection.web.formats import PlainRow, question_text
from dither.collection.web.requests import Handler
from dither.collection.web.sections import table_of
from dither.collection.web.words import number_of, row_text
from dither.core.repetition import ChangeCounts
from dither.errors import InvalidParameter
from dither.estimation.over_time import EstimatedDays, by_day
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup
from dither.foundation.tables import as_csv

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from dither.collection.collector import Collector

_LATEST: Final = 31  # days in the table of the page; the files have all


def change_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handler of counts by interval, as JSON, and of the estimated days, as CSV."""
    from starlette.responses import Response

    async def days(request: Request) -> Response:
        contract = collector.campaigns[request.path_params["campaign"]].contract
        form = request.path_params["form"]
        name = request.query_params.get("question", next(iter(contract.questions), ""))
        counts = await asyncio.to_thread(change_counts, contract, collector.live, name)
        if form == "json":
            return Response(counts.to_json(), media_type="application/json")
        if form != "csv":
            raise InvalidParameter("expected days.json, or days.csv?question=NAME; use one of them")
        found = await asyncio.to_thread(by_day, counts)
        rows = [row for row in found.records() if not math.isnan(row["value"])]
        return Response(as_csv(rows), media_type="text/csv; charset=utf-8")

    return {"days": guard(collector, days)}


def draw_changes(collector: Collector, published: Published) -> Markup:
    """Return the part of a campaign's page about kept changes; empty for other campaigns."""
    contract = published.contract
    if not counts_changes(contract):
        return Markup()
    base = f"/v1/campaigns/{published.id}"
    return join_markup(
        [
            _section(base, change_counts(contract, collector.live, name), published)
            for name in contract.questions
        ]
    )


def _section(base: str, counts: ChangeCounts, published: Published) -> Markup:
    contract, name = published.contract, counts.about
    rows = _rows(by_day(counts))
    links = [
        element("a", words, href=f"{base}/days.{form}?question={name}")
        for words, form in (("CSV", "csv"), ("counts as JSON", "json"))
    ]
    if rows:
        often = "change" if contract.changes == 1 else f"{contract.changes} changes"
        said = (
            f"Estimated shares by day, if nobody's value changes again after the first {often}. Intervals "
            f"hold at 95 %, at one look; {number_of(len(counts), 'report')} about intervals."
        )
        parts = [element("p", said, class_="soft"), draw_history(rows), _table(rows)]
    else:
        waiting = (
            "No day has an estimate yet. Devices report at the ends of intervals, and the reports about an "
            f"interval are shown from {whole(contract.people)} on."
        )
        parts = [element("p", waiting, class_="warn")]
    title = element("h2", question_text(name, contract) or name)
    return element("section", title, *parts, element("p", join_markup(links, ", "), class_="soft"))


def _rows(days: EstimatedDays) -> list[PlainRow]:
    """Return a row for each day and answer with an estimate, in the form for pictures."""
    shared = {"quantity": "frequency", "unit": None, "state": SHOWN}
    label = next((part for part in days.numbers()[0] if part not in ("day", "value", "low", "high", "n")), "")
    return [
        {**shared, **row, "answer": row[label], "low": max(row["low"], 0.0), "high": min(row["high"], 1.0)}
        for row in days.records()
        if not math.isnan(row["value"])
    ]


def _table(rows: list[PlainRow]) -> Markup:
    """Return the last days as a table, a column for each answer."""
    text, answers = row_text(rows), list(dict.fromkeys(row["answer"] for row in rows))
    cells = {(row["day"], row["answer"]): text(row) for row in rows}
    lines = [
        (day, *(cells.get((day, answer), "") for answer in answers))
        for day in list(dict.fromkeys(row["day"] for row in rows))[-_LATEST:]
    ]
    return table_of("By day", ("day", *map(str, answers)), lines)
