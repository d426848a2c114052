"""Draw the tables of coverage.md: `python docs/draw_coverage.py` writes pictures/coverage.svg, twice.

Every number of a table is a dot, one line for each kind of estimate (extra: plot).
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure

from dither.foundation.plotting import BLUE, GREY, ORANGE, dress_axes

DOCS = Path(__file__).parent
PICTURE = DOCS / "pictures" / "coverage.svg"
TITLES = {
    "coverage of groups": "groups, pairs, tests",
    "desk, weights": "weighted people",
    "desk, groups": "private groups",
    "desk, regressions": "several regressors",
    "desk, optional": "numbers that may be missing",
    "beside": "beside point masses",
    "presence": "retention",
}
HELD = re.compile(r"(\d+(?:\.\d+)?)(?: ± [\d.]+)? %")


def numbers() -> dict[str, list[float]]:
    """Return the percentages of the tables of the page, by kind of estimate."""
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    found: dict[str, list[float]] = defaultdict(list)
    for mark, table in re.findall(r"<!-- ([\w, ]+): begin -->\n(.*?)<!-- \1: end -->", text, re.DOTALL):
        head, _, *rows = [line.strip("| ").split(" | ") for line in table.strip().split("\n")]
        columns = [index for index, name in enumerate(head) if name == "held" or "ε =" in name]
        for row in rows:
            kind = TITLES.get(mark, mark.removeprefix("desk, "))
            if mark == "coverage":
                kind = re.sub(r" [\d.]+$", "", row[0].split(", ")[1])
            elif mark == "shapes":
                kind = f"smooth shapes: {re.sub(r' [0-9.]+$', '', row[1].strip('`'))}"
            cells = [HELD.match(row[index]) for index in columns]
            found[kind] += [float(cell[1]) for cell in cells if cell]
    return dict(found)


def description() -> str:
    """Return what is in the picture; a test compares it with the page."""
    counts = ", ".join(f"{kind}: {len(held)} of mean {np.mean(held):.2f}" for kind, held in numbers().items())
    return f"Coverage of 95 % intervals in per cent. {counts}"


def draw(width: float, height: float) -> Figure:
    """Return the plot: a line for each kind, a dot for each number, 95 % as a line."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    kinds = numbers()
    rng = np.random.default_rng(1)
    for line, held in enumerate(kinds.values()):
        spread = line + rng.uniform(-0.25, 0.25, len(held))
        low = np.asarray(held) < 90
        for part, colour in ((~low, BLUE), (low, ORANGE)):
            axes.plot(np.asarray(held)[part], spread[part], "o", ms=3, alpha=0.6, mew=0, color=colour)
    axes.axvline(95, color=GREY, linewidth=1)
    axes.set_yticks(range(len(kinds)), [f"{kind} ({len(held)})" for kind, held in kinds.items()], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(right=102)
    return dress_axes(axes, x="95 % intervals that held, %").figure  # type: ignore[return-value]


def main() -> None:
    """Write both pictures, the same bytes from the same page."""
    rcParams["svg.hashsalt"] = "dither"
    described: dict[str, str | None] = {"Date": None, "Description": description()}
    draw(7, 5).savefig(PICTURE, metadata=described)
    draw(4.2, 6).savefig(PICTURE.with_stem("coverage-portrait"), metadata=described)


if __name__ == "__main__":
    main()
