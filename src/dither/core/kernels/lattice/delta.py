"""The δ of noise on a lattice for a given ε, in exact integers.

Weights decrease with the distance from the centre, so the two ends of the domain are the worst pair of
inputs. With weights w and a domain of G steps: if w(z) > E·w(z − G), then z is nearer to the centre, and a
smaller shift makes w(z − G) larger. The weight clamped to an outermost report is counted completely, so the
result is an upper bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dither.core.kernels.alias import TOTAL_BITS
from dither.core.kernels.lattice.integers import Clamped


@lru_cache(maxsize=64)
def excess(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of (ε, δ)-LDP: the largest P(S | x) − bound · P(S | x′), over sets S and inputs x, x′.

    It is convex in both distributions, so inputs that are rounded at random are not worse than integer steps.
    """
    weights, reach, steps = lattice.noise.weights, lattice.noise.reach, lattice.steps
    pile = lattice.noise.tails[reach - steps]
    scale, factor = bound.denominator, bound.numerator
    if lattice.share == 1:
        near = [weights[abs(index)] for index in range(steps - reach + 1, steps // 2 + 1)]
        far = [weights[steps - index] for index in range(steps - reach + 1, steps // 2 + 1)]
        spent = sum(max(0, scale * ours - factor * theirs) for ours, theirs in zip(near, far, strict=True))
        return min(Fraction(1), Fraction(spent + scale * pile, scale << TOTAL_BITS))
    # The domain is shorter than a step: its upper end is a mixture of two steps. Denominators are multiplied
    # out.
    share, complete = lattice.share.numerator, lattice.share.denominator
    first = second = 0
    for index in range(2 - reach, reach):
        ours = weights[abs(index)]
        mixed = (complete - share) * ours + share * weights[abs(index - 1)]
        first += max(0, scale * complete * ours - factor * mixed)
        second += max(0, scale * mixed - factor * complete * ours)
    spent = max(first, second) + scale * complete * pile
    return min(Fraction(1), Fraction(spent, scale * complete << TOTAL_BITS))


@lru_cache(maxsize=64)
def failure(lattice: Clamped, bound: Fraction) -> Fraction:
    """Return δ of probabilistic LDP: P(P(Y | x)/P(Y | x′) > bound) for a report Y of x, at the worst x, x′.

    Rounding at random mixes two neighbouring steps. A report exceeds the bound for the mixture only if it
    does so for one of the two, compared with a step at most one domain away from either.
    """
    tails, steps = lattice.noise.tails, lattice.steps
    if lattice.share == 1:
        worst = max(_furthest(lattice, bound, steps), _furthest(lattice, bound, steps - 1) + 1)
        return Fraction(_up_to(tails, worst), 1 << TOTAL_BITS)
    # With share f: 1 − f + f·ratio > bound, or its reciprocal, for one end of the short domain.
    share = lattice.share
    below = _furthest(lattice, 1 / (1 - (1 - 1 / bound) / share) if (1 - 1 / bound) < share else None, 1)
    above = _furthest(lattice, 1 + (bound - 1) / share, 1)
    rounded = (1 - share) * _up_to(tails, above - 1) + share * _up_to(tails, above)
    return max(Fraction(_up_to(tails, below)), rounded) / (1 << TOTAL_BITS)


def _furthest(lattice: Clamped, bound: Fraction | None, shift: int) -> int:
    """Return the largest offset z at which w(z)/w(z − shift) may exceed the bound."""
    weights, reach = lattice.noise.weights, lattice.noise.reach
    last = lattice.steps - reach  # the outermost report is always counted
    if bound is None or shift < 1:
        return last
    for index in range(math.floor(shift / 2), last, -1):
        other = weights[abs(index - shift)]
        if weights[abs(index)] * bound.denominator > bound.numerator * other:
            return index
    return last


def _up_to(tails: tuple[int, ...], index: int) -> int:
    """Return the weight of all offsets up to `index`."""
    return tails[-index] if index <= 0 else (1 << TOTAL_BITS) - tails[index + 1]
