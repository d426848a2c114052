"""The public names of this room."""

from . import maps as maps
from . import stats as stats
from . import weights as weights
