"""GeoPackage: trips as geometries in a layer (extra `geo`). The specification is a column."""

from __future__ import annotations

from pathlib import Path
from typing import final

from dither.files.format import Progress, TripFormat, naming
from dither.files.trips.geopandas import from_frame, geopandas, read_frame, to_frame
from dither.files.trips.trips import Trips


@final
class GeoPackage(TripFormat):
    """A GeoPackage with one layer, which is written as `trips`."""

    endings = (".gpkg",)

    def read(self, path: Path, progress: Progress) -> Trips:
        with naming(path):
            trips = from_frame(read_frame(path, geopandas().read_file))
        progress(len(trips.paths.points))
        return trips

    def write(self, path: Path, trips: Trips) -> None:
        to_frame(trips).to_file(path, driver="GPKG", layer="trips")
