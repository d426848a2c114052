"""Compute figures into a folder: a tidy CSV and a picture each, and one page; finished ones are kept."""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

from dither.core.reports import DecodedValues
from dither.errors import MissingExtra, unknown_name
from dither.foundation.markup import Markup, element, escape, join_markup, page
from dither.foundation.tables import Row, as_csv, as_html, as_latex, from_csv
from dither_papers.drawing import PictureForm, picture
from dither_papers.figure import Figure, Outcome, Setting, slug

PAPERS: Final = {  # a paper's name (also its module's), and its topic
    "ogpm": "OGPM, the optimal piecewise mechanism; dissertation, chapters 1 to 3 and 5",
    "podium": "Podium and other two-level mechanisms for means",
    "jrr": "joint randomized response; dissertation, chapter 4",
    "tracs": "TraCS: places and trajectories; dissertation, chapter 6",
    "classifiers": "utility of classifiers on randomised records; dissertation, chapter 7",
    "add_remove": "add-remove noise for means and sums of a trusted curator",
}
_IN_THE_DISSERTATION: Final = {  # chapter 5 and appendix C repeat the OGPM paper under other numbers
    **{f"figure 5.{place}": f"figure {place}" for place in range(1, 18)},
    **{f"figure c.{place}": f"figure {17 + place}" for place in range(1, 4)},
    **{f"table 5.{place}": f"table {place}" for place in (1, 2)},
}


def figures(*names: str) -> list[Figure]:
    """Return the figures and tables of a paper, or of all papers, or of given names.

    The first name may be a paper; the others are items of it. Without a paper the items of all papers are
    searched: "figure 5.8" is the dissertation's, and is found among OGPM's.
    """
    paper = names[0] if names and names[0] in PAPERS else None
    chosen = list(PAPERS) if paper is None else [paper]
    everything = [figure for key in chosen for figure in import_module(f"dither_papers.{key}").FIGURES]
    items = names if paper is None else names[1:]
    if not items:
        return everything
    found = (figure for item in items for figure in _items(everything, paper, item))
    return list({figure.slug: figure for figure in found}.values())


def _items(everything: Sequence[Figure], paper: str | None, name: str) -> list[Figure]:
    """Return the figures of a name; raise InvalidParameter if it is unknown."""
    wanted = name
    number = re.sub(r"(?<=\d)[a-z]$", "", name.lower())  # the name without the letter of a panel
    if paper in (None, "ogpm") and number in _IN_THE_DISSERTATION:
        everything = [figure for figure in everything if figure.paper == "ogpm"]
        wanted = _IN_THE_DISSERTATION[number]
    found = _of_name(everything, slug(wanted))
    if found:
        return found
    numbered = name.lower().startswith(("figure", "table"))  # otherwise the name should be a paper's
    known = PAPERS if paper is None and not numbered else dict.fromkeys(figure.name for figure in everything)
    raise unknown_name("paper" if known is PAPERS else "figure", name, known)


def _of_name(everything: Sequence[Figure], wanted: str) -> list[Figure]:
    """Return the figures of a short name, in each paper all panels of it, or those that hold a panel."""
    panels = re.compile(rf"{re.escape(wanted)}[a-z]")
    found: list[Figure] = []
    for _, group in groupby(everything, lambda figure: figure.paper):
        own = list(group)
        found += [figure for figure in own if slug(figure.name) == wanted] or [
            figure for figure in own if panels.fullmatch(slug(figure.name))
        ]
    holder = re.sub(r"(?<=\d)[a-z]$", "", wanted)
    return found or [figure for figure in everything if slug(figure.name) == holder]


def _version() -> str:
    try:
        return version("dither")
    except PackageNotFoundError:
        return ""


def run(
    chosen: Sequence[Figure],
    out: Path,
    setting: Setting,
    progress: Callable[[Figure, Outcome | None], None] = lambda figure, outcome: None,
) -> list[Outcome]:
    """Compute figures into a folder and return their outcomes; finished ones are read instead.

    `progress` is called before a figure is computed, with None, and after it, with its outcome.
    """
    out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for figure in chosen:
        progress(figure, None)
        outcome = _one(figure, out, setting)
        progress(figure, outcome)
        outcomes.append(outcome)
    (out / "report.html").write_text(report(outcomes, out), encoding="utf-8")
    return outcomes


def _one(figure: Figure, out: Path, setting: Setting) -> Outcome:
    if figure.make is None:
        return Outcome(figure, [], figure.why_not)
    missing = figure.missing(setting)
    if missing:
        return Outcome(figure, [], f"needs {', '.join(missing)} (--data DIR)")
    text = f"{_version()} {figure.slug} {setting.quick} {setting.seed} {setting.data}"
    stamp = hashlib.sha256(text.encode()).hexdigest()[:8]
    table = out / f"{figure.slug}.csv"
    mark = out / f".{figure.slug}.{stamp}.done"
    if not (table.exists() and mark.exists()):
        try:
            with warnings.catch_warnings():
                # Figures look at single decoded values on purpose.
                warnings.simplefilter("ignore", DecodedValues)
                rows = figure.make(setting)
        except MissingExtra as error:
            return Outcome(figure, [], str(error))
        table.write_text(as_csv(rows), encoding="utf-8")
        for old in out.glob(f".{figure.slug}.*.drawn"):
            old.unlink()
    rows = from_csv(table.read_text(encoding="utf-8"))
    outcome = Outcome(figure, rows, lacking=figure.lacking(setting))
    _write_pictures(outcome, out, setting)
    mark.touch()
    return outcome


def _write_pictures(outcome: Outcome, out: Path, setting: Setting) -> None:
    """Write missing pictures: a PNG, and the requested form; for tables, LaTeX."""
    figure = outcome.figure
    if figure.draw is None:
        (out / f"{figure.slug}.tex").write_text(as_latex(*_cells(outcome.rows)) + "\n", encoding="utf-8")
        return
    forms: tuple[PictureForm, ...] = ("png",) if setting.form == "png" else ("png", setting.form)
    for form in forms:
        mark = out / f".{figure.slug}.{form}.{setting.style}.drawn"
        if outcome.rows and not mark.exists():
            title = f"{figure.paper} {figure.name}: {figure.title}"
            drawn = picture(title, figure.draw, outcome.rows, form, setting.style)
            if drawn:
                (out / f"{figure.slug}.{form}").write_bytes(drawn)
                for old in out.glob(f".{figure.slug}.{form}.*.drawn"):
                    old.unlink()  # it has another style
                mark.touch()


SECTIONS: Final[dict[str, tuple[str, ...]]] = {  # the sections of docs/deviations.md that concern a paper
    "ogpm": ("Intervals and circles", "Designing for a location"),
    "podium": ("Podium",),
    "jrr": ("Shared coins, and information",),
    "tracs": ("Locations and paths",),
    "classifiers": ("Classifiers",),
    "add_remove": ("The trusted curator",),
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
    """Return the page of all outcomes; it shows the pictures in the same folder `out`."""
    met = sum(ok for outcome in outcomes for ok, _ in outcome.checks)
    total = sum(len(outcome.checks) for outcome in outcomes)
    parts = [
        _ABOUT,
        element("p", f"{met} of {total} expected numbers came out within their tolerance."),
    ]
    for paper, group in groupby(outcomes, lambda outcome: outcome.figure.paper):
        figures = element("div", join_markup([_figure(outcome, out) for outcome in group]))
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
        words = f"{made.paper} {made.name}, {made.title}. {said}"
        parts.append(element("img", src=picture.name, alt=words, width="100%"))
    elif made.draw is None and outcome.rows:
        parts.append(as_html(*_cells(outcome.rows)))
    parts += [element("p", note) for note in made.notes]
    if outcome.checks:
        items = (element("li", words, class_="met" if ok else "missed") for ok, words in outcome.checks)
        parts.append(element("ul", *items))
    if outcome.unchecked:
        parts.append(element("p", f"Not computed: {outcome.unchecked}.", class_="skip"))
    links = [] if outcome.skipped else [element("a", f"{made.slug}.csv", href=f"{made.slug}.csv")]
    if made.made_by:
        name, file, line = made.made_by
        links += [Markup(", made by "), element("a", f"{name}, line {line}", href=file.as_uri())]
    if links:
        parts.append(element("p", *links))
    return join_markup(parts)


def _cells(rows: Sequence[Row]) -> tuple[list[str], list[list[object]]]:
    """Return the head and the cells of a table; the columns are in the order in which they first appear.

    The numbers of a column have equally many decimals: as many as four significant digits of any need.
    """
    head = list(dict.fromkeys(name for row in rows for name in row))
    positions = {name: _decimals([row[name] for row in rows if name in row]) for name in head}

    def shown(value: object, positions: int | None) -> object:
        return f"{value:.{positions}f}" if isinstance(value, float) and positions is not None else value

    return head, [[shown(row.get(name), positions[name]) for name in head] for row in rows]


def _decimals(values: Sequence[object]) -> int | None:
    """Return the decimals of a column of numbers; None if one of them needs an exponent."""
    digits = [f"{value:.4g}" for value in values if isinstance(value, float) and math.isfinite(value)]
    if not digits or any("e" in number for number in digits):
        return None
    return max(len(number.partition(".")[2]) for number in digits)


def _differences(paper: str) -> Markup:
    """Return the numbered deviations of a paper, as a column next to its figures; empty without any."""
    lists = [
        element("ol", *(element("li", _inline(words), value=number) for number, words in items))
        for items in (deviations().get(name, []) for name in SECTIONS.get(paper, ()))
        if items
    ]
    return element("aside", element("h3", "Where we differ, and why"), *lists) if lists else Markup("")


@cache
def deviations() -> dict[str, list[tuple[int, str]]]:
    """Return the numbered items of docs/deviations.md by section; the file is part of the package."""
    packed = files("dither_papers").joinpath("deviations.md")
    source = Path(__file__).parents[2] / "docs" / "deviations.md"  # for dither in its repository
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
