"""The public names, each from the module that defines it."""

from . import spark as spark
from . import sql as sql
from .batches import perturb_batch as perturb_batch
from .files import check_file as check_file
from .files import group_files as group_files
from .files import perturb_file as perturb_file
from .files import summarise_file as summarise_file
from .files import summarise_files as summarise_files
from .frames import estimate as estimate
from .frames import perturb as perturb
from .frames import reports as reports
from .frames import summarise as summarise
from .geopandas import trips_from_frame as trips_from_frame
from .geopandas import trips_to_frame as trips_to_frame
from .rows import ColumnFit as ColumnFit
from .rows import RowCounts as RowCounts
from .streams import Dialect as Dialect
from .streams import Outside as Outside
from .trips import TripReports as TripReports
from .trips import Trips as Trips
from .trips import perturb_trips as perturb_trips
from .trips import read_trip_reports as read_trip_reports
from .trips import read_trips as read_trips
from .trips import write_trips as write_trips
