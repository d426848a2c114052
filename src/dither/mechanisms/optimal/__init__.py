"""Solved mechanisms with certificates, and bounds on the best possible.

Cumulative             cumulative shares, by a solved channel; estimated by `dt.cumulative`
JointMoments           means, variances and covariances of one to four numbers, for `dt.stats.covariance`
Workload               the solved channel for linear queries, by `Workload.of`; for `dt.stats.answers`
Focused                the best window for values near one public value
TwoPoint               the best mechanism for single values by squared error, for ε up to 1.76
shuffled_lower_bound   an ε below which no guarantee of shuffled reports can lie

`dt.Optimal` is also solved. `solver/` and `queries/` find designs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dither.mechanisms.numeric.ogpm import Focused
from dither.mechanisms.numeric.pm import TwoPoint

if TYPE_CHECKING:
    from dither.mechanisms.optimal.queries.moments import JointMoments
    from dither.mechanisms.optimal.queries.workload import Cumulative, Workload
    from dither.mechanisms.shuffled import shuffled_lower_bound

__all__ = ["Cumulative", "Focused", "JointMoments", "TwoPoint", "Workload", "shuffled_lower_bound"]


# Names that are imported when they are used, because a question needs neither a solver nor mixing.
_LATER = {
    "Cumulative": "dither.mechanisms.optimal.queries.workload",
    "JointMoments": "dither.mechanisms.optimal.queries.moments",
    "Workload": "dither.mechanisms.optimal.queries.workload",
    "shuffled_lower_bound": "dither.mechanisms.shuffled",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
