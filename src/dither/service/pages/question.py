"""A question on the page: its estimate, pictures and tables, from rows of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final
from urllib.parse import urlencode

from dither.domains import Circle, Line
from dither.html import Markup, element, joined
from dither.question import Question
from dither.service.answers.query import By, Query, What
from dither.service.answers.rows import FEW, NONE, SHOWN, PlainRow
from dither.service.contract import Contract
from dither.service.pages import drawing
from dither.service.pages.words import asked, bounds, counted, narrow, whole, with_interval

_LIES: Final = 0.01  # the share of lies that the page allows for in a second interval
FILES: Final = {"json": "JSON", "csv": "CSV", "arrow": "Arrow"}
_MOST_DAYS: Final = 31  # rows of the table by day


@final
@dataclass(frozen=True)
class Told:
    """The rows that the page shows of a question."""

    usual: Sequence[PlainRow]
    shape: Sequence[PlainRow]
    days: Sequence[PlainRow]
    lying: Sequence[PlainRow]


def queries(name: str, mechanism: Question) -> dict[str, Query | None]:
    """Return what has to be asked for the page of a question, by the field of `Told`."""
    straight = isinstance(mechanism.domain, Line) and not isinstance(mechanism.domain, Circle)
    return {
        "usual": Query(name),
        "shape": Query(name, What.DISTRIBUTION) if straight else None,
        "days": Query(name, by=By.DAY),
        "lying": Query(name, lying=_LIES),
    }


def regions(number: int, told: Told, contract: Contract) -> dict[str, Markup]:
    """Return the parts of a question that change, by their identity on the page."""
    first = told.usual[0]
    return {
        f"q{number}-answer": _answer(told, contract.people),
        f"q{number}-picture": _picture(told, first),
        f"q{number}-days": _days(told),
        f"q{number}-table": _table(told),
    }


def section(number: int, name: str, contract: Contract, base: str, parts: dict[str, Markup]) -> Markup:
    """Return the section of a question with its changing parts in place."""

    def region(kind: str) -> Markup:
        identity = f"q{number}-{kind}"
        return element("div", parts[identity], id=identity)

    files = [
        element("a", FILES[form], href=f"{base}/answers.{form}?{urlencode({'question': name})}")
        for form in FILES
    ]
    files.append(element("a", "summary", href=f"{base}/summary?{urlencode({'question': name})}"))
    return element(
        "section",
        element("h2", name, id=f"q{number}"),
        element("p", asked(contract.questions[name]), ".", class_="soft"),
        region("answer"),
        region("picture"),
        region("days"),
        element("details", element("summary", f"All numbers of {name}"), region("table")),
        element("p", "Export: ", joined(files, ", "), class_="soft"),
        **{"aria-labelledby": f"q{number}"},
    )


def _answer(told: Told, people: int) -> Markup:
    first = told.usual[0]
    if first["state"] == NONE:
        return element("p", "No reports have arrived yet.", class_="big")
    if first["state"] == FEW:
        words = f"{counted(first['n'], 'report')} so far; an answer is shown from {whole(people)} on."
        return joined([element("p", "Too few people", class_="big"), element("p", words, class_="warn")])
    if first["state"] != SHOWN:
        return joined(
            [
                element("p", "No answer", class_="big"),
                element("p", f"{counted(first['n'], 'report')}. {first['reason']}", class_="warn"),
            ]
        )
    top = max(told.usual, key=lambda row: row["value"])
    lead = with_interval(top)
    named = first["answer"] is not None
    lines = [
        element("p", f"{top['answer']}: {lead}" if named else lead, class_="big"),
        element(
            "p",
            f"{'most frequent answer' if named else first['quantity']} of {counted(first['n'], 'report')}; "
            f"interval: {narrow(top['interval'])}",
            class_="soft",
        ),
    ]
    for row in told.lying:
        if row["state"] == SHOWN and row["answer"] == top["answer"]:
            lines.append(
                element(
                    "p", f"If 1\u202f% of the reports are lies: {bounds(row)}, at one look.", class_="soft"
                )
            )
    return joined(lines)


def _picture(told: Told, first: PlainRow) -> Markup:
    if first["state"] != SHOWN:
        return Markup()
    if first["answer"] is not None:
        shown = sum(row["state"] == SHOWN for row in told.usual)
        picture = drawing.bars(told.usual)
        more = shown - drawing.MOST_BARS
        note = element("p", f"and {whole(more)} more answers", class_="soft") if more > 0 else Markup()
        return joined([element("h3", "Shares"), picture, note])
    picture = drawing.shape(told.shape, first["unit"] or "")
    return joined([element("h3", "Distribution"), picture]) if picture else Markup()


def _days(told: Told) -> Markup:
    picture, names = drawing.history(told.days)
    if not picture:
        return Markup()
    series = [element("span", name, class_=f"t{number}") for number, name in enumerate(names)]
    title = element("h3", "By day: ", joined(series, ", ")) if series else element("h3", "By day")
    return joined([title, picture])


def _table(told: Told) -> Markup:
    lines = [row for row in told.usual if row["state"] == SHOWN]
    kept = []
    if lines and lines[0]["answer"] is not None:
        kept.append(
            _rows(
                "Shares",
                ("answer", "share", "reports"),
                [(row["answer"], with_interval(row), whole(row["n"])) for row in lines[:100]],
            )
        )
    bins = [row for row in told.shape if row["state"] == SHOWN]
    if bins:
        name = f"Distribution; {narrow(bins[0]['interval'])}, by {whole(bins[0]['n of interval'])} reports"
        shares = [(f"{row['from']:.4g} – {row['to']:.4g}", with_interval(row)) for row in bins]
        kept.append(_rows(name, ("from – to", "share"), shares))
    days = [row for row in told.days if row["answer"] is None or row["answer"] == _leading(told)]
    if days:
        leading = _leading(told)
        name = "By day" if leading is None else f"By day: {leading}"
        cells = [
            (row["day"], with_interval(row) if row["state"] == SHOWN else row["state"], whole(row["n"]))
            for row in days[-_MOST_DAYS:]
        ]
        kept.append(_rows(name, ("day", "estimate", "reports"), cells))
    return joined(kept) if kept else element("p", "Nothing yet.")


def _leading(told: Told) -> str | None:
    lines = [row for row in told.usual if row["state"] == SHOWN]
    answer = max(lines, key=lambda row: row["value"])["answer"] if lines else None
    return None if answer is None else str(answer)


def _rows(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    top = element("tr", *(element("th", one, scope="col") for one in head))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    table = element("table", element("caption", name), element("thead", top), element("tbody", *body))
    return element("div", table, class_="scroll", tabindex="0", role="group", **{"aria-label": name})
