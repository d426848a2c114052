"""From reports to answers, each with its error."""

from dither.estimation.answers import distribution, mean, quantile, resultant, variance
from dither.estimation.distribution import Distribution
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import Frequencies, Frequency, frequencies
from dither.estimation.likelihood import likelihood, smoothed
from dither.estimation.linear import linear
from dither.estimation.natural import estimate
from dither.estimation.projection import norm_sub, simplex
from dither.estimation.reported import as_reported
from dither.estimation.search import heavy_hitters
from dither.estimation.summary import Summary, summarise

__all__ = [
    "Distribution",
    "Estimate",
    "Frequencies",
    "Frequency",
    "Summary",
    "as_reported",
    "distribution",
    "estimate",
    "frequencies",
    "heavy_hitters",
    "likelihood",
    "linear",
    "mean",
    "norm_sub",
    "quantile",
    "resultant",
    "simplex",
    "smoothed",
    "summarise",
    "variance",
]
