"""The public names, each from the module that defines it."""

from . import sql as sql
from .dialect import Dialect as Dialect
from .files import check_file as check_file
from .files import perturb_file as perturb_file
from .frames import polars as polars
from .frames import spark as spark
from .frames.batches import perturb_batch as perturb_batch
from .frames.frames import estimate as estimate
from .frames.frames import perturb as perturb
from .frames.frames import reports as reports
from .frames.frames import summarise as summarise
from .report_files import group_files as group_files
from .report_files import read as read
from .report_files import summarise_file as summarise_file
from .trips.reports import TripReports as TripReports
from .trips.reports import perturb_trips as perturb_trips
from .trips.trips import Trips as Trips
