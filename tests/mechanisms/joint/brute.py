"""Everything about correlated coins by enumeration: all pairings, all coins. For a handful of people only."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from dither.core.kernels.coin import PairedCoins

Pairing = list[tuple[int, ...]]


def pairings(people: list[int]) -> Iterator[Pairing]:
    """Give every way to pair people; of an odd number one stays alone."""
    if not people:
        yield []
        return
    first, rest = people[0], people[1:]
    if len(people) % 2:
        for alone in people:
            yield from ([(alone,), *others] for others in pairings([one for one in people if one != alone]))
        return
    for partner in rest:
        for others in pairings([one for one in rest if one != partner]):
            yield [(first, partner), *others]


def chance(pairs: PairedCoins, pairing: Pairing, coins: tuple[bool, ...]) -> Fraction:
    """Give the probability of everybody's coins for one pairing."""
    result = Fraction(1)
    for group in pairing:
        yes = sum(coins[one] for one in group)
        if len(group) == 1:
            result *= pairs.chance if yes else 1 - pairs.chance
        else:
            result *= Fraction((pairs.neither, pairs.one, pairs.both)[yes], pairs.total)
    return result


def law(pairs: PairedCoins, n: int) -> dict[tuple[bool, ...], Fraction]:
    """Give the probability of everybody's coins, paired at random."""
    ways = list(pairings(list(range(n))))
    return {
        coins: sum((chance(pairs, pairing, coins) for pairing in ways), Fraction(0)) / len(ways)
        for coins in product((False, True), repeat=n)
    }


def seen(law: dict[tuple[bool, ...], Fraction], known: list[int]) -> list[tuple[Fraction, Fraction]]:
    """Give P(known coins, person 0 truthful) and P(known coins, person 0 lies) for all known coins."""
    table: dict[tuple[bool, ...], list[Fraction]] = {}
    for coins, mass in law.items():
        entry = table.setdefault(tuple(coins[one] for one in known), [Fraction(0), Fraction(0)])
        entry[not coins[0]] += mass
    return [(truth, lie) for truth, lie in table.values()]
