"""The section of one question on the page of a campaign: its answer, pictures and tables."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlencode

from dither.collection.campaign import Campaign
from dither.collection.web.answers import FEW, NO_ANSWER, NONE, SHOWN
from dither.collection.web.charts import (
    MOST_BARS,
    SERIES,
    draw_bars,
    draw_history,
    draw_labels,
    draw_panels,
    draw_shape,
    shown_answers,
)
from dither.collection.web.formats import PlainRow, question_text
from dither.collection.web.query import By, Query, What
from dither.collection.web.views import STEPS, View
from dither.collection.web.words import (
    bounds,
    clear_text,
    is_bound,
    is_share,
    more_reports,
    narrow,
    number_of,
    outside_words,
    power_of_ten,
    question_words,
    row_text,
    value_text,
)
from dither.core.domains.calendar import Calendar
from dither.core.question import Question
from dither.estimation.rounding import OF_ANSWERS
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup

COMING: Final = element("p", "More is being computed, and follows in a moment.", class_="soft")
_LIES: Final = 0.01  # the assumed share of lies in the page's second interval
FILES: Final = {"json": "JSON", "csv": "CSV", "arrow": "Arrow"}
_MOST_DAYS: Final = 31  # rows of the table by day
_MOST_ANSWERS: Final = 60  # rows of the table of versions


@dataclass(frozen=True)
class Told:
    """The rows of a question on the page."""

    usual: Sequence[PlainRow]
    shape: Sequence[PlainRow]
    days: Sequence[PlainRow]
    lying: Sequence[PlainRow]
    sizes: Sequence[PlainRow] = ()
    answered: Sequence[PlainRow] = ()
    labels: Sequence[PlainRow] = ()
    differences: Sequence[PlainRow] = ()
    changes: Sequence[PlainRow] = ()
    versions: Sequence[PlainRow] = ()


def queries(
    name: str, question: Question, view: View, by: By, today: datetime.date
) -> dict[str, Query | None]:
    """Return the queries for the page of a question, by the field of `Told`."""
    domain = question.domain
    since = view.since(today)
    request = Query(name, since=since)
    some = "response rate" in question.quantities and "frequencies" not in question.quantities
    return {
        "usual": request,
        "shape": replace(request, what=What.DISTRIBUTION) if domain.line is not None else None,
        "days": replace(request, by=by),
        "lying": replace(request, lying=_LIES),
        "sizes": replace(request, what=What.SIZES) if domain.sets else None,
        "answered": replace(request, what=What.ANSWERED) if some else None,
        "labels": replace(request, by=By.LABEL),
        "differences": replace(request, what=What.DIFFERENCE),
        "changes": None if since is None else replace(request, what=What.CHANGE),
        "versions": replace(request, what=What.VERSIONS),
    }


def regions(number: int, told: Told, contract: Campaign, by: By, files: Files) -> dict[str, Markup]:
    """Return the changing parts of a question, by their identity on the page."""
    first = told.usual[0]
    question = list(contract.questions.values())[number]
    length = _length(first, question)
    most = question.domain.most if question.domain.sets else None
    return {
        f"q{number}-answer": _answer(told, contract.people, length, most),
        f"q{number}-picture": _picture(told, first, files),
        f"q{number}-days": _days(told, by, files),
        f"q{number}-labels": join_markup([_labels(told, files, length, most), _versions(told)]),
        f"q{number}-table": _table(told, by),
    }


def _length(first: PlainRow, question: Question) -> float:
    """Return the length of the domain of the values of a row, 1 for shares."""
    line = question.domain.line
    return 1.0 if is_share(first) or line is None else float(line.shown.length)


@dataclass(frozen=True)
class Files:
    """The addresses of a question's charts and numbers for the chosen period."""

    base: str
    terms: Mapping[str, str]

    @classmethod
    def of(cls, base: str, name: str, view: View) -> Files:
        """Return the addresses for the section of a question."""
        return cls(base, {"question": name, **view.period})

    def address(self, file: str, **more: str) -> str:
        """Return the address of a file."""
        return f"{self.base}/{file}?{urlencode({**self.terms, **more})}"

    def links(self, title: str, **more: str) -> Markup:
        """Return links to a chart as a picture, and to its numbers."""
        forms = {"SVG": "chart.svg", "PNG": "chart.png", "CSV": "answers.csv"}
        links = [
            element("a", form, href=self.address(file, **more), **{"aria-label": f"{title} as {form}"})
            for form, file in forms.items()
            if form != "PNG" or draws_png()
        ]
        return element("p", join_markup(links, " · "), class_="soft files")


def section(
    number: int, name: str, contract: Campaign, base: str, parts: dict[str, Markup], view: View, by: By
) -> Markup:
    """Return the section of a question with its changing parts in place."""

    def region(kind: str) -> Markup:
        identity = f"q{number}-{kind}"
        return element("div", parts[identity], id=identity)

    files = Files.of(base, name, view)
    links = [element("a", FILES[form], href=files.address(f"answers.{form}")) for form in FILES]
    links.append(element("a", "summary", href=files.address("summary")))
    return element(
        "section",
        element("h2", *_heading(name, contract), id=f"q{number}"),
        element("p", question_words(contract.questions[name]), ".", class_="soft"),
        region("answer"),
        region("picture"),
        region("days"),
        region("labels"),
        element("details", element("summary", f"All numbers of {name}"), region("table")),
        element("p", "Export: ", join_markup(links, ", "), class_="soft"),
        **{"aria-labelledby": f"q{number}"},
    )


def _heading(name: str, contract: Campaign) -> tuple[Markup | str, ...]:
    """Return the question in the campaign's first language with its name, or only its name."""
    text = question_text(name, contract)
    if text is None:
        return (name,)
    language = contract.languages[0] if contract.languages else None
    return (element("span", text, lang=language), " ", element("small", name))


def draws_png() -> bool:
    """Return whether pictures are available as PNG, because matplotlib is installed."""
    return find_spec("matplotlib") is not None


def _answer(reported: Told, people: int, length: float, most: int | None) -> Markup:
    first = reported.usual[0]
    if first["state"] == NONE:
        return element("p", "No reports have arrived yet.", class_="big")
    if first["state"] == FEW:
        words = f"{number_of(first['n'], 'report')} so far; an answer is shown from {whole(people)} on."
        return join_markup([element("p", "Too few people", class_="big"), element("p", words, class_="warn")])
    if first["state"] != SHOWN:
        return join_markup(
            [
                element("p", "No answer", class_="big"),
                element("p", f"{number_of(first['n'], 'report')}; {first['reason']}.", class_="warn"),
            ]
        )
    if is_bound(first):
        return _bounds(reported)
    top = max(reported.usual, key=lambda row: row["value"])
    unclear, named = more_reports(top, length, thinned=most is not None), first["answer"] is not None
    if unclear is not None:
        lines = [element("p", "Not clear yet", class_="big"), element("p", unclear, class_="warn")]
    else:
        lead = row_text(reported.usual)(top)
        what = "most frequent answer" if named else first["quantity"]
        of = f"{OF_ANSWERS}," if first["reason"] == OF_ANSWERS.removeprefix(", ") else ""
        words = f"{what}{of} of {number_of(first['n'], 'report')}; interval: {narrow(top['interval'])}"
        lines = [
            element("p", f"{top['answer']}: {lead}" if named else lead, class_="big"),
            element("p", words, class_="soft"),
        ]
    if first["outside"] is not None:
        lines.append(element("p", outside_words(first), class_="soft"))
    return join_markup(
        [*lines, *(element("p", words, class_="soft") for words in _further(reported, top, unclear, most))]
    )


def _further(reported: Told, top: PlainRow, unclear: str | None, most: int | None) -> Iterator[str]:
    """Yield the lines below the headline: sizes of sets, the change, and the interval with lies.

    `most` is the number of items that a device reports.
    """
    for row in reported.answered:
        if row["state"] == SHOWN:
            yield f"Answered by {row_text([row])(row)} of the people ({narrow(row['interval'])})."
    for row in reported.sizes[-1:]:  # larger sizes are not visible
        if row["state"] == SHOWN:
            yield (
                f"{row['answer']} items: {bounds(row)} of the people ({narrow(row['interval'])}). A device "
                f"reports at most {most}, so each share may be larger by these people."
            )
    if unclear is not None:
        return
    for row in reported.changes:
        if row["state"] == SHOWN and row["answer"] == top["answer"]:
            change = row_text([row])(row)
            sign = "+" if row["value"] > 0 and change.lstrip("0.")[0].isdigit() else ""
            yield f"{row['quantity'].capitalize()}: {sign}{change} ({narrow(row['interval'])})."
    for row in reported.lying:
        if row["state"] == SHOWN and row["answer"] == top["answer"]:
            yield f"If 1\u202f% of the reports are lies: {bounds(row)}."


def _bounds(reported: Told) -> Markup:
    """Return both quantiles, and the next step for a mean."""
    text, first = row_text(reported.usual), reported.usual[0]
    said = f"of {number_of(first['n'], 'report')}; interval: {narrow(first['interval'])}"
    lines = [element("p", f"{row['answer']}: {text(row)}", class_="big") for row in reported.usual]
    range_words = f"Range in which to ask others: {first['reason']}."
    return join_markup([*lines, *(element("p", words, class_="soft") for words in (said, range_words))])


def draw_answers(query: Query, rows: Sequence[PlainRow]) -> Markup:
    """Return the picture of the answers to one query; an empty one for a single number."""
    shown = [row for row in rows if row["state"] == SHOWN]
    if query.by in STEPS:
        return draw_history(shown, STEPS[query.by])
    if query.by is By.LABEL:
        return draw_labels(shown)
    if query.what is What.DISTRIBUTION:
        return draw_shape(shown, (shown[0]["unit"] if shown else None) or "")
    shares = shown and shown[0]["answer"] is not None and not is_bound(shown[0])
    return draw_bars(shown) if shares else Markup()


def _picture(reported: Told, first: PlainRow, files: Files) -> Markup:
    if first["state"] != SHOWN:
        return Markup()
    if first["answer"] is not None and not is_bound(first):
        shown = sum(row["state"] == SHOWN for row in reported.usual)
        picture = draw_bars(reported.usual)
        more = shown - MOST_BARS
        note = element("p", f"and {whole(more)} more answers", class_="soft") if more > 0 else Markup()
        return join_markup([element("h3", "Shares"), picture, note, files.links("shares")])
    picture = draw_shape(reported.shape, first["unit"] or "")
    links = files.links("distribution", what="distribution")
    return join_markup([element("h3", "Distribution"), picture, links]) if picture else Markup()


def _labels(reported: Told, files: Files, length: float, most: int | None) -> Markup:
    """Return the answers by label next to each other, and their differences, for at least two labels.

    `length` and `most` have the same meaning as for the headline.
    """
    shown = [row for row in reported.labels if row["state"] == SHOWN]
    labels = list(dict.fromkeys(row["label"] for row in shown))
    if len(labels) < 2:
        return Markup()
    drawn = [
        element("div", element("h4", label or "no label"), picture)
        for label, picture in draw_panels(shown, clear_text(shown, length, thinned=most is not None))
    ]
    parts = [element("h3", "By label"), element("div", *drawn, class_="panels")]
    parts.append(files.links("by label", by="label"))
    differences = [row for row in reported.differences if row["state"] == SHOWN and row["low"] is not None]
    if differences:
        parts.append(_differences(differences, shown_answers(shown, MOST_BARS), length, files))
    return join_markup(parts)


def _differences(
    every: Sequence[PlainRow], named: Sequence[str | None], length: float, files: Files
) -> Markup:
    """Return the differences of labels from the first, with p-values: some answers, all significant ones.

    A difference with an uninformative interval is marked as not clear yet.
    """
    rows = [row for row in every if row["answer"] in named or row["p"] < 1.0][:_MOST_ANSWERS]
    text, quantity = clear_text(rows, length), rows[0]["quantity"]
    others = list(dict.fromkeys(row["label"] or "no label" for row in rows))
    answers = rows[0]["answer"] is not None
    several = len(others) > 1 or not answers
    name = quantity[:1].upper() + quantity[1:] if several else f"{others[0]}: {quantity}"
    lines = [
        (
            *([row["answer"]] if answers else []),
            *([row["label"] or "no label"] if several else []),
            text(row),
            f"≤ {power_of_ten(row['p'])}" if row["p"] < 1.0 else "1",
        )
        for row in rows
    ]
    interval = rows[0]["interval"]
    p = f"p, {interval.partition('% ')[2].removeprefix('over ')}"
    head = (*(["answer"] if answers else []), *(["label"] if several else []), "difference", p)
    table = table_of(f"{name}; {narrow(interval)}", head, lines)
    missing = len(every) - len(rows)
    more = f"{number_of(missing, 'more difference')}: " if missing else ""
    link = element("a", "CSV", href=files.address("answers.csv", what="difference"))
    return join_markup([table, element("p", more, link, class_="soft files")])


def headline(rows: Sequence[PlainRow], question: Question) -> str:
    """Return the usual quantity of a question in a few words, or the reason why it is missing."""
    shown = [row for row in rows if row["state"] == SHOWN]
    if not shown:
        return str(rows[0]["state"]) if rows else NONE
    text = row_text(shown)
    if not is_bound(shown[0]):
        text = clear_text(shown, _length(shown[0], question), thinned=question.domain.sets)
    if is_bound(shown[0]) or shown[0]["answer"] is None:
        return "; ".join(f"{row['answer']}: {text(row)}" if row["answer"] else text(row) for row in shown)
    top = max(shown, key=lambda row: row["value"])
    return f"{top['answer']}: {text(top)}"


def _versions(reported: Told) -> Markup:
    """Return the answers of each version of the campaign and of all together, for at least two versions."""
    shown = [row for row in reported.versions if row["state"] == SHOWN]
    numbers = list(dict.fromkeys(row["version"] for row in shown))
    if len(numbers) < 2:
        return Markup()
    text, parts = row_text(shown), [element("h3", "By version")]
    answers = list(dict.fromkeys(row["answer"] for row in shown))[:_MOST_ANSWERS]
    lines: list[tuple[str, ...]]
    if answers in ([None], []):
        lines = [(row["version"], text(row), whole(row["n"])) for row in shown]
        parts.append(table_of("Versions", ("version", "estimate", "reports"), lines))
    else:
        single = [number for number in numbers if "+" not in number]
        cells = {(row["answer"], row["version"]): text(row) for row in shown}
        every = {row["answer"]: (row["version"], text(row)) for row in shown if "+" in row["version"]}
        head = ("answer", *(f"version {number}" for number in single), *(["together"] if every else []))
        lines = [
            (
                str(answer),
                *(cells.get((answer, number), "not offered") for number in single),
                *([every.get(answer, ("", ""))[1]] if every else []),
            )
            for answer in answers
        ]
        parts.append(table_of("Versions", head, lines))
    reasons = [row["reason"] for row in reported.versions if row["state"] == NO_ANSWER]
    words = (
        "Together: versions that ask in the same way are counted as one, others weigh by their precision; an "
        "answer has the versions that offer it."
    )
    if reasons:
        words = f"The versions are not added: {reasons[-1]}."
    return join_markup([*parts, element("p", words, class_="soft")])


def _days(reported: Told, by: By, files: Files) -> Markup:
    picture = draw_history(reported.days, STEPS[by])
    if not picture:
        return Markup()
    answers = {row["answer"] for row in reported.days if row["state"] == SHOWN}
    more = len(answers) - SERIES
    note = f"The {SERIES} most frequent answers; the table has {whole(more)} more." if more > 0 else ""
    unit = next((row["unit"] for row in reported.days if row["unit"] and not is_share(row)), None)
    title = f"By {by.value}, in {unit}" if unit and Calendar.of(unit) is None else f"By {by.value}"
    parts = [element("h3", title), picture, element("p", note, class_="soft") if note else Markup()]
    return join_markup([*parts, files.links(f"by {by.value}", by=by.value)])


def _table(reported: Told, by: By) -> Markup:
    lines = [row for row in reported.usual if row["state"] == SHOWN]
    kept = []
    if lines and lines[0]["answer"] is not None:
        kept.append(
            table_of(
                "Quantiles" if is_bound(lines[0]) else "Shares",
                ("answer", "value" if is_bound(lines[0]) else "share", "reports"),
                [(row["answer"], row_text(lines)(row), whole(row["n"])) for row in lines[:100]],
            )
        )
    bins = [row for row in reported.shape if row["state"] == SHOWN]
    if bins:
        name = f"Distribution; {narrow(bins[0]['interval'])}, by {whole(bins[0]['n of interval'])} reports"
        text, stepped, show = row_text(bins), bins[0]["answer"] is not None, value_text(bins[0]["unit"])
        shares = [
            (row["answer"] if stepped else f"{show(row['from'])} to {show(row['to'])}", text(row))
            for row in bins
        ]
        kept.append(table_of(name, ("answer" if stepped else "from and to", "share"), shares))
    if reported.days:
        kept.append(_days_table(reported.days, by))
    return join_markup(kept) if kept else element("p", "Nothing yet.")


def _days_table(rows: Sequence[PlainRow], by: By) -> Markup:
    """Return a row for each date and a column for each answer."""
    shown = [row for row in rows if row["state"] == SHOWN]
    answers = shown_answers(shown) or [None]
    text = row_text(shown)
    lines = []
    for day in list(dict.fromkeys(row["day"] for row in rows))[-_MOST_DAYS:]:
        here = [row for row in rows if row["day"] == day]
        found = {row["answer"]: text(row) for row in here if row["state"] == SHOWN}
        cells = [found.get(answer, here[0]["state"] if not found else "") for answer in answers]
        lines.append((day, *cells, whole(here[0]["n"])))
    heads = ["estimate" if answer is None else str(answer) for answer in answers]
    return table_of(f"By {by.value}", (by.value, *heads, "reports"), lines)


def table_of(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Return rows as a table that scrolls, with a heading for each column."""
    top = element("tr", *(element("th", heading, scope="col") for heading in head))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:]))
        for row in rows
    ]
    table = element("table", element("caption", name), element("thead", top), element("tbody", *body))
    return element("div", table, class_="scroll", tabindex="0", role="group", **{"aria-label": name})
