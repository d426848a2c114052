"""GeoParquet: trips as geometries in a Parquet file (extra `geo`). The specification is a column."""

from __future__ import annotations

from pathlib import Path
from typing import final

from dither.files.format import Progress, TripFormat, naming
from dither.files.trips.geopandas import from_frame, geopandas, read_frame, to_frame
from dither.files.trips.trips import Trips


@final
class GeoParquet(TripFormat):
    """A Parquet file with a geometry column."""

    endings = (".parquet",)

    def read(self, path: Path, progress: Progress) -> Trips:
        with naming(path):
            trips = from_frame(read_frame(path, geopandas().read_parquet))
        progress(len(trips.paths.points))
        return trips

    def write(self, path: Path, trips: Trips) -> None:
        to_frame(trips).to_parquet(path)
