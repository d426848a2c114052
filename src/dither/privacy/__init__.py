"""Privacy guarantees: bounds, their composition, budgets, and the exact arithmetic behind them."""

from dither.privacy.guarantee import PAC, Approximate, Guarantee, Metric, Nothing, Pure
from dither.privacy.guarantee import Bound as Bound
from dither.privacy.guarantee import Unit as Unit
from dither.privacy.ledger import Ledger, Policy

__all__ = ["PAC", "Approximate", "Guarantee", "Ledger", "Metric", "Nothing", "Policy", "Pure"]
