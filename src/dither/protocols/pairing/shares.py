"""Numbers in three shares: the points at 1, 2 and 3 of a line over a prime field, with the number at 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dither.errors import ExchangeFailed

SERVERS: Final = 3
# The prime of secp256k1. A share holds an address or a secret, and square roots, which a random bit takes,
# are one power, since it is 3 modulo 4.
PRIME: Final = (1 << 256) - (1 << 32) - 977
NUMBER: Final = 32  # bytes of a number


def combine(shares: Sequence[object]) -> int:
    """Return the number that three shares stand for; raise ExchangeFailed if they are not on one line."""
    if len(shares) != SERVERS or not all(type(share) is int and 0 <= share < PRIME for share in shares):
        raise ExchangeFailed(f"a number comes in {SERVERS} shares, each below the prime")
    one, two, three = (share for share in shares if isinstance(share, int))
    if (one - 2 * two + three) % PRIME:
        raise ExchangeFailed("the three shares do not fit together: they are not on one line")
    return (2 * one - two) % PRIME
