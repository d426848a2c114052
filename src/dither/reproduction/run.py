"""Compute figures into a folder: a tidy CSV and a picture each, and one page; finished ones are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from dither.errors import MissingExtra, unknown_name
from dither.reproduction.drawing import picture
from dither.reproduction.figure import Figure, Outcome, Setting
from dither.reproduction.page import report
from dither.table import as_csv, from_csv

PAPERS: Final = {  # a paper's number and the module that reproduces it
    "001": "ogpm",
    "002-1": "introduction",
    "002-4": "jrr",
    "002-6": "tracs",
    "002-7": "classifiers",
    "003": "podium",
    "004": "addremove",
}
# 000 is the summary of 001's revision, chapter 5 and appendix C of the dissertation repeat 001.
_SAME_FIGURE: Final = {
    "000": {f"figure {place}": f"figure {own}" for place, own in enumerate((12, 13, 14, 15, 19, 20), 1)},
    "002-5": {
        **{f"figure 5.{place}": f"figure {place}" for place in range(1, 18)},
        **{f"figure c.{place}": f"figure {17 + place}" for place in range(1, 4)},
        **{f"table 5.{place}": f"table {place}" for place in (1, 2)},
    },
}


TITLES: Final = {  # what the papers are about, for the list
    "001": "OGPM: the optimal piecewise mechanism on intervals and circles",
    "002-1": "dissertation, chapter 1: introduction",
    "002-4": "dissertation, chapter 4: joint randomized response",
    "002-6": "dissertation, chapter 6: TraCS, trajectories",
    "002-7": "dissertation, chapter 7: utility of classifiers",
    "003": "Podium and other two-level mechanisms for means",
    "004": "add-remove noise for means and sums of a trusted curator",
}


def _is_part(key: str, paper: str) -> bool:
    return key == paper or key.startswith(f"{paper}-")


def figures(paper: str | None = None, name: str | None = None) -> list[Figure]:
    """Return the figures of a paper, or of all papers; with `name`, only the figure of that name.

    000 and 002-5 mean 001. Their own numbers of figures, "figure 5.8" for example, are understood too.
    """
    if name is None and paper is not None and paper[:1].isalpha():  # `dither reproduce "figure 5.8"`
        paper, name = None, paper
    # 002 is the dissertation, of which several chapters are here; no other part of a number means a paper
    chosen = list(PAPERS) if paper is None else [key for key in PAPERS if _is_part(key, paper)]
    if paper is not None and any(_is_part(key, paper) for key in _SAME_FIGURE):
        chosen = list(dict.fromkeys(["001", *chosen]))
    if not chosen:
        raise unknown_name("paper", paper, [*_SAME_FIGURE, *PAPERS])
    everything = [
        figure for key in chosen for figure in import_module(f"dither.reproduction.{PAPERS[key]}").FIGURES
    ]
    if name is None:
        return everything
    alike = [table[name.lower()] for key, table in _SAME_FIGURE.items() if _means(key, paper, name)]
    found = [figure for figure in everything if any(_matches(figure, one) for one in alike or [name])]
    if not found:
        raise unknown_name("figure", name, dict.fromkeys(figure.name for figure in everything))
    return found


def _means(key: str, paper: str | None, name: str) -> bool:
    """Return whether a name is one of a repeated paper's own; those of 000 only if 000 is asked for."""
    asked = key == "002-5" if paper is None else key.startswith(paper)
    return asked and name.lower() in _SAME_FIGURE[key]


def _matches(figure: Figure, name: str) -> bool:
    return figure.name.lower() == name.lower() or figure.slug.endswith(name.lower().replace(" ", "-"))


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
    told = f"{_version()} {figure.slug} {setting.quick} {setting.seed} {setting.data}"
    stamp = hashlib.sha256(told.encode()).hexdigest()[:8]
    table = out / f"{figure.slug}.csv"
    mark = out / f".{figure.slug}.{stamp}.done"
    if table.exists() and mark.exists():
        return Outcome(figure, from_csv(table.read_text(encoding="utf-8")))
    try:
        rows = figure.make(setting)
    except MissingExtra as error:
        return Outcome(figure, [], str(error))
    table.write_text(as_csv(rows), encoding="utf-8")
    if figure.draw is not None and rows:
        drawn = picture(f"{figure.paper} {figure.name}: {figure.title}", figure.draw, rows)
        if drawn:
            (out / f"{figure.slug}.png").write_bytes(drawn)
    mark.touch()
    return Outcome(figure, from_csv(as_csv(rows)))
