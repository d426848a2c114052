"""Estimates from reports, each with a standard error and an interval."""

from dither.estimation.api import distribution, estimate, mean, quantile, resultant, variance
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import EstimatedFrequencies, frequencies, norm_sub, simplex
from dither.estimation.heavy_hitters import heavy_hitters
from dither.estimation.likelihood.distribution import EstimatedDistribution
from dither.estimation.likelihood.method import likelihood, smoothed
from dither.estimation.linear import linear
from dither.estimation.naive import as_reported
from dither.estimation.summary import Summary, summarise

__all__ = [
    "Estimate",
    "EstimatedDistribution",
    "EstimatedFrequencies",
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
