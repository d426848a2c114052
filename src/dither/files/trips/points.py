"""Points of trips that are stored one by one: how their columns are found, and how they become trips."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from dither.files.trips.trips import Trip

_NAMES: Final = {
    "id": ("id", "trip", "trip_id", "user", "user_id", "traj", "trajectory", "track", "name"),
    "time": ("time", "timestamp", "datetime", "date"),
    "latitude": ("lat", "latitude", "y"),
    "longitude": ("lon", "lng", "long", "longitude", "x"),
}


class TripPoint(NamedTuple):
    """One place of a trip, with the trip's name and what else is known about the place."""

    trip: str
    time: str
    longitude: float
    latitude: float
    report: str = ""
    row: int = 0


def column_of(kind: str, heading: Iterable[str]) -> str:
    """Return the column for "id", "time", "latitude" or "longitude" by its usual names, or "" without one."""
    known = {str(name).strip().lower(): name for name in heading}
    return next((known[name] for name in _NAMES[kind] if name in known), "")


def usual_name(kind: str) -> str:
    """Return the usual name of a column, the first that is looked for."""
    return _NAMES[kind][0]


def gathered(found: Iterable[Trip | TripPoint], *, in_order: bool) -> list[Trip]:
    """Return points as trips, by name, in the order of first appearance; trips among them stay as they are.

    The points of a trip are ordered by time if all have one. With `in_order` they are not: reports are
    decoded in the order in which they were written.
    """
    trips: list[Trip | list[TripPoint]] = []
    by_name: dict[str, list[TripPoint]] = {}
    for one in found:
        if isinstance(one, Trip):
            trips.append(one)
            continue
        if one.trip not in by_name:
            by_name[one.trip] = []
            trips.append(by_name[one.trip])
        by_name[one.trip].append(one)
    return [one if isinstance(one, Trip) else _trip(one, in_order) for one in trips]


def _trip(points: list[TripPoint], in_order: bool) -> Trip:
    timed = all(point.time for point in points)
    if timed and not in_order:
        points = sorted(points, key=lambda point: _moment(point.time))
    return Trip(
        points[0].trip or "trip",
        [(point.longitude, point.latitude) for point in points],
        [point.time for point in points] if timed else None,
        [point.report for point in points] if all(point.report for point in points) else None,
        [point.row for point in points] if all(point.row for point in points) else None,
    )


def _moment(text: str) -> tuple[int, float, str]:
    """Return the sort key of a time: numbers are ordered as numbers, all else (ISO 8601) as text."""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text
