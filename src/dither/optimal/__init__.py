"""Solved mechanisms with certificates: the smallest error that ε allows.

`workload(queries, epsilon)` solves the channel for linear queries. `solver/` and `queries/` find designs.
"""

from dither.optimal.queries.workload import Workload, workload

__all__ = ["Workload", "workload"]
