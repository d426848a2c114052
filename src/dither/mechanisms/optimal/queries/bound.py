"""A lower bound on the average variance of every ε-LDP channel for linear queries: see docs/theory.md.

For weights λ > 0 and pairs Y ≥ 0 (symmetric, zero diagonal), with E = e^ε,

    b = (1 + E)/2·λ − Y1,   γ = E·Σλ − 1ᵀY1,   N = diag λ − Y − bbᵀ/γ

every permissible column u has uᵀNu ≤ 0. If N is positive semidefinite across 1 and −1ᵀN1 > 0, then

    average variance ≥ [tr (W PNP Wᵀ)^½]²/(−1ᵀN1) + 1ᵀG1/k² − tr(G)/k
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from dither.errors import Infeasible, MissingExtra
from dither.foundation.arrays import Floats

_BARRIERS: Final = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # weights of the log-determinant that keeps PNP positive
_STEPS: Final = 400
MOST_ENUMERATED: Final = 27  # largest number of inputs for which all columns are tried: 2^27 in a few seconds
_EXCHANGES: Final = 4  # largest number of exchanges of partners, for each input
_FORBIDDEN: Final = 1e6  # the value of the objective outside the feasible set
_SLACK: Final = 1e-9  # least smallest eigenvalue, relative to the largest


@dataclass(frozen=True, eq=False)
class Multipliers:
    """The dual variables of the bound, one for each input and one for each pair of inputs."""

    inputs: Floats  # λ, of length k
    pairs: Floats  # Y, k × k

    @classmethod
    def even(cls, size: int) -> Self:
        """Return λ = 1 and Y = 0; with them the bound holds for every workload."""
        return cls(np.ones(size), np.zeros((size, size)))

    def matrix(self, ratio: float) -> Floats | None:
        """Return N for E = ratio, or None if γ is not positive."""
        beside = self.pairs.sum(axis=1)
        b = (1.0 + ratio) / 2.0 * self.inputs - beside
        gamma = ratio * self.inputs.sum() - beside.sum()
        if not gamma > 0.0:
            return None
        return np.asarray(np.diag(self.inputs) - self.pairs - np.outer(b, b) / gamma)


def lower_bound(gram: Floats, ratio: float, given: Multipliers) -> float:
    """Return the bound that these multipliers prove in float arithmetic, or −∞ if they prove none.

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


def matched_bound(gram: Floats, ratio: float) -> float:
    """Return a bound that is positive at every ε, from pairs of inputs as questions with two answers.

    For two inputs whose answers differ by the vector r, Cauchy–Schwarz with |p − p′| ≤ tanh(ε/2)·(p + p′)
    gives V + V′ ≥ 2E/(E − 1)²·|r|² for unbiased estimates. Every one-to-one assignment of partners to inputs
    proves the average of half of that. The largest bound is searched by exchanging partners.
    """
    norms = np.diag(gram)
    apart = norms[:, None] + norms[None, :] - 2.0 * gram
    size = len(gram)
    # Start with opposite ends of the direction in which the answers vary most, then exchange partners if it
    # helps.
    across = differences(size)
    order = np.argsort(across @ np.linalg.eigh(across.T @ gram @ across)[1][:, -1])
    partner = np.empty(size, dtype=np.int64)
    partner[order] = order[::-1]
    rows = np.arange(size)
    for _ in range(_EXCHANGES * size):
        now = apart[rows, partner]
        gain = apart[:, partner] + apart[:, partner].T - now[:, None] - now[None, :]
        first, second = np.unravel_index(int(gain.argmax()), gain.shape)
        if not gain[first, second] > 1e-12 * float(apart.max()):
            break
        partner[[first, second]] = partner[[second, first]]
    return float(apart[rows, partner].sum() / size * ratio / (ratio - 1.0) ** 2)


def enumerated_bound(gram: Floats, ratio: float, channel: Floats) -> float:
    """Return a bound from the prices of a solved channel, proved by trying all columns; −∞ for many inputs.

    With K the second moments of the channel and Z = K⁻¹(PGP)K⁻¹, tr(PGP·K′⁻¹) of any other channel is at
    least 2·tr(PGP·K⁻¹) − tr(ZK′). A column s of K′ adds sᵀZs/(π·s), convex in s: its largest excess over a
    linear function ν·s is at a vertex of {1, E}^k, and all 2^k vertices are tried. `ν` makes the excess 0 at
    the columns of the channel.
    """
    size = len(gram)
    if size > MOST_ENUMERATED:
        return -math.inf
    centre = np.eye(size) - 1.0 / size
    moments = channel / channel.mean(axis=0) @ channel.T
    inverse = np.linalg.inv(moments)
    inside = centre @ gram @ centre
    trace = float(np.trace(inside @ inverse))
    root = inverse @ _factor(inside)  # Z = root·rootᵀ
    heights = ((root.T @ channel) ** 2).sum(axis=0) / channel.mean(axis=0)
    often = np.sqrt(channel.mean(axis=0))
    linear = np.linalg.lstsq((channel / often).T, heights / often, rcond=None)[0]
    excess = _largest_excess(root, linear, ratio)
    total = float(linear.sum()) + max(excess, 0.0) * (1.0 + _SLACK)
    if not total > 0.0:
        return -math.inf
    return trace**2 / total + float(gram.sum()) / size**2 - float(np.trace(gram)) / size


def _largest_excess(root: Floats, linear: Floats, ratio: float) -> float:
    """Return the largest (|rootᵀs|² − (π·s)(ν·s))/(π·s)² over all columns s of 1 and E, in two halves."""
    size = len(root)
    half = size // 2
    sums = np.column_stack([root, linear, np.full(size, 1.0 / size)])
    parts = []
    for rows in (sums[:half], sums[half:]):
        marks = (np.arange(1 << len(rows))[:, None] >> np.arange(len(rows))) & 1
        parts.append((1.0 + (ratio - 1.0) * marks) @ rows)
    first, second = parts
    squares = [(part[:, :-2] ** 2).sum(axis=1) for part in parts]
    best = -math.inf
    step = max((1 << 20) // len(second), 1)
    for begin in range(0, len(first), step):
        now = first[begin : begin + step]
        mean = now[:, -1:] + second[:, -1]
        value = squares[0][begin : begin + step, None] + squares[1] + 2.0 * now[:, :-2] @ second[:, :-2].T
        value -= mean * (now[:, -2:-1] + second[:, -2])
        best = max(best, float((value / mean**2).max()))
    return best


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
    position = np.concatenate([np.ones(size), np.zeros(upper[0].size)])
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
        made: Any = minimize(objective, position, jac=True, method="L-BFGS-B", bounds=ends, options=options)
        position = made.x / made.x[:size].mean()  # the bound is independent of the scale
        candidate = unpack(position)
        bound = lower_bound(gram, ratio, candidate)
        if bound > reached:
            best, reached = candidate, bound
    return best


def closest_moments(gram: Floats, ratio: float, given: Multipliers) -> Floats:
    """Return the matrix across 1 for which the bound is an equality: A = M^−½ (M^½ G M^½)^½ M^−½, scaled.

    No channel needs to have these second moments, but columns drawn with them are a good start.
    """
    across = differences(len(gram))
    matrix = given.matrix(ratio)
    if matrix is None:
        raise Infeasible("expected multipliers that prove a bound, got γ ≤ 0; solve the workload again")
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
    """Return 2·ln tr T^½ − ln τ with the barrier and its gradients by λ and Y, or None if infeasible."""
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
