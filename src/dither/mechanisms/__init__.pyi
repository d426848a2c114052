"""The public names of this room."""

from . import jrr as jrr
from . import optimal as optimal
from . import rivals as rivals
