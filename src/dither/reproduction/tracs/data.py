"""The paths of the experiments: drawn at random, or Tokyo and Chicago from the papers' data folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Interval, Paths, Rectangle
from dither.errors import MissingExtra
from dither.randomness import Seeded, Source
from dither.reproduction.figure import Setting

SQUARE: Final = Rectangle(Interval(0.0, 1.0), Interval(0.0, 1.0))
LONG: Final = Rectangle(Interval(0.0, 2.0), Interval(0.0, 10.0))
BOXES: Final = "tracs_boxes.json"


def random_paths(area: Rectangle, count: int, length: int, source: Source) -> Paths:
    """Draw paths whose places are independent and uniform in an area."""
    words = source.words(2 * count * length) >> np.uint64(11)
    unit = words.reshape(-1, 2) / 2.0**53
    low, sides = np.array([area.x.low, area.y.low]), np.array([area.x.length, area.y.length])
    return Paths.of((low + unit * sides).reshape(count, length, 2))


def grid_paths(side: int, count: int, length: int, source: Source) -> Paths:
    """Draw paths on a grid of side + 1 points a side, as the program does: never on its upper edges."""
    steps = source.integers(side, 2 * count * length)
    return Paths.of((steps / side).reshape(count, length, 2))


@final
@dataclass(frozen=True, eq=False)
class City:
    """Paths in the unit square (latitude, longitude), all places of the city, and degrees a side."""

    name: str
    paths: Paths
    points: Floats
    degrees: Floats

    def chosen(self, first: int, last: int) -> City:
        """Return the same city with the paths from `first` to before `last`."""
        offsets = self.paths.offsets
        rows = slice(offsets[first], offsets[last])
        kept = Paths(self.paths.points[rows], offsets[first : last + 1] - offsets[first])
        return City(self.name, kept, self.points, self.degrees)

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
    where, places, boxes = (file for file in found if file is not None)  # the figure needs them all
    table = _columns(where)
    whose = np.asarray(table["traj"])
    points = np.stack([np.asarray(table["u"]), np.asarray(table["v"])], axis=1)
    paths = Paths.begun(points, np.diff(whose, prepend=-1) != 0)
    known = _columns(places)
    box = json.loads(boxes.read_text(encoding="utf-8"))[name.upper()]
    degrees = np.array([box["lat_max"] - box["lat_min"], box["lon_max"] - box["lon_min"]])
    return City(name.upper(), paths, np.stack([known["u"], known["v"]], axis=1), degrees)


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
