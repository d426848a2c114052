"""Presence on the collector's page: actives, the retention curve, the triangle of cohorts, public labels."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dither.collection.presence import counts_presence, present_counts
from dither.collection.published import Published
from dither.collection.web.answers import guard
from dither.collection.web.requests import Handler
from dither.collection.web.words import percent
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.retention import Retention, retention
from dither.foundation.digits import plain
from dither.foundation.markup import Markup, element, join_markup
from dither.foundation.tables import ResultTable, Row, as_csv

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from dither.collection.collector import Collector

TABLES: Final = ("actives", "retention", "cohorts", "labels")
_LATEST: Final = 26  # periods that the page shows; the files have all
_WIDE: Final = 440  # width of the picture of a curve, in its own units
_TALL: Final = 190
_LEFT: Final = 44  # of the curve: the labels of shares are beside it


def presence_handlers(collector: Collector) -> dict[str, Handler]:
    """Return the handler of the counts of presence, as JSON, and of its tables as CSV."""
    from starlette.responses import Response

    async def presence(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        form = request.path_params["form"]
        counts = await asyncio.to_thread(present_counts, published.contract, collector.live, collector.day())
        if form == "json":
            return Response(counts.to_json(), media_type="application/json")
        if form != "csv":
            raise InvalidParameter("presence is presence.json, or presence.csv?table=retention")
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
    counts = present_counts(contract, collector.live, collector.day())
    try:
        found = retention(counts)
    except NotIdentifiable as error:
        return element("p", str(error), class_="warn")
    base = f"/v1/campaigns/{published.id}/presence"
    files = [element("a", name, href=f"{base}.csv?table={name}") for name in TABLES]
    return join_markup(
        [
            element(
                "p", f"Devices by {counts.every}, counted exactly when it is over; no identifier is sent."
            ),
            _table(found.actives.records()[-_LATEST:], "Devices")
            if found.actives.rows
            else _nothing(counts.every),
            element("p", found.missing, class_="soft") if found.missing else Markup(),
            _curve(found),
            _triangle(found),
            _table(found.labels.records()[-_LATEST:], "Public labels") if found.labels.rows else Markup(),
            element("p", join_markup(files, ", "), ", ", element("a", "JSON", href=f"{base}.json")),
        ]
    )


def _nothing(every: str | None) -> Markup:
    return element("p", f"No {every} with enough devices is over yet.", class_="soft")


def _show_value(name: str, row: Row) -> str:
    value = row[name]
    if name in ("value", "low", "high", "churn") and isinstance(value, float):
        return percent(min(max(value, 0.0), 1.0))
    return plain(value) if isinstance(value, float) else str(value)


def _table(rows: Sequence[Row], title: str) -> Markup:
    """Return rows as a table that scrolls."""
    names = list(rows[0])
    top = element("tr", *(element("th", name, scope="col") for name in names))
    body = [
        element(
            "tr",
            element("th", str(row[names[0]]), scope="row"),
            *(element("td", _show_value(name, row)) for name in names[1:]),
        )
        for row in rows
    ]
    made = element("table", element("caption", title), element("thead", top), element("tbody", *body))
    return element("div", made, class_="scroll", tabindex="0", role="group", **{"aria-label": title})


def _curve(found: Retention) -> Markup:
    """Return the retention curve with its intervals: a picture, and the same as a table."""
    rows = found.records()
    if not rows:
        return Markup()
    last = max(int(row["after"]) for row in rows)

    def x(after: int) -> str:
        return str(round(_LEFT + (_WIDE - _LEFT - 6) * after / last, 1))

    def y(share: float) -> str:
        return str(round(_TALL - 22 - (_TALL - 30) * min(max(share, 0.0), 1.0), 1))

    line = " ".join(f"{x(row['after'])},{y(row['value'])}" for row in rows)
    places = [(x(row["after"]), row) for row in rows]
    bars = [
        element("line", x1=at, x2=at, y1=y(row["low"]), y2=y(row["high"]), class_="whisker")
        for at, row in places
    ]
    grid = [
        part
        for share in (0.0, 0.5, 1.0)
        for part in (
            element("line", x1=str(_LEFT), x2=x(last), y1=y(share), y2=y(share), class_="grid"),
            element(
                "text",
                percent(share),
                x=str(_LEFT - 5),
                y=y(share - 0.03),
                class_="tick",
                **{"text-anchor": "end"},
            ),
        )
    ]
    ticks = [
        element("text", str(after), x=x(after), y=str(_TALL - 6), class_="tick", **{"text-anchor": "middle"})
        for after in sorted({1, (1 + last) // 2, last})
    ]
    drawn = element("polyline", points=line, class_="curve")
    words = (
        f"Retention from {percent(rows[0]['value'])} after {rows[0]['after']} to {percent(rows[-1]['value'])}"
    )
    picture = element(
        "svg",
        element("title", f"{words} after {last}"),
        *grid,
        *bars,
        drawn,
        *ticks,
        viewBox=f"0 0 {_WIDE} {_TALL}",
        role="img",
    )
    return join_markup([element("h3", "Devices that come back"), picture, _table(rows, "Retention")])


def _triangle(found: Retention) -> Markup:
    """Return the estimated devices of each cohort, by periods since its installation."""
    rows = found.cohorts.records()
    if not rows:
        return Markup()
    cohorts = sorted({row["installed"] for row in rows})[-_LATEST:]
    cells = {(row["installed"], row["after"]): row["value"] for row in rows}
    most = min(max(row["after"] for row in rows), _LATEST)
    top = element(
        "tr", element("th", "installed"), *(element("th", str(n), scope="col") for n in range(most + 1))
    )
    body = [
        element(
            "tr",
            element("th", cohort, scope="row"),
            *(
                element("td", plain(max(round(cells[cohort, n]), 0)) if (cohort, n) in cells else "")
                for n in range(most + 1)
            ),
        )
        for cohort in cohorts
    ]
    title = "Cohorts: estimated devices, by periods since installation"
    made = element("table", element("caption", title), element("thead", top), element("tbody", *body))
    return element("div", made, class_="scroll", tabindex="0", role="group", **{"aria-label": title})
