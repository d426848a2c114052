"""Compute figures into a folder: a tidy CSV and a picture each, and one page; finished ones are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from dither.errors import MissingExtra, unknown_name
from dither.reproduction.figure import Figure, Outcome, Setting
from dither.reproduction.page import report
from dither.table import as_csv, from_csv

PAPERS: Final = {  # a paper's number and the module that reproduces it
    "001": "ogpm",
    "002-4": "jrr",
    "002-6": "tracs",
    "002-7": "classifiers",
    "003": "podium",
    "004": "addremove",
}


def figures(paper: str | None = None, name: str | None = None) -> list[Figure]:
    """Return the figures of a paper, or of all papers; with `name`, only the figure of that name."""
    chosen = [key for key in PAPERS if paper is None or key.startswith(paper)]
    if not chosen:
        raise unknown_name("paper", paper, PAPERS)
    found: list[Figure] = []
    for key in chosen:
        module = import_module(f"dither.reproduction.{PAPERS[key]}")
        found += [figure for figure in module.FIGURES if name is None or _matches(figure, name)]
    if not found:
        modules = [import_module(f"dither.reproduction.{PAPERS[key]}") for key in chosen]
        raise unknown_name(
            "figure", name, dict.fromkeys(one.name for made in modules for one in made.FIGURES)
        )
    return found


def _matches(figure: Figure, name: str) -> bool:
    return figure.name.lower() == name.lower() or figure.slug.endswith(name.lower().replace(" ", "-"))


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
    stamp = hashlib.sha256(
        f"{figure.slug} {setting.quick} {setting.seed} {setting.data}".encode()
    ).hexdigest()[:8]
    table = out / f"{figure.slug}.csv"
    mark = out / f".{figure.slug}.{stamp}.done"
    if table.exists() and mark.exists():
        return Outcome(figure, from_csv(table.read_text(encoding="utf-8")))
    try:
        rows = figure.make(setting)
    except MissingExtra as error:
        return Outcome(figure, [], str(error))
    table.write_text(as_csv(rows), encoding="utf-8")
    picture = drawing(figure, rows)
    if picture:
        (out / f"{figure.slug}.png").write_bytes(picture)
    mark.touch()
    return Outcome(figure, from_csv(as_csv(rows)))


def drawing(figure: Figure, rows: list[dict[str, Any]]) -> bytes:
    """Return a figure's picture as PNG; empty if it has no `draw` or matplotlib is not installed."""
    if figure.draw is None or not rows:
        return b""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return b""
    canvas = Canvas(figsize=(10.0, 3.8), layout="constrained")
    grid: list[Any] = []

    def axes_of(place: int, count: int) -> Any:
        if not grid:
            columns = min(count, 3)
            height = -(-count // columns)
            canvas.set_size_inches(3.6 * columns + 1.0, 3.2 * height + 0.4)
            grid.extend(canvas.subplots(height, columns, squeeze=False).reshape(-1))
        return grid[place]

    figure.draw(axes_of, rows)
    for axes in grid:
        axes.set_visible(bool(axes.has_data()))
    canvas.suptitle(f"{figure.paper} {figure.name}: {figure.title}", fontsize=10)
    stream = BytesIO()
    canvas.savefig(stream, dpi=110)
    return stream.getvalue()
