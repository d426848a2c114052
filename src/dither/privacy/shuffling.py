"""Privacy amplification by shuffling: the central δ(ε) of n reports in random order, from above and below.

The *blanket* w of a pure mechanism is the smallest probability of each report over all inputs. Other people's
reports that are drawn from the blanket hide a person's own report [Balle19]. With E = e^ε₀ the ratio of the
mechanism, γ the mass of the blanket and e = e^ε,

    δ(ε) = E[(L₁ + … + Lₙ)₊] / n,    L = (P₀ − e·P₁)/w with probability γ, else 0,

and any distribution of L that is larger in convex order gives an upper bound. A kernel whose integers are
known has a `Blanket`, and the distribution of its L is convolved on a grid. For every other mechanism of the
same ratio, randomized response has the largest distribution: L is E − e or 1 − e·E with probability 1/(E + 1)
each, and 0 otherwise. docs/crowd.md contains the proofs.
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

_REACH: Final = 10.0  # standard deviations of a count that are summed; the probability beyond is added to δ
_NODES: Final = 400  # counts of the lowest value at which the sum is evaluated
_MANY_NODES: Final = 4000  # the same for a lower bound; fewer nodes would weaken it
_FEWER_NODES: Final = 150  # the same if the number of clones varies as well
_FINE: Final = 2e-4  # relative width of a block of numbers of clones
_BLOCKS: Final = 100  # the most blocks of numbers of clones
_CLOSE: Final = 1e-4  # tolerance of ln δ in a search for ε

_MOST_NODES: Final = 50_000  # the most pairs of counts evaluated for a lower bound
_ARRANGEMENTS: Final = 50  # blocks of the number of people with the same extreme probability
_MORE_ARRANGEMENTS: Final = 200  # the same for up to _FEW_PEOPLE people: their blocks take little time
_FEW_PEOPLE: Final = 10**5
_FEWER_ARRANGEMENTS: Final = 12  # the same for a curve, because it has many points

CELLS: Final = 4096  # cells of the grid that holds a sum of L
FEWER_CELLS: Final = 1024  # the same for a composed curve, because it has many points
_UNIT: Final = 2.0**-52  # twice the error of one operation
_BEYOND: Final = 1e-19  # largest contribution to δ of the tails that are cut off a sum
_MOST_PAIRS: Final = 1 << 24  # the largest product of pairs of rows and numbers per pair


@dataclass(frozen=True)
class Blanket:
    """A measure w below the distribution of a report under every input, and the distributions relative to w.

    `masses` are the masses of w, by report or by group of reports. A row of `ratios` is P/w for an input or a
    kind of inputs. For any two inputs, (P₀ − e·P₁)/w is distributed as for two rows, or for a mixture of
    pairs of rows, or is smaller in convex order. `worst` is True if the first two rows are the worst pair, in
    either order; `reached` is True if these are the distributions of two inputs.
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
        """The share of each of two disjoint sets of reports; 1 if the sets overlap or are not known."""
        if not self.worst or len(self.masses) != 4 or self.masses[0]:
            return 1.0
        return (1.0 / math.fsum(self.masses) - 1.0) / (self.ratio - 1.0) * (1.0 + 64.0 * _UNIT)

    @staticmethod
    def of_sets(ratio: Fraction, share: Fraction, both: Fraction | None = None) -> Blanket:
        """Return the blanket if each input makes the reports in its own set `ratio` times as likely.

        `share` is the share of the set among all reports, `both` the share of the reports in the sets of two
        inputs. If `both` is None (unknown, or different between pairs), the least possible value is used: it
        is the worst case (docs/crowd.md).
        """
        meet = max(Fraction(0), 2 * share - 1) if both is None else both
        mass = 1 / (1 + (ratio - 1) * share)
        high = float(ratio)
        parts = (meet, share - meet, share - meet, 1 - 2 * share + meet)
        rows = ((high, high, 1.0, 1.0), (high, 1.0, high, 1.0))
        return Blanket(tuple(float(mass * part) for part in parts), rows, True, both is not None)

    @staticmethod
    def of_laws(laws: Floats, ratio: Fraction) -> Blanket:
        """Return the blanket of distributions, one a row; many rows are reduced to their common mass."""
        least = laws.min(axis=0)
        if len(laws) ** 2 * (CELLS + least.size) > _MOST_PAIRS:
            shared = Fraction(float(least.sum()) * (1.0 - 2.0 * least.size * _UNIT))
            return Blanket.of_sets(ratio, (1 / shared - 1) / (ratio - 1))
        return Blanket(tuple(least.tolist()), tuple(map(tuple, (laws / least).tolist())))

    @staticmethod
    def of_parts(parts: Sequence[tuple[Fraction, Blanket | None]]) -> Blanket | None:
        """Return the blanket of reports of several kinds, each with a probability. Reports reveal their kind.

        Return None if a kind has no blanket, or its blanket has no worst pair. Given the kind, its worst pair
        is the worst.
        """
        known = [(float(chance), part) for chance, part in parts if part is not None and part.worst]
        if len(known) < len(parts):
            return None
        masses = tuple(chance * mass for chance, part in known for mass in part.masses)
        first, second = (tuple(ratio for _, part in known for ratio in part.ratios[row]) for row in (0, 1))
        return Blanket(masses, (first, second), worst=True)

    def join(self, other: Blanket) -> Blanket | None:
        """Return the blanket of two reports of one person, sent as one; None if it would have too many rows.

        If both have a worst pair, the pair that differs in both reports is the worst (docs/crowd.md).
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

        The distribution of a sum of n values is computed by doubling, with one more value for each binary
        digit 1 of n. All masses are positive and are added directly, so the error stays relative and doubles
        with each doubling.
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
        """Return the largest L, the step of a grid, a distribution on the grid, and its first index.

        The distribution is larger in convex order than the distribution of L for every pair.

        The mean of (L − t)₊, as a function of t, is convex and determines the distribution of L. All pairs
        have the same mean of L. The maximum over the pairs is again such a function. So is its linear
        interpolation at the grid points, and the changes of slope are the masses of the result. For a single
        pair this divides every value between its two neighbours on the grid and keeps the mean. The lowest
        values, which n − 1 others cannot compensate, are raised to a common bound to keep the grid narrow.
        """
        masses = np.append(self.masses, max(0.0, 1.0 - math.fsum(self.masses)))
        ratios = np.column_stack([np.array(self.ratios), np.zeros(len(self.ratios))])
        above, below = ratios.max(axis=0), ratios.min(axis=0)
        slack = 8.0 * _UNIT * (1.0 + e) * float(above.max())  # rounding error, added outward
        most, least = float((above - e * below).max()), float((below - e * above).min())
        if most <= 0.0:
            return 0.0, 1.0, np.ones(1), 0
        most += 2.0 * slack
        gains = n * float(masses[above > e * below].sum())  # at least the expected number of values above 0
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
        top *= 1.0 + 4.0 * size * _UNIT  # rounding error of the sums, added outward
        # Larger changes of slope only raise the interpolation. The lowest masses are cut to a total of 1.
        bends = np.diff(top, 2, append=0.0)
        bends = np.maximum(bends + 8.0 * _UNIT * top[:-1], 0.0)
        reached = np.minimum(np.cumsum(bends[::-1]), 1.0)
        reached[-1] = 1.0
        return most, step, np.diff(reached, prepend=0.0)[::-1], first + 1


def _share(masses: Floats, values: Floats, slack: float, step: float, first: int, size: int) -> Floats:
    """Return distributions on a grid, one a row: the two neighbours of a value divide its mass."""
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
    """Return the distribution on the even grid points: an odd point gives half its mass to each neighbour."""
    begin = first >> 1
    padded = np.zeros(2 * ((masses.size + (first & 1)) // 2 + 2))
    padded[first & 1 : (first & 1) + masses.size] = masses
    odd = padded[1::2] / 2.0
    kept = padded[::2] + odd
    kept[1:] += odd[:-1]
    return np.trim_zeros(kept, "b"), begin


@dataclass(frozen=True)
class Nodes:
    """A discrete distribution of (m, b): m clones, of which b have the lowest L.

    Given m and b, the number of clones with the highest L is binomial with m − b trials.
    """

    clones: Floats
    lowest: Floats
    weights: Floats  # a measure: the expectation is the sum of weight × conditional expectation
    chance: float  # probability of the highest L for a clone without the lowest L
    shortfall: float = 0.0  # subtracted from the sum for each clone, relative to 1 − e


def upper(n: int, ratio: float, share: float = 0.5) -> Failure:
    """Return δ(ε) of n shuffled reports, rounded up, for a mechanism with this ratio and window share."""
    share = min(share, 0.5)
    gamma = 1.0 / (1.0 + (ratio - 1.0) * share)
    nodes = _two_values(n, gamma / 2.0) if share == 0.5 else _three_values(n, gamma, share)

    def failure(epsilon: float) -> float:
        e = math.exp(epsilon)
        middle = nodes.shortfall * (1.0 - e)  # L of a clone with neither the highest nor the lowest value
        high, drop = ratio - e - middle, e * ratio - 1.0 + middle
        return min(1.0, _expectation(nodes, high, drop, middle * nodes.clones, TAIL_ERROR))

    return failure


@dataclass(frozen=True)
class SumOfBits:
    """The distribution of a sum of other people's bits: some are 1 with probability q, others with p = 1 − q.

    Let a be the distribution of the sum, u = p − e·q and v = e·p − q. Then for a person's bit 1 against 0

        δ(ε) = Σ (u·a(c − 1) − v·a(c))₊ = u·a(t − 1) − (e − 1)·P(sum ≥ t)

    with t the first integer where u·a(t − 1) ≥ v·a(t), because sums of independent bits are log-concave.
    """

    likely: Floats  # probabilities of sums of bits that are 1 with probability p
    others: Floats
    beyond: float  # the probability of the omitted sums
    chance: float  # q

    def failure(self, epsilon: float) -> float:
        """Return δ(ε), rounded up."""
        e, q, p = math.exp(epsilon), self.chance, 1.0 - self.chance
        u, v = p - e * q, e * p - q
        if u <= 0.0:
            return 0.0
        low, high = 0, self.likely.size + self.others.size  # probabilities beyond the last index are 0
        while low < high:
            middle = (low + high) // 2
            before, here = self._at(middle - 1, self.others), self._at(middle, self.others)
            found = middle >= self.others.size if not before else u * before >= v * here
            low, high = (low, middle) if found else (middle + 1, high)
        tails = np.cumsum(self.others[::-1])[::-1]
        point, tail = self._at(low - 1, self.others), self._at(low, tails)
        tail += float(tails[0]) * float(self.likely[low + 1 :].sum())
        # If neighbouring values of t differ by less than the error of tails, the best t may be another one.
        guard = 64.0 * TAIL_ERROR + 4.0 * (self.likely.size + self.others.size) * _UNIT
        paid = math.expm1(epsilon) * tail * (1.0 - guard)
        return max((u + 4.0 * _UNIT) * (point * (1.0 + guard) + self.beyond) - paid, 0.0)

    def _at(self, index: int, numbers: Floats) -> float:
        """Return the sum over x of likely(x)·numbers(index − x)."""
        low, high = max(0, index - numbers.size + 1), min(self.likely.size - 1, index)
        if low > high:
            return 0.0
        return float(self.likely[low : high + 1] @ numbers[index - high : index - low + 1][::-1])


def sums_of_bits(n: int, ratio: float, blocks: int) -> Iterator[SumOfBits]:
    """Yield sums of the bits of n − 1 others; for any arrangement, one of them hides a person no better.

    Reports are of two kinds, and one kind is at most `ratio` times as likely for one person as for another.
    For a given event δ is linear in each person's probability of a 1. So it is largest if everybody has one
    of the two extreme probabilities. The number of others with the higher probability is unknown: it lies in
    one of several blocks. The bits of as many people as the block is wide are revealed to the collector,
    which can only weaken the privacy. The sum of the other bits has a known distribution (docs/crowd.md).
    """
    chance = 1.0 / (ratio + 1.0)
    cuts = {round(n * part / blocks) for part in range(blocks // 2 + 1)}
    for begin, end in pairwise(sorted(cuts | {n - cut for cut in cuts})):
        if begin > n - end:
            break  # this block was already covered by its mirror image
        (few, lost), (many, gone) = _binomial(begin, chance), _binomial(n - end, chance)
        yield SumOfBits(few[::-1], many, lost + gone, chance)
        yield SumOfBits(many[::-1], few, lost + gone, chance)


def two_reports(n: int, ratio: float, delta: float, most: float) -> float:
    """Return ε for δ and n shuffled reports of two kinds, rounded up."""
    epsilon = 0.0
    for bits in sums_of_bits(n, ratio, _MORE_ARRANGEMENTS if n <= _FEW_PEOPLE else _ARRANGEMENTS):
        if bits.failure(epsilon) > delta:
            epsilon = least_epsilon(bits.failure, delta, most)
    return epsilon


def two_report_failure(n: int, ratio: float) -> Failure:
    """Return δ(ε) of n shuffled reports of two kinds, rounded up; it uses fewer blocks than `two_reports`."""
    sums = list(sums_of_bits(n, ratio, _FEWER_ARRANGEMENTS))
    return lambda epsilon: min(1.0, max(bits.failure(epsilon) for bits in sums))


def _binomial(n: int, chance: float) -> tuple[Floats, float]:
    """Return the probabilities of a binomial distribution near its mean, and the probability of the rest."""
    if not n:
        return np.ones(1), 0.0
    deviation = math.sqrt(n * chance * (1.0 - chance))
    low = max(0, math.floor(n * chance - _REACH * deviation) - 30)
    high = min(n, math.ceil(n * chance + _REACH * deviation) + 30)
    below = float(at_most(low - 1, n, chance)) if low else 0.0
    above = float(at_least(high + 1, n, chance)) if high < n else 0.0
    return probability(np.arange(low, high + 1), n, chance), below + above


def lower_pair(n: int, laws: Floats) -> Failure:
    """Return a lower bound of δ(ε) for a person with one of two distributions among others with a third.

    The rows of `laws` are these three distributions, over disjoint groups of reports that need not be all
    reports. The bound is the exact δ of this arrangement if the collector learns only which of four groups a
    report is in: likelier under the first distribution, likelier under the second, equally likely and rare
    among the others, and the rest. No valid analysis of all arrangements can state a smaller δ
    (docs/crowd.md).
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
    else:  # merge the two groups in which the distributions are equal
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
    """Return E[(sum of n values)₊]/n, rounded down, if every report is in one of two groups."""
    high, low = map(float, (mine - e * yours) / theirs)
    chance, drop = float(theirs[0]), -low
    if high <= 0.0 or drop <= 0.0:
        return 0.0
    first = math.floor(n * drop / (high + drop)) + 1.0
    won = (high + drop) * chance * float(at_least(first - 1.0, n - 1, chance))
    paid = drop * float(at_least(first, n, chance))
    return max(0.0, won - paid - TAIL_ERROR * (won + paid))


def least_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε near the smallest with failure(ε) ≤ δ; return `most` if no smaller ε is found."""

    def excess(log_epsilon: float) -> float:
        return math.log(max(failure(math.exp(log_epsilon)), 1e-300)) - math.log(delta)

    top = math.log(most)
    found = decreasing_root(excess, top - 50.0, top, close=_CLOSE, start=top - 1.0)
    return most if found is None else min(most, math.exp(found))


def proven_epsilon(failure: Failure, delta: float, most: float) -> float:
    """Return an ε near the largest with failure(ε) ≥ δ; a lower bound `failure` of δ(ε) gives one of ε."""
    found = least_epsilon(failure, delta * math.exp(_CLOSE), most)
    return 0.0 if found == most else found


def _two_values(n: int, chance: float) -> Nodes:
    """Return the distribution of the count of the lowest value if each clone has one of two values."""
    lowest, weights = _spread(n, chance, _NODES)
    return Nodes(np.full(lowest.size, float(n)), lowest, weights / n, chance / (1.0 - chance))


def _three_values(n: int, gamma: float, share: float) -> Nodes:
    """Return the distribution of clones and lowest values; each block of clone numbers is at its lower end.

    A person hides better among more clones, so the lower end of a block gives an upper bound of its δ. The
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
    # The tail on the block's side of the mean gives its mass, so that small masses keep their digits.
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

    Outward: the mass of every count is divided between the two points around it. This keeps the mean and
    raises the expectation of a convex function. Counts below the first point move to 0, counts above the last
    point to the last. Inward: every count moves up to the next point, which lowers the expectation, and the
    farthest counts are omitted.
    """
    deviation = math.sqrt(n * chance * (1.0 - chance))
    low = max(0, math.floor(n * chance - _REACH * deviation) - 30)
    high = min(n, math.ceil(n * chance + _REACH * deviation) + 30)
    counts = np.arange(low, high + 1, dtype=np.float64)
    masses = probability(counts, n, chance)
    points = np.unique(np.append(np.arange(low, high, max(1, (high - low) // nodes)), high)).astype(
        np.float64
    )
    after = np.searchsorted(points, counts)  # index of the first point at or above each count
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

    The sum is base + high·a − drop·b where a ~ Binomial(m − b, chance) is the number of highest values. It is
    positive for a ≥ t, and E[a; a ≥ t] = (m − b)·chance·P(Binomial(m − b − 1, chance) ≥ t − 1).
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
    paid = lost * (tail - (1.0 - nodes.chance) * edge)  # a step of the recursion gives P(Binomial(m − b) ≥ t)
    value = won - paid + guard * (won + np.abs(paid))
    return float((nodes.weights[possible] * np.maximum(value, 0.0)).sum())
