"""The public names, each from the module that defines it."""

from . import spark as spark
from .learned_bounds import LearnedBounds as LearnedBounds
from .release import count as count
from .release import hourglass as hourglass
from .release import laplace as laplace
from .release import mean as mean
from .release import staircase as staircase
from .release import sum as sum
from .release import swap_mean as swap_mean
from .tally import Tally as Tally
