"""The catalogue: one page for each mechanism, made from its class, and the list of them."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import portraits
import prose

import dither as dt
from dither.domains import Circle, Domain, Interval
from dither.mechanisms.base import Mechanism
from dither.mechanisms.places.points import grid
from dither.registry import names

UNIT, SQUARE = Interval(0, 1), dt.Rectangle(Interval(0, 1), Interval(0, 1))
EIGHT = dt.Categories(8)

# Mechanisms that need more than a domain and a budget, as an example makes them.
EXAMPLES: dict[str, Callable[[type], Mechanism]] = {
    "ATP": lambda kind: kind(SQUARE, grid(SQUARE, 9), epsilon=1),
    "Exponential": lambda kind: kind(UNIT, [0, 0.25, 0.5, 0.75, 1], epsilon=1),
    "Focused": lambda kind: kind(UNIT, focus=0.2, epsilon=1),
    "Gaussian": lambda kind: kind(UNIT, epsilon=1, delta=1e-6),
    "JRR": lambda kind: kind(dt.Categories(2), p=0.75, rho=-0.2, n=1000),
    "JointOLH": lambda kind: dt.JRR.over(dt.OLH(EIGHT, epsilon=1), rho=-0.2, n=1000),
    "JointSUE": lambda kind: dt.JRR.over(dt.SUE(EIGHT, epsilon=1), rho=-0.2, n=1000),
    "LSRR": lambda kind: kind(SQUARE, grid(SQUARE, 9), epsilon=1),
    "Marginals": lambda kind: kind({name: dt.Categories(8) for name in ("age", "income", "town")}, epsilon=1),
    "NGram": lambda kind: kind(SQUARE, grid(SQUARE, 9), epsilon=1),
    "PEM": lambda kind: kind(dt.Text(6), epsilon=1),
    "Workload": lambda kind: dt.optimal.workload(np.tril(np.ones((8, 8))), 1),
    "RR": lambda kind: kind(dt.Categories(["no", "yes"]), epsilon=1),
}
DOMAINS: tuple[Domain, ...] = (UNIT, Circle(360), EIGHT, SQUARE, dt.Disk(1.0))
GROUPS = {
    "numeric": "Numbers and angles",
    "optimal": "Numbers and angles: best possible",
    "frequency": "Answers from a list",
    "joint": "Answers from a list, with shared coins",
    "tables": "Tables of several attributes",
    "places": "Places and paths",
}


def write(docs: Path) -> None:
    """Write every page of the catalogue below docs."""
    folder = docs / "mechanisms"
    folder.mkdir(exist_ok=True)
    for name, kind in sorted(names().items()):
        made = example(name, kind)
        _draw_once(kind, made, folder / f"{name}.png")
        (folder / f"{name}.md").write_text(page(name, kind, made))
    (docs / "catalogue.md").write_text(listing())


def _draw_once(kind: type[Mechanism], made: Mechanism, picture: Path) -> None:
    """Draw a mechanism, unless the picture of the same code is there: drawing takes most of a build."""
    sources = [Path(inspect.getfile(one)) for one in (kind, portraits.draw)]
    text = "".join(file.read_text(encoding="utf-8") for file in sources) + made.describe()
    digest, kept = hashlib.sha256(text.encode()).hexdigest(), picture.with_suffix(".digest")
    if not (picture.exists() and kept.exists() and kept.read_text() == digest):
        portraits.draw(made, picture)
        kept.write_text(digest)


def example(name: str, kind: type[Mechanism]) -> Mechanism:
    """Make a mechanism as its page shows it: from the table, or on the first domain that it takes."""
    if name in EXAMPLES:
        return EXAMPLES[name](kind)
    domain = next(domain for domain in DOMAINS if isinstance(domain, kind.takes))
    return kind(domain, epsilon=1)


def page(name: str, kind: type[Mechanism], made: Mechanism) -> str:
    """Give the page of a mechanism."""
    public = f"dt.{name}" if name in dt.__all__ else f"dt.jrr.{name}" if name in dt.jrr.__all__ else name
    text = [f"# {name}", "", prose.summary(kind), "", prose.body(kind), ""]
    text += [f"```python\n{public}{prose.signature(kind)}\n```", ""]
    text += [f"![{portraits.caption(made)}]({name}.png)", "", portraits.caption(made), ""]
    source = Path(inspect.getfile(kind))
    where = source.relative_to(Path(dt.__file__).parent.parent)
    text += [f"**As drawn:** {made.describe()}", "", f"**Source:** `src/{where.as_posix()}`. ", ""]
    text += ["[References](../references.md) · [Deviations from the papers](../deviations.md)", ""]
    return "\n".join(text)


def listing() -> str:
    """Give the list of all mechanisms, by what they ask."""
    text = ["# The mechanisms", "", "Each page is made from the mechanism's own class. Which one to take: "]
    text[-1] += "[Choose](choose.md)."
    found = {group: [] for group in GROUPS}  # type: dict[str, list[str]]
    for name, kind in sorted(names().items(), key=lambda pair: pair[0].lower()):
        room = kind.__module__.split(".")
        group = next(group for group in GROUPS if group in room)
        found[group].append(f"- [{name}](mechanisms/{name}.md): {prose.summary(kind).rstrip('.')}")
    for group, title in GROUPS.items():
        text += ["", f"## {title}", "", *found[group]]
    toctree = "\n".join(f"mechanisms/{name}" for name in sorted(names()))
    return "\n".join([*text, "", f"```{{toctree}}\n:hidden:\n\n{toctree}\n```", ""])
