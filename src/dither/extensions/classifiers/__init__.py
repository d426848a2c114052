"""Utility of a classifier on randomised records: bounds on the probability that its answer stays the same.

Each person randomises a record before it reaches a classifier. `utility` bounds the probability that the
answer is the one for the true record; `utility_curve` does so for many budgets at once.
"""

from dither.extensions.classifiers.choice import best_mechanism, epsilon_for_utility
from dither.extensions.classifiers.concentration import best_for, concentration
from dither.extensions.classifiers.data_set import over_records
from dither.extensions.classifiers.indicator import Indicator, RawRelease
from dither.extensions.classifiers.models.linear import LinearClassifier
from dither.extensions.classifiers.models.network import Network
from dither.extensions.classifiers.models.quadratic import QuadraticClassifier
from dither.extensions.classifiers.report import report
from dither.extensions.classifiers.robustness import euclidean_radius, hyperrectangle, radius
from dither.extensions.classifiers.utility import utility, utility_curve

__all__ = [
    "Indicator",
    "LinearClassifier",
    "Network",
    "QuadraticClassifier",
    "RawRelease",
    "best_for",
    "best_mechanism",
    "concentration",
    "epsilon_for_utility",
    "euclidean_radius",
    "hyperrectangle",
    "over_records",
    "radius",
    "report",
    "utility",
    "utility_curve",
]
