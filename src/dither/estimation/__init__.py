"""From reports to answers, each with its error."""

from dither.estimation.estimate import Estimate
from dither.estimation.frequency import Frequencies, Frequency, frequencies
from dither.estimation.projection import norm_sub, simplex
from dither.estimation.search import heavy_hitters
from dither.estimation.summary import Summary, summarise

__all__ = [
    "Estimate",
    "Frequencies",
    "Frequency",
    "Summary",
    "frequencies",
    "heavy_hitters",
    "norm_sub",
    "simplex",
    "summarise",
]
