"""Every kind of solved mechanism, and what is known about it from elsewhere."""

from __future__ import annotations

from typing import Any

import dither as dt
from dither.mechanisms.optimal.problem import Problem

UNIT = dt.Interval(0, 1)

KINDS: dict[str, dict[str, Any]] = {
    "worst absolute": {"loss": "absolute"},
    "worst squared": {"loss": "squared"},
    "average absolute": {"loss": "absolute", "criterion": "average"},
    "average squared": {"loss": "squared", "criterion": "average"},
    "worst unbiased": {"unbiased": True},
    "average unbiased": {"unbiased": True, "criterion": "average"},
}
GOALS = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0)

# Optima over all mechanisms on [0, 1], by linear programs of another make, to the digits given.
KNOWN = {
    "worst absolute": {0.5: 0.39527, 1.0: 0.31617, 2.0: 0.20082, 4.0: 0.07809},
    "worst squared": {0.5: 0.23500, 1.0: 0.19661, 2.0: 0.10688, 4.0: 0.02606},
    "worst unbiased": {0.5: 4.0006, 1.0: 0.99764, 2.0: 0.21636, 4.0: 0.03176},
    "average absolute": {0.5: 0.238076, 1.0: 0.213598, 2.0: 0.156248, 4.0: 0.069315},
    "average squared": {0.5: 0.079665, 1.0: 0.070065, 2.0: 0.047136, 4.0: 0.015468},
}


def optimal(kind: str, epsilon: float, domain: Any = UNIT) -> Any:
    return dt.Optimal(domain, epsilon=epsilon, **KINDS[kind])


def problem(kind: str, epsilon: float) -> Problem:
    return optimal(kind, epsilon).problem
