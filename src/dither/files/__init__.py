"""Tables and trips in files: values in, reports out; and reports in, summaries out."""

from dither.files.collect import Missing, perturb_file, summarise_file
from dither.files.trips.format import read_trips, write_trips
from dither.files.trips.geopandas import from_frame, to_frame
from dither.files.trips.trips import Trips

__all__ = [
    "Missing",
    "Trips",
    "from_frame",
    "perturb_file",
    "read_trips",
    "summarise_file",
    "to_frame",
    "write_trips",
]
