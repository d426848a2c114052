"""A small classifier: logistic regression on the log ratios of a report's bins, one feature a column.

With independent columns the sum of the log ratios is the best score [Neyman33]; the weights correct for
columns that are dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats, Integers, Mask
from dither.audits.black_box.binning import Binning, Edges, binned
from dither.audits.black_box.columns import Columns

_STEPS: Final = 8
_RIDGE: Final = 1.0  # of the weights, towards 1: the sum of the log ratios
_MOST_WEIGHT: Final = 4.0  # if the reports of two inputs are separable, weights would grow without bound
_NAME: Final = "score"


@final
@dataclass(frozen=True, eq=False)
class Score:
    """Bins of a weighted sum of log ratios: how much a report looks like one of the first input."""

    binnings: tuple[Binning, ...]
    ratios: tuple[Floats, ...]  # by bin
    weights: Floats
    edges: Edges

    @property
    def column(self) -> str:
        """The name of what is binned: a column, or a score."""
        return "the classifier's score"

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.edges.size

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bin of each of `count` reports."""
        features = [
            ratios[binning.bins(columns, count)]
            for binning, ratios in zip(self.binnings, self.ratios, strict=True)
        ]
        return self.edges.bins({_NAME: _sum(np.stack(features, axis=1), self.weights)}, count)

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return self.edges.names()

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""
        names = [
            f"{weight:.2g}·[{binning.column}]"
            for binning, weight in zip(self.binnings, self.weights.tolist(), strict=True)
        ]
        about = self.edges.words(chosen).removeprefix(_NAME).strip()
        return f"the sum of log ratios {' + '.join(names)} is {about}"


def scored(
    tables: list[tuple[Binning, Integers, Floats]], first: Mask, half: Mask
) -> tuple[Score, Integers] | None:
    """Return the bins of a score, and the bin of each report; None without two informative columns.

    A table is a binning, the bins of the reports, and the counts of both inputs in the first half. `first`
    says which reports are of the first input. Log ratios come from one half, weights from the other.
    """
    ratios = [_log_ratios(counts) for _, _, counts in tables]
    features = np.stack([ratio[bins] for ratio, (_, bins, _) in zip(ratios, tables, strict=True)], axis=1)
    useful = np.flatnonzero(features.std(axis=0) > 0.02)
    if len(useful) < 2 or not (~half).any():
        return None
    features = features[:, useful]
    weights = _fitted(features[~half], first[~half])
    bins = binned(_NAME, _sum(features, weights))
    if not bins or not isinstance(bins[0], Edges):
        return None
    edges = bins[0]
    score = Score(
        tuple(tables[at][0] for at in useful.tolist()),
        tuple(ratios[at] for at in useful.tolist()),
        weights,
        edges,
    )
    return score, edges.bins({_NAME: _sum(features, weights)}, len(features))


def _log_ratios(counts: Floats) -> Floats:
    """Return ln(p/q) of every bin, shrunk towards 0 where few reports fell into it."""
    totals = np.maximum(counts.sum(axis=1), 1.0)
    shares = (counts + 1.0) / (totals[:, None] + counts.shape[1])
    return np.asarray(np.log(shares[0] / shares[1]), dtype=np.float64)


def _sum(features: Floats, weights: Floats) -> Floats:
    # Rounded, and added column by column: one set of columns has one score, in a batch of any size.
    total = np.zeros(len(features))
    for at, weight in enumerate(weights.tolist()):
        total += weight * features[:, at]
    return np.round(total, 9)


def _fitted(features: Floats, first: Mask) -> Floats:
    """Return the weights of a logistic regression without intercept, by Newton's method."""
    weights = np.ones(features.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30.0, 30.0)))
        slope = features.T @ (first - chance) - _RIDGE * (weights - 1.0)
        curve = (features * (chance * (1.0 - chance))[:, None]).T @ features
        step = np.linalg.solve(curve + _RIDGE * np.eye(len(weights)), slope)
        weights = np.clip(weights + step, -_MOST_WEIGHT, _MOST_WEIGHT)
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights
