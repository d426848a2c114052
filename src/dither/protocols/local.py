"""The protocol with all devices in one process."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

from dither.errors import InvalidParameter
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.joint import Joint
from dither.protocols.exchange import Exchange, Role
from dither.protocols.pairing.grouping import check_number
from dither.protocols.terms import BITS, Terms
from dither.randomness import Source


def local_pairs(
    jrr: Joint, n: int | None = None, *, bits: int = BITS, source: Source | None = None
) -> list[Coin]:
    """Return n coins, partners next to each other: 0 and 1, 2 and 3, …; if n is odd, the last is alone.

    All devices are in this process and run the real protocol. The coins are those of `Terms(jrr, bits)`.
    Their mechanism is for n people, by default as many as `jrr` is for.
    """
    if not isinstance(jrr, Joint):
        raise InvalidParameter(f"devices toss for a JRR or JRR.over(...), not {type(jrr).__name__}")
    people = jrr.n if n is None else n
    check_number(people)
    terms = Terms(replace(jrr, n=people), bits)
    coins: list[Coin] = []
    for _ in range(people // 2):
        one, other = (Exchange(terms, role, source=source) for role in Role)
        converse(one, other)
        coins += one.coins() + other.coins()
    return coins if people % 2 == 0 else coins + terms.alone(source=source)


def converse(first: Exchange, second: Exchange) -> int:
    """Carry messages between two devices until both are done, and return the number of bytes."""
    said, carried = second.start() + first.start(), 0
    turns = cycle((second, first))
    while said:
        carried += len(said)
        said = next(turns).receive(said)
    return carried
