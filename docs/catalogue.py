"""The catalogue: one page for each mechanism, made from its class, and the list of them."""

from __future__ import annotations

import hashlib
import inspect
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import portraits
import prose
import site_parts
from mechanism_page import CARDS, example, page, standing

from dither.core.registry import names
from dither.mechanisms.analysis.analysis import Analysis

GROUPS = {
    "numeric": "Numbers and angles",
    "optimal": "Numbers and angles: best possible",
    "frequency": "Answers from a list",
    "joint": "Answers from a list, with shared coins",
    "marginals": "Tables of several attributes",
    "matrix": "Any table of probabilities",
    "places": "Places and paths",
    "": "Never the best: for comparison, and for collections that exist",
}
DOMINATED = {"BLH", "HadamardResponse", "OGPMU", "SUE"}


def write(docs: Path) -> None:
    """Write every page of the catalogue below docs."""
    folder = docs / "mechanisms"
    folder.mkdir(exist_ok=True)
    with ProcessPoolExecutor(mp_context=get_context("fork")) as workers:  # drawing takes most of a build
        drawing = [workers.submit(_draw_once, name, folder / f"{name}.png") for name in _dear_first()]
        for name, kind in sorted(names().items()):
            text = site_parts.cited(page(name, kind, standing(name, kind)), f"mechanisms/{name}.md")
            site_parts.write_pages({f"mechanisms/{name}": text})
        site_parts.write_pages({"catalogue": listing()})
        for drawn in drawing:
            drawn.result()


def _dear_first() -> list[str]:
    """Return the names of the mechanisms, first those whose pictures take seconds."""
    return sorted(names(), key=lambda name: (not issubclass(names()[name], Analysis), name))


def _draw_once(name: str, picture: Path) -> None:
    """Draw a mechanism, unless the picture of the same code is there."""
    kind, made = names()[name], example(name, names()[name])
    sources = [Path(inspect.getfile(source)) for source in (kind, portraits.draw, portraits.make_narrow)]
    text = "".join(file.read_text(encoding="utf-8") for file in sources) + made.describe()
    digest, kept = hashlib.sha256(text.encode()).hexdigest(), picture.with_suffix(".digest")
    narrow = picture.with_stem(f"{picture.stem}-portrait")
    if not (picture.exists() and narrow.exists() and kept.exists() and kept.read_text() == digest):
        portraits.draw(made, picture)
        kept.write_text(digest)


def listing() -> str:
    """Return the list of all mechanisms, by what they ask."""
    text = [
        "# The mechanisms",
        "",
        "All mechanisms, grouped by the question that they ask. Each has a page with its definition, an "
        "example, its error and its source. Which one to use: ",
    ]
    text[-1] += "[Choose](choose.md)."
    found = {group: [] for group in GROUPS}  # type: dict[str, list[str]]
    for name, kind in sorted(names().items(), key=lambda pair: pair[0].lower()):
        room = kind.__module__.split(".")
        group = "" if name in DOMINATED else next(group for group in GROUPS if group in room)
        found[group].append(
            f"- [{name}](mechanisms/{name}.md), {CARDS[name][0]}: {prose.summary(kind).rstrip('.')}"
        )
    for group, title in GROUPS.items():
        text += ["", f"## {title}", "", *found[group]]
    return "\n".join([*text, ""])
