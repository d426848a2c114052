"""Trips: paths as people store them, with a name each and, maybe, a time at each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np

from dither.domains import Paths
from dither.errors import InvalidParameter
from dither.mechanisms.trajectory.paths import PathMechanism
from dither.paths.maps import Map
from dither.randomness import Source

_BATCH: Final = 1 << 16  # places perturbed between two reports of progress


class Trip(NamedTuple):
    """One trip: its name, its longitudes and latitudes, and the time at each."""

    name: str
    places: Sequence[tuple[float, float]]
    times: Sequence[str] | None = None


@final
@dataclass(frozen=True, eq=False)
class Trips:
    """Paths of longitudes and latitudes, the name of each path, and the times of all places (or none).

    Times and names are public: no mechanism hides them.
    """

    paths: Paths
    names: tuple[str, ...]
    times: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.paths):
            raise InvalidParameter("every path has one name")
        if self.times is not None and len(self.times) != len(self.paths.points):
            raise InvalidParameter("every place has one time, or none has")

    @staticmethod
    def of(trips: Sequence[Trip]) -> Trips:
        """Give many trips in one; times are kept if all have them."""
        places = Paths.of([list(trip.places) for trip in trips])
        timed = len(trips) > 0 and all(trip.times is not None for trip in trips)
        times = tuple(time for trip in trips for time in trip.times or ()) if timed else None
        return Trips(places, tuple(trip.name for trip in trips), times)

    def perturbed(
        self,
        mechanism: PathMechanism,
        *,
        onto: Map | None = None,
        keep_times: bool = False,
        source: Source | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Trips:
        """Give the trips as the collector reads them after each place was randomised.

        With a map, the mechanism works on its metres. Times are dropped unless they are asked for: they are
        sent as they are.
        """
        noisy = np.empty_like(self.paths.points)
        offsets = self.paths.offsets
        begin = 0
        while begin < len(self.paths):
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + _BATCH, side="right")) - 1)
            rows = slice(offsets[begin], offsets[end])
            places = self.paths.points[rows] if onto is None else onto.to_plane(self.paths.points[rows])
            part = Paths(places, offsets[begin : end + 1] - offsets[begin])
            read = mechanism.perturb(part, source=source).values
            noisy[rows] = read if onto is None else onto.to_earth(read)
            if progress is not None:
                progress(rows.stop - rows.start)
            begin = end
        return Trips(self.paths.like(noisy), self.names, self.times if keep_times else None)

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Trips({len(self)} with {len(self.paths.points)} places)"  # the places are secret
