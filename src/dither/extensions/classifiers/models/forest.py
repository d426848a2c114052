"""Trees and forests of scikit-learn: they are piecewise constant, so utility is a sum over cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import Marginal
from dither.extensions.classifiers.models.slice import Enclosure, Keeps, Slice
from dither.foundation.arrays import Floats, Integers, Mask

_CELLS: Final = 1 << 26  # the most cells for which a map is made
_BAND: Final = 1 << 22  # cells processed together
_TIE: Final = 1e-9  # votes closer than this are a tie: the forest itself decides


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a forest that a record can reach, as boxes: `first` ≤ cell ≤ `last` for each feature.

    Cell k of a feature has the values above threshold k − 1 and up to threshold k. `votes` has a row of class
    probabilities for each leaf, and `tree` the number of its tree.
    """

    thresholds: tuple[Floats, ...]
    first: Integers
    last: Integers
    votes: Floats
    tree: Integers

    @staticmethod
    def of(trees: Sequence[Any], row: Floats, columns: Sequence[int]) -> Leaves:
        """Return the leaves reached with a record's fixed features and any values of the randomised ones."""
        position = {column: feature for feature, column in enumerate(columns)}
        # Trees compare in single precision.
        single = row.astype(np.float32)
        boxes, votes, owner = [], [], []
        for number, tree in enumerate(trees):
            for node, low, high in _reachable(tree, single, position, len(columns)):
                boxes.append((low, high))
                votes.append(tree.value[node, 0])
                owner.append(number)
        edges = np.array(boxes)  # leaves × (low, high) × features
        thresholds = tuple(
            np.unique(edges[:, :, feature][np.isfinite(edges[:, :, feature])])
            for feature in range(len(columns))
        )
        first, last = np.empty((2, *edges[:, 0].shape), dtype=np.int64)
        for feature, steps in enumerate(thresholds):
            first[:, feature] = np.searchsorted(steps, edges[:, 0, feature], side="right")
            last[:, feature] = np.searchsorted(steps, edges[:, 1, feature], side="left")
        share = np.array(votes)
        return Leaves(thresholds, first, last, share / share.sum(axis=1, keepdims=True), np.array(owner))

    @property
    def cells(self) -> tuple[int, ...]:
        """The number of cells along each feature."""
        return tuple(steps.size + 1 for steps in self.thresholds)

    def cell(self, feature: int, places: Floats) -> Integers:
        """Return the cell of each value; trees compare in single precision."""
        return np.searchsorted(self.thresholds[feature], places.astype(np.float32), side="left")


def _reachable(
    tree: Any, row: NDArray[np.float32], position: dict[int, int], features: int
) -> list[tuple[int, Floats, Floats]]:
    """Return each reachable leaf, with the values of the randomised features: above low, up to high."""
    found = []
    stack = [(0, np.full(features, -np.inf), np.full(features, np.inf))]
    left, right, feature, threshold = (
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
    )
    while stack:
        node, low, high = stack.pop()
        if left[node] < 0:
            found.append((node, low, high))
            continue
        column, edge = int(feature[node]), float(threshold[node])
        if column not in position:
            stack.append((int(left[node] if row[column] <= edge else right[node]), low, high))
            continue
        which = position[column]
        if edge > low[which]:
            under = high.copy()
            under[which] = min(edge, high[which])
            stack.append((int(left[node]), low, under))
        if edge < high[which]:
            over = low.copy()
            over[which] = max(edge, low[which])
            stack.append((int(right[node]), over, high))
    return found


@dataclass(frozen=True, eq=False)
class Forest(Slice):
    """The region in which a forest predicts one class: the largest sum of votes, the first of equal ones.

    `scaled` converts values of a feature to the units of the trees (a scaler in a pipeline). `keeps` calls
    the forest itself for cells with a tie, with values of the randomised features in those units.
    """

    own: int
    leaves: Leaves
    trees: int
    scaled: Callable[[int, Floats], Floats]
    keeps: Keeps

    @property
    def features(self) -> int:
        return len(self.leaves.thresholds)

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        if not self._has_map:
            return None
        chances = [
            np.bincount(
                self.leaves.cell(feature, self.scaled(feature, marginal.places)),
                marginal.masses,
                minlength=self.leaves.cells[feature],
            )
            for feature, marginal in enumerate(marginals)
        ]
        other = chances[1] if self.features == 2 else np.ones(1)
        band = max(1, _BAND // other.size)
        answer = sum(
            float(chances[0][begin : begin + band] @ (self._map[begin : begin + band] @ other))
            for begin in range(0, chances[0].size, band)
        )
        return answer, answer

    @property
    def _has_map(self) -> bool:
        return self.features <= 2 and bool(np.prod(self.leaves.cells, dtype=float) <= _CELLS)

    @cached_property
    def _map(self) -> Mask:
        """Whether the answer is kept in each cell; for at most two features and `_CELLS` cells."""
        rows, columns = (*self.leaves.cells, 1)[:2]
        band = max(1, _BAND // (columns * self.leaves.votes.shape[1]))
        parts = [self._band(begin, min(begin + band, rows), columns) for begin in range(0, rows, band)]
        return np.concatenate(parts)

    def _band(self, begin: int, end: int, columns: int) -> Mask:
        """Return rows of the map: leaves add their votes at their corners, and prefix sums spread them."""
        leaves = self.leaves
        here = (leaves.last[:, 0] >= begin) & (leaves.first[:, 0] < end)
        top = np.maximum(leaves.first[here, 0], begin) - begin
        bottom = np.minimum(leaves.last[here, 0] + 1, end) - begin
        if self.features == 2:
            left, right = leaves.first[here, 1], leaves.last[here, 1] + 1
        else:
            left, right = np.zeros_like(top), np.ones_like(top)
        votes = leaves.votes[here]
        change = np.zeros((end - begin + 1, columns + 1, votes.shape[1]))
        for row, column, sign in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
            np.add.at(change, (row, column), sign * votes)
        total = change.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
        others = np.delete(total, self.own, axis=-1).max(axis=-1)
        lead = total[..., self.own] - others
        kept = lead > 0.0
        ties = np.argwhere(np.abs(lead) < _TIE * self.trees)
        if ties.size:
            kept[tuple(ties.T)] = self.keeps(self._middles(ties + np.array([begin, 0])))
        return np.asarray(kept)

    def _middles(self, cells: Integers) -> Floats:
        """Return a point inside each cell, in the units of the trees."""
        points = []
        for feature, steps in enumerate(self.leaves.thresholds):
            outer = np.concatenate([steps[:1] - 1.0, steps, steps[-1:] + 1.0]) if steps.size else np.zeros(2)
            which = cells[:, feature]
            points.append((outer[which] + outer[which + 1]) / 2.0)
        return np.stack(points, axis=-1)

    def proves(self, box: FeatureBox) -> bool:
        """Return whether the class leads by the sum of the trees' least leads, or else in every cell."""
        leaves = self.leaves
        sides = [
            leaves.cell(feature, self.scaled(feature, np.array([low, high])))
            for feature, (low, high) in enumerate(zip(box.low, box.high, strict=True))
        ]
        begins, ends = np.array(sides).T
        met = ((leaves.last >= begins) & (leaves.first <= ends)).all(axis=1)
        leads = leaves.votes[:, [self.own]] - leaves.votes
        worst = np.full((self.trees, leads.shape[1]), np.inf)
        np.minimum.at(worst, leaves.tree[met], leads[met])
        total = np.delete(worst.sum(axis=0), self.own)
        if (total > _TIE * self.trees).all():
            return True
        return self._cell_by_cell(begins, ends)

    def _cell_by_cell(self, begins: Integers, ends: Integers) -> bool:
        """Return whether the answer is kept in every cell that the box meets; False without a map."""
        if not self._has_map:
            return False
        columns = slice(begins[1], ends[1] + 1) if self.features == 2 else slice(None)
        return bool(self._map[begins[0] : ends[0] + 1, columns].all())
