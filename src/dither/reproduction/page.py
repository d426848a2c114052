"""The page of a reproduction: every figure, its numbers against the expected ones, and the deviations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

from dither.html import Markup, element, escape, figure, joined, page
from dither.reproduction.figure import Outcome
from dither.table import Row, as_html

SECTIONS: Final[dict[str, tuple[str, ...]]] = {  # the sections of docs/deviations.md that concern a paper
    "002-1": (),
    "001": ("Intervals and circles", "Designing for a place"),
    "002-4": ("Shared coins, and information",),
    "002-6": ("Places and paths",),
    "002-7": ("Classifiers",),
    "003": ("Podium",),
    "004": ("The trusted curator",),
}
_ABOUT: Final = element(
    "p",
    "Each figure ",
    element("em", "as published"),
    ", ",
    element("em", "as coded"),
    " by the authors where that is known, and ",
    element("em", "right"),
    ". Beside it stands why they differ (docs/deviations.md).",
)


def report(outcomes: Sequence[Outcome], out: Path) -> str:
    """Return the page of all outcomes; pictures are read from the folder `out` and stand inside the page."""
    met = sum(ok for outcome in outcomes for ok, _ in outcome.checks)
    total = sum(len(outcome.checks) for outcome in outcomes)
    parts = [
        _ABOUT,
        element("p", f"{met} of {total} expected numbers came out within their tolerance."),
    ]
    for paper, group in groupby(outcomes, lambda outcome: outcome.figure.paper):
        figures = element("div", joined([_figure(outcome, out) for outcome in group]))
        parts += [element("h1", paper), element("div", figures, _differences(paper), class_="beside")]
    return page("The papers, reproduced", *parts, wide=True)


def _figure(outcome: Outcome, out: Path) -> Markup:
    made = outcome.figure
    parts = [element("h2", f"{made.paper} {made.name}: {made.title}")]
    if outcome.skipped:
        parts.append(element("p", f"Not computed: {outcome.skipped}.", class_="skip"))
    picture = out / f"{made.slug}.png"
    if picture.exists() and not outcome.skipped:
        said = "" if made.draw is None else made.draw.describe(outcome.rows)
        parts.append(figure(picture.read_bytes(), f"{made.paper} {made.name}, {made.title}. {said}"))
    elif made.draw is None and outcome.rows:
        parts.append(_table(outcome.rows))
    parts += [element("p", note) for note in made.notes]
    if outcome.checks:
        items = (element("li", words, class_="met" if ok else "missed") for ok, words in outcome.checks)
        parts.append(element("ul", *items))
    if not outcome.skipped:
        parts.append(element("p", element("a", f"{made.slug}.csv", href=f"{made.slug}.csv")))
    return joined(parts)


def _table(rows: Sequence[Row]) -> Markup:
    """Return rows as a table; the columns are in the order in which they first appear."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    return as_html(head, [[row.get(name) for name in head] for row in rows])


def _differences(paper: str) -> Markup:
    """Return the numbered deviations of a paper, as a column beside its figures; nothing if it has none."""
    lists = [
        element("ol", *(element("li", _inline(words), value=number) for number, words in items))
        for items in (deviations().get(name, []) for name in SECTIONS.get(paper, ()))
        if items
    ]
    return element("aside", element("h3", "Where we differ, and why"), *lists) if lists else Markup("")


@cache
def deviations() -> dict[str, list[tuple[int, str]]]:
    """Return the numbered items of docs/deviations.md by section; the file is part of the package."""
    packed = files("dither.reproduction").joinpath("deviations.md")
    source = Path(__file__).parents[3] / "docs" / "deviations.md"  # where dither runs from its repository
    if packed.is_file():
        text = packed.read_text(encoding="utf-8")
    elif source.is_file():
        text = source.read_text(encoding="utf-8")
    else:
        return {}
    sections = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    return {
        name.strip(): [
            (int(number), " ".join(words.split()))
            for number, words in re.findall(r"^(\d+)\. (.+?)(?=^\d+\. |\Z)", body, re.MULTILINE | re.DOTALL)
        ]
        for name, body in zip(sections[::2], sections[1::2], strict=True)
    }


def _inline(words: str) -> Markup:
    """Return a line of Markdown as HTML: code, strong, emphasis, and a link as its text."""
    words = escape(words)
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    words = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)
    words = re.sub(r"(?<!\w)\*(\w[^*]*)\*", r"<em>\1</em>", words)
    return Markup(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", words))
