"""Tables and trips in files: values in, reports out; reports in, summaries and decoded trips out."""

from dither.files.choices import Missing, Outside
from dither.files.collect import check_file, perturb_file, summarise_file, summarise_files
from dither.files.dialect import Dialect
from dither.files.fit import ColumnFit
from dither.files.groups import group_files
from dither.files.rows import RowCounts
from dither.files.trips.api import read_trips, write_trips
from dither.files.trips.geopandas import from_frame, to_frame
from dither.files.trips.reports import TripReports, perturb_trips, read_reports
from dither.files.trips.trips import Trips

__all__ = [
    "ColumnFit",
    "Dialect",
    "Missing",
    "Outside",
    "RowCounts",
    "TripReports",
    "Trips",
    "check_file",
    "from_frame",
    "group_files",
    "perturb_file",
    "perturb_trips",
    "read_reports",
    "read_trips",
    "summarise_file",
    "summarise_files",
    "to_frame",
    "write_trips",
]
