"""The public names, each from the module that defines it."""

from . import spark as spark
from . import sql as sql
from .batches import perturb_batch as perturb_batch
from .files import check_file as check_file
from .files import group_files as group_files
from .files import perturb_file as perturb_file
from .files import read as read
from .files import summarise_file as summarise_file
from .frames import estimate as estimate
from .frames import perturb as perturb
from .frames import reports as reports
from .frames import summarise as summarise
from .streams import Dialect as Dialect
from .trips import TripReports as TripReports
from .trips import Trips as Trips
from .trips import perturb_trips as perturb_trips
