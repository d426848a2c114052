"""Trips: paths as people store them, with a name each and, maybe, a time at each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from dither.domains import Paths, Plane, first_misfit
from dither.errors import InvalidParameter, OutsideDomain
from dither.maps.projection import Map
from dither.mechanisms.places.path import PathMechanism
from dither.randomness import Source
from dither.reports import Reports

Progress = Callable[[int], None]  # is told how many places were done since it was last told

_BATCH: Final = 1 << 16  # places perturbed between two reports of progress


class Trip(NamedTuple):
    """One trip: its name, its longitudes and latitudes, and for each the time, the report and the row."""

    name: str
    places: Sequence[tuple[float, float]]
    times: Sequence[str] | None = None
    reports: Sequence[str] | None = None
    rows: Sequence[int] | None = None


@final
@dataclass(frozen=True, eq=False)
class Trips:
    """Paths of longitudes and latitudes, the name of each path, and the times of all places (or none).

    Times and names are public: no mechanism hides them. Trips that were randomised may carry the reports, as
    text, and the specification by which they are read. `rows` say where places stood in a table.
    """

    paths: Paths
    names: tuple[str, ...]
    times: tuple[str, ...] | None = None
    reports: tuple[str, ...] | None = None
    specification: str = ""
    rows: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.paths):
            raise InvalidParameter("every path has one name")
        for what, given in (("time", self.times), ("report", self.reports), ("row", self.rows)):
            if given is not None and len(given) != len(self.paths.points):
                raise InvalidParameter(f"every place has one {what}, or none has")

    @staticmethod
    def of(trips: Sequence[Trip], specification: str = "") -> Trips:
        """Give many trips in one; times (reports, rows) are kept if all have them."""
        places = Paths.of([list(trip.places) for trip in trips])
        found = Trips(places, tuple(trip.name for trip in trips), specification=specification)
        if trips and all(trip.times is not None for trip in trips):
            found = replace(found, times=tuple(one for trip in trips for one in trip.times or ()))
        if trips and all(trip.reports is not None for trip in trips):
            found = replace(found, reports=tuple(one for trip in trips for one in trip.reports or ()))
        if trips and all(trip.rows is not None for trip in trips):
            found = replace(found, rows=tuple(one for trip in trips for one in trip.rows or ()))
        return found

    def check(self, area: Plane, onto: Map | None = None) -> None:
        """Raise an error that says where the first place outside an area stands, and nothing about it."""

        def fits(begin: int, end: int) -> bool:
            points = self.paths.points[begin:end]
            try:
                area.check(points if onto is None else onto.to_plane(points))
            except OutsideDomain:
                return False
            return True

        total = len(self.paths.points)
        if not fits(0, total):
            raise OutsideDomain(f"{self.where(first_misfit(fits, total))}: the place is outside the area")

    def where(self, index: int) -> str:
        """Say where a place stands, by its row or by its trip."""
        if self.rows is not None:
            return f"row {self.rows[index]}"
        trip = int(np.searchsorted(self.paths.offsets, index, side="right")) - 1
        return f"trip {trip + 1}, place {index - int(self.paths.offsets[trip]) + 1}"

    def clipped(self, area: Plane, onto: Map | None = None) -> Trips:
        """Give the trips with places outside an area moved to its border."""
        points = self.paths.points
        moved = area.clip(points) if onto is None else onto.to_earth(area.clip(onto.to_plane(points)))
        return replace(self, paths=self.paths.like(moved))

    def randomised(
        self,
        mechanism: PathMechanism[Any, Any],
        *,
        onto: Map | None = None,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> Reports:
        """Give the reports of all places. With a map, the mechanism works on its metres."""
        offsets, parts = self.paths.offsets, []
        begin = 0
        while begin < len(self.paths):
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + _BATCH, side="right")) - 1)
            rows = slice(offsets[begin], offsets[end])
            places = self.paths.points[rows] if onto is None else onto.to_plane(self.paths.points[rows])
            part = Paths(places, offsets[begin : end + 1] - offsets[begin])
            parts.append(mechanism.perturb(part, source=source).cells)
            if progress is not None:
                progress(rows.stop - rows.start)
            begin = end
        return mechanism.reports(np.concatenate(parts) if parts else [])

    def told(self, reports: Reports, *, onto: Map | None = None, keep_times: bool = False) -> Trips:
        """Give the trips as the collector reads them from reports. Times, if kept, are the true ones."""
        read = reports.values.reshape(-1, 2)
        places = self.paths.like(read if onto is None else onto.to_earth(read))
        return Trips(places, self.names, self.times if keep_times else None)

    def perturbed(
        self,
        mechanism: PathMechanism[Any, Any],
        *,
        onto: Map | None = None,
        keep_times: bool = False,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> Trips:
        """Give the trips as the collector reads them after each place was randomised.

        With a map, the mechanism works on its metres. Times are dropped unless they are asked for: they are
        sent as they are.
        """
        reports = self.randomised(mechanism, onto=onto, source=source, progress=progress)
        return self.told(reports, onto=onto, keep_times=keep_times)

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Trips({len(self)} with {len(self.paths.points)} places)"  # the places are secret
