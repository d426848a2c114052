"""How far two laws of one lattice are apart beyond a factor e^ε: δ, in exact integers.

Single weights fall from the centre, so the two ends of the domain are the worst pair of inputs. With weights
w, piles T and a domain of G steps: where w(z) > E·w(z − G) at all, z is nearer to the centre, and a smaller
shift only makes w(z − G) larger. What lies under a pile may belong to either input: it is counted whole.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dither.kernels.lattice.integers import Clamped
from dither.kernels.table.alias import TOTAL_BITS


@lru_cache(maxsize=64)
def excess(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of (ε, δ): the most by which P(S | x) exceeds bound · P(S | x′), over sets S and inputs.

    It is convex in both laws, so inputs that are rounded at random are no worse than whole steps.
    """
    weights, reach, steps = lattice.noise.weights, lattice.noise.reach, lattice.steps
    pile = lattice.noise.tails[reach - steps]
    one, factor = bound.denominator, bound.numerator
    if lattice.share == 1:
        near = [weights[abs(place)] for place in range(steps - reach + 1, steps // 2 + 1)]
        far = [weights[steps - place] for place in range(steps - reach + 1, steps // 2 + 1)]
        spent = sum(max(0, one * ours - factor * theirs) for ours, theirs in zip(near, far, strict=True))
        return min(Fraction(1), Fraction(spent + one * pile, one << TOTAL_BITS))
    # A domain shorter than a step: its upper end mixes two steps. All is multiplied by the denominators.
    share, whole = lattice.share.numerator, lattice.share.denominator
    first = second = 0
    for place in range(2 - reach, reach):
        ours = weights[abs(place)]
        mixed = (whole - share) * ours + share * weights[abs(place - 1)]
        first += max(0, one * whole * ours - factor * mixed)
        second += max(0, one * mixed - factor * whole * ours)
    spent = max(first, second) + one * whole * pile
    return min(Fraction(1), Fraction(spent, one * whole << TOTAL_BITS))


@lru_cache(maxsize=64)
def failure(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of a probable ε: the chance of a report whose ratio for another input is above the bound.

    Rounding at random mixes two neighbouring steps; a report is bad for the mixture only if it is bad for
    one of the two, compared with a step that is at most one domain away from either.
    """
    tails, steps = lattice.noise.tails, lattice.steps
    if lattice.share == 1:
        worst = max(_furthest(lattice, bound, steps), _furthest(lattice, bound, steps - 1) + 1)
        return Fraction(_up_to(tails, worst), 1 << TOTAL_BITS)
    # 1 − f + f·ratio > bound, or its reciprocal: the report is bad for one end of the short domain
    share = lattice.share
    below = _furthest(lattice, 1 / (1 - (1 - 1 / bound) / share) if (1 - 1 / bound) < share else None, 1)
    above = _furthest(lattice, 1 + (bound - 1) / share, 1)
    rounded = (1 - share) * _up_to(tails, above - 1) + share * _up_to(tails, above)
    return max(Fraction(_up_to(tails, below)), rounded) / (1 << TOTAL_BITS)


def _furthest(lattice: Clamped, bound: Fraction | None, shift: int) -> int:
    """Return the place z, from below, up to which w(z)/w(z − shift) may be above the bound."""
    weights, reach = lattice.noise.weights, lattice.noise.reach
    last = lattice.steps - reach  # the pile, which may always be
    if bound is None or shift < 1:
        return last
    for place in range(math.floor(shift / 2), last, -1):
        other = weights[abs(place - shift)]
        if weights[abs(place)] * bound.denominator > bound.numerator * other:
            return place
    return last


def _up_to(tails: tuple[int, ...], place: int) -> int:
    """Return the weight of all places up to one."""
    return tails[-place] if place <= 0 else (1 << TOTAL_BITS) - tails[place + 1]
