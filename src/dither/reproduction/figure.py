"""A figure or table of a paper as tidy rows, with expected numbers: as published, as coded, and right."""

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
    """Where a number comes from; the column `version` of a row."""

    PUBLISHED = "as published"
    CODED = "as coded"
    RIGHT = "right"


PUBLISHED, CODED, RIGHT = (version.value for version in Version)


@final
@dataclass(frozen=True)
class Setting:
    """The amount of work, the folder of the papers' data (None if there is none), and the seed."""

    quick: bool = False
    data: Path | None = None
    seed: int = 2025

    def runs(self, full: int, quick: int) -> int:
        """Return the number of repetitions."""
        return quick if self.quick else full

    def file(self, name: str) -> Path | None:
        """Return the path of one of the papers' data files; None if there is no such file."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.exists() else None

    def needed(self, name: str) -> Path:
        """Return the path of a data file; raise InvalidParameter if there is no such file."""
        path = self.file(name)
        if path is None:
            where = "pass the folder of the papers' data" if self.data is None else f"not in {self.data}"
            raise InvalidParameter(f"this figure needs the file {name}: {where}")
        return path


@final
@dataclass(frozen=True)
class ExpectedNumber:
    """An expected number: the row it stands in, its column, its value, the tolerance and the source."""

    where: Row
    column: str
    value: float
    tolerance: float  # relative unless `absolute` is True
    source: str
    absolute: bool = False

    def found(self, rows: Iterable[Row]) -> float:
        """Return the number that was computed; NaN if there is no such row."""
        for row in rows:
            if all(_same(row.get(name), value) for name, value in self.where.items()):
                return float(row[self.column])
        return math.nan

    def met_by(self, found: float) -> bool:
        """Return whether a number is within the tolerance."""
        scale = 1.0 if self.absolute else abs(self.value)
        return abs(found - self.value) <= self.tolerance * scale


@final
@dataclass(frozen=True)
class Figure:
    """One figure or table: functions that compute and draw it, and the expected numbers.

    `draw(axes_of, rows)` takes a function (index, count) → matplotlib axes instead of `ax`, since the number
    of panels depends on the rows. If a figure cannot be computed, `why_not` says why and `make` is None.
    """

    paper: str
    name: str
    title: str
    make: Callable[[Setting], list[dict[str, Any]]] | None = None
    draw: Callable[[Callable[..., Any], list[dict[str, Any]]], None] | None = None
    expected: Sequence[ExpectedNumber] = ()
    needs: tuple[str, ...] = ()  # data files without which the figure is skipped
    notes: tuple[str, ...] = field(default=())
    why_not: str = ""

    def __post_init__(self) -> None:
        if (self.make is None) == (not self.why_not):
            raise InvalidParameter("a figure has either `make` or `why_not`")

    @property
    def slug(self) -> str:
        """A short name for files: 001-figure-8."""
        return f"{self.paper}-{self.name}".lower().replace(" ", "-").replace(".", "-")

    def missing(self, setting: Setting) -> list[str]:
        """Return the names of the needed data files that do not exist."""
        return [name for name in self.needs if setting.file(name) is None]


@final
@dataclass(frozen=True)
class Outcome:
    """The result of a figure: its rows, or why it was skipped, and which expected numbers were met."""

    figure: Figure
    rows: list[dict[str, Any]]
    skipped: str = ""

    @property
    def checks(self) -> list[tuple[bool, str]]:
        """For each expected number, whether it was met, and a sentence about it."""
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
        """Whether every expected number was met."""
        return all(met for met, _ in self.checks)


Drawing = Callable[[Callable[..., Any], list[dict[str, Any]]], None]


def lines(x: str, y: str, by: str, *, log: bool = False, together: bool = False) -> Drawing:
    """Return a function that draws a line for each value of `by` and a panel for each version and `panel`.

    With `together` the versions share a panel, and the labels name them. Rows without x or y are left out.
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
