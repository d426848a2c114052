"""Trips: paths with a name each and, where they are known, a time at each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from dither.domains import Paths, Plane, first_misfit
from dither.errors import InvalidParameter, OutsideDomain
from dither.maps.projection import Map


class Trip(NamedTuple):
    """One trip: its name, its longitudes and latitudes, and for each place its time, report and row."""

    name: str
    places: Sequence[tuple[float, float]]
    times: Sequence[str] | None = None
    reports: Sequence[str] | None = None
    rows: Sequence[int] | None = None


@final
@dataclass(frozen=True, eq=False)
class Trips:
    """Paths of longitudes and latitudes, the name of each path, and the times of all places (or of none).

    Times and names are public: no mechanism protects them. Trips that were read from a file of reports also
    have the `reports`, one text for each place, and the `specification`; `TripReports.decode` reads them.
    `file` and `rows` say where places were read, for errors.
    """

    paths: Paths
    names: tuple[str, ...]
    times: tuple[str, ...] | None = None
    reports: tuple[str, ...] | None = None
    specification: str | None = None
    rows: tuple[int, ...] | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.paths):
            raise InvalidParameter("every path has one name")
        for what, given in (("time", self.times), ("report", self.reports), ("row", self.rows)):
            if given is not None and len(given) != len(self.paths.points):
                raise InvalidParameter(f"every place has one {what}, or none has")

    @staticmethod
    def of(trips: Sequence[Trip], specification: str | None = None) -> Trips:
        """Return many trips as one object. Times (reports, rows) are kept if all trips have them."""
        places = Paths.of([list(trip.places) for trip in trips])
        found = Trips(places, tuple(trip.name for trip in trips), specification=specification)
        if trips and all(trip.times is not None for trip in trips):
            found = replace(found, times=tuple(one for trip in trips for one in trip.times or ()))
        if trips and all(trip.reports is not None for trip in trips):
            found = replace(found, reports=tuple(one for trip in trips for one in trip.reports or ()))
        if trips and all(trip.rows is not None for trip in trips):
            found = replace(found, rows=tuple(one for trip in trips for one in trip.rows or ()))
        return found

    def check(self, area: Plane, projection: Map | None = None) -> None:
        """Raise OutsideDomain if a place is outside an area; the error names the first one by its place.

        With a projection, the area is in its metres; without one, in degrees.
        """

        def fits(begin: int, end: int) -> bool:
            points = self.paths.points[begin:end]
            try:
                area.check(points if projection is None else projection.to_plane(points))
            except OutsideDomain:
                return False
            return True

        total = len(self.paths.points)
        if not fits(0, total):
            raise OutsideDomain(f"{self.where(first_misfit(fits, total))}: the location is outside the area")

    def where(self, index: int) -> str:
        """Return where a place was read, for an error: by its row, or by its trip."""
        trip = int(np.searchsorted(self.paths.offsets, index, side="right")) - 1
        place = f"trip {trip + 1}, place {index - int(self.paths.offsets[trip]) + 1}"
        if self.rows is not None:
            place = f"row {self.rows[index]}"
        return place if self.file is None else f"{self.file}, {place}"

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Trips({len(self)} with {len(self.paths.points)} places)"  # the places are secret
