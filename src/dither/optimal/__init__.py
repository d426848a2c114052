"""The best possible mechanism: known in closed form, solved, compared, recommended."""

from dither.optimal.closed_form import Focused, TwoPoint
from dither.optimal.polar import Polar

__all__ = ["Focused", "Polar", "TwoPoint"]
