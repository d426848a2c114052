"""Estimates from reports, each with a standard error and an interval."""

from dither.estimation.distributions import (
    EstimatedDistribution,
    as_reported,
    distribution,
    likelihood,
    quantile,
    smoothed,
)
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import EstimatedFrequencies, frequencies, norm_sub, simplex
from dither.estimation.groups import estimate
from dither.estimation.linear import linear, mean, resultant, variance
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
