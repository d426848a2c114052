"""The public names of this room."""

from . import maps as maps
from . import weights as weights
