"""Privacy amplification by shuffling: the central δ(ε) of n reports in random order, from above and below.

Every report of a pure mechanism is at least as likely as under its *blanket* w, the smallest probability of
each report over all inputs. Reports of other people that are drawn from the blanket hide a person's own
[Balle19]. With E = e^ε₀ the ratio of the mechanism, γ the mass of the blanket and e = e^ε,

    δ(ε) = E[(L₁ + … + Lₙ)₊] / n,    L = (P₀ − e·P₁)/w with probability γ, else 0,

and any law of L that is larger in convex order gives an upper bound. A kernel whose integers are known has a
`Blanket`, and the law of its own L is convolved on a grid. For every other mechanism of the same ratio the
law of randomized response is the largest: L is E − e or 1 − e·E with probability 1/(E + 1) each, and 0
otherwise. docs/crowd.md holds the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.binomial import MOST_TRIALS, TAIL_ERROR, at_least, at_most, probability
from dither.foundation.numerics.roots import decreasing_root
from dither.privacy.composition import Failure, trim

MOST_PEOPLE: Final = MOST_TRIALS
LEAST_DELTA: Final = 1e-12

_REACH: Final = 10.0  # standard deviations of a count that are looked at; what lies beyond is charged
_NODES: Final = 400  # counts of the lowest value at which the sum is evaluated
_MANY_NODES: Final = 4000  # the same for a lower bound, because few nodes weaken it
_FEWER_NODES: Final = 150  # the same, where the number of clones varies as well
_FINE: Final = 2e-4  # the relative width of a block of numbers of clones
_BLOCKS: Final = 100  # the largest number of such blocks
_CLOSE: Final = 1e-4  # largest difference between the found and the required ln δ

_MOST_NODES: Final = 50_000  # pairs of counts that are evaluated for a lower bound
_ARRANGEMENTS: Final = 50  # blocks of numbers of people who hold the same value
_MORE_ARRANGEMENTS: Final = 200  # the same for up to _FEW_PEOPLE, where each takes little time
_FEW_PEOPLE: Final = 10**5
_FEWER_ARRANGEMENTS: Final = 12  # the same for a curve, because it has many points

CELLS: Final = 4096  # cells of the grid that holds a sum of L
FEWER_CELLS: Final = 1024  # the same for a composed curve, because it has many points
_UNIT: Final = 2.0**-52  # twice the error of one operation
_BEYOND: Final = 1e-19  # largest contribution to δ of the tails that are cut off a sum
_MOST_PAIRS: Final = 1 << 24  # pairs of laws times what each of them takes


@dataclass(frozen=True)
class Blanket:
    """A measure w below the law of a report under every input, and the laws relative to it.

    `masses` are those of w, report by report or group by group; a row of `ratios` is P/w for an input, or for
    a kind of inputs. For any two inputs, P₀ − e·P₁ relative to w has the distribution of two rows, or of a
    mixture of pairs of rows, or one that is smaller in convex order. If the first row and the second are a
    pair that is the worst of all, in either order, `worst` is set; if they are the laws of two inputs,
    `reached`.
    """

    masses: tuple[float, ...]
    ratios: tuple[tuple[float, ...], ...]
    worst: bool = False
    reached: bool = False

    @property
    def ratio(self) -> float:
        """The largest ratio of two probabilities of one report, rounded up."""
        return max(map(max, self.ratios)) * (1.0 + 4.0 * _UNIT)

    @property
    def share(self) -> float:
        """The share of each of two sets of reports that do not meet; 1 where they do, or are not known."""
        if not self.worst or len(self.masses) != 4 or self.masses[0]:
            return 1.0
        return (1.0 / math.fsum(self.masses) - 1.0) / (self.ratio - 1.0) * (1.0 + 64.0 * _UNIT)

    @staticmethod
    def of_sets(ratio: Fraction, share: Fraction, both: Fraction | None = None) -> Blanket:
        """Return the blanket where each input has a set of reports that are `ratio` times as likely.

        `share` is the share of the set among all reports, `both` the share of the reports in the sets of two
        inputs. If `both` is unknown, or differs between pairs, the least possible one is the worst case
        (docs/crowd.md).
        """
        meet = max(Fraction(0), 2 * share - 1) if both is None else both
        mass = 1 / (1 + (ratio - 1) * share)
        high = float(ratio)
        parts = (meet, share - meet, share - meet, 1 - 2 * share + meet)
        rows = ((high, high, 1.0, 1.0), (high, 1.0, high, 1.0))
        return Blanket(tuple(float(mass * part) for part in parts), rows, True, both is not None)

    @staticmethod
    def of_laws(laws: Floats, ratio: Fraction) -> Blanket:
        """Return the blanket of listed laws, a row each; many laws are compared by the mass they share."""
        least = laws.min(axis=0)
        if len(laws) ** 2 * (CELLS + least.size) > _MOST_PAIRS:
            shared = Fraction(float(least.sum()) * (1.0 - 2.0 * least.size * _UNIT))
            return Blanket.of_sets(ratio, (1 / shared - 1) / (ratio - 1))
        return Blanket(tuple(least.tolist()), tuple(map(tuple, (laws / least).tolist())))

    @staticmethod
    def of_parts(parts: Sequence[tuple[Fraction, Blanket | None]]) -> Blanket | None:
        """Return the blanket of reports of several kinds, each with a probability. Reports reveal their kind.

        None if a kind has no blanket, or none with a worst pair: given the kind, that pair is the worst.
        """
        known = [(float(chance), part) for chance, part in parts if part is not None and part.worst]
        if len(known) < len(parts):
            return None
        masses = tuple(chance * mass for chance, part in known for mass in part.masses)
        first, second = (tuple(ratio for _, part in known for ratio in part.ratios[row]) for row in (0, 1))
        return Blanket(masses, (first, second), worst=True)

    def join(self, other: Blanket) -> Blanket | None:
        """Return the blanket of two reports of one person, sent as one; None if there are too many laws.

        Where both have a worst pair, the pair that differs in both reports is the worst (docs/crowd.md).
        """
        worst = self.worst and other.worst
        pairs = [(0, 0), (1, 1)] if worst else list(np.ndindex(len(self.ratios), len(other.ratios)))
        masses = np.multiply.outer(self.masses, other.masses).reshape(-1)
        if len(pairs) ** 2 * (CELLS + masses.size) > _MOST_PAIRS:
            return None
        ratios = [np.multiply.outer(self.ratios[row], other.ratios[two]).reshape(-1) for row, two in pairs]
        return Blanket(tuple(masses.tolist()), tuple(tuple(row.tolist()) for row in ratios), worst)

    def failure(self, n: int, cells: int = CELLS) -> Failure:
        """Return δ(ε) of n shuffled reports, rounded up."""
        return lambda epsilon: min(1.0, self._delta(n, math.exp(epsilon), cells))

    def _delta(self, n: int, e: float, cells: int) -> float:
        """Return E[(L₁ + … + Lₙ)₊]/n, rounded up.

        The sum of m values is doubled, and one value is added where the binary digit of n says so. All masses
        are positive and are added directly, so that their error stays relative, and doubles with m.
        """
        most, step, single, begin = self._law(n, e, cells)
        if not most:
            return 0.0
        own = (64.0 if self.worst else 2.0 * single.size) * _UNIT
        total, first, count, wrong, lost = single, begin, 1, own, 0.0
        for digit in f"{n:b}"[1:]:
            wrong, lost, count = 2.0 * wrong + _error(total), 2.0 * lost, 2 * count
            total, first = np.convolve(total, total), 2 * first
            if digit == "1":
                wrong, count = wrong + own + _error(single), count + 1
                total, first = np.convolve(total, single), first + begin
            total, first, cut = trim(total, first, _BEYOND * count / (64.0 * n * most))
            lost += cut
            while total.size > cells:
                (total, first), (single, begin) = _coarsen(total, first), _coarsen(single, begin)
                step *= 2.0
                wrong, own = wrong + 4.0 * _UNIT, own + 4.0 * _UNIT
        positions = step * (first + np.arange(total.size))
        won = float(total @ np.maximum(positions, 0.0)) / n
        return won * math.exp(wrong + 2.0 * cells * _UNIT) + most * lost

    def _law(self, n: int, e: float, cells: int) -> tuple[float, float, Floats, int]:
        """Return the largest L, and a law on multiples of a step, larger in convex order than every pair's.

        The mean of (L − t)₊, as a function of t, is convex and determines the law of L; all pairs have the
        same mean. The largest over the pairs is again such a function, and so is the chain of straight lines
        through its values at the multiples: its law has as masses the changes of the slope. For a single pair
        this shares every value between its two neighbours so that the mean is kept. Values so low that n − 1
        others will not make up for them are raised to where that begins, so that the grid is not wider.
        """
        masses = np.append(self.masses, max(0.0, 1.0 - math.fsum(self.masses)))
        ratios = np.column_stack([np.array(self.ratios), np.zeros(len(self.ratios))])
        above, below = ratios.max(axis=0), ratios.min(axis=0)
        slack = 8.0 * _UNIT * (1.0 + e) * float(above.max())  # the error of floats, outward
        most, least = float((above - e * below).max()), float((below - e * above).min())
        if most <= 0.0:
            return 0.0, 1.0, np.ones(1), 0
        most += 2.0 * slack
        gains = n * float(masses[above > e * below].sum())  # values above 0 that are expected, at most
        least = max(least, -most * (gains + 10.0 * math.sqrt(gains) + 40.0))
        step = (most - least) / cells
        first = math.floor(least / step) - 2
        size = math.ceil(most / step) - first + 3
        if self.worst:
            law = _share(masses, np.maximum(ratios[:1] - e * ratios[1:2], least), slack, step, first, size)
            return most, step, law[0], first
        top = np.zeros(size)
        for row in ratios:
            law = _share(masses, np.maximum(row - e * ratios, least), slack, step, first, size)
            beyond = np.cumsum(law[:, :0:-1], axis=1)
            np.maximum(top[:-1], np.cumsum(beyond, axis=1)[:, ::-1].max(axis=0), out=top[:-1])
        top *= 1.0 + 4.0 * size * _UNIT  # the error of the sums, outward
        # Larger changes of the slope only raise the chain; the lowest masses then give way to a total of 1.
        bends = np.diff(top, 2, append=0.0)
        bends = np.maximum(bends + 8.0 * _UNIT * top[:-1], 0.0)
        reached = np.minimum(np.cumsum(bends[::-1]), 1.0)
        reached[-1] = 1.0
        return most, step, np.diff(reached, prepend=0.0)[::-1], first + 1


def _share(masses: Floats, values: Floats, slack: float, step: float, first: int, size: int) -> Floats:
    """Return laws on the multiples of a step, a row each: a value is shared by its two neighbours."""
    scaled = (values + slack) / step
    low = np.floor(scaled)
    up = np.minimum(scaled - low + 8.0 * _UNIT * (1.0 + np.abs(scaled)), 1.0)
    index = (np.arange(len(values))[:, None] * size + low.astype(np.int64) - first).reshape(-1)
    shared = np.bincount(index, (masses * (1.0 - up)).reshape(-1), len(values) * size)
    shared += np.bincount(index + 1, (masses * up).reshape(-1), len(values) * size)
    return np.asarray(shared.reshape(len(values), size))


def _error(masses: Floats) -> float:
    """Return the relative error of a convolution with these masses: a unit for each term of its sums."""
    return (float(np.count_nonzero(masses)) + 8.0) * _UNIT / 2.0


def _coarsen(masses: Floats, first: int) -> tuple[Floats, int]:
    """Return the law on every second place: what lies between two is shared by them, so the mean is kept."""
    begin = first >> 1
    padded = np.zeros(2 * ((masses.size + (first & 1)) // 2 + 2))
    padded[first & 1 : (first & 1) + masses.size] = masses
    odd = padded[1::2] / 2.0
    kept = padded[::2] + odd
    kept[1:] += odd[:-1]
    return np.trim_zeros(kept, "b"), begin


@dataclass(frozen=True)
class Nodes:
    """A law of (number of clones m, number b of those with the lowest L), on few places.

    Given m and b, the number with the highest L is binomial with m − b trials.
    """

    clones: Floats
    lowest: Floats
    weights: Floats  # a measure: the expectation is the sum of weight × conditional expectation
    chance: float  # probability of the highest L, for a clone that does not have the lowest
    shortfall: float = 0.0  # subtracted from the sum for each clone, relative to 1 − e


def upper(n: int, ratio: float, share: float = 0.5) -> Failure:
    """Return δ(ε) of n shuffled reports, rounded up, for a mechanism with this ratio and window share."""
    share = min(share, 0.5)
    gamma = 1.0 / (1.0 + (ratio - 1.0) * share)
    nodes = _two_values(n, gamma / 2.0) if share == 0.5 else _three_values(n, gamma, share)

    def failure(epsilon: float) -> float:
        e = math.exp(epsilon)
        middle = nodes.shortfall * (1.0 - e)  # L of a clone that has neither of the two values
        high, drop = ratio - e - middle, e * ratio - 1.0 + middle
        return min(1.0, _expectation(nodes, high, drop, middle * nodes.clones, TAIL_ERROR))

    return failure


@dataclass(frozen=True)
class SumOfBits:
    """The law of a sum of the bits of others: some are 1 with probability q, the others with p = 1 − q.

    With a the law of the sum, u = p − e·q and v = e·p − q, a person's bit of 1 against one of 0 has

        δ(ε) = Σ (u·a(c − 1) − v·a(c))₊ = u·a(t − 1) − (e − 1)·P(sum ≥ t)

    with t the first place where u·a(t − 1) ≥ v·a(t): sums of independent bits are log-concave.
    """

    likely: Floats  # probabilities of sums of bits that are 1 with probability p
    others: Floats
    beyond: float  # the probability of the sums that are left out
    chance: float  # q

    def failure(self, epsilon: float) -> float:
        """Return δ(ε), rounded up."""
        e, q, p = math.exp(epsilon), self.chance, 1.0 - self.chance
        u, v = p - e * q, e * p - q
        if u <= 0.0:
            return 0.0
        low, high = 0, self.likely.size + self.others.size  # beyond the last place all is 0
        while low < high:
            middle = (low + high) // 2
            before, here = self._at(middle - 1, self.others), self._at(middle, self.others)
            found = middle >= self.others.size if not before else u * before >= v * here
            low, high = (low, middle) if found else (middle + 1, high)
        tails = np.cumsum(self.others[::-1])[::-1]
        point, tail = self._at(low - 1, self.others), self._at(low, tails)
        tail += float(tails[0]) * float(self.likely[low + 1 :].sum())
        # Where neighbouring places win the same, up to the error of tails, another place may be the best.
        guard = 64.0 * TAIL_ERROR + 4.0 * (self.likely.size + self.others.size) * _UNIT
        paid = math.expm1(epsilon) * tail * (1.0 - guard)
        return max((u + 4.0 * _UNIT) * (point * (1.0 + guard) + self.beyond) - paid, 0.0)

    def _at(self, index: int, numbers: Floats) -> float:
        """Return the sum over x of likely(x)·numbers(place − x)."""
        low, high = max(0, index - numbers.size + 1), min(self.likely.size - 1, index)
        if low > high:
            return 0.0
        return float(self.likely[low : high + 1] @ numbers[index - high : index - low + 1][::-1])


def sums_of_bits(n: int, ratio: float, blocks: int) -> Iterator[SumOfBits]:
    """Yield sums of the bits of n − 1 others, one of which hides a person less than any arrangement does.

    Reports are of two kinds, and one kind is at most `ratio` times as likely for one person as for another.
    For a given event δ is linear in each person's probability of a 1. So it is largest where everybody has
    one of the two extreme probabilities, and the person too. How many of the others have the higher one is
    unknown: their number lies in one of several blocks. The bits of as many people as the block is wide are
    given to the collector, and that can only help it. The sum of the other bits has a known distribution
    (docs/crowd.md).
    """
    chance = 1.0 / (ratio + 1.0)
    cuts = {round(n * part / blocks) for part in range(blocks // 2 + 1)}
    for begin, end in pairwise(sorted(cuts | {n - cut for cut in cuts})):
        if begin > n - end:
            break  # the block was looked at together with the one that mirrors it
        (few, lost), (many, gone) = _binomial(begin, chance), _binomial(n - end, chance)
        yield SumOfBits(few[::-1], many, lost + gone, chance)
        yield SumOfBits(many[::-1], few, lost + gone, chance)


def two_reports(n: int, ratio: float, delta: float, most: float) -> float:
    """Return an ε of n shuffled reports of two kinds, rounded up."""
    epsilon = 0.0
    for bits in sums_of_bits(n, ratio, _MORE_ARRANGEMENTS if n <= _FEW_PEOPLE else _ARRANGEMENTS):
        if bits.failure(epsilon) > delta:
            epsilon = least_epsilon(bits.failure, delta, most)
    return epsilon


def two_report_failure(n: int, ratio: float) -> Failure:
    """Return δ(ε) of n shuffled reports of two kinds, rounded up, by fewer blocks."""
    sums = list(sums_of_bits(n, ratio, _FEWER_ARRANGEMENTS))
    return lambda epsilon: min(1.0, max(bits.failure(epsilon) for bits in sums))


def _binomial(n: int, chance: float) -> tuple[Floats, float]:
    """Return the probabilities of a binomial law near its mean, and the probability of the rest."""
    if not n:
        return np.ones(1), 0.0
    deviation = math.sqrt(n * chance * (1.0 - chance))
    low = max(0, math.floor(n * chance - _REACH * deviation) - 30)
    high = min(n, math.ceil(n * chance + _REACH * deviation) + 30)
    below = float(at_most(low - 1, n, chance)) if low else 0.0
    above = float(at_least(high + 1, n, chance)) if high < n else 0.0
    return probability(np.arange(low, high + 1), n, chance), below + above


def lower_pair(n: int, laws: Floats) -> Failure:
    """Return a lower bound of δ(ε) for a person with one of two laws among n − 1 others who have a third.

    `laws` are these three, a row each, of disjoint groups of reports that may not be all. The bound is the
    exact δ of this arrangement if the collector learns only which of four groups a report is in: it is
    likelier under the first law, likelier under the second, equally likely and rare among the others, and the
    rest. So no analysis of all arrangements can state less (docs/crowd.md).
    """
    own, second, others = laws
    rare = (own == second) & (others <= own)
    groups = [own > second, own < second, rare, (own == second) & ~rare]
    mine, yours, theirs = np.array([[math.fsum(law[group]) for group in groups] for law in laws])
    if min(theirs[0], theirs[1]) <= 0.0:
        return lambda _: 0.0
    spread = 2.0 * _REACH * np.sqrt(n * theirs * (1.0 - theirs)) + 60.0
    counts = np.arange(1)
    if theirs[2] > 0.0 and theirs[3] > 0.0 and min(spread[2], n) * min(spread[1], n) <= _MOST_NODES:
        counts = np.arange(max(0.0, n * theirs[2] - spread[2] / 2.0), min(n, n * theirs[2] + spread[2] / 2.0))
        counts = np.floor(counts)
    else:  # the two groups in which the laws are equal count as one
        mine, yours, theirs = (np.array([*row[:2], 0.0, row[2] + row[3]]) for row in (mine, yours, theirs))
    if theirs[2] + theirs[3] <= 0.0:
        return lambda epsilon: _two_groups(n, mine[:2], yours[:2], theirs[:2], math.exp(epsilon))
    share, parts = theirs[1] / (1.0 - theirs[2]), []
    for count, mass in zip(counts, probability(counts, n, float(theirs[2])), strict=True):
        lowest, weights = _spread(n - int(count), float(share), _MANY_NODES, outward=False)
        parts.append((np.full(lowest.size, n - count), lowest, weights * (mass / n)))
    clones, lowest, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    nodes = Nodes(clones, lowest, weights, float(theirs[0] / (theirs[0] + theirs[3])))

    def failure(epsilon: float) -> float:
        e = math.exp(epsilon)
        high, low, few, middle = (mine - e * yours) / np.where(theirs > 0.0, theirs, 1.0)
        if high <= middle or low > middle:
            return 0.0
        base = middle * nodes.clones + few * (n - nodes.clones)
        return max(0.0, _expectation(nodes, high - middle, middle - low, base, -TAIL_ERROR))

    return failure


def _two_groups(n: int, mine: Floats, yours: Floats, theirs: Floats, e: float) -> float:
    """Return E[(sum of n values)₊]/n, rounded down, where a report is in one of two groups."""
    high, low = map(float, (mine - e * yours) / theirs)
    chance, drop = float(theirs[0]), -low
    if high <= 0.0 or drop <= 0.0:
        return 0.0
    first = math.floor(n * drop / (high + drop)) + 1.0
    won = (high + drop) * chance * float(at_least(first - 1.0, n - 1, chance))
    paid = drop * float(at_least(first, n, chance))
    return max(0.0, won - paid - TAIL_ERROR * (won + paid))


def least_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε with failure(ε) ≤ δ, near the least; `most` if every smaller one fails."""

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
    return Nodes(np.full(lowest.size, float(n)), lowest, weights / n, chance / (1.0 - chance))


def _three_values(n: int, gamma: float, share: float) -> Nodes:
    """Return the law of clones and lowest values; the lower end of a block of numbers represents it.

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
    """Return points and weights of Binomial(n, chance), for a function that is decreasing and convex.

    Outward: every count is shared by the two points around it. This keeps the mean and raises the expectation
    of a convex function. Counts below the first point move to 0, counts above the last to the last.
    Inward: every count moves up to the next point. This lowers the expectation. The farthest are left out.
    """
    deviation = math.sqrt(n * chance * (1.0 - chance))
    low = max(0, math.floor(n * chance - _REACH * deviation) - 30)
    high = min(n, math.ceil(n * chance + _REACH * deviation) + 30)
    counts = np.arange(low, high + 1, dtype=np.float64)
    masses = probability(counts, n, chance)
    points = np.unique(np.append(np.arange(low, high, max(1, (high - low) // nodes)), high)).astype(
        np.float64
    )
    after = np.searchsorted(points, counts)  # the first place at or above each count
    if not outward:
        return points, _gather(after, masses, points.size)
    before = np.maximum(after - 1, 0)
    gap = np.where(after > 0, points[after] - points[before], 1.0)
    up = np.where(after > 0, (counts - points[before]) / gap, 1.0)
    weights = _gather(after, masses * up, points.size) + _gather(before, masses * (1.0 - up), points.size)
    weights[-1] += float(at_least(high + 1, n, chance))
    if low == 0:
        return points, weights
    return np.append(points, 0.0), np.append(weights, float(at_most(low - 1, n, chance)))


def _gather(indices: Integers, masses: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(indices, masses, size), dtype=np.float64)


def _expectation(nodes: Nodes, high: float, drop: float, base: Floats, guard: float) -> float:
    """Return Σ weight · E[(sum of L)₊ | m, b], with each tail changed by the relative error `guard`.

    The sum is base + high·a − drop·b with a ~ Binomial(m − b, chance) the number of highest values. It is
    positive from a = t on, and E[a; a ≥ t] = (m − b)·chance·P(Binomial(m − b − 1, chance) ≥ t − 1).
    """
    if high <= 0.0:
        return 0.0
    trials = nodes.clones - nodes.lowest
    lost = drop * nodes.lowest - base
    first = np.floor(np.maximum(lost, 0.0) / high) + 1.0
    possible = first <= trials
    trials, lost, first = trials[possible], lost[possible], first[possible]
    tail = at_least(first - 1.0, trials - 1.0, nodes.chance)
    edge = probability(first - 1.0, trials - 1.0, nodes.chance)
    won = high * trials * nodes.chance * tail
    paid = lost * (tail - (1.0 - nodes.chance) * edge)  # P(Binomial(m − b) ≥ t) by one step of the recursion
    value = won - paid + guard * (won + np.abs(paid))
    return float((nodes.weights[possible] * np.maximum(value, 0.0)).sum())
