"""Further statistics of reports, `dt.stats`: pairs, tables, comparisons, families, tests."""

from dither.estimation.comparison import combine, contrasts, difference, equal_groups, post_stratified
from dither.estimation.families import fit_family
from dither.estimation.marginals import tables
from dither.estimation.pairs import covariance
from dither.estimation.queries import answers
from dither.estimation.significance import goodness_of_fit, same_distribution
from dither.estimation.verbs import joint_frequency, resultant

__all__ = [
    "answers",
    "combine",
    "contrasts",
    "covariance",
    "difference",
    "equal_groups",
    "fit_family",
    "goodness_of_fit",
    "joint_frequency",
    "post_stratified",
    "resultant",
    "same_distribution",
    "tables",
]
