"""Further statistics of reports, `dt.stats`: pairs, tables, regressions, weights, comparisons, tests."""

from dither.estimation.comparison import combine, contrasts, difference, equal_groups, post_stratified
from dither.estimation.families import fit_family
from dither.estimation.marginals import tables
from dither.estimation.optional import response_rate
from dither.estimation.pairs import correlation, covariance, crosstab
from dither.estimation.queries import answers
from dither.estimation.regression import regression
from dither.estimation.significance import goodness_of_fit, same_distribution
from dither.estimation.verbs import joint_frequency, resultant
from dither.estimation.weights import rake

__all__ = [
    "answers",
    "combine",
    "contrasts",
    "correlation",
    "covariance",
    "crosstab",
    "difference",
    "equal_groups",
    "fit_family",
    "goodness_of_fit",
    "joint_frequency",
    "post_stratified",
    "rake",
    "regression",
    "response_rate",
    "resultant",
    "same_distribution",
    "tables",
]
