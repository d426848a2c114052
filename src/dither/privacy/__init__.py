"""Promises: what a bound says, how bounds add up, and the exact arithmetic under them."""

from dither.privacy.guarantee import PAC, Approximate, Bound, Guarantee, Metric, Nothing, Pure, Unit

__all__ = ["PAC", "Approximate", "Bound", "Guarantee", "Metric", "Nothing", "Pure", "Unit"]
