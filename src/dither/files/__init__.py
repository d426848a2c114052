"""Tables and trips in files: values in, reports out; reports in, summaries and decoded trips out."""

from dither.files.collect import Missing, RowCounts, perturb_file, summarise_file
from dither.files.trips.api import read_trips, write_trips
from dither.files.trips.geopandas import from_frame, to_frame
from dither.files.trips.reports import Outside, TripReports, perturb_trips, read_reports
from dither.files.trips.trips import Trips

__all__ = [
    "Missing",
    "Outside",
    "RowCounts",
    "TripReports",
    "Trips",
    "from_frame",
    "perturb_file",
    "perturb_trips",
    "read_reports",
    "read_trips",
    "summarise_file",
    "to_frame",
    "write_trips",
]
