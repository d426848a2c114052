"""Column generation: weights of known columns and prices of new ones in turn, until the gap is small."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.errors import Infeasible, MissingExtra
from dither.optimal.queries.bound import Multipliers, best_multipliers, closest_moments, lower_bound
from dither.optimal.queries.columns import Starts, climb, gains
from dither.optimal.queries.design import QueryDesign
from dither.optimal.queries.weights import Master, Moments

TARGET: Final = 0.004
PATIENCE: Final = 240.0  # seconds
_SEED: Final = 20  # public randomness of the search alone: any seed gives a valid design
_BATCH: Final = 400  # searches in a round, of either kind
_MOST_ROUNDS: Final = 200
_FEW_ROUNDS: Final = 8
_KEPT: Final = 8  # times the number of inputs: patterns that are kept when new ones come
_TRIMMED: Final = 0.8  # of the patterns are kept in one step of `trimmed`


def solve(
    gram: Floats, epsilon: float, *, target: float = TARGET, seconds: float = PATIENCE, seed: int = _SEED
) -> QueryDesign:
    """Return columns and weights whose average variance is about `target` above the bound, or after a time.

    `gram` is WᵀW for the matrix W of queries. Needs scipy, for the multipliers of the bound.
    """
    multipliers = best_multipliers(gram, math.exp(epsilon))
    search = _Search(gram, epsilon, multipliers, target, seed)
    first = search.starts.fresh(4 * len(gram))
    return search.run(first, rounds=_MOST_ROUNDS, seconds=seconds)


def weighted(patterns: Floats, gram: Floats, epsilon: float, known: Sequence[Multipliers]) -> QueryDesign:
    """Return a design that begins with given patterns, after a few rounds: fast, and needs numpy alone.

    Of the known multipliers, and halfway between them, those with the largest bound are kept; with scipy, the
    best ones.
    """
    ratio = math.exp(epsilon)
    middle = Multipliers(
        np.mean([one.inputs for one in known], axis=0), np.mean([one.pairs for one in known], axis=0)
    )
    try:
        proof = best_multipliers(gram, ratio)
    except MissingExtra:
        candidates = (Multipliers.even(len(gram)), middle, *known)
        proof = max(candidates, key=lambda one: lower_bound(gram, ratio, one))
    search = _Search(gram, epsilon, proof, 2.0 * TARGET, _SEED)
    return search.run(patterns, rounds=_FEW_ROUNDS, seconds=PATIENCE)


@final
class _Search:
    """Column generation for one workload and one ε."""

    def __init__(self, gram: Floats, epsilon: float, proof: Multipliers, target: float, seed: int) -> None:
        self.gram, self.epsilon, self.proof, self.target = gram, epsilon, proof, target
        self.ratio, self.moments = math.exp(epsilon), Moments(gram)
        self.least = lower_bound(gram, self.ratio, proof)
        size = len(gram)
        self.shift = float(gram.sum()) / size**2 - float(np.trace(gram)) / size
        values, vectors = np.linalg.eigh(closest_moments(gram, self.ratio, proof))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self.starts = Starts(root, self.ratio, np.random.default_rng(seed))

    def run(self, first: Floats, *, rounds: int, seconds: float) -> QueryDesign:
        """Return the design after some rounds, a time, or when the target is met; with as few columns."""
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
                master, weights = _extended(master, weights, fresh)
            elif slack < 1e-5:
                break
            else:  # where the bound is not tight the gap stays, and the barrier must not depend on it
                slack /= 10.0
        else:  # the patterns that came last have no weights yet
            weights, _ = master.solve(weights, 0.25 * self.target * self.least / len(weights))
        made = QueryDesign(self.epsilon, master.patterns, weights, self.proof)
        return trimmed(made, self.gram, self.target)

    def _better(self, master: Master, weights: Floats, prices: Floats) -> Floats:
        """Return new patterns that would lower the variance, the best first."""
        changed = self.starts.changed(master.patterns, weights * master.copies, _BATCH)
        tried = np.concatenate([changed, self.starts.fresh(_BATCH)])
        found = _new(self.moments.canonical(climb(prices, self.ratio, tried)), master.patterns)
        worth = gains(prices, self.ratio, found)
        order = np.argsort(-worth)[: 2 * len(self.gram)]
        return np.asarray(found[order[worth[order] > 0.0]])


def _new(patterns: Floats, known: Floats) -> Floats:
    seen = {row.tobytes() for row in known}
    return patterns[[row.tobytes() not in seen for row in patterns]]


def _extended(master: Master, weights: Floats, fresh: Floats) -> tuple[Master, Floats]:
    """Return the program with more patterns; of many old ones the lightest are left out."""
    patterns = master.patterns
    most = _KEPT * patterns.shape[1]
    if len(patterns) > most:
        kept = np.sort(np.argsort(-weights)[:most])
        patterns, weights = patterns[kept], weights[kept]
    added = np.full(len(fresh), 0.02 * weights.sum() / len(fresh))
    wider = Master(master.moments, np.concatenate([patterns, fresh]), master.ratio)
    return wider, np.concatenate([0.98 * weights, added])


def trimmed(design: QueryDesign, gram: Floats, target: float) -> QueryDesign:
    """Return the design with as few patterns as leave the gap below twice the target: a shorter text."""
    ratio, size = math.exp(design.epsilon), len(gram)
    least = lower_bound(gram, ratio, design.multipliers)
    shift = float(gram.sum()) / size**2 - float(np.trace(gram)) / size
    patterns, weights = design.patterns, design.weights
    moments = Moments(gram)
    while len(patterns) > size:
        kept = np.sort(np.argsort(-weights)[: int(_TRIMMED * len(patterns))])
        master = Master(moments, patterns[kept], ratio)
        try:
            fewer, _ = master.solve(weights[kept], 0.25 * target * least / len(kept))
            refined, _ = master.solve(fewer, 1e-6 * least / len(kept))
        except (Infeasible, np.linalg.LinAlgError):  # too few columns to tell the inputs apart
            break
        if master.value(refined) + shift > (1.0 + 2.0 * target) * least:
            break
        if float(np.abs(master.excess(refined)).max()) > 1e-9:
            break
        patterns, weights = patterns[kept], refined
    return QueryDesign(design.epsilon, patterns, weights, design.multipliers)
