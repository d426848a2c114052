"""Solving for the channel with the least variance of linear queries."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dither.errors import Infeasible, MissingExtra
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.queries.bound import (
    Multipliers,
    best_multipliers,
    closest_moments,
    lower_bound,
    matched_bound,
)
from dither.mechanisms.optimal.queries.design import QueryDesign

_FLIPS: Final = 4000  # largest number of flips; a search ends when no flip helps
_CHANGED: Final = 2.5  # average number of entries of a known pattern flipped at random before a search
_SHIFTED: Final = 3  # largest shift of a known pattern


def climb(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return for each given pattern a pattern at which no single flip raises sᵀ·prices·s."""
    found = patterns.copy()
    step = ratio - 1.0
    own = np.diag(prices) * step**2
    slope = (1.0 + step * found) @ prices
    rows = np.arange(len(found))
    for _ in range(_FLIPS):
        sign = 1.0 - 2.0 * found
        gain = 2.0 * step * sign * slope + own
        index = gain.argmax(axis=1)
        best = gain[rows, index]
        moving = np.flatnonzero(best > 1e-12 * np.abs(best).max())
        if not moving.size:
            break
        where, by = index[moving], sign[moving, index[moving]]
        found[moving, where] += by
        slope[moving] += step * by[:, None] * prices[where]
    return found


def gains(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return sᵀ·prices·s/(π·s) of each pattern. A pattern with a positive value would lower the variance."""
    columns = 1.0 + (ratio - 1.0) * patterns
    return np.asarray((columns @ prices * columns).sum(axis=1) / columns.mean(axis=1))


@dataclass(frozen=True, eq=False)
class Starts:
    """Patterns from which searches begin: thresholds of Gaussian vectors, and changed known patterns."""

    root: Floats  # a square root of the covariance of the Gaussian vectors
    ratio: float
    rng: np.random.Generator

    def fresh(self, count: int) -> Floats:
        """Return patterns with ones where a Gaussian vector is largest: about one entry in E + 1."""
        size = len(self.root)
        heights = self.rng.standard_normal((count, size)) @ self.root.T
        share = np.clip(self.rng.uniform(0.4, 1.6, count) / (self.ratio + 1.0), 1.0 / size, 0.6)
        index = np.minimum((1.0 - share) * size, size - 1).astype(np.int64)
        level = np.sort(heights, axis=1)[np.arange(count), index]
        return (heights >= level[:, None]).astype(np.float64)

    def change(self, patterns: Floats, weights: Floats, count: int) -> Floats:
        """Return patterns drawn by weight, some with random flips and some shifted."""
        size, chance = patterns.shape[1], weights / weights.sum()
        flipped = patterns[self.rng.choice(len(patterns), count, p=chance)]
        flipped = np.abs(flipped - (self.rng.random(flipped.shape) < _CHANGED / size))
        shifted = patterns[self.rng.choice(len(patterns), count // 2, p=chance)]
        by = self.rng.integers(-_SHIFTED, _SHIFTED + 1, len(shifted))
        return np.concatenate(
            [flipped, [np.roll(row, int(far)) for row, far in zip(shifted, by, strict=True)]]
        )


_NEWTON: Final = 50
_NEAR: Final = 0.95  # longest step, relative to the way to the nearest zero weight
_SETTLED: Final = 1e-2  # root mean square of a relative step at which Newton's method stops


@dataclass(frozen=True, eq=False)
class Moments:
    """The queries of a workload, seen from the columns of a channel: G across 1, and its symmetry."""

    gram: Floats

    @cached_property
    def centred(self) -> Floats:
        """PGP: the part of G that matters, because shares sum to 1."""
        size = len(self.gram)
        centre = np.eye(size) - 1.0 / size
        return np.asarray(centre @ self.gram @ centre)

    @cached_property
    def mirrored(self) -> bool:
        """Whether the queries are unchanged if the order of the inputs is reversed."""
        turned = self.centred[::-1, ::-1]
        return bool(np.allclose(turned, self.centred, rtol=0.0, atol=1e-9 * np.abs(self.centred).max()))

    @cached_property
    def bases(self) -> list[Floats]:
        """Orthonormal bases of the blocks of K: even and odd vectors, or all of them."""
        identity = np.eye(len(self.gram))
        if not self.mirrored:
            return [identity]
        half, turned = (len(identity) + 1) // 2, identity[:, ::-1]
        even, odd = (identity + turned)[:, :half], (identity - turned)[:, : len(identity) // 2]
        return [even / np.linalg.norm(even, axis=0), odd / np.linalg.norm(odd, axis=0)]

    def canonical(self, patterns: Floats) -> Floats:
        """Return distinct patterns, with only one of a pattern and its mirror image."""
        if self.mirrored and len(patterns):
            gap = patterns - patterns[:, ::-1]
            first = gap[np.arange(len(gap)), (gap != 0.0).argmax(axis=1)]
            patterns = np.where((first <= 0.0)[:, None], patterns, patterns[:, ::-1])
        return np.unique(patterns, axis=0)

    def copies(self, patterns: Floats) -> Floats:
        """Return the number of columns of each pattern: 2 if its mirror image differs."""
        if not self.mirrored:
            return np.ones(len(patterns))
        return np.where((patterns == patterns[:, ::-1]).all(axis=1), 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Master:
    """The program for the weights of given patterns (rows of 0 and 1) at E = ratio."""

    moments: Moments
    patterns: Floats
    ratio: float

    @cached_property
    def copies(self) -> Floats:
        """The number of columns of each pattern."""
        return self.moments.copies(self.patterns)

    @cached_property
    def columns(self) -> Floats:
        """The columns, one for each pattern: 1 or E."""
        return (1.0 + (self.ratio - 1.0) * self.patterns).T

    @cached_property
    def _parts(self) -> list[Floats]:
        scaled = self.columns / np.sqrt(self.columns.mean(axis=0))
        return [basis.T @ scaled for basis in self.moments.bases]

    @cached_property
    def _grams(self) -> list[Floats]:
        return [basis.T @ self.moments.centred @ basis for basis in self.moments.bases]

    @cached_property
    def _constraint(self) -> tuple[Floats, Floats]:
        basis = self.moments.bases[0]
        return basis.T @ self.columns * self.copies, basis.sum(axis=0)

    def start(self) -> Floats:
        """Return equal weights whose columns sum to 1 on average."""
        left, right = self._constraint
        return np.full(len(self.patterns), right.sum() / left.sum())

    def value(self, weights: Floats) -> float:
        """Return tr(PGP·K⁻¹)."""
        moments = (part * (weights * self.copies) @ part.T for part in self._parts)
        return float(
            sum(
                np.trace(np.linalg.solve(matrix, gram))
                for matrix, gram in zip(moments, self._grams, strict=True)
            )
        )

    def excess(self, weights: Floats) -> Floats:
        """Return Σ c·s − 1 for every input."""
        complete = self.columns @ weights
        both = self.columns[::-1] @ weights if self.moments.mirrored else complete
        single = self.copies == 1.0
        once = self.columns[:, single] @ weights[single] if self.moments.mirrored else complete
        return np.asarray((complete + both - once if self.moments.mirrored else complete) - 1.0)

    def solve(self, weights: Floats, barrier: float) -> tuple[Floats, Floats]:
        """Return the weights for a barrier's strength, and Z − sym(πνᵀ), the prices of columns.

        Newton's method with an infeasible start: after a full step Σ c·s = 1 holds. Steps are relative to the
        weights, so that the barrier's part of the Hessian is the identity.
        """
        left, right = self._constraint
        size = weights.size
        multiplier: Floats = np.zeros(len(right))
        inner: list[Floats] = []
        for _ in range(_NEWTON):
            hessian, slope = np.zeros((size, size)), np.zeros(size)
            inner = []
            for part, gram in zip(self._parts, self._grams, strict=True):
                inverse = np.linalg.inv(part * (weights * self.copies) @ part.T)
                price = inverse @ gram @ inverse
                price = (price + price.T) / 2.0
                inner.append(price)
                moved = part.T @ price @ part
                slope -= self.copies * np.diag(moved)
                moved *= part.T @ inverse @ part
                hessian += moved
            scale = weights * self.copies
            hessian *= 2.0 * scale[:, None] * scale[None, :]
            hessian[np.diag_indices(size)] += barrier
            try:
                triangle: Floats = np.asarray(np.linalg.cholesky(hessian), dtype=np.float64)
            except np.linalg.LinAlgError:
                raise Infeasible(
                    "expected a channel for these queries at this ε, but the search found none; try a "
                    "smaller ε"
                ) from None
            solved = _forward(triangle, np.column_stack([(left * weights).T, weights * slope - barrier]))
            rows, lean = solved[:, :-1], solved[:, -1]
            short = left @ weights - right
            multiplier = np.asarray(np.linalg.solve(rows.T @ rows, short - rows.T @ lean), np.float64)
            step = -_forward(triangle[::-1, ::-1].T, (lean + rows @ multiplier)[::-1])[::-1]
            length = min(1.0, _NEAR / max(1e-12, float((-step).max())))
            weights = weights * (1.0 + length * step)
            if length == 1.0 and math.sqrt(float((step**2).mean())) < _SETTLED:
                break
        price = np.zeros_like(self.moments.gram)
        for basis, block in zip(self.moments.bases, inner, strict=True):
            price += basis @ block @ basis.T
        full = self.moments.bases[0] @ multiplier / len(price)
        return weights, price - (full[:, None] + full[None, :]) / 2.0


def _forward(triangle: Floats, right: Floats) -> Floats:
    """Solve a lower triangular system, in blocks that numpy multiplies fast."""
    out = np.array(right, dtype=np.float64)
    block = 64
    for begin in range(0, len(triangle), block):
        end = min(begin + block, len(triangle))
        if begin:
            out[begin:end] -= triangle[begin:end, :begin] @ out[:begin]
        out[begin:end] = np.linalg.solve(triangle[begin:end, begin:end], out[begin:end])
    return out


TARGET: Final = 0.004
_STEADY: Final = 1e-5  # weight of every difference of inputs, relative to their average
PATIENCE: Final = 240.0  # seconds
_SEED: Final = 20  # public randomness of the search: any seed gives a valid design
_BATCH: Final = 400  # number of searches of each kind in a round
_MOST_ROUNDS: Final = 200
_FEW_ROUNDS: Final = 8
_KEPT: Final = 8  # old patterns kept when new ones are added, per input
_TRIMMED: Final = 0.8  # share of the patterns that one step of `trimmed` keeps


def solve(
    gram: Floats, epsilon: float, *, target: float = TARGET, seconds: float = PATIENCE, seed: int = _SEED
) -> QueryDesign:
    """Return columns and weights with an average variance about `target` above the bound, or after a time.

    `gram` is WᵀW for the matrix W of queries. Needs scipy, for the multipliers of the bound.
    """
    gram = steady(gram)
    multipliers = best_multipliers(gram, math.exp(epsilon))
    search = _Search(gram, epsilon, multipliers, target, seed)
    first = search.starts.fresh(4 * len(gram))
    return search.run(first, rounds=_MOST_ROUNDS, seconds=seconds)


def steady(gram: Floats) -> Floats:
    """Return WᵀW with a small weight on every difference of inputs, if the queries omit some of them.

    The channel with the least variance for few queries does not distinguish all inputs: the program has no
    interior solution there, and its matrices are singular. The weight increases the variance by about its
    share.
    """
    size = len(gram)
    centred = Moments(gram).centred
    mean = float(np.trace(centred)) / size
    least = float(np.linalg.eigvalsh(centred)[1]) if size > 1 else 0.0
    if least >= _STEADY * mean:
        return gram
    return np.asarray(gram + _STEADY * mean * (np.eye(size) - 1.0 / size))


def quick_design(patterns: Floats, gram: Floats, epsilon: float, known: Sequence[Multipliers]) -> QueryDesign:
    """Return a design from given patterns after a few rounds; this is fast and needs only numpy.

    Of the known multipliers and the points halfway between them, those with the largest bound are kept. With
    scipy, the best multipliers are computed.
    """
    ratio, gram = math.exp(epsilon), steady(gram)
    middle = Multipliers(
        np.mean([multipliers.inputs for multipliers in known], axis=0),
        np.mean([multipliers.pairs for multipliers in known], axis=0),
    )
    candidates = [Multipliers.even(len(gram)), middle, *known]
    with suppress(MissingExtra):
        candidates.append(best_multipliers(gram, ratio))
    proof = max(candidates, key=lambda multipliers: lower_bound(gram, ratio, multipliers))
    search = _Search(gram, epsilon, proof, 2.0 * TARGET, _SEED)
    return search.run(patterns, rounds=_FEW_ROUNDS, seconds=PATIENCE)


class _Search:
    """Column generation for one workload and one ε."""

    def __init__(self, gram: Floats, epsilon: float, proof: Multipliers, target: float, seed: int) -> None:
        self.gram, self.epsilon, self.proof, self.target = gram, epsilon, proof, target
        self.ratio, self.moments = math.exp(epsilon), Moments(gram)
        self.least = max(lower_bound(gram, self.ratio, proof), matched_bound(gram, self.ratio))
        size = len(gram)
        self.shift = float(gram.sum()) / size**2 - float(np.trace(gram)) / size
        values, vectors = np.linalg.eigh(closest_moments(gram, self.ratio, proof))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self.starts = Starts(root, self.ratio, np.random.default_rng(seed))

    def run(self, first: Floats, *, rounds: int, seconds: float) -> QueryDesign:
        """Return the design with few columns after some rounds, a time, or when the target is met."""
        size, end = len(self.gram), time.monotonic() + seconds
        start = np.concatenate([first, np.zeros((1, size)), np.eye(size)])
        master = Master(self.moments, self.moments.canonical(start), self.ratio)
        weights, level, slack = master.start(), 3.0 * self.least, 0.1
        for _ in range(rounds):
            floor = (0.25 * self.target if slack == 0.1 else 1e-6) * self.least
            barrier = max(slack * (level - self.least), floor) / len(weights)
            weights, prices = master.solve(weights, barrier)
            level = master.value(weights) + self.shift
            if level <= (1.0 + self.target) * self.least or time.monotonic() > end:
                break
            fresh = self._better(master, weights, prices)
            if len(fresh):
                master, weights = _extend(master, weights, fresh)
            elif slack < 1e-5:
                break
            else:  # with a loose bound the gap does not shrink, and the barrier must not depend on it
                slack /= 10.0
        else:  # the patterns added last do not have weights yet
            weights, _ = master.solve(weights, 0.25 * self.target * self.least / len(weights))
        made = QueryDesign(self.epsilon, master.patterns, weights, self.proof)
        return trim(made, self.gram, self.target)

    def _better(self, master: Master, weights: Floats, prices: Floats) -> Floats:
        """Return new patterns that would lower the variance, in order of their gain."""
        changed = self.starts.change(master.patterns, weights * master.copies, _BATCH)
        tried = np.concatenate([changed, self.starts.fresh(_BATCH)])
        found = _new(self.moments.canonical(climb(prices, self.ratio, tried)), master.patterns)
        worth = gains(prices, self.ratio, found)
        order = np.argsort(-worth)[: 2 * len(self.gram)]
        return np.asarray(found[order[worth[order] > 0.0]])


def _new(patterns: Floats, known: Floats) -> Floats:
    seen = {row.tobytes() for row in known}
    return patterns[[row.tobytes() not in seen for row in patterns]]


def _extend(master: Master, weights: Floats, fresh: Floats) -> tuple[Master, Floats]:
    """Return the program with more patterns, without the lightest old patterns if there are many."""
    patterns = master.patterns
    most = _KEPT * patterns.shape[1]
    if len(patterns) > most:
        kept = np.sort(np.argsort(-weights)[:most])
        patterns, weights = patterns[kept], weights[kept]
    added = np.full(len(fresh), 0.02 * weights.sum() / len(fresh))
    wider = Master(master.moments, np.concatenate([patterns, fresh]), master.ratio)
    return wider, np.concatenate([0.98 * weights, added])


def trim(design: QueryDesign, gram: Floats, target: float, *, relative: bool = False) -> QueryDesign:
    """Return the design with the fewest patterns whose gap is below twice the target, for a shorter text.

    With `relative` the gap is relative to the variance of the design itself, because its bound may not be
    tight.
    """
    ratio, size = math.exp(design.epsilon), len(gram)
    least = max(lower_bound(gram, ratio, design.multipliers), matched_bound(gram, ratio))
    shift = float(gram.sum()) / size**2 - float(np.trace(gram)) / size
    patterns, weights = design.patterns, design.weights
    moments = Moments(gram)
    reached = Master(moments, patterns, ratio).value(weights) + shift
    if relative and reached > (1.0 + 2.0 * target) * least:
        least = reached
    while len(patterns) > size:
        kept = np.sort(np.argsort(-weights)[: int(_TRIMMED * len(patterns))])
        master = Master(moments, patterns[kept], ratio)
        try:
            fewer, _ = master.solve(weights[kept], 0.25 * target * least / len(kept))
            refined, _ = master.solve(fewer, 1e-6 * least / len(kept))
        except (Infeasible, np.linalg.LinAlgError):  # too few columns to distinguish the inputs
            break
        if master.value(refined) + shift > (1.0 + 2.0 * target) * least:
            break
        if float(np.abs(master.excess(refined)).max()) > 1e-9:
            break
        patterns, weights = patterns[kept], refined
    return QueryDesign(design.epsilon, patterns, weights, design.multipliers)
