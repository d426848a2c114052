"""The best possible mechanism: known in closed form, solved, compared, recommended."""

from dither.optimal import goals
from dither.optimal.closed_form import Focused, TwoPoint
from dither.optimal.comparison import compare
from dither.optimal.mechanism import Optimal
from dither.optimal.polar import Polar
from dither.optimal.recommendation import epsilon_for, people_for, recommend

__all__ = [
    "Focused",
    "Optimal",
    "Polar",
    "TwoPoint",
    "compare",
    "epsilon_for",
    "goals",
    "people_for",
    "recommend",
]
