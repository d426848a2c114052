"""One page with every figure, its numbers against what was expected, and beside it why we differ."""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

from dither.reproduction.figure import Outcome

SECTIONS: Final = {  # the sections of docs/deviations.md that concern a paper
    "001": ("Intervals and circles", "Designing for a place"),
    "002-4": ("Shared coins, and information",),
    "002-6": ("Places and paths",),
    "002-7": ("Classifiers",),
    "003": ("Podium",),
    "004": ("The trusted curator",),
}


def page(outcomes: Sequence[Outcome], out: Path) -> str:
    """Write the page; pictures are taken from the folder `out` and stand inside it."""
    met = sum(ok for outcome in outcomes for ok, _ in outcome.checks)
    total = sum(len(outcome.checks) for outcome in outcomes)
    parts = [_HEAD, f"<p>{met} of {total} expected numbers came out within their tolerance.</p>"]
    for paper, group in groupby(outcomes, lambda outcome: outcome.figure.paper):
        told = "".join(_section(name) for name in SECTIONS.get(paper, ()))
        aside = f"<aside><h3>Where we differ, and why</h3>{told}</aside>" if told else ""
        figures = "\n".join(_figure(outcome, out) for outcome in group)
        parts.append(f"<h1>{html.escape(paper)}</h1>\n<div class=paper><div>{figures}</div>{aside}</div>")
    return "\n".join(parts) + "\n"


def _figure(outcome: Outcome, out: Path) -> str:
    figure = outcome.figure
    parts = [f"<h2>{html.escape(f'{figure.paper} {figure.name}')}: {html.escape(figure.title)}</h2>"]
    if outcome.skipped:
        parts.append(f"<p class=skip>Not computed: {html.escape(outcome.skipped)}.</p>")
    picture = out / f"{figure.slug}.png"
    if picture.exists() and not outcome.skipped:
        parts.append(f"<img src='data:image/png;base64,{b64encode(picture.read_bytes()).decode()}'>")
    parts += [f"<p>{html.escape(note)}</p>" for note in figure.notes]
    if outcome.checks:
        items = "".join(
            f"<li class={'met' if ok else 'missed'}>{html.escape(words)}</li>" for ok, words in outcome.checks
        )
        parts.append(f"<ul>{items}</ul>")
    if not outcome.skipped:
        parts.append(f"<p><a href='{figure.slug}.csv'>{figure.slug}.csv</a></p>")
    return "\n".join(parts)


@cache
def deviations() -> dict[str, list[tuple[int, str]]]:
    """Give the numbered items of docs/deviations.md by section; it travels with the package."""
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


def _section(name: str) -> str:
    items = "".join(
        f"<li value={number}>{_inline(words)}</li>" for number, words in deviations().get(name, [])
    )
    return f"<ol>{items}</ol>" if items else ""


def _inline(words: str) -> str:
    """Give a line of Markdown as HTML: code, strong and emphasis, links as their words."""
    words = html.escape(words, quote=False)
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    words = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)
    words = re.sub(r"(?<!\w)\*(\w[^*]*)\*", r"<em>\1</em>", words)
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", words)


_HEAD: Final = """<!doctype html>
<html lang=en><meta charset=utf-8><title>dither: the papers, reproduced</title>
<style>
body { font: 15px/1.5 sans-serif; max-width: 92em; margin: 2em auto; padding: 0 1em; color: #22303c }
img { max-width: 100% } li.met { color: #2c6e49 } li.missed { color: #b3261e; font-weight: bold }
p.skip { color: #777 } h2 { margin-top: 2em; border-top: 1px solid #ddd; padding-top: 1em }
div.paper { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 2em }
aside { font-size: 13px; background: #f5f7f9; padding: 0 1.2em 1em; align-self: start }
@media (max-width: 60em) { div.paper { display: block } }
</style>
<h1>The papers, reproduced</h1>
<p>Each figure <em>as published</em>, <em>as coded</em> by the authors where that is known, and
<em>right</em>. Beside it stands why they differ (docs/deviations.md).</p>"""
