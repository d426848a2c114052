"""Local differential privacy, exact to the last bit.

Names are loaded from their rooms when they are first used, so that `import dither` costs next to nothing.
A new public name is one line in `_ROOMS`, and one in the imports below it, which type checkers read.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

_ROOMS: Final = {
    "audits": ("Finding", "audit"),
    "campaigns": ("Campaign", "from_bytes", "from_json", "to_bytes", "to_json"),
    "classifiers": ("best_mechanism", "concentration", "epsilon_for_utility", "utility", "utility_curve"),
    "domains": (
        "Categories",
        "Circle",
        "Disk",
        "Interval",
        "Parallelogram",
        "Paths",
        "Rectangle",
        "Sphere",
        "Text",
    ),
    "estimation": (
        "Distribution",
        "Estimate",
        "Frequencies",
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
        "variance",
    ),
    "losses": ("absolute", "average", "power", "squared", "worst"),
    "mechanisms": (
        "ATP",
        "BLH",
        "JRR",
        "KRR",
        "LSRR",
        "OGPM",
        "OGPMU",
        "OLH",
        "OUE",
        "PEM",
        "PM",
        "RR",
        "SUE",
        "SW",
        "BoundedLaplace",
        "Calibration",
        "Duchi",
        "Each",
        "Exponential",
        "Gaussian",
        "Gridding",
        "HadamardResponse",
        "Hybrid",
        "Laplace",
        "Memoised",
        "NGram",
        "PlanarLaplace",
        "Podium",
        "Projected",
        "Purkayastha",
        "Records",
        "Rounded",
        "Sampled",
        "Snapped",
        "Staircase",
        "Strawman",
        "SubsetSelection",
        "TraCSC",
        "TraCSD",
    ),
    "optimal": (
        "Focused",
        "Optimal",
        "Polar",
        "TwoPoint",
        "compare",
        "epsilon_for",
        "goals",
        "people_for",
        "recommend",
    ),
    "privacy": ("LOCATION", "TRAJECTORY", "Guarantee", "Ledger", "Nothing"),
    "randomness": ("Seeded",),
    "reports": ("Reports",),
}
_MODULES: Final = (
    "central",
    "classifiers",
    "errors",
    "frames",
    "jrr",
    "paths",
    "privacy",
    "protocols",
    "randomness",
    "sklearn",
)  # public as a whole: dt.errors
_HOMES: Final = {name: room for room, names in _ROOMS.items() for name in names}

if TYPE_CHECKING:
    from dither import central as central
    from dither import classifiers as classifiers
    from dither import errors as errors
    from dither import frames as frames
    from dither import jrr as jrr
    from dither import paths as paths
    from dither import privacy as privacy
    from dither import protocols as protocols
    from dither import randomness as randomness
    from dither import sklearn as sklearn
    from dither.audits import Finding as Finding
    from dither.audits import audit as audit
    from dither.campaigns import Campaign as Campaign
    from dither.campaigns import from_bytes as from_bytes
    from dither.campaigns import from_json as from_json
    from dither.campaigns import to_bytes as to_bytes
    from dither.campaigns import to_json as to_json
    from dither.classifiers import best_mechanism as best_mechanism
    from dither.classifiers import concentration as concentration
    from dither.classifiers import epsilon_for_utility as epsilon_for_utility
    from dither.classifiers import utility as utility
    from dither.classifiers import utility_curve as utility_curve
    from dither.domains import Categories as Categories
    from dither.domains import Circle as Circle
    from dither.domains import Disk as Disk
    from dither.domains import Interval as Interval
    from dither.domains import Parallelogram as Parallelogram
    from dither.domains import Paths as Paths
    from dither.domains import Rectangle as Rectangle
    from dither.domains import Sphere as Sphere
    from dither.domains import Text as Text
    from dither.estimation import Distribution as Distribution
    from dither.estimation import Estimate as Estimate
    from dither.estimation import Frequencies as Frequencies
    from dither.estimation import Summary as Summary
    from dither.estimation import as_reported as as_reported
    from dither.estimation import distribution as distribution
    from dither.estimation import estimate as estimate
    from dither.estimation import frequencies as frequencies
    from dither.estimation import heavy_hitters as heavy_hitters
    from dither.estimation import likelihood as likelihood
    from dither.estimation import linear as linear
    from dither.estimation import mean as mean
    from dither.estimation import norm_sub as norm_sub
    from dither.estimation import quantile as quantile
    from dither.estimation import resultant as resultant
    from dither.estimation import simplex as simplex
    from dither.estimation import smoothed as smoothed
    from dither.estimation import variance as variance
    from dither.losses import absolute as absolute
    from dither.losses import average as average
    from dither.losses import power as power
    from dither.losses import squared as squared
    from dither.losses import worst as worst
    from dither.mechanisms import ATP as ATP
    from dither.mechanisms import BLH as BLH
    from dither.mechanisms import JRR as JRR
    from dither.mechanisms import KRR as KRR
    from dither.mechanisms import LSRR as LSRR
    from dither.mechanisms import OGPM as OGPM
    from dither.mechanisms import OGPMU as OGPMU
    from dither.mechanisms import OLH as OLH
    from dither.mechanisms import OUE as OUE
    from dither.mechanisms import PEM as PEM
    from dither.mechanisms import PM as PM
    from dither.mechanisms import RR as RR
    from dither.mechanisms import SUE as SUE
    from dither.mechanisms import SW as SW
    from dither.mechanisms import BoundedLaplace as BoundedLaplace
    from dither.mechanisms import Calibration as Calibration
    from dither.mechanisms import Duchi as Duchi
    from dither.mechanisms import Each as Each
    from dither.mechanisms import Exponential as Exponential
    from dither.mechanisms import Gaussian as Gaussian
    from dither.mechanisms import Gridding as Gridding
    from dither.mechanisms import HadamardResponse as HadamardResponse
    from dither.mechanisms import Hybrid as Hybrid
    from dither.mechanisms import Laplace as Laplace
    from dither.mechanisms import Memoised as Memoised
    from dither.mechanisms import NGram as NGram
    from dither.mechanisms import PlanarLaplace as PlanarLaplace
    from dither.mechanisms import Podium as Podium
    from dither.mechanisms import Projected as Projected
    from dither.mechanisms import Purkayastha as Purkayastha
    from dither.mechanisms import Records as Records
    from dither.mechanisms import Rounded as Rounded
    from dither.mechanisms import Sampled as Sampled
    from dither.mechanisms import Snapped as Snapped
    from dither.mechanisms import Staircase as Staircase
    from dither.mechanisms import Strawman as Strawman
    from dither.mechanisms import SubsetSelection as SubsetSelection
    from dither.mechanisms import TraCSC as TraCSC
    from dither.mechanisms import TraCSD as TraCSD
    from dither.optimal import Focused as Focused
    from dither.optimal import Optimal as Optimal
    from dither.optimal import Polar as Polar
    from dither.optimal import TwoPoint as TwoPoint
    from dither.optimal import compare as compare
    from dither.optimal import epsilon_for as epsilon_for
    from dither.optimal import goals as goals
    from dither.optimal import people_for as people_for
    from dither.optimal import recommend as recommend
    from dither.privacy import LOCATION as LOCATION
    from dither.privacy import TRAJECTORY as TRAJECTORY
    from dither.privacy import Guarantee as Guarantee
    from dither.privacy import Ledger as Ledger
    from dither.privacy import Nothing as Nothing
    from dither.randomness import Seeded as Seeded
    from dither.reports import Reports as Reports

__all__ = sorted((*_HOMES, *_MODULES))  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        thing = getattr(import_module(f"dither.{_HOMES[name]}"), name)
    elif name in _MODULES:
        thing = import_module(f"dither.{name}")
    else:
        raise AttributeError(f"module 'dither' has no attribute {name!r}")
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return __all__
