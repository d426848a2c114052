"""Running figures: resumable, each into a tidy CSV and a picture, and one page with all side by side."""

from __future__ import annotations

import hashlib
import html
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Final, final

from dither.errors import InvalidParameter, MissingExtra
from dither.experiments.figure import Figure, Setting, read_rows, write_rows

PAPERS: Final = {  # a paper's number and the module that reproduces it
    "001": "ogpm",
    "002-4": "jrr",
    "002-6": "tracs",
    "002-7": "classifiers",
    "003": "podium",
    "004": "addremove",
}


@final
@dataclass(frozen=True)
class Outcome:
    """What became of a figure: its rows, or why there are none; and the expectations it met and missed."""

    figure: Figure
    rows: list[dict[str, Any]]
    skipped: str = ""

    @property
    def checks(self) -> list[tuple[bool, str]]:
        """Each expectation in words, and whether it was met."""
        if self.skipped:
            return []
        said = []
        for expected in self.figure.expected:
            found = expected.found(self.rows)
            where = ", ".join(f"{name} = {value}" for name, value in expected.where.items())
            kind = "" if expected.absolute else " relative"
            words = (
                f"{expected.column} at {where}: {found:.6g}, expected {expected.value:.6g} "
                f"± {expected.tolerance:g}{kind} ({expected.source})"
            )
            said.append((expected.met_by(found), words))
        return said

    @property
    def ok(self) -> bool:
        """Whether every expectation was met."""
        return all(met for met, _ in self.checks)


def figures(paper: str | None = None, name: str | None = None) -> list[Figure]:
    """Give the figures of a paper, or of all; `name` picks those whose name contains it."""
    chosen = [key for key in PAPERS if paper is None or key.startswith(paper)]
    if not chosen:
        raise InvalidParameter(f"there is no such paper; there are {', '.join(PAPERS)}")
    found: list[Figure] = []
    for key in chosen:
        try:
            module = import_module(f"dither.experiments.{PAPERS[key]}")
        except ModuleNotFoundError as error:
            if error.name != f"dither.experiments.{PAPERS[key]}":
                raise
            continue
        found += [figure for figure in module.FIGURES if name is None or _matches(figure, name)]
    if not found:
        raise InvalidParameter("no figure of that name; `dither reproduce --list` shows them all")
    return found


def _matches(figure: Figure, name: str) -> bool:
    return figure.name.lower() == name.lower() or figure.slug.endswith(name.lower().replace(" ", "-"))


def run(
    chosen: Sequence[Figure],
    out: Path,
    setting: Setting,
    progress: Callable[[Figure, Outcome], None] = lambda figure, outcome: None,
) -> list[Outcome]:
    """Compute figures into a folder. What is there already, with the same setting, is not computed again."""
    out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for figure in chosen:
        outcome = _one(figure, out, setting)
        progress(figure, outcome)
        outcomes.append(outcome)
    (out / "report.html").write_text(page(outcomes, out), encoding="utf-8")
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
        return Outcome(figure, read_rows(table.read_text(encoding="utf-8")))
    try:
        rows = figure.make(setting)
    except MissingExtra as error:
        return Outcome(figure, [], str(error))
    table.write_text(write_rows(rows), encoding="utf-8")
    picture = drawing(figure, rows)
    if picture:
        (out / f"{figure.slug}.png").write_bytes(picture)
    mark.touch()
    return Outcome(figure, read_rows(write_rows(rows)))


def drawing(figure: Figure, rows: list[dict[str, Any]]) -> bytes:
    """Give a figure's picture as PNG; empty without a drawing or without matplotlib."""
    if figure.draw is None or not rows:
        return b""
    try:
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415  (an extra)
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


def page(outcomes: Sequence[Outcome], out: Path) -> str:
    """Write one page with every figure, its numbers against what was expected, and its notes."""
    parts = [_HEAD]
    met = sum(ok for outcome in outcomes for ok, _ in outcome.checks)
    total = sum(len(outcome.checks) for outcome in outcomes)
    parts.append(f"<p>{met} of {total} expected numbers came out within their tolerance.</p>")
    for outcome in outcomes:
        figure = outcome.figure
        parts.append(f"<h2>{html.escape(f'{figure.paper} {figure.name}')}: {html.escape(figure.title)}</h2>")
        if outcome.skipped:
            parts.append(f"<p class=skip>Not computed: {html.escape(outcome.skipped)}.</p>")
        picture = out / f"{figure.slug}.png"
        if picture.exists() and not outcome.skipped:
            parts.append(f"<img src='data:image/png;base64,{b64encode(picture.read_bytes()).decode()}'>")
        parts += [f"<p>{html.escape(note)}</p>" for note in figure.notes]
        if outcome.checks:
            items = "".join(
                f"<li class={'met' if ok else 'missed'}>{html.escape(words)}</li>"
                for ok, words in outcome.checks
            )
            parts.append(f"<ul>{items}</ul>")
        if not outcome.skipped:
            parts.append(f"<p><a href='{figure.slug}.csv'>{figure.slug}.csv</a></p>")
    return "\n".join(parts) + "\n"


_HEAD: Final = """<!doctype html>
<html lang=en><meta charset=utf-8><title>dither: the papers, reproduced</title>
<style>
body { font: 15px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #22303c }
img { max-width: 100% } li.met { color: #2c6e49 } li.missed { color: #b3261e; font-weight: bold }
p.skip { color: #777 } h2 { margin-top: 2em; border-top: 1px solid #ddd; padding-top: 1em }
</style>
<h1>The papers, reproduced</h1>
<p>Each figure <em>as published</em>, <em>as coded</em> by the authors where that is known, and
<em>right</em>. Why they differ is told in docs/deviations.md.</p>"""
