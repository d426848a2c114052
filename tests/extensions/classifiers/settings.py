"""Classifiers and records whose true utility is known, for the tests of bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

import dither as dt
from dither.extensions.classifiers import LinearClassifier, Network
from dither.extensions.classifiers.feature_law import feature_law

UNIT = dt.Interval(0, 1)
CELLS = 256  # so few that every pair of reports can be asked about


def black_box(predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A classifier as a mere function, so that nothing can be read off it."""

    def ask(rows: Any) -> Any:
        return predict(rows)

    return ask


def quadratic(rows: Any) -> Any:
    """Example 14: two normal classes; the boundary is a circle about (−1, −1) of radius 2√(ln 2 + 1)."""
    squares = (rows**2).sum(axis=1)
    first = -0.5 * squares + np.log(0.5)
    second = -0.25 * ((rows - 1.0) ** 2).sum(axis=1) - 0.5 * np.log(4.0) + np.log(0.5)
    return np.where(first > second, 1, 2)


# Example 15, as printed.
PRINTED = Network.dense(
    [([[-1.86, -2.09], [0.12, -0.46]], [3.71, -0.08]), ([[-3.05, 0.40], [4.02, -0.22]], [0.94, -0.58])]
)
HALF = 1 / (2 * (np.exp(4) + 1))  # of OGPM's window at ε = 8


def adversarial(rows: Any) -> Any:
    """Wrong on a square of volume 0.0003 about the record, and right at the record itself and elsewhere."""
    apart = np.abs(rows - 0.5)
    return ((apart <= 1.02 * HALF).all(axis=1) & (apart > 0.0).any(axis=1)).astype(int)


@cache
def _trees() -> list[Any]:
    from sklearn.ensemble import RandomForestClassifier

    generator = np.random.default_rng(7)
    points = generator.random((300, 2))
    rings = (np.hypot(*(points - 0.5).T) + 0.1 * generator.normal(size=300)) > 0.33
    return [tree.tree_ for tree in RandomForestClassifier(15, random_state=0).fit(points, rings).estimators_]


def forest(rows: Any) -> Any:
    """A forest's votes without scikit-learn's ceremony, which takes longer than the trees."""
    single = np.ascontiguousarray(rows, dtype=np.float32)
    return sum(tree.predict(single).reshape(len(rows), 2) for tree in _trees()).argmax(axis=1)


def thresholds() -> Any:
    """Where the forest's answer may change, along either feature, and the ends."""
    steps = [tree.threshold[tree.feature >= 0] for tree in _trees()]
    return np.unique(np.clip(np.concatenate([[0.0, 1.0], *steps]), 0.0, 1.0))


def square() -> Any:
    """Where the adversarial answer changes, the ends, and a place so that no cell's middle is the record."""
    return 0.5 + np.array([-0.5, -1.02 * HALF, 0.3 * HALF, 1.02 * HALF, 0.5])


@dataclass(frozen=True)
class Setting:
    """A classifier, a record and a mechanism; `truth` by asking about every pair of reports."""

    name: str
    predict: Callable[[Any], Any]
    x: tuple[float, float]
    epsilon: float
    edges: Callable[[], Any] | None = None  # of cells in which the answer is one

    @cached_property
    def mechanism(self) -> Any:
        return dt.OGPM(UNIT, epsilon=self.epsilon, cells=CELLS)

    @cached_property
    def truth(self) -> float:
        return self.at(self.mechanism)

    def at(self, mechanism: Any) -> float:
        first, second = (feature_law(mechanism).marginal(value) for value in self.x)
        return float(first.masses @ self._same(first.places, second.places) @ second.masses)

    def designed(self, epsilons: Any) -> Any:
        """The same under the laws as designed: over cells in which the answer is known to be one."""
        edges = np.linspace(0.0, 1.0, 1001) if self.edges is None else self.edges()
        middles = (edges[1:] + edges[:-1]) / 2
        same = self._same(middles, middles).astype(float)
        if self.edges is None:
            self._look_closer(edges, same)
        truth = []
        for epsilon in epsilons:
            mechanism = dt.OGPM(UNIT, epsilon=epsilon)
            first, second = (np.diff(np.asarray(mechanism.cdf(edges, value))) for value in self.x)
            truth.append(first @ same @ second)
        return np.array(truth)

    def _look_closer(self, edges: Any, same: Any) -> None:
        """Where a cell's corners disagree the boundary runs through it: take the share of a finer grid."""
        at = self._same(edges, edges).astype(int)
        crossed = np.argwhere(~np.isin(at[:-1, :-1] + at[1:, :-1] + at[:-1, 1:] + at[1:, 1:], (0, 4)))
        fine = (np.stack(np.meshgrid(*[np.arange(32)] * 2, indexing="ij"), axis=-1).reshape(-1, 2) + 0.5) / 32
        points = edges[crossed][:, None] + fine * (edges[1] - edges[0])
        kept = self.predict(points.reshape(-1, 2)) == self.predict(np.array([self.x]))[0]
        same[tuple(crossed.T)] = kept.reshape(len(crossed), -1).mean(axis=1)

    def _same(self, first: Any, second: Any) -> Any:
        points = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
        same = self.predict(points) == self.predict(np.array([self.x]))[0]
        return same.reshape(first.size, second.size)


SETTINGS = [
    Setting("linear", LinearClassifier([[3.0, 1.0]], [-2.0]), (0.62, 0.45), 2.0),
    Setting("forest", forest, (0.4, 0.45), 2.0, thresholds),
    Setting("QDA", quadratic, (0.5, 0.5), 1.0),
    Setting("network", PRINTED, (0.5, 0.5), 1.0),
    Setting("adversarial", adversarial, (0.5, 0.5), 8.0, square),
]


def far_off(found: float, wanted: float, n: int) -> bool:
    """Whether a share of n draws is more than five standard errors from its probability."""
    return abs(found - wanted) > 5 * math.sqrt(wanted * (1 - wanted) / n) + 1e-9
