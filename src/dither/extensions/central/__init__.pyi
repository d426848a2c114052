"""The public names, each from the module that defines it."""

from . import spark as spark
from .answer import LearnedBounds as LearnedBounds
from .answer import count as count
from .answer import hourglass as hourglass
from .answer import laplace as laplace
from .answer import mean as mean
from .answer import staircase as staircase
from .answer import sum as sum
from .answer import swap_mean as swap_mean
from .tally import Tally as Tally
