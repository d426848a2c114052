"""Solved mechanisms with certificates, and what is known about the best possible.

Workload               the solved channel for linear queries, by `Workload.of`; read by `dt.stats.answers`
Focused                the best window for values near one public place
TwoPoint               the best mechanism for single values by squared error, for ε up to 1.76
shuffled_lower_bound   an ε below which no guarantee of shuffled reports can lie

`dt.Optimal` and `dt.optimal.Cumulative` are solved, too. `solver/` and `queries/` find designs.
"""

from typing import TYPE_CHECKING, Any

from dither.mechanisms.numeric.ogpm import Focused
from dither.mechanisms.numeric.pm import TwoPoint
from dither.mechanisms.shuffled import shuffled_lower_bound

if TYPE_CHECKING:
    from dither.mechanisms.optimal.queries.workload import Workload

__all__ = ["Focused", "TwoPoint", "Workload", "shuffled_lower_bound"]


def __getattr__(name: str) -> Any:
    if name == "Workload":  # with what solves it: a question that is asked does not need it
        from dither.mechanisms.optimal.queries.workload import Workload

        return Workload
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
