"""Privacy guarantees: bounds, their composition, budgets, and the exact arithmetic behind them."""

from typing import Final

from dither.privacy.guarantee import PAC, Approximate, Bound, Guarantee, Metric, Nothing, Pure, Unit
from dither.privacy.ledger import Ledger, Policy

LOCATION: Final = Unit.LOCATION
TRAJECTORY: Final = Unit.TRAJECTORY

__all__ = [
    "LOCATION",
    "PAC",
    "TRAJECTORY",
    "Approximate",
    "Bound",
    "Guarantee",
    "Ledger",
    "Metric",
    "Nothing",
    "Policy",
    "Pure",
    "Unit",
]
