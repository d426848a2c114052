"""Promises: what a bound says, how bounds add up, and the exact arithmetic under them."""

from dither.privacy.guarantee import PAC, Approximate, Bound, Guarantee, Metric, Nothing, Pure, Unit
from dither.privacy.ledger import Ledger

__all__ = ["PAC", "Approximate", "Bound", "Guarantee", "Ledger", "Metric", "Nothing", "Pure", "Unit"]
