"""Presence on the collector's page: active devices, retention, cohorts and public labels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dither.collection.presence import counts_presence, present_counts
from dither.collection.published import Published
from dither.collection.web.answers import SHOWN, guard
from dither.collection.web.charts import draw_bars, draw_columns, draw_curve, draw_history
from dither.collection.web.requests import Handler
from dither.collection.web.sections import table_of
from dither.collection.web.words import number_of, percent, row_text
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.retention import Retention, retention
from dither.foundation.digits import THIN, plain, whole
from dither.foundation.markup import Markup, element, join_markup
from dither.foundation.tables import ResultTable, as_csv

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from dither.collection.collector import Collector

TABLES: Final = ("actives", "retention", "cohorts", "labels")
_LATEST: Final = 26  # periods on the page; the files have all
_USUAL: Final = {"day": 7, "week": 4, "month": 1}  # periods after which the headline states retention
_DAYS: Final = {"day": 1, "week": 7, "month": 31}  # days between two periods


def presence_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handler of the counts of presence, as JSON, and of its tables as CSV."""
    from starlette.responses import Response

    async def presence(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        form = request.path_params["form"]
        counts = await asyncio.to_thread(
            present_counts, published.contract, collector.live, collector.settled_day()
        )
        if form == "json":
            return Response(counts.to_json(), media_type="application/json")
        if form != "csv":
            raise InvalidParameter("expected presence.json, or presence.csv?table=retention; use one of them")
        name = request.query_params.get("table", TABLES[0])
        if name not in TABLES:
            raise unknown_name("table", name, TABLES)
        found = await asyncio.to_thread(retention, counts)
        table: ResultTable = found.tables.get(name, ResultTable(name, ()))
        return Response(as_csv(table.records()), media_type="text/csv; charset=utf-8")

    return {"presence": guard(collector, presence)}


def draw_presence(collector: Collector, published: Published) -> Markup:
    """Return the part of a campaign's page about presence; empty for other campaigns."""
    contract = published.contract
    if not counts_presence(contract):
        return Markup()
    counts = present_counts(contract, collector.live, collector.settled_day())
    try:
        found = retention(counts)
    except NotIdentifiable as error:
        return element("p", str(error), class_="warn")
    base = f"/v1/campaigns/{published.id}/presence"
    drawn = {
        "actives": ("Devices in use", _actives(found, counts.every)),
        "retention": ("Devices that come back", _retention(found, counts.every, bool(contract.questions))),
        "labels": ("Public labels in use", _labels(found, counts.every)),
        "cohorts": ("Devices by installation", _triangle(found, counts.every)),
    }
    return join_markup(
        element(
            "section",
            element("h2", title, id=f"presence-{name}"),
            *parts,
            _links(base, name),
            **{"aria-labelledby": f"presence-{name}"},
        )
        for name, (title, parts) in drawn.items()
        if parts
    )


def _links(base: str, name: str) -> Markup:
    links = [element("a", "CSV", href=f"{base}.csv?table={name}", **{"aria-label": f"{name} as CSV"})]
    if name == "actives":
        links.append(element("a", "all counts as JSON", href=f"{base}.json"))
    return element("p", "Export: ", join_markup(links, ", "), class_="soft")


def _actives(found: Retention, every: str) -> list[Markup]:
    """Return the devices of the last period, and a picture and a table of all periods."""
    rows = found.actives.records()
    note = element("p", f"Counted exactly when a {every} is over. No identifier is sent.", class_="soft")
    if not rows:
        return [element("p", f"No {every} with enough devices is over yet.", class_="big"), note]
    last, devices = rows[-1][every], rows[-1]["devices"]
    change = f"in the {every} of {last}"
    if len(rows) > 1:
        more = devices - rows[-2]["devices"]
        change += f", {whole(abs(more))} {'more' if more >= 0 else 'fewer'} than in the one before"
    shown = rows[-_LATEST:]
    lines = [(row[every], whole(row["devices"])) for row in rows]
    return [
        element("p", number_of(devices, "device"), class_="big"),
        element("p", f"{change}.", class_="soft"),
        note,
        draw_columns([(row[every], row["devices"]) for row in shown], "Devices"),
        _more("All numbers of devices", ("first day", "devices"), lines),
    ]


def _retention(found: Retention, every: str, has_label: bool) -> list[Markup]:
    """Return the retention curve with its intervals: a sentence, a picture and a table."""
    rows = found.records()
    missing = element("p", found.missing, class_="soft") if found.missing and has_label else Markup()
    if not rows:
        return [missing] if missing else []
    usual = _USUAL[every]
    row = next((row for row in rows if row["after"] >= usual), rows[-1])
    lead = (
        f"{percent(_share(row['value']))} are in use {number_of(row['after'], every)} after the installation"
    )
    ends = f"95{THIN}% interval: {percent(_share(row['low']))} to {percent(_share(row['high']))}."
    lines = [
        (
            str(row["after"]),
            *(percent(_share(row[name])) for name in ("value", "low", "high", "churn")),
            str(row["cohorts"]),
        )
        for row in rows
    ]
    head = (f"{every}s after", "in use", "from", "to", "not in use", "cohorts")
    return [
        element("p", lead, class_="big"),
        element("p", ends, class_="soft"),
        draw_curve(rows, f"{every}s after the installation"),
        missing,
        _more("All numbers of the curve", head, lines),
    ]


def _labels(found: Retention, every: str) -> list[Markup]:
    """Return the shares of the public labels in the last period with labels, and their changes."""
    rows = [
        {
            **row,
            "state": SHOWN,
            "day": row[every],
            "answer": row["label"],
            "quantity": "frequency",
            "unit": None,
        }
        for row in found.labels.records()
    ]
    if not rows:
        return []
    last = rows[-1]["day"]
    latest = [row for row in rows if row["day"] == last]
    text = row_text(rows)
    lines = [(row["day"], str(row["label"]), text(row)) for row in reversed(rows)]
    return [
        element(
            "p",
            f"Shares in the {every} of {last}, of the devices that carry public labels; "
            f"95{THIN}% intervals. Labels of few devices are not shown.",
            class_="soft",
        ),
        draw_bars(latest),
        draw_history(rows, _DAYS[every]),
        _more("All numbers of labels", ("first day", "label", "share"), lines),
    ]


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _more(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> Markup:
    """Return a table that the reader can open."""
    return element("details", element("summary", title), table_of(title, head, lines))


def _triangle(found: Retention, every: str) -> list[Markup]:
    """Return the estimated devices of each cohort, by periods since its installation."""
    rows = found.cohorts.records()
    if not rows:
        return []
    cohorts = sorted({row["installed"] for row in rows})[-_LATEST:]
    cells = {(row["installed"], row["after"]): row for row in rows}
    most = min(max(row["after"] for row in rows), _LATEST)
    halves = sorted((row["high"] - row["low"]) / 2.0 for row in rows)
    about = plain(float(f"{halves[len(halves) // 2]:.2g}"))
    top = element(
        "tr", element("th", "installed"), *(element("th", str(n), scope="col") for n in range(most + 1))
    )
    body = [
        element(
            "tr",
            element("th", Markup(cohort.replace("-", "&#8209;")), scope="row"),
            *(
                element("td", plain(max(round(cells[cohort, n]["value"]), 0)) if (cohort, n) in cells else "")
                for n in range(most + 1)
            ),
        )
        for cohort in cohorts
    ]
    title = f"Estimated devices by {every}s since the installation"
    note = f"Each number is an estimate from randomised labels, ± {about} (95{THIN}%, median)."
    made = element("table", element("caption", title), element("thead", top), element("tbody", *body))
    scroll = element("div", made, class_="scroll", tabindex="0", role="group", **{"aria-label": title})
    return [element("p", note, class_="soft"), scroll]
