"""Privacy amplification by shuffling: the central δ(ε) of n reports in random order, from above and below.

Every report of a pure mechanism is at least as likely as under its *blanket* w, the smallest probability of
each report over all inputs. Reports of other people that are drawn from the blanket hide a person's own
[Balle19]. With E = e^ε₀ the ratio of the mechanism, γ the mass of the blanket and e = e^ε,

    δ(ε) = E[(L₁ + … + Lₙ)₊] / n,    L = (P₀ − e·P₁)/w with probability γ, else 0,

and any law of L that is larger in convex order gives an upper bound. The extreme law for a blanket of mass
γ = 1/(1 + (E − 1)·s), 0 < s ≤ ½, is that of two disjoint windows of share s: L is E − e with probability γ·s,
1 − e·E with probability γ·s, and 1 − e otherwise. It is largest at s = ½: that is randomized response, and it
bounds every mechanism of the same ratio. docs/crowd.md holds the proofs.

Composition of (ε, δ) curves: what holds after the same release was made many times, rounded up.

A curve δ(ε) is that of a pair of distributions; the logarithm of their ratio, under the first of them, is the
privacy loss. Joining points of the curve by straight lines in e^ε gives a curve above it whose loss lies on
the points alone [Doroshenko22]. Losses of independent releases add, so their distributions are convolved. All
terms are positive and are added directly, without a Fourier transform: the error stays relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.arrays import Floats, Integers
from dither.numerics.distributions import MOST_TRIALS, TAIL_ERROR, at_least, at_most, probability
from dither.numerics.roots import decreasing_root

MOST_PEOPLE: Final = MOST_TRIALS
LEAST_DELTA: Final = 1e-12

_REACH: Final = 10.0  # standard deviations of a count that are looked at; what lies beyond is charged
_NODES: Final = 400  # places at which the count of the lowest value is looked at
_MANY_NODES: Final = 4000  # the same for a lower bound, which is worse with few
_FEWER_NODES: Final = 150  # the same, where the number of clones varies as well
_FINE: Final = 2e-4  # the relative width of a block of numbers of clones
_BLOCKS: Final = 100  # the largest number of such blocks
_CLOSE: Final = 1e-4  # how near the found ln δ is to the asked one

Failure = Callable[[float], float]


@dataclass(frozen=True)
class Nodes:
    """A law of (number of clones m, number b of those with the lowest L), on few places.

    Given m and b, the number with the highest L is binomial with m − b trials.
    """

    clones: Floats
    lowest: Floats
    weights: Floats  # a measure: the expectation is the sum of weight times the conditional one
    chance: float  # of the highest L, for a clone that has not the lowest
    shortfall: float  # subtracted from the sum for each clone, relative to 1 − e


def upper(n: int, ratio: float, share: float = 0.5) -> Failure:
    """Return δ(ε) of n shuffled reports, rounded up, for a mechanism with this ratio and window share."""
    share = min(share, 0.5)
    gamma = 1.0 / (1.0 + (ratio - 1.0) * share)
    nodes = _two_values(n, gamma / 2.0) if share == 0.5 else _three_values(n, gamma, share)
    return lambda epsilon: min(1.0, _expectation(nodes, ratio, math.exp(epsilon), TAIL_ERROR))


def lower_response(n: int, ratio: float, categories: int) -> Failure:
    """Return a lower bound of δ(ε) for n shuffled reports of randomized response with so many categories.

    With two categories everybody else holds one of the two compared; otherwise all others hold a third one,
    and the collector is told only whether a report is one of the two compared.
    """
    if categories == 2:
        return lambda epsilon: _lower_two(n, ratio, math.exp(epsilon))
    share = 1.0 / (ratio + categories - 1.0)
    lowest, weights = _spread(n, share, _MANY_NODES, outward=False)
    shortfall = (categories - 2.0) / (ratio + categories - 3.0)
    nodes = Nodes(np.full(lowest.size, float(n)), lowest, weights / n, share / (1.0 - share), shortfall)
    return lambda epsilon: max(0.0, _expectation(nodes, ratio, math.exp(epsilon), -TAIL_ERROR))


def least_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε with failure(ε) ≤ δ, near the least; `most` if there is none below it."""

    def excess(log_epsilon: float) -> float:
        return math.log(max(failure(math.exp(log_epsilon)), 1e-300)) - math.log(delta)

    top = math.log(most)
    found = decreasing_root(excess, top - 50.0, top, close=_CLOSE, start=top - 1.0)
    return most if found is None else min(most, math.exp(found))


def proven_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε with failure(ε) ≥ δ, near the largest: with a lower bound of δ(ε), a lower bound of ε."""
    found = least_epsilon(failure, delta * math.exp(_CLOSE), most)
    return 0.0 if found == most else found


def _two_values(n: int, chance: float) -> Nodes:
    """Return the law of the count of the lowest value where each clone has one of two values."""
    lowest, weights = _spread(n, chance, _NODES)
    return Nodes(np.full(lowest.size, float(n)), lowest, weights / n, chance / (1.0 - chance), 0.0)


def _three_values(n: int, gamma: float, share: float) -> Nodes:
    """Return the law of clones and lowest values; blocks of numbers of clones stand at their lower ends.

    A person hides better among more clones, so the lower end of a block is an upper bound of its δ. The
    person is one of m = 1 + Binomial(n − 1, γ) clones, and δ = γ·E[E[(L₁ + … + Lₘ)₊ | m] / m].
    """
    deviation = math.sqrt((n - 1) * gamma * (1.0 - gamma))
    mean = (n - 1) * gamma
    blocks = min(_BLOCKS, max(4, math.ceil(2.0 * _REACH * deviation / (_FINE * max(mean, 1.0)))))
    low = max(0, math.floor(mean - _REACH * deviation))
    high = min(n - 1, math.ceil(mean + _REACH * deviation))
    edges = np.unique(np.floor(np.linspace(low, high + 1, blocks + 1)))
    edges = np.concatenate([[0.0], edges]) if low else edges
    below = at_most(edges - 1.0, n - 1, gamma)
    above = at_least(edges, n - 1, gamma)
    # The mass of a block from the tail on its own side, so that small masses keep their digits.
    masses = np.where(edges[1:] <= mean, below[1:] - below[:-1], above[:-1] - above[1:])
    masses[-1] += above[-1]
    parts = [_spread(int(begin) + 1, share, _FEWER_NODES) for begin in edges[:-1]]
    sizes = [lowest.size for lowest, _ in parts]
    clones = np.repeat(edges[:-1] + 1.0, sizes)
    scale = gamma * np.repeat(masses, sizes) / clones
    lowest = np.concatenate([part for part, _ in parts])
    weights = np.concatenate([part for _, part in parts]) * scale
    kept = weights > 0.0
    return Nodes(clones[kept], lowest[kept], weights[kept], share / (1.0 - share), 1.0)


def _spread(n: int, chance: float, nodes: int, *, outward: bool = True) -> tuple[Floats, Floats]:
    """Return places and weights of Binomial(n, chance), for a function that is decreasing and convex.

    Outward: every count is shared by the two places around it so that the mean is kept, which raises the
    expectation of a convex function; counts below the first place move to 0, above the last to the last.
    Inward: every count moves up to the next place, which lowers the expectation; the farthest are left out.
    """
    deviation = math.sqrt(n * chance * (1.0 - chance))
    low = max(0, math.floor(n * chance - _REACH * deviation) - 30)
    high = min(n, math.ceil(n * chance + _REACH * deviation) + 30)
    counts = np.arange(low, high + 1, dtype=np.float64)
    masses = probability(counts, n, chance)
    places = np.unique(np.append(np.arange(low, high, max(1, (high - low) // nodes)), high)).astype(
        np.float64
    )
    after = np.searchsorted(places, counts)  # the first place at or above each count
    if not outward:
        return places, _gather(after, masses, places.size)
    before = np.maximum(after - 1, 0)
    gap = np.where(after > 0, places[after] - places[before], 1.0)
    up = np.where(after > 0, (counts - places[before]) / gap, 1.0)
    weights = _gather(after, masses * up, places.size) + _gather(before, masses * (1.0 - up), places.size)
    weights[-1] += float(at_least(high + 1, n, chance))
    if low == 0:
        return places, weights
    return np.append(places, 0.0), np.append(weights, float(at_most(low - 1, n, chance)))


def _gather(indices: Integers, masses: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(indices, masses, size), dtype=np.float64)


def _expectation(nodes: Nodes, ratio: float, e: float, guard: float) -> float:
    """Return Σ weight · E[(sum of L)₊ | m, b], with each tail changed by the relative error `guard`.

    The sum is H·a − D·b − C with a ~ Binomial(m − b, chance) the number of highest values. It is positive
    from a = t on, and E[a; a ≥ t] = (m − b)·chance·P(Binomial(m − b − 1, chance) ≥ t − 1).
    """
    middle = nodes.shortfall * (1.0 - e)  # L of a clone that has neither of the two values
    high, drop = ratio - e - middle, e * ratio - 1.0 + middle
    if high <= 0.0:
        return 0.0
    trials = nodes.clones - nodes.lowest
    lost = drop * nodes.lowest - middle * nodes.clones
    first = np.floor(np.maximum(lost, 0.0) / high) + 1.0
    possible = first <= trials
    trials, lost, first = trials[possible], lost[possible], first[possible]
    tail = at_least(first - 1.0, trials - 1.0, nodes.chance)
    edge = probability(first - 1.0, trials - 1.0, nodes.chance)
    won = high * trials * nodes.chance * tail
    paid = lost * (tail - (1.0 - nodes.chance) * edge)  # P(Binomial(m − b) ≥ t) by one step of the recursion
    value = won - paid + guard * (won + np.abs(paid))
    return float((nodes.weights[possible] * np.maximum(value, 0.0)).sum())


def _lower_two(n: int, ratio: float, e: float) -> float:
    """Return δ of randomized response where everybody else holds one of the two compared values.

    L is E − e or 1/E − e, the first with probability 1/(E + 1), if it is the second value; it is 1 − e/E or
    1 − e·E, the first with probability E/(E + 1), if it is the first value.
    """
    chance = 1.0 / (ratio + 1.0)
    if e >= ratio:
        return 0.0
    return max(
        _positive_part(n, chance, ratio - e, e - 1.0 / ratio),
        _positive_part(n, 1.0 - chance, 1.0 - e / ratio, e * ratio - 1.0),
    )


def _positive_part(n: int, chance: float, high: float, drop: float) -> float:
    """Return E[(sum of n values)₊]/n, rounded down: a value is `high` with this chance, else −drop."""
    first = math.floor(n * drop / (high + drop)) + 1.0
    won = (high + drop) * chance * float(at_least(first - 1.0, n - 1, chance))
    paid = drop * float(at_least(first, n, chance))
    return max(0.0, won - paid - TAIL_ERROR * (won + paid))


_LEAST: Final = 1e-18  # δ at which the range of a single release ends
_DROPPED: Final = 1e-17  # mass of one tail that is moved at each convolution, and charged to δ
_GUARD: Final = 1e-10  # relative error of all sums and products, generously


def repeat(failure: Failure, times: int, most: float, points: int) -> Failure:
    """Return δ(ε) of `times` independent releases whose single curve is at most `failure`.

    `points` of the curve are evaluated: more of them cost time and bring the result nearer to the truth. The
    pair is symmetric: both directions have the same curve. At `most`, the pure bound, δ is 0.
    """
    step, masses, lost = _losses(failure, most, points)
    total, offset, charged = _power(masses, times)
    gone = -math.expm1(times * math.log1p(-min(lost, 1.0 - 1e-12))) + charged
    losses = step * (np.arange(total.size) + offset - times * (masses.size // 2))

    def compose(epsilon: float) -> float:
        above = losses > epsilon
        return min(1.0, (float(total[above] @ -np.expm1(epsilon - losses[above])) + gone) * (1.0 + _GUARD))

    return compose


def _losses(failure: Failure, most: float, points: int) -> tuple[float, Floats, float]:
    """Return the spacing of the losses, their masses (symmetric about 0) and the mass of an infinite loss."""
    end = most
    while end > most * 1e-9 and failure(end / 2.0) < _LEAST:
        end /= 2.0
    step = end / points
    right = step * np.arange(points + 1)
    known = np.array([failure(float(epsilon)) for epsilon in right])
    # By symmetry δ(−ε) = 1 − e^−ε + e^−ε·δ(ε).
    left = -np.expm1(-right[:0:-1]) + np.exp(-right[:0:-1]) * known[:0:-1]
    deltas, places = np.concatenate([left, known]), np.exp(np.concatenate([-right[:0:-1], right]))
    slopes = np.diff(deltas) / np.diff(places)
    slopes = np.minimum.accumulate(np.minimum(slopes, 0.0)[::-1])[::-1]  # convex: rounding may not bend it
    ends = np.concatenate([[-1.0], slopes, [0.0]])  # below the first point the curve is 1 − e^ε
    masses = places * np.maximum(np.diff(ends), 0.0)
    return step, masses, float(known[-1])


def _power(masses: Floats, times: int) -> tuple[Floats, int, float]:
    """Return the `times`-fold convolution without its ends, the index of its first entry, and the charge."""
    result, begin, charged = np.ones(1), 0, 0.0
    square, first, cost = masses, 0, 0.0
    left = times
    while left:
        if left & 1:
            result, begin, extra = _trim(np.convolve(result, square), begin + first)
            charged += cost + extra
        left >>= 1
        if left:
            square, first, extra = _trim(np.convolve(square, square), 2 * first)
            cost = 2.0 * cost + extra
    return result, begin, charged


def _trim(masses: Floats, first: int) -> tuple[Floats, int, float]:
    """Return the masses without their ends: low ones move up to the first kept, high are charged."""
    low = int(np.searchsorted(np.cumsum(masses), _DROPPED))
    high = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _DROPPED))
    kept = masses[low:high].copy()
    kept[0] += masses[:low].sum()
    return kept, first + low, float(masses[high:].sum())
