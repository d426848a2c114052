"""A figure or table of a paper as tidy rows, with what it should say: as published, as coded, and right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, final

from dither.errors import InvalidParameter
from dither.table import Row


class Version(Enum):
    """Whose number a row is. Rows carry it in their column `version`."""

    PUBLISHED = "as published"
    CODED = "as coded"
    RIGHT = "right"


PUBLISHED, CODED, RIGHT = (version.value for version in Version)


@final
@dataclass(frozen=True)
class Setting:
    """How much work to do, and where the papers' data are, if anywhere."""

    quick: bool = False
    data: Path | None = None
    seed: int = 2025

    def runs(self, full: int, quick: int) -> int:
        """Return the number of repetitions."""
        return quick if self.quick else full

    def file(self, name: str) -> Path | None:
        """Return the path of one of the papers' data files, or None where it is not there."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.exists() else None


@final
@dataclass(frozen=True)
class ExpectedNumber:
    """A number that must come out: the row it stands in, its column, the value, and how close is close."""

    where: Row
    column: str
    value: float
    tolerance: float  # relative, or absolute where `absolute`
    source: str
    absolute: bool = False

    def found(self, rows: Iterable[Row]) -> float:
        """Return the number that came out; NaN where there is no such row."""
        for row in rows:
            if all(_same(row.get(name), value) for name, value in self.where.items()):
                return float(row[self.column])
        return math.nan

    def met_by(self, found: float) -> bool:
        """Return whether a number is close enough."""
        scale = 1.0 if self.absolute else abs(self.value)
        return abs(found - self.value) <= self.tolerance * scale


@final
@dataclass(frozen=True)
class Figure:
    """One figure or table: how to compute it, how to draw it, and what it must say.

    `draw(axes_of, rows)` gets a function (place, how many) → matplotlib axes. Where a figure cannot be
    computed, `why_not` says why and `make` is left out.
    """

    paper: str
    name: str
    title: str
    make: Callable[[Setting], list[dict[str, Any]]] | None = None
    draw: Callable[[Callable[..., Any], list[dict[str, Any]]], None] | None = None
    expected: Sequence[ExpectedNumber] = ()
    needs: tuple[str, ...] = ()  # data files without which there is nothing to do
    notes: tuple[str, ...] = field(default=())
    why_not: str = ""

    def __post_init__(self) -> None:
        if (self.make is None) == (not self.why_not):
            raise InvalidParameter("a figure is made, or it says why not")

    @property
    def slug(self) -> str:
        """A short name for files: 001-figure-8."""
        return f"{self.paper}-{self.name}".lower().replace(" ", "-").replace(".", "-")

    def missing(self, setting: Setting) -> list[str]:
        """Return the data files that are needed and not there."""
        return [name for name in self.needs if setting.file(name) is None]


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


Drawing = Callable[[Callable[..., Any], list[dict[str, Any]]], None]


def lines(x: str, y: str, by: str, *, log: bool = False, together: bool = False) -> Drawing:
    """Return a drawing with a line for each value of `by` and a panel for each version and `panel`.

    With `together` the versions share a panel, and the labels tell them apart. Rows without x or y are left
    out.
    """

    def panel_of(row: Row) -> tuple[Any, Any]:
        return row.get("panel", ""), "" if together else row.get("version", "")

    def label_of(row: Row) -> str:
        version = row.get("version", RIGHT)
        return f"{row[by]}, {version}" if together and version != RIGHT else str(row[by])

    def draw(axes_of: Callable[..., Any], rows: list[dict[str, Any]]) -> None:
        rows = [row for row in rows if x in row and y in row]
        panels = list(dict.fromkeys(map(panel_of, rows)))
        for place, panel in enumerate(panels):
            axes = axes_of(place, len(panels))
            inner = [row for row in rows if panel_of(row) == panel]
            for label in dict.fromkeys(map(label_of, inner)):
                points = [(row[x], row[y]) for row in inner if label_of(row) == label]
                mark = "." if len(points) < 30 else None
                axes.plot(*zip(*points, strict=True), label=label, marker=mark)
            axes.set_title(" ".join(str(part) for part in panel if part != ""), fontsize=9)
            axes.set_xlabel(x)
            axes.set_ylabel(y)
            if log:
                axes.set_yscale("log")
            axes.legend(frameon=False, fontsize=7)

    return draw


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float | int) and isinstance(found, float | int):
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == wanted)
