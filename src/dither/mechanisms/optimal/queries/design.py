"""Designs for linear queries: columns of a channel, in integers, and the store of solved ones.

A lower bound on the average variance of every ε-LDP channel for linear queries: see docs/theory.md.

For weights λ > 0 and pairs Y ≥ 0 (symmetric, zero diagonal), with E = e^ε,

    b = (1 + E)/2·λ − Y1,   γ = E·Σλ − 1ᵀY1,   N = diag λ − Y − bbᵀ/γ

every permissible column u has uᵀNu ≤ 0. If N is positive semidefinite across 1 and −1ᵀN1 > 0, then

    average variance ≥ [tr (W PNP Wᵀ)^½]²/(−1ᵀN1) + 1ᵀG1/k² − tr(G)/k
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, Self

import numpy as np

from dither.core.kernels.channel import Channel
from dither.errors import DitherError, Infeasible, InvalidParameter, MissingExtra
from dither.foundation.arrays import Floats
from dither.privacy.exact import exp_below

_BARRIERS: Final = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # weights of the log-determinant that keeps PNP positive
_STEPS: Final = 400
_FORBIDDEN: Final = 1e6  # the objective outside of the feasible set
_SLACK: Final = 1e-9  # by which the smallest eigenvalue must be above 0, relative to the largest


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The dual variables of the bound: one for each input, and one for each pair of inputs."""

    inputs: Floats  # λ, of length k
    pairs: Floats  # Y, k × k

    @classmethod
    def even(cls, size: int) -> Self:
        """Return λ = 1 and Y = 0, with which the bound holds for every workload."""
        return cls(np.ones(size), np.zeros((size, size)))

    def matrix(self, ratio: float) -> Floats | None:
        """Return N for E = ratio; None if γ is not positive."""
        beside = self.pairs.sum(axis=1)
        b = (1.0 + ratio) / 2.0 * self.inputs - beside
        gamma = ratio * self.inputs.sum() - beside.sum()
        if not gamma > 0.0:
            return None
        return np.asarray(np.diag(self.inputs) - self.pairs - np.outer(b, b) / gamma)


def lower_bound(gram: Floats, ratio: float, given: Multipliers) -> float:
    """Return the bound that these multipliers prove; −∞ if they prove none, in float arithmetic.

    `gram` is WᵀW. The eigenvalues must be positive by a margin that floating-point errors do not reach.
    """
    size = len(gram)
    if given.inputs.min() <= 0.0 or given.pairs.min() < 0.0:
        return -math.inf
    matrix = given.matrix(ratio)
    if matrix is None or not -matrix.sum() > 0.0:
        return -math.inf
    across = differences(size)
    inner = across.T @ matrix @ across
    eigenvalues = np.linalg.eigvalsh(inner)
    if not eigenvalues[0] > _SLACK * eigenvalues[-1]:
        return -math.inf
    factor = _factor(across.T @ gram @ across)
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(factor.T @ inner @ factor), 0.0))
    return float(roots.sum() ** 2 / -matrix.sum() + gram.sum() / size**2 - np.trace(gram) / size)


def best_multipliers(gram: Floats, ratio: float) -> Multipliers:
    """Return multipliers with nearly the largest bound, by L-BFGS-B with a log-determinant barrier."""
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise MissingExtra("solving a workload", "optimal") from None
    size = len(gram)
    upper = np.triu_indices(size, 1)
    across = differences(size)
    factor = _factor(across.T @ gram @ across)
    place = np.concatenate([np.ones(size), np.zeros(upper[0].size)])
    ends: Any = [(1e-9, None)] * size + [(0.0, None)] * upper[0].size

    def unpack(point: Floats) -> Multipliers:
        pairs = np.zeros((size, size))
        pairs[upper] = point[size:]
        return Multipliers(point[:size], pairs + pairs.T)

    best = Multipliers.even(size)
    reached = lower_bound(gram, ratio, best)
    for weight in _BARRIERS:

        def objective(point: Any, weight: float = weight) -> Any:
            found = _ascent(unpack(point), ratio, across, factor, weight / size)
            if found is None:
                return _FORBIDDEN, np.zeros_like(point)
            value, by_input, by_pair = found
            return -value, -np.concatenate([by_input, by_pair[upper]])

        options: Any = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "maxcor": 20}
        made: Any = minimize(objective, place, jac=True, method="L-BFGS-B", bounds=ends, options=options)
        place = made.x / made.x[:size].mean()  # the bound does not depend on the scale
        candidate = unpack(place)
        bound = lower_bound(gram, ratio, candidate)
        if bound > reached:
            best, reached = candidate, bound
    return best


def closest_moments(gram: Floats, ratio: float, given: Multipliers) -> Floats:
    """Return the matrix across 1 for which the bound is an equality: A = M^−½ (M^½ G M^½)^½ M^−½, scaled.

    No channel need have these second moments; columns that are drawn by them are a good start.
    """
    across = differences(len(gram))
    matrix = given.matrix(ratio)
    if matrix is None:
        raise Infeasible("these multipliers prove no bound: γ is not positive")
    inner = across.T @ matrix @ across
    values, vectors = np.linalg.eigh(inner)
    values = np.maximum(values, 1e-9 * values[-1])
    root, inverse = (vectors * values**power @ vectors.T for power in (0.5, -0.5))
    middle, turned = np.linalg.eigh(root @ (across.T @ gram @ across) @ root)
    half = turned * np.sqrt(np.maximum(middle, 0.0)) @ turned.T
    found = inverse @ half @ inverse
    found *= -matrix.sum() / np.trace(inner @ found)
    return np.asarray(across @ found @ across.T)


def differences(size: int) -> Floats:
    """Return an orthonormal basis of the vectors whose entries sum to 0, as columns."""
    start = np.column_stack([np.full(size, size**-0.5), np.eye(size)[:, :-1]])
    return np.asarray(np.linalg.qr(start)[0][:, 1:])


def _factor(gram: Floats) -> Floats:
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _ascent(
    given: Multipliers, ratio: float, across: Floats, factor: Floats, weight: float
) -> tuple[float, Floats, Floats] | None:
    """Return 2·ln tr T^½ − ln τ with the barrier, and its gradients by λ and by Y; None outside."""
    size = given.inputs.size
    matrix = given.matrix(ratio)
    if matrix is None or not -matrix.sum() > 0.0:
        return None
    tau = -matrix.sum()
    inner = across.T @ matrix @ across
    try:
        triangle = np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        return None
    values, vectors = np.linalg.eigh(factor.T @ inner @ factor)
    roots = np.sqrt(np.maximum(values, 1e-300))
    total = roots.sum()
    unscaled = np.linalg.inv(triangle)
    barrier = 2.0 * np.log(np.diag(triangle)).sum() - (size - 1) * math.log(tau)
    value = 2.0 * math.log(total) - math.log(tau) + weight * barrier
    slope = factor @ (vectors / roots @ vectors.T) @ factor.T / total + weight * unscaled.T @ unscaled
    by_matrix = across @ slope @ across.T + (1.0 + weight * (size - 1)) / tau
    beside = given.pairs.sum(axis=1)
    lean = (1.0 + ratio) / 2.0
    b = lean * given.inputs - beside
    gamma = ratio * given.inputs.sum() - beside.sum()
    pull = by_matrix @ b
    bend = b @ pull / gamma**2
    by_input = np.diag(by_matrix) - 2.0 * lean / gamma * pull + ratio * bend
    by_pair = 2.0 * (-by_matrix - bend) + 2.0 / gamma * (pull[:, None] + pull[None, :])
    return float(value), by_input, by_pair


FORMAT: Final = 1  # version of the bytes and of their meaning
_HEADER: Final = struct.Struct("<4sHI")  # magic, format, checksum of what follows
_MAGIC: Final = b"dthq"
_PART: Final = 1 << 12  # multipliers are stored in these parts of the largest one


@dataclass(frozen=True, eq=False)
class QueryDesign:
    """Columns of {1, E}^k with weights; where the queries are symmetric, a pattern stands for its mirror too.

    Multipliers are kept coarsely, so that a design that is read back equals the one that was stored; any
    multipliers give a valid bound.
    """

    epsilon: float
    patterns: Floats  # rows of 0 and 1, a column of the channel each
    weights: Floats
    multipliers: Multipliers

    def __post_init__(self) -> None:
        if self.patterns.ndim != 2 or len(self.patterns) != self.weights.size or not self.weights.size:
            raise InvalidParameter("a design has as many weights as patterns, and at least one")
        if not np.isin(self.patterns, (0.0, 1.0)).all() or not (self.weights > 0.0).all():
            raise InvalidParameter("a design has patterns of 0 and 1, and positive weights")
        size = self.patterns.shape[1]
        if self.multipliers.inputs.shape != (size,) or self.multipliers.pairs.shape != (size, size):
            raise InvalidParameter("a design has a multiplier for each input and each pair")
        inputs, pairs = self.multipliers.inputs, np.triu(self.multipliers.pairs, 1)
        pairs = _round_numbers(pairs)
        object.__setattr__(self, "multipliers", Multipliers(_round_numbers(inputs), pairs + pairs.T))

    @property
    def inputs(self) -> int:
        """The number k of inputs."""
        return int(self.patterns.shape[1])

    def to_bytes(self) -> bytes:
        """Return the design as bytes: a checksum, the sizes, then compressed numbers."""
        upper = np.triu_indices(self.inputs, 1)
        parts = [self.multipliers.inputs, self.multipliers.pairs[upper]]
        tops = [float(part.max(initial=0.0)) for part in parts]
        facts: dict[str, Any] = {
            "epsilon": self.epsilon,
            "patterns": len(self.patterns),
            "inputs": self.inputs,
            "tops": tops,
        }
        coded = [
            np.rint(part / (top or 1.0) * _PART).astype("<u2").tobytes()
            for part, top in zip(parts, tops, strict=True)
        ]
        body = b"".join(
            [
                json.dumps(facts).encode() + b"\n",
                np.packbits(self.patterns.astype(np.uint8).T, axis=1).tobytes(),
                self.weights.astype("<f8").tobytes(),
                *coded,
            ]
        )
        packed = zlib.compress(body, 9)
        return _HEADER.pack(_MAGIC, FORMAT, zlib.crc32(packed)) + packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """Return the design that `to_bytes` wrote; None if the bytes are damaged."""
        try:
            magic, version, checksum = _HEADER.unpack_from(data)
            packed = data[_HEADER.size :]
            if (magic, version, checksum) != (_MAGIC, FORMAT, zlib.crc32(packed)):
                return None
            text, _, rest = zlib.decompress(packed).partition(b"\n")
            facts = json.loads(text)
            count, size = int(facts["patterns"]), int(facts["inputs"])
            row = -(-count // 8)
            bits = np.frombuffer(rest, np.uint8, size * row).reshape(size, row)
            patterns = np.unpackbits(bits, axis=1)[:, :count].T.astype(np.float64)
            at = size * row
            weights = np.frombuffer(rest, "<f8", count, at)
            at += 8 * count
            numbers = np.frombuffer(rest, "<u2", offset=at).astype(np.float64) / _PART
            inputs, rest_of = numbers[:size] * facts["tops"][0], numbers[size:] * facts["tops"][1]
            pairs = np.zeros((size, size))
            pairs[np.triu_indices(size, 1)] = rest_of
            return cls(
                float(facts["epsilon"]), patterns, weights.copy(), Multipliers(inputs, pairs + pairs.T)
            )
        except (struct.error, zlib.error, ValueError, KeyError, TypeError, IndexError, DitherError):
            return None


def _round_numbers(numbers: Floats) -> Floats:
    """Return numbers in whole parts of the largest; multipliers of inputs stay positive."""
    top = float(numbers.max(initial=0.0))
    if not top > 0.0 or not math.isfinite(top):
        return np.zeros_like(numbers)
    return np.asarray(np.rint(numbers / top * _PART) / _PART * top)


_FLIPS: Final = 4000  # at most: a search ends when no flip helps
_CHANGED: Final = 2.5  # entries of a known pattern that are flipped at random before a search, on average
_SHIFTED: Final = 3  # places by which a known pattern is shifted at most


def climb(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return patterns at which no single flip raises sᵀ·prices·s, from each of the given ones."""
    found = patterns.copy()
    step = ratio - 1.0
    own = np.diag(prices) * step**2
    slope = (1.0 + step * found) @ prices
    rows = np.arange(len(found))
    for _ in range(_FLIPS):
        sign = 1.0 - 2.0 * found
        gain = 2.0 * step * sign * slope + own
        place = gain.argmax(axis=1)
        best = gain[rows, place]
        moving = np.flatnonzero(best > 1e-12 * np.abs(best).max())
        if not moving.size:
            break
        where, by = place[moving], sign[moving, place[moving]]
        found[moving, where] += by
        slope[moving] += step * by[:, None] * prices[where]
    return found


def gains(prices: Floats, ratio: float, patterns: Floats) -> Floats:
    """Return sᵀ·prices·s/(π·s) of each pattern: one with a positive value would lower the variance."""
    columns = 1.0 + (ratio - 1.0) * patterns
    return np.asarray((columns @ prices * columns).sum(axis=1) / columns.mean(axis=1))


@dataclass(frozen=True, eq=False)
class Starts:
    """Patterns from which searches begin: thresholds of Gaussian vectors, changed copies of known ones."""

    root: Floats  # a square root of the covariance of the Gaussian vectors
    ratio: float
    rng: np.random.Generator

    def fresh(self, count: int) -> Floats:
        """Return patterns with ones where a Gaussian vector is largest, about one entry in E + 1."""
        size = len(self.root)
        heights = self.rng.standard_normal((count, size)) @ self.root.T
        share = np.clip(self.rng.uniform(0.4, 1.6, count) / (self.ratio + 1.0), 1.0 / size, 0.6)
        place = np.minimum((1.0 - share) * size, size - 1).astype(np.int64)
        level = np.sort(heights, axis=1)[np.arange(count), place]
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


_TOTAL: Final = 1 << 64  # the sum of a row; a channel scales it to 2^128 without rounding
_LEAST_SPARE: Final = 1e-9  # of the probability is left for the report that makes rows equal


def channel_of(design: QueryDesign, *, mirrored: bool) -> Channel:
    """Return the channel of a design, one more report than columns: each row's rest.

    A column of weight c has the integers L = ⌊c·(1 − δ)·2^64⌋ and H = ⌊L·E⁻⌋ with E⁻ ≤ e^ε. What a row lacks
    to 2^64 is the weight of the last report; δ is so large that its ratios are near 1. All ratios are
    checked.
    """
    bound = exp_below(Fraction(design.epsilon))
    patterns, weights = design.patterns, design.weights
    if mirrored:
        turned = ~(patterns == patterns[:, ::-1]).all(axis=1)
        patterns = np.concatenate([patterns, patterns[turned, ::-1]])
        weights = np.concatenate([weights, weights[turned]])
    sums = (1.0 + (float(bound) - 1.0) * patterns).T @ weights
    spare = max(_LEAST_SPARE, 4.0 * float(np.abs(sums - 1.0).max()))
    low = [int(weight * (1.0 - spare) / float(sums.max()) * _TOTAL) for weight in weights.tolist()]
    high = [int(weight * bound) for weight in low]
    columns = [(weight, heavier) for weight, heavier in zip(low, high, strict=True) if weight > 0]
    marks = [row for row, weight in zip(patterns.astype(np.int64).tolist(), low, strict=True) if weight > 0]
    rows = []
    for place in range(design.inputs):
        row = [column[mark[place]] for column, mark in zip(columns, marks, strict=True)]
        rows.append([*row, _TOTAL - sum(row)])
    if min(row[-1] for row in rows) < 1:
        raise InvalidParameter("the weights of this design do not sum to 1")
    channel = Channel.of(rows)
    if channel.ratio > bound:  # in integers: that is the privacy proof
        raise InvalidParameter("this ε is too small for the number of inputs")
    return channel


SHIPPED: Final = "prefixes.zip"


def prefixes(size: int) -> Floats:
    """Return the queries for cumulative shares: row i adds up the first i + 1 of `size` inputs."""
    return np.tril(np.ones((size, size)))


def name(size: int, epsilon: float) -> str:
    """Return the name of a shipped design."""
    return f"{size}-{epsilon:g}"


@cache
def shipped_budgets() -> dict[int, tuple[float, ...]]:
    """Return for each number of inputs the ε of the shipped designs, in order."""
    found: dict[int, list[float]] = {}
    for entry in _archive().namelist():
        size, _, epsilon = entry.partition("-")
        found.setdefault(int(size), []).append(float(epsilon))
    return {size: tuple(sorted(budgets)) for size, budgets in found.items()}


@lru_cache(maxsize=16)
def prefix_design(size: int, epsilon: float) -> QueryDesign:
    """Return the design for the prefix sums of `size` inputs.

    At a shipped ε it is the shipped one. At another ε the search begins with the patterns of the nearest
    shipped ones and takes a few rounds, which needs numpy alone. For other numbers of inputs it is solved,
    which needs scipy and takes seconds to minutes.
    """
    budgets = shipped_budgets().get(size, ())
    if epsilon in budgets:
        return _read(size, epsilon)
    matrix = prefixes(size)
    gram = matrix.T @ matrix
    if budgets:
        from dither.mechanisms.optimal.queries.workload import quick_design

        nearest = sorted(budgets, key=lambda budget: abs(math.log(budget / epsilon)))[:2]
        near = [_read(size, budget) for budget in nearest]
        patterns = np.concatenate([design.patterns for design in near])
        return quick_design(patterns, gram, epsilon, [design.multipliers for design in near])
    from dither.mechanisms.optimal.queries.workload import solve

    return solve(gram, epsilon)


def _read(size: int, epsilon: float) -> QueryDesign:
    design = QueryDesign.from_bytes(_archive().read(name(size, epsilon)))
    if design is None:
        raise InvalidParameter(f"the shipped design {name(size, epsilon)} is damaged; install dither again")
    return design


@cache
def _archive() -> zipfile.ZipFile:
    place = resources.files("dither.mechanisms.optimal.queries").joinpath(SHIPPED)
    return zipfile.ZipFile(io.BytesIO(place.read_bytes()))
