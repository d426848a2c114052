"""Routes: complete paths, resampled to a fixed number of places. Each path is one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from dither.core.domains.domain import DOMAIN, Domain
from dither.core.domains.paths import Paths, is_ragged
from dither.core.domains.plane import SIDE, Disk, Parallelogram, Rectangle, steps_along
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import ANY, WHOLE, Fields
from dither.privacy import Unit

PathDistance = Literal["mean", "warped", "frechet"]
Resampling = Literal["length", "order"]
MOST_POINTS: Final = 64  # points of a resampled path
_MOST_LOCATIONS: Final = 1 << 20  # points of one path: sums of its steps stay below 2^53


@dataclass(frozen=True)
class Routes(Domain):
    """All paths in an area. A complete path is one value, and ε is for the path, however long it is.

    A path is resampled to `points` locations, at equal distances along it (`by="length"`) or at equal steps
    of the index (`by="order"`). Equal steps of the index are equal times if locations were recorded
    regularly. Between locations a path is straight. `distance` compares two paths place by place ("mean"), by
    the alignment with the smallest sum ("warped", dynamic time warping), or by the alignment with the
    smallest greatest distance ("frechet").

    >>> from dither import Interval, Rectangle
    >>> city = Rectangle(Interval(0, 4), Interval(0, 4))
    >>> Routes(city, points=3).resample([(0, 0), (1, 0), (4, 0)]).round(1).tolist()
    [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]
    """

    area: Rectangle | Disk | Parallelogram
    _: KW_ONLY
    points: int = 8
    distance: PathDistance = "mean"
    by: Resampling = "length"

    kind: ClassVar[str] = "routes"
    outside: ClassVar[str] = "clip"
    cell_type = "none"
    usual_mechanism = "Optimal"
    protects: ClassVar[Unit] = "trajectory"
    hint = "choose a larger area, or use domain.clip(paths)"
    keys = ("points", "distance", "by")
    fields = Fields(area=DOMAIN, points=WHOLE, distance=ANY, by=ANY)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Return the routes that `routes = [[low, high], [low, high]]` and the other keys describe."""
        area = Rectangle.from_table({Rectangle.kind: table[cls.kind]})
        return cls(area, **{key: table[key] for key in cls.keys if key in table})

    def __post_init__(self) -> None:
        if not isinstance(self.area, Rectangle | Disk | Parallelogram):
            raise InvalidParameter(
                "expected the area of routes to be a Rectangle, Disk or Parallelogram (dt.maps.LocalMap "
                "projects degrees "
                f"to metres), got {found(self.area)}"
            )
        size = self.points
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 2 <= size <= MOST_POINTS:
            raise InvalidParameter(f"points must be an integer from 2 to {MOST_POINTS}, not {found(size)}")
        object.__setattr__(self, "points", int(size))
        check_choice("distance", self.distance, PathDistance)
        check_choice("by", self.by, Resampling)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of one path as integers."""
        return (self.points, 2)

    def check(self, values: object) -> Integers:
        """Return resampled paths as integers of 16 bits along the box: an array of shape (…, points, 2).

        An array of shape (n, 2) is one path, one of shape (m, n, 2) and a list are several.
        """
        paths = Paths.of(values)
        self.area.check(paths.points)
        if len(paths) and int(paths.lengths.max()) > _MOST_LOCATIONS:
            raise InvalidParameter(
                f"expected a path of at most {_MOST_LOCATIONS} locations, got more; leave out some locations"
            )
        rows = self._place_evenly(steps_along(self.area, paths.points), paths.offsets)
        several = isinstance(values, Paths) or is_ragged(values) or np.ndim(values) == 3  # type: ignore[arg-type]
        return rows if several else rows[0]

    def _place_evenly(self, fine: Integers, offsets: Integers) -> Integers:
        """Return the places of each path, a row for each. Everything is in integers: see docs/wire.md."""
        ends, parts = offsets[1:] - 1, self.points - 1
        times = np.arange(self.points)
        last = np.maximum(ends - 1, offsets[:-1])  # the beginning of the last step
        if self.by == "order":
            at, over = np.divmod(times * (ends - offsets[:-1])[:, None], parts)
            at += offsets[:-1, None]
            begin = np.minimum(at, last[:, None])
            over += (at - begin) * parts
            size = np.full_like(over, parts)
        else:
            moved = np.diff(fine, axis=0, prepend=fine[:1]) * np.array(self.area.scales)
            gone = np.sqrt((moved * moved).sum(axis=1).astype(np.float64)).astype(np.int64)
            gone[offsets[:-1]] = 0  # a step from one path to the next
            so_far = np.cumsum(gone)
            whole_way = so_far[ends] - so_far[offsets[:-1]]
            target = so_far[offsets[:-1], None] * parts + times * whole_way[:, None]
            begin = (
                np.searchsorted(so_far * parts, target.reshape(-1), side="right").reshape(target.shape) - 1
            )
            begin = np.clip(begin, offsets[:-1, None], last[:, None])
            after = np.minimum(begin + 1, ends[:, None])
            over = target - so_far[begin] * parts
            size = (so_far[after] - so_far[begin]) * parts
        after = np.minimum(begin + 1, ends[:, None])
        still = size == 0  # both ends of the step are one place
        over, size = np.where(still, 1, over), np.where(still, 1, size)
        over, size = over[..., None], size[..., None]
        return np.asarray((fine[begin] * (size - over) + fine[after] * over) // size)

    def places(self, integers: Array) -> Floats:
        """Return the places that integers encode, in the units of the area."""
        box = self.area.box
        low = np.array([box.x.low, box.y.low])
        return np.asarray(low + (integers + 0.5) / SIDE * np.array([box.x.length, box.y.length]))

    def resample(self, values: object) -> Floats:
        """Return the resampled paths from which devices draw: an array of shape (…, points, 2)."""
        return self.places(self.check(values))

    def clip(self, values: object) -> Paths:  # type: ignore[override]
        """Return the paths with each location moved to the nearest one in the area."""
        paths = Paths.of(values)
        return paths.like(self.area.clip(paths.points))

    def words(self) -> str:
        return f"a complete path in {self.area}"

    def examples(self, *, few: bool = False) -> list[Any]:
        """Return straight paths between the places that an audit of the area tries."""
        locations = [np.asarray(location) for location in self.area.examples(few=few)]
        along = np.linspace(0.0, 1.0, self.points)[:, None]
        ends = [(locations[0], location) for location in locations] + [
            (location, locations[1]) for location in locations[2:]
        ]
        return [np.asarray(first + along * (last - first)) for first, last in ends]

    def __str__(self) -> str:
        return f"complete paths in {self.area}"
