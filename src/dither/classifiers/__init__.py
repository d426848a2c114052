"""What a classifier keeps when its inputs are randomised: how likely its answer stays, and how that is known.

Each person randomises a record before it reaches a classifier. `utility` bounds the probability that the
answer is the one that the true record would get; `utility_curve` does so for many budgets at once.
"""

from dither.classifiers.choice import Enough, Ranking, best_mechanism, epsilon_for_utility
from dither.classifiers.concentration import concentration
from dither.classifiers.curve import Curve, utility_curve
from dither.classifiers.indicator import Indicator, RawRelease
from dither.classifiers.models.linear import Linear
from dither.classifiers.models.network import Network
from dither.classifiers.proofs.box import Box
from dither.classifiers.records import Overall, over_records
from dither.classifiers.report import report
from dither.classifiers.result import Method, Utility
from dither.classifiers.robustness import Robustness, hyperrectangle, radius
from dither.classifiers.utility import utility

__all__ = [
    "Box",
    "Curve",
    "Enough",
    "Indicator",
    "Linear",
    "Method",
    "Network",
    "Overall",
    "Ranking",
    "RawRelease",
    "Robustness",
    "Utility",
    "best_mechanism",
    "concentration",
    "epsilon_for_utility",
    "hyperrectangle",
    "over_records",
    "radius",
    "report",
    "utility",
    "utility_curve",
]
