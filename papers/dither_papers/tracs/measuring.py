"""Measure the figures of chapter 6: paths, mechanisms, programs with their bugs, and the expected numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.core.domains import Interval, Paths, Rectangle
from dither.errors import MissingExtra
from dither.estimation.maps.metrics import average_error, distances
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded, Source
from dither.mechanisms.places.base import PathMechanism
from dither.mechanisms.places.noise import PlanarLaplace
from dither.mechanisms.places.rivals import Strawman
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither_papers.drawing import CODED, RIGHT, Rows
from dither_papers.figure import ExpectedNumber, Setting
from dither_papers.tracs import coded
from dither_papers.tracs.coded import CORNER, Flaws
from dither_papers.tracs.published import EPSILONS
from dither_papers.tracs.published import PUBLISHED as PUBLISHED_CURVES

SQUARE: Final = Rectangle(Interval(0.0, 1.0), Interval(0.0, 1.0))
LONG: Final = Rectangle(Interval(0.0, 2.0), Interval(0.0, 10.0))
BOXES: Final = "tracs_boxes.json"


def random_paths(area: Rectangle, count: int, length: int, source: Source) -> Paths:
    """Draw paths whose locations are independent and uniform in an area."""
    words = source.words(2 * count * length) >> np.uint64(11)
    unit = words.reshape(-1, 2) / 2.0**53
    low, sides = np.array([area.x.low, area.y.low]), np.array([area.x.length, area.y.length])
    return Paths.of((low + unit * sides).reshape(count, length, 2))


def grid_paths(side: int, count: int, length: int, source: Source) -> Paths:
    """Draw paths on a grid of side + 1 points a side, as the program does: never on its upper edges."""
    steps = source.integers(side, 2 * count * length)
    return Paths.of((steps / side).reshape(count, length, 2))


@dataclass(frozen=True, eq=False)
class City:
    """Paths in the unit square (latitude, longitude), all locations of the city, and degrees a side.

    `corner` is the south-west corner of the square, in degrees.
    """

    name: str
    paths: Paths
    points: Floats
    degrees: Floats
    corner: Floats

    def chosen(self, first: int, last: int) -> City:
        """Return the same city with the paths from `first` to before `last`."""
        offsets = self.paths.offsets
        rows = slice(offsets[first], offsets[last])
        kept = Paths(self.paths.points[rows], offsets[first : last + 1] - offsets[first])
        return replace(self, paths=kept)

    def in_degrees(self, paths: Paths) -> Paths:
        """Return paths of the unit square in degrees, as the errors are measured."""
        return paths.like(paths.points * self.degrees)


def files(city: str, *, ordered: bool = False) -> tuple[str, str, str]:
    """Return the names of a city's data files: paths (the authors', or ordered by time), places, boxes."""
    kind = "timeordered" if ordered else "authors"
    return f"tracs_{city}_trajectories_{kind}.parquet", f"tracs_{city}_locations.parquet", BOXES


def city(setting: Setting, name: str, *, ordered: bool = False) -> City:
    """Read a city. The authors' paths are sets of places sorted by latitude; `ordered` sorts by time."""
    found = [setting.file(file) for file in files(name, ordered=ordered)]
    where, locations, boxes = (file for file in found if file is not None)  # the figure needs them all
    table = _columns(where)
    whose = np.asarray(table["traj"])
    points = np.stack([np.asarray(table["u"]), np.asarray(table["v"])], axis=1)
    paths = Paths.split(points, np.diff(whose, prepend=-1) != 0)
    known = _columns(locations)
    box = json.loads(boxes.read_text(encoding="utf-8"))[name.upper()]
    degrees = np.array([box["lat_max"] - box["lat_min"], box["lon_max"] - box["lon_min"]])
    corner = np.array([box["lat_min"], box["lon_min"]])
    return City(name.upper(), paths, np.stack([known["u"], known["v"]], axis=1), degrees, corner)


def sources(setting: Setting, count: int) -> list[Seeded]:
    """Return `count` independent sources."""
    root = Seeded(setting.seed)
    return [root.spawn() for _ in range(count)]


def _columns(file: Path) -> dict[str, Any]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("the papers' data", "frames") from None
    table = parquet.read_table(file)
    return {name: table[name].to_numpy() for name in table.column_names}


Make = Callable[..., PathMechanism[Any]]
Told = Callable[[Paths, float, Source], float]  # the error of a program's locations

PAPER: Final = "tracs"
RIGHT_ONES: Final[dict[str, Make]] = {
    "TraCS-D": TraCSD,
    "TraCS-D from the corner": partial(TraCSD, start=CORNER),
    "strawman": partial(Strawman, start=CORNER),
    "TraCS-C": TraCSC,
    "planar Laplace": PlanarLaplace,
}


def measured(
    makers: dict[str, Make],
    area: Rectangle,
    paths: Paths,
    setting: Setting,
    *,
    town: City | None = None,
    **also: Any,
) -> Rows:
    """Return the average error of mechanisms at each ε, in the area's unit or in a city's degrees."""
    entries: Rows = []
    for epsilon in EPSILONS:
        for (name, make), source in zip(makers.items(), sources(setting, len(makers)), strict=True):
            noisy = paths.like(make(area, epsilon=epsilon).perturb(paths, source=source).values)
            error = average_error(*_shown(town, paths, noisy))
            entries.append({"version": RIGHT, **also, "epsilon": epsilon, "mechanism": name, "error": error})
    return entries


def programs(area: Rectangle, flaws: Flaws, *, town: City | None = None) -> dict[str, Told]:
    """Return the programs whose numbers were published, as functions that return their errors."""

    def walk(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = TraCSD(area, epsilon=epsilon, start=CORNER).perturb(paths, source=source).values
        return coded.walk_error(distances(*_shown(town, paths, paths.like(noisy))), paths, flaws)

    def straw(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = coded.strawman(area, paths, epsilon, flaws, source)
        return coded.walk_error(distances(*_shown(town, paths, noisy)), paths, flaws)

    def laplace(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = coded.laplace(area, paths, epsilon, flaws, source)
        return average_error(*_shown(town, paths, noisy))

    return {"TraCS-D": walk, "strawman": straw, "planar Laplace": laplace}


def told_by(which: dict[str, Told], paths: Paths, setting: Setting, **also: Any) -> Rows:
    """Return the errors of programs at each ε."""
    entries: Rows = []
    for epsilon in EPSILONS:
        for (name, program), source in zip(which.items(), sources(setting, len(which)), strict=True):
            error = program(paths, epsilon, source)
            entries.append({"version": CODED, **also, "epsilon": epsilon, "mechanism": name, "error": error})
    return entries


def expect(
    version: str,
    name: str,
    values: tuple[float, ...],
    tolerance: float,
    column: str = "error",
    *,
    source: str = "recomputed",
    absolute: bool = False,
    **where: Any,
) -> list[ExpectedNumber]:
    """Return the expected values of a curve, one for each ε."""
    return [
        ExpectedNumber(
            {"version": version, "mechanism": name, "epsilon": epsilon, **where},
            column,
            value,
            tolerance,
            source,
            absolute,
        )
        for epsilon, value in zip(EPSILONS, values, strict=True)
    ]


def expect_published(
    figure: str, tolerance: float, *names: str, column: str = "error", absolute: bool = False, **where: Any
) -> list[ExpectedNumber]:
    """Return the published numbers as the expected values of the programs with the authors' bugs."""
    return [
        expected
        for name in names
        for expected in expect(
            CODED,
            name,
            PUBLISHED_CURVES[figure][name],
            tolerance,
            column,
            source="published",
            absolute=absolute,
            **where,
        )
    ]


def repeated(paths: Paths, times: int) -> Paths:
    """Return the same paths repeated several times."""
    return Paths.of([path for _ in range(times) for path in paths])


def _shown(town: City | None, paths: Paths, noisy: Paths) -> tuple[Paths, Paths]:
    return (paths, noisy) if town is None else (town.in_degrees(paths), town.in_degrees(noisy))
