"""Joint randomized response between real devices: correlated coins without anybody who knows both."""

from dither.protocols.exchange import Exchange, Role
from dither.protocols.grouping import DEALT, SHUFFLED, Grouping, Pairing, deal_pairs
from dither.protocols.local import local_pairs
from dither.protocols.terms import Terms

__all__ = [
    "DEALT",
    "SHUFFLED",
    "Exchange",
    "Grouping",
    "Pairing",
    "Role",
    "Terms",
    "deal_pairs",
    "local_pairs",
]
