"""Pictures of figures: panels of curves with one legend, one style for each mechanism, and text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from io import BytesIO
from itertools import cycle
from typing import Any, Final, Literal, Protocol


class Version(Enum):
    """The values of the column `version` of a row."""

    PUBLISHED = "as published"
    CODED = "as coded"
    RIGHT = "right"


PUBLISHED, CODED, RIGHT = (version.value for version in Version)


@dataclass(frozen=True)
class Style:
    """A colour and a marker, or a dash where a curve has no marker: two curves differ in both."""

    colour: str
    marker: str
    dash: Any = "-"


_BLUE, _ORANGE, _RED, _GREEN, _TEAL = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#2aa6a1"
_PURPLE, _PINK, _SKY, _BROWN, _GREY, _BLACK = "#7b4ab5", "#cc79a7", "#56b4e9", "#8c510a", "#777777", "#222222"
_OLIVE, _NAVY, _RUST = "#8a8a00", "#1f3b73", "#a6361c"

STYLES: Final[dict[str, Style]] = {
    # numbers
    "OGPM": Style(_BLUE, "o"),
    "PM (= OGPM)": Style(_BLUE, "o"),  # called PM in chapter 7 of the dissertation
    "OGPM, best for squares": Style(_BLUE, "*"),
    "PM (= OGPM), in the proven box": Style(_BLUE, "."),
    "OGPM-U": Style(_SKY, "P"),
    "OGPMU": Style(_SKY, "P"),
    "PM": Style(_ORANGE, "s"),
    "PM-C": Style(_ORANGE, "D"),
    "T-PM": Style(_ORANGE, "d"),
    "SW": Style(_GREEN, "^"),
    "SW-C": Style(_GREEN, "v"),
    "T-SW": Style(_GREEN, "<"),
    "SW, redesigned": Style(_GREEN, ">"),
    "SW, redesigned, in the proven box": Style(_GREEN, "."),
    "Podium": Style(_PURPLE, "h"),
    "Podium, s = ε/3": Style(_NAVY, "v"),
    "Laplace": Style(_GREY, "s"),
    "Laplace, in the proven box": Style(_GREY, "."),
    "T-Laplace": Style(_GREY, "P"),
    "B-Laplace": Style(_BLACK, "v"),
    "Staircase": Style(_PINK, "X"),
    "Purkayastha": Style(_BROWN, "P"),
    "Gaussian": Style(_BROWN, "d"),
    "Gaussian, in the proven box": Style(_BROWN, "."),
    "Exponential": Style(_RED, "p"),
    "Exponential, in the proven box": Style(_RED, "."),
    "k-RR": Style(_OLIVE, "h"),
    "k-RR, in the proven box": Style(_OLIVE, "."),
    # answers from a list
    "RR": Style(_NAVY, "s"),
    "RR at what JRR spends": Style(_NAVY, "D"),
    "JRR": Style(_RUST, "o"),
    "JRR, optimal": Style(_RUST, "P"),
    "JRR, heuristic": Style(_RUST, "X"),
    "JRR, best if informed": Style(_RUST, "*"),
    # places
    "TraCS-D": Style(_BLUE, "<"),
    "TraCS-D from the corner": Style(_NAVY, "^"),
    "TraCS-D (R-SW)": Style(_SKY, "D"),
    "TraCS-C": Style(_TEAL, ">"),
    "strawman": Style(_OLIVE, "p"),
    "planar Laplace": Style(_GREY, "*"),
    "ATP": Style(_RED, "v"),
    "NGram": Style(_PURPLE, "^"),
    "NGram, printed scale": Style(_PURPLE, "v"),
    "L-SRR": Style(_BROWN, "D"),
    "L-SRR with c = e^ε": Style(_BROWN, "^"),
    "gridding 10 × 10": Style(_PINK, "s"),
    "gridding 100 × 100": Style(_RUST, "d"),
    "gridding 10 × 10, printed scale": Style(_PURPLE, "s"),
    "gridding 100 × 100, printed scale": Style(_PURPLE, "P"),
    "3-RR": Style(_OLIVE, "^"),
    "6-RR": Style(_SKY, "v"),
    "12-RR": Style(_NAVY, "d"),
    # the trusted curator
    "Algorithm 1": Style(_NAVY, "o"),
    "Algorithm 2": Style(_ORANGE, "v"),
    "Algorithm 3, Laplace": Style(_GREY, "X"),
    "Algorithm 3, 2-D staircase": Style(_PINK, "D"),
    "Algorithm 3, hourglass": Style(_RED, "*"),
    "Algorithm 3, hourglass, eq. (10)": Style(_RED, "P"),
    "lower bound": Style(_BLACK, ""),
    "swap model, clipped staircase": Style(_BLACK, "+"),
}
PROVEN: Final = "in the proven box"  # suffix of the name of a curve that is a lower bound
LINES: Final = {RIGHT: "-", CODED: "--", PUBLISHED: ":"}
_OTHERS: Final = (_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _BROWN, _PINK, _GREY, _NAVY, _OLIVE)
_DASHES: Final = ("-", (0, (6, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 3)))


def styles_of(names: list[str]) -> dict[str, Style]:
    """Return the style of each curve; other curves take colours and dashes in order."""
    others = cycle(Style(colour, "", dash) for colour, dash in zip(_OTHERS, cycle(_DASHES), strict=False))
    return {name: STYLES[name] if name in STYLES else next(others) for name in names}


def drawn(style: Style, points: int, version: str = RIGHT) -> dict[str, Any]:
    """Return the keywords of a curve for matplotlib: at most about nine markers, hollow unless right."""
    return {
        "color": style.colour,
        "marker": style.marker or None,
        "linestyle": style.dash if version == RIGHT else LINES.get(version, "-"),
        "markevery": max(1, points // 8),
        "markersize": 5.5,
        "markerfacecolor": style.colour if version == RIGHT else "white",
        "linewidth": 1.5,
    }


Rows = list[dict[str, Any]]

_LABELS: Final = {  # axis labels in words; a figure may say more
    "ε": "privacy budget ε",
    "epsilon": "privacy budget ε",
    "x": "true value x",
    "μ": "mean of the records μ",
    "n": "number of records n",
    "θ": "distance θ",
    "report": "report",
    "error": "expected error",
    "utility": "probability that the answer stays",
    "MSE": "mean squared error of the count",
    "ARE": "average relative error",
    "m/n": "share of colluders m/n",
    "n1/n": "share of holders n₁/n",
    "variance": "variance",
    "s": "step s",
}
_TITLES: Final = {"absolute": "absolute error", "squared": "squared error"}


_COLUMN, _TEXT_WIDTH, _POINTS = 3.4, 7.0, 8  # inches of a column and of a page's text, and the size of type


class Panels:
    """The canvas of one picture. A drawing requests its grid of axes once.

    For a `paper` it is as wide as a column, or as the text for panels side by side, and its legend
    is below.
    """

    def __init__(self, canvas: Any, *, paper: bool = False) -> None:
        self.canvas, self._paper = canvas, paper
        self.axes: list[Any] = []
        self.hole: Any = None  # the cell without data, if a drawing leaves one: it holds the legend

    def grid(self, rows: int, columns: int, *, square: bool = False) -> list[list[Any]]:
        """Return rows × columns axes; `square` makes room for pictures of places."""
        height = 3.4 if square else 2.9
        wide, high = (5.0 if columns == 1 else 3.5 * columns) + 2.3, height * rows + 0.6
        if self._paper:
            wide = _COLUMN if columns == 1 else _TEXT_WIDTH
            high = rows * (wide / columns if square else min(2.1, 0.8 * wide / columns)) + 0.8
        self.canvas.set_size_inches(wide, high)
        found = self.canvas.subplots(rows, columns, squeeze=False)
        self.axes = list(found.reshape(-1))
        return [list(row) for row in found]

    def in_order(self, count: int, *, most: int = 3, square: bool = False) -> list[Any]:
        """Return axes for `count` panels, row by row, at most `most` side by side."""
        columns = min(count, most if count != 4 else 2)
        if count > 6:  # complete rows, with many panels
            columns = next((wide for wide in (5, 4, 3) if count % wide == 0), columns)
        found = [axes for row in self.grid(-(-count // columns), columns, square=square) for axes in row]
        for axes in found[count:]:
            axes.set_axis_off()
        return found[:count]

    def legend(self) -> None:
        """Draw one legend next to all panels; labels that begin with _ and repeated ones are left out."""
        entries: dict[str, Any] = {}
        for axes in self.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                solid = getattr(handle, "get_linestyle", lambda: "-")() == "-"
                if label not in entries or solid:  # the correct version, if there are several
                    entries[label] = handle
        if entries and self.hole is not None:
            self.hole.legend(entries.values(), entries.keys(), frameon=False, fontsize=8, loc="center")
        elif entries:
            position: dict[str, Any] = {"loc": "outside right center"}
            if self._paper:
                longest = max(map(len, entries))
                width = float(self.canvas.get_size_inches()[0])
                position = {
                    "loc": "outside lower center",
                    "ncols": max(1, int(width / (0.45 + 0.065 * longest))),
                }
            self.canvas.legend(entries.values(), entries.keys(), frameon=False, fontsize=8, **position)


class Drawing(Protocol):
    """Draws the rows of a figure, and describes it in words."""

    def draw(self, panels: Panels, rows: Rows) -> None:
        """Draw the rows."""

    def describe(self, rows: Rows) -> str:
        """Return the alternative text of the picture."""


@dataclass(frozen=True)
class Picture:
    """A drawing of its own: a function that draws, and the alternative text."""

    paint: Callable[[Panels, Rows], None]
    words: str

    def draw(self, panels: Panels, rows: Rows) -> None:
        """Draw the rows."""
        self.paint(panels, rows)

    def describe(self, rows: Rows) -> str:
        """Return the alternative text of the picture."""
        return self.words


@dataclass(frozen=True)
class Lines:
    """A line for each value of the column `by`: colours by mechanism, kinds of line by version.

    Panels are the values of the column `panel`. The versions share a panel if `together` is True; otherwise
    they are side by side on the same axes. Rows without x or y are left out. `labels` are axis labels in
    words by column; "error of P" is the label of the column "error" in panel P alone.
    """

    x: str
    y: str
    by: str
    together: bool = True
    log: str = ""  # "x", "y" or "xy": the logarithmic axes
    logit: bool = False  # the horizontal axis spreads shares near 0 and 1; 0 and 1 are omitted
    labels: dict[str, str] = field(default_factory=dict)
    mark: tuple[float, str] | None = None  # a vertical line at a value of x, and its label
    steps: bool = False  # densities of constant pieces: vertical edges
    points: bool = False  # dots without lines

    def draw(self, panels: Panels, rows: Rows) -> None:
        """Draw the rows."""
        rows = self._shown(rows)
        names = styles_of(_distinct(str(row[self.by]) for row in rows))
        where = _distinct(str(row.get("panel", "")) for row in rows)
        versions = _versions(rows)
        if self.together or len(versions) == 1:
            cells = [
                (axes, position, tuple(versions))
                for axes, position in zip(panels.in_order(len(where)), where, strict=True)
            ]
        else:
            cells = self._side_by_side(panels, rows, where, versions)
        for axes, position, shown in cells:
            self._panel(axes, _inside(rows, position, shown), names, position)
            title = _TITLES.get(position, position)
            if len(versions) > 1 and not self.together:
                title = ", ".join(part for part in (title, shown[0]) if part)
            axes.set_title(title, fontsize=9)
        if not self.together and len(versions) > 1:
            for position in where:
                _same_limits([axes for axes, own, _ in cells if own == position and axes.has_data()])
        elif len(versions) > 1:
            for version in versions:
                cells[0][0].plot([], [], color="#222222", linestyle=LINES[version], label=version)

    @staticmethod
    def _side_by_side(
        panels: Panels, rows: Rows, where: list[str], versions: list[str]
    ) -> list[tuple[Any, str, tuple[str, ...]]]:
        """Return the axes of each panel and version: a grid, or packed if more than one cell has no rows."""
        every = [(position, (version,)) for position in where for version in versions]
        full = [(position, shown) for position, shown in every if _inside(rows, position, shown)]
        if len(full) < len(every) - 1:
            return [(axes, *cell) for axes, cell in zip(panels.in_order(len(full)), full, strict=True)]
        flat = [axes for line in panels.grid(len(where), len(versions)) for axes in line]
        for axes, cell in zip(flat, every, strict=True):
            if cell not in full:
                axes.set_axis_off()
                panels.hole = axes
        return [(axes, *cell) for axes, cell in zip(flat, every, strict=True) if cell in full]

    def _panel(self, axes: Any, rows: Rows, styles: dict[str, Any], panel: str) -> None:
        names = list(styles)
        curves = {
            (name, version): [
                (row[self.x], row[self.y])
                for row in rows
                if str(row[self.by]) == name and row.get("version", RIGHT) == version
            ]
            for name, version in dict.fromkeys((str(row[self.by]), row.get("version", RIGHT)) for row in rows)
        }
        for index, ((name, version), points) in enumerate(curves.items()):
            look = drawn(styles[name], len(points), version)
            # A curve that is hidden under a coinciding curve is wider, and so are its markers.
            hiding = sum(_coincide(points, other) for other in list(curves.values())[index + 1 :])
            if styles[name].marker and hiding:
                look["linewidth"] += 3.0 * hiding
                look["markersize"] += 4.5 * hiding
            if not styles[name].marker:  # makes coinciding curves visible through each other
                look["linewidth"] = max(1.2, 2.6 - 0.7 * names.index(name))
            if name.endswith(PROVEN):
                look["linestyle"] = "-."
            if self.steps:
                look["drawstyle"] = "steps-mid"
            if self.points:
                look |= {"linestyle": "none", "marker": "o", "markevery": 1, "markersize": 3.5}
            axes.plot(*zip(*points, strict=True), label=name, **look)
        axes.set_xlabel(self._label(self.x), fontsize=8)
        axes.set_ylabel(self.labels.get(f"{self.y} of {panel}") or self._label(self.y), fontsize=8)
        axes.tick_params(which="both", labelsize=8)
        if self.mark is not None:
            axes.axvline(self.mark[0], color=_BLACK, linestyle=":", linewidth=1.2, label=self.mark[1])
        if "x" in self.log:
            axes.set_xscale("symlog" if any(row[self.x] <= 0 for row in rows) else "log")
            if any(row[self.x] <= 0 for row in rows):
                least = min(row[self.x] for row in rows if row[self.x] > 0)
                axes.set_xscale("symlog", linthresh=least)
        if self.logit:
            axes.set_xscale("logit", nonpositive="mask")
        if "y" in self.log:
            axes.set_yscale("log")
        elif self.steps or all(row[self.y] >= 0 for row in rows):
            axes.set_ylim(bottom=0)

    def describe(self, rows: Rows) -> str:
        """Return the alternative text of the picture."""
        rows = self._shown(rows)
        names = _distinct(str(row[self.by]) for row in rows)
        where = [position for position in _distinct(str(row.get("panel", "")) for row in rows) if position]
        words = f"Curves of {self._label(self.y)} against {self._label(self.x)} for {', '.join(names)}"
        if where:
            words += f"; panels: {', '.join(_TITLES.get(position, position) for position in where)}"
        if len(versions := _versions(rows)) > 1:
            words += f"; {', '.join(versions)}"
        return words + "." + self._ends(rows, where[-1] if where else "")

    def _ends(self, rows: Rows, panel: str) -> str:
        """Return which curve is lowest and which highest at the right end of the last panel."""
        inner = _inside(rows, panel, (RIGHT,))
        if not inner or self.steps:
            return ""
        last = max(row[self.x] for row in inner)
        ends = {str(row[self.by]): float(row[self.y]) for row in inner if row[self.x] == last}
        if len(ends) < 2:
            return ""
        low, high = min(ends, key=lambda name: ends[name]), max(ends, key=lambda name: ends[name])
        position = f"{panel}, " if panel else ""
        return (
            f" At the right end ({position}{self.x} = {last:.4g}) the lowest is {low} ({ends[low]:.3g}) "
            f"and the highest {high} ({ends[high]:.3g})."
        )

    def _shown(self, rows: Rows) -> Rows:
        return [row for row in rows if row.get(self.x) is not None and row.get(self.y) is not None]

    def _label(self, column: str) -> str:
        return self.labels.get(column) or _LABELS.get(column, column)


PictureForm = Literal["png", "pdf", "svg"]
PictureStyle = Literal["screen", "paper"]


def picture(
    title: str, drawing: Drawing, rows: Rows, form: PictureForm = "png", style: PictureStyle = "screen"
) -> bytes:
    """Return a figure's picture; empty if matplotlib is not installed. Words in PDF and SVG stay text.

    In the style of a paper it has no title, 8-point type and the width of a column or of the text.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure as Canvas
        from matplotlib.text import Text
    except ImportError:
        return b""
    stream, paper = BytesIO(), style == "paper"
    with rc_context({"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": title}):
        canvas = Canvas(figsize=(8.0, 3.6), layout="constrained")
        panels = Panels(canvas, paper=paper)
        drawing.draw(panels, rows)
        panels.legend()
        if paper:
            for words in canvas.findobj(Text):
                words.set_fontsize(_POINTS)
        else:
            canvas.suptitle(title, fontsize=10)
        canvas.savefig(stream, format=form, dpi=300, metadata={} if form == "png" else _UNDATED[form])
    return stream.getvalue()


_UNDATED: Final[dict[str, dict[str, Any]]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}


def _coincide(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> bool:
    """Return whether two curves are indistinguishable in a picture."""
    return len(one) == len(other) and all(
        x == u and math.isclose(y, v, rel_tol=2e-3) for (x, y), (u, v) in zip(one, other, strict=True)
    )


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _inside(rows: Rows, panel: str, versions: tuple[str, ...]) -> Rows:
    """Return the rows of one panel and some versions."""
    return [
        row for row in rows if str(row.get("panel", "")) == panel and row.get("version", RIGHT) in versions
    ]


def _versions(rows: Rows) -> list[str]:
    """Return the versions that occur, in the order published, coded, right."""
    found = {row.get("version", RIGHT) for row in rows}
    return [version for version in reversed(list(LINES)) if version in found]


def _same_limits(several: Sequence[Any]) -> None:
    low = min(axes.get_ylim()[0] for axes in several)
    high = max(axes.get_ylim()[1] for axes in several)
    for axes in several:
        axes.set_ylim(low, high)
