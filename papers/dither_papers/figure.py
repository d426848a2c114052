"""One figure or table: its computation, its expected numbers, and its outcome."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dither.errors import InvalidParameter
from dither.foundation.tables import Row
from dither_papers.drawing import Drawing, PictureForm, PictureStyle


@dataclass(frozen=True)
class Setting:
    """The amount of work, the folder of the papers' data (or None), the seed, the pictures."""

    quick: bool = False
    data: Path | None = None
    seed: int = 2025
    form: PictureForm = "png"  # in addition to the PNG that the page shows
    style: PictureStyle = "screen"

    def runs(self, full: int, quick: int) -> int:
        """Return the number of repetitions."""
        return quick if self.quick else full

    def file(self, name: str) -> Path | None:
        """Return the path of one of the papers' data files; None if it is missing."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.exists() else None

    def needed(self, name: str) -> Path:
        """Return the path of a data file; raise InvalidParameter if it is missing."""
        path = self.file(name)
        if path is None:
            where = "pass the folder of the papers' data" if self.data is None else f"not in {self.data}"
            raise InvalidParameter(f"expected the file {name} for this figure: {where}")
        return path


@dataclass(frozen=True)
class ExpectedNumber:
    """An expected number: its row, its column, its value, the tolerance and the source."""

    where: Row
    column: str
    value: float
    tolerance: float  # relative unless `absolute` is True
    source: str
    absolute: bool = False

    def found(self, rows: Iterable[Row]) -> float:
        """Return the computed number; NaN if its row is missing."""
        for row in rows:
            if all(_same(row.get(name), value) for name, value in self.where.items()):
                return float(row[self.column])
        return math.nan

    def met_by(self, found: float) -> bool:
        """Return whether a number is within the tolerance."""
        scale = 1.0 if self.absolute else abs(self.value)
        return abs(found - self.value) <= self.tolerance * scale


@dataclass(frozen=True)
class Figure:
    """One figure or table: how to compute and draw it, and the expected numbers.

    A figure without `draw` is shown as a table. If a figure cannot be computed, `why_not` says why and `make`
    is None.
    """

    paper: str
    name: str
    title: str
    make: Callable[[Setting], list[dict[str, Any]]] | None = None
    draw: Drawing | None = None
    expected: Sequence[ExpectedNumber] = ()
    needs: tuple[str, ...] = ()  # data files without which the figure is skipped
    uses: tuple[str, ...] = ()  # data files without which some of its rows are missing
    notes: tuple[str, ...] = field(default=())
    why_not: str = ""

    def __post_init__(self) -> None:
        if (self.make is None) == (not self.why_not):
            raise InvalidParameter("expected either `make` or `why_not` for a figure")

    @property
    def slug(self) -> str:
        """A short name for files: ogpm-figure-8."""
        return slug(f"{self.paper}-{self.name}")

    @property
    def made_by(self) -> tuple[str, Path, int] | tuple[()]:
        """The name, the file and the line of the function that computes the figure; empty without one.

        A function inside another is named after the outer one.
        """
        if self.make is None:
            return ()
        function = inspect.unwrap(self.make)
        code = function.__code__
        name = f"{function.__module__}.{function.__qualname__.partition('.<locals>')[0]}"
        return name, Path(code.co_filename), code.co_firstlineno

    def missing(self, setting: Setting) -> list[str]:
        """Return the names of the needed data files that do not exist."""
        return [name for name in self.needs if setting.file(name) is None]

    def lacking(self, setting: Setting) -> tuple[str, ...]:
        """Return the names of the used data files that do not exist."""
        return tuple(name for name in self.uses if setting.file(name) is None)


def slug(name: str) -> str:
    """Return a name as files have it: figure-5-8 for "Figure 5.8"."""
    return name.lower().replace(" ", "-").replace(".", "-")


@dataclass(frozen=True)
class Outcome:
    """The result of a figure: its rows or the reason for skipping it, and the met expectations."""

    figure: Figure
    rows: list[dict[str, Any]]
    skipped: str = ""
    lacking: tuple[str, ...] = ()  # data files whose absence leaves rows out

    @property
    def unchecked(self) -> str:
        """The number of expected numbers that need missing data files, in words; empty without them."""
        count = len(self.figure.expected) - len(self.checks)
        if self.skipped or not count:
            return ""
        return f"{count} more need {', '.join(self.lacking)} (--data DIR)"

    @property
    def checks(self) -> list[tuple[bool, str]]:
        """For each expected number, whether it was met, and a sentence about it.

        A number whose row is missing is left out if data files are missing; otherwise it is not met.
        """
        if self.skipped:
            return []
        said = []
        for expected in self.figure.expected:
            found = expected.found(self.rows)
            if self.lacking and math.isnan(found):
                continue
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


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float | int) and isinstance(found, float | int):
        return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == wanted)


@cache
def _expected_numbers(paper: str) -> dict[str, list[ExpectedNumber]]:
    text = files("dither_papers").joinpath("expected", f"{paper}.json").read_text(encoding="utf-8")
    return {name: [ExpectedNumber(**row) for row in rows] for name, rows in json.loads(text).items()}


def expected(paper: str, name: str) -> tuple[ExpectedNumber, ...]:
    """Return the expected numbers of one figure, from the JSON file of its paper."""
    return tuple(_expected_numbers(paper).get(name, ()))
