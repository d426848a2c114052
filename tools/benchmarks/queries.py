"""Cumulative shares: the variance of one report against the bound, hierarchical histograms and subsets.

Nothing is simulated: variances are computed from the channels, those of `Cumulative` from its integers.
"""

from __future__ import annotations

import math

import numpy as np

import dither as dt
from dither.foundation.tables import as_text
from dither.mechanisms.optimal.queries.store import prefixes, shipped_budgets

SIZES = (32, 64, 128)
BUDGETS = (0.5, 1.0, 2.0, 4.0)


def subsets_moments(size: int, ratio: float) -> np.ndarray:
    """Second moments K of subset selection with the best size of the sets."""
    best = None
    for chosen in {max(1, int(size / (ratio + 1))), min(size - 1, int(size / (ratio + 1)) + 1)}:
        total = chosen * ratio + size - chosen
        own = chosen * ratio / total
        diagonal = (own * ratio + 1.0 - own) * size / total
        if best is None or diagonal > best:
            best = diagonal
    assert best is not None
    beside = (size - best) / (size - 1)  # every row of K sums to the number of inputs
    return np.full((size, size), beside) + (best - beside) * np.eye(size)


def variance(moments: np.ndarray, gram: np.ndarray) -> float:
    return float(np.trace(np.linalg.solve(moments, gram)) - np.trace(gram) / len(gram))


def hierarchical(size: int, ratio: float, gram: np.ndarray) -> float:
    """Each person tells one level of a tree by subset selection; least squares over levels; the best tree."""
    found = math.inf
    for branch in (2, 4, 8):
        nodes = [size]
        while nodes[-1] > branch and nodes[-1] % branch == 0:
            nodes.append(nodes[-1] // branch)
        nodes = [count for count in nodes if count >= 2]
        for slope in (-0.5, -0.25, 0.0, 0.25, 0.5):
            weights = np.array([count**slope for count in nodes])
            moments = np.zeros((size, size))
            for count, weight in zip(nodes, weights / weights.sum(), strict=True):
                lift = np.repeat(np.eye(count), size // count, axis=0)
                moments += weight * lift @ subsets_moments(count, ratio) @ lift.T
            found = min(found, variance(moments, gram))
    return found


def main() -> None:
    rows = []
    for size in SIZES:
        matrix = prefixes(size)
        gram = matrix.T @ matrix
        for epsilon in BUDGETS:
            if epsilon not in shipped_budgets().get(size, ()):
                continue
            ours = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon, cells=size)
            ratio = math.exp(epsilon)
            numbers = (ours.bound, ours.average_variance)
            others = (
                ours.worst_variance,
                hierarchical(size, ratio, gram),
                variance(subsets_moments(size, ratio), gram),
            )
            rows.append(
                [
                    str(size),
                    f"{epsilon:g}",
                    *(f"{one:.4g}" for one in numbers),
                    f"{100 * ours.gap:.1f} %",
                    *(f"{one:.4g}" for one in others),
                    str(ours.report_bytes),
                ]
            )
    head = ["k", "ε", "bound", "Cumulative", "gap", "worst input", "hierarchical", "SubsetSelection", "bytes"]
    print(as_text(head, rows, align="rrrrrrrrr"))


if __name__ == "__main__":
    main()
