"""Transition matrices P(report | input) as linear operators, applied without being stored.

Columns are inputs, and rows are reports or groups of neighbouring reports. For a window each column is a
constant plus one block, so that a product is one prefix sum: O(rows + columns) for any width.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from dither.foundation.arrays import Array, Floats, Indices, Mask
from dither.foundation.numerics.matrices import dot, product

_NARROW: Final = 4.0  # rows; in narrower windows, rows that are covered in part matter most
_STARK: Final = 1.0 - 1e-9  # from this contrast on, rounding errors exceed the probability outside the window


class Operator(ABC):
    """The matrix P(report | input), given by its products with vectors."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows (reports) and columns (inputs)."""

    @abstractmethod
    def forward(self, inputs: Floats) -> Floats:
        """Return the matrix times a vector: from probabilities of inputs to probabilities of reports."""

    @abstractmethod
    def backward(self, reports: Floats) -> Floats:
        """Return the transposed matrix times a vector: for each input, the mean of a function of reports."""

    @abstractmethod
    def counts(self, tally: Array) -> Floats:
        """Return the number of reports of each row, from the counts of a summary."""

    @abstractmethod
    def twins(self) -> Mask:
        """Return a mask: True where column i + 1 equals column i."""

    @abstractmethod
    def spread(self, times: int) -> Operator:
        """Return the operator whose columns are bins: averages of `times` neighbouring columns each."""

    def products(self, weights: Floats, other: Operator) -> Floats:
        """Return Σ over rows of weight·(column of this operator)·(column of another), for each pair."""
        return product((self._matrix * weights[:, None]).T, other._matrix)

    def squares(self, weights: Floats) -> Floats:
        """Return Σ over rows of weight·column², for each column."""
        return product(weights, np.square(self._matrix))

    @cached_property
    def _matrix(self) -> Floats:
        return self.dense()

    def dense(self) -> Floats:
        """Return the matrix as an array; for small matrices and for tests."""
        return np.stack([self.forward(unit) for unit in np.eye(self.shape[1])], axis=1)


@dataclass(frozen=True, eq=False)
class Windows(Operator):
    """Window mechanisms: a report is uniform with probability 1 − contrast, else uniform in a window.

    `starts` and `width` are in rows and need not be integers: a window that covers a part of a row has that
    part of the row's probability. This is also the effect of rounding a start at random. If `starts` has a
    second axis, a column is a bin: the average of its windows.
    """

    starts: Floats
    width: float
    rows: int
    contrast: float
    circular: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.starts.shape[0]

    @cached_property
    def _steps(self) -> tuple[Indices, Floats, Floats]:
        """The derivative of the columns: rows, the height of each input's step there, and a term for circles.

        A window has a step up at its beginning and a step down at its end. A step at position a is divided
        between the rows ⌊a⌋ and ⌊a⌋ + 1 in the ratio 1 − (a − ⌊a⌋) to a − ⌊a⌋. The last array is, for each
        input, the share of its windows that cover the row 0 of a circle by wrapping around.
        """
        columns = self.starts.shape[0]
        starts = self.starts.reshape(columns, -1)
        if self.circular:  # starts of one bin stay close together where the circle wraps around
            starts = starts[:, :1] + (starts - starts[:, :1] + self.rows / 2.0) % self.rows - self.rows / 2.0
        edges = np.concatenate([starts, starts + self.width])
        if not self.circular:
            np.minimum(edges, self.rows, out=edges)
        rows = np.floor(edges)
        first = rows.min(axis=1)
        offsets = (rows - first[:, None]).astype(np.intp)
        reach = int(offsets.max()) + 2
        heights = np.zeros((reach, 2 * columns))
        which = np.broadcast_to(np.arange(2 * columns)[:, None], offsets.shape)
        np.add.at(heights, (offsets, which), 1.0 - (edges - rows))
        np.add.at(heights, (offsets + 1, which), edges - rows)
        heights /= starts.shape[1]
        heights[:, columns:] *= -1.0
        positions = first.astype(np.intp) + np.arange(reach)[:, None]
        turns, positions = (
            (positions // self.rows, positions % self.rows) if self.circular else (0, positions)
        )
        opened = -(turns * heights).reshape(-1, columns).sum(axis=0)
        positions = np.minimum(positions, self.rows + 1)  # steps beyond the last row have height 0
        return positions.reshape(-1), heights.reshape(-1, columns), np.asarray(opened)

    def forward(self, inputs: Floats) -> Floats:
        # Scatter the steps, then take the prefix sum.
        positions, heights, opened = self._steps
        scattered = np.bincount(positions, (heights * inputs).reshape(-1), self.rows + 2)
        covered = np.asarray(scattered, dtype=np.float64)[: self.rows]
        if self.circular:
            covered[0] += dot(opened, inputs)
        np.add.accumulate(covered, out=covered)
        if self.contrast > _STARK:
            np.maximum(covered, 0.0, out=covered)
        covered *= self.contrast / self.width
        covered += (1.0 - self.contrast) / self.rows * float(np.add.reduce(inputs))
        return covered

    def backward(self, reports: Floats) -> Floats:
        # A prefix sum at an edge interpolates those at the neighbouring rows; windows are differences.
        positions, heights, opened = self._steps
        sums = np.empty(self.rows + 2)
        sums[0] = sums[-1] = 0.0
        sums[1:-1] = reports
        np.add.accumulate(sums, out=sums)
        reached = sums.take(positions).reshape(heights.shape)
        reached *= heights
        window: Floats = np.add.reduce(reached, axis=0)
        if self.circular:
            window -= opened * sums[-1]
        window *= -self.contrast / self.width
        window += (1.0 - self.contrast) / self.rows * sums[-1]
        return np.asarray(window)

    def products(self, weights: Floats, other: Operator) -> Floats:
        # Two windows overlap from the later start to the earlier end. So one prefix sum of the weights and a
        # difference for each pair of columns suffice, without a matrix of rows and columns.
        if not isinstance(other, Windows) or other.rows != self.rows or self.width < _NARROW:
            return super().products(weights, other)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        begin, end = self._sums_at_ends(sums)
        begins, ends = (begin, end) if other is self else other._sums_at_ends(sums)
        near, far = begin.mean(axis=1)[:, None], end.mean(axis=1)[:, None]
        nears, fars = begins.mean(axis=1), ends.mean(axis=1)
        # Windows touch where the earlier one ends and the later one begins; both vary within bins.
        ahead = (_loose(end)[:, None], _loose(begins))
        behind = (_loose(begin)[:, None], _loose(ends))
        if self.circular:
            shared = np.zeros((near.size, nears.size))
            for turn in (-sums[-1], 0.0, sums[-1]):
                loose = np.where(near <= nears + turn, ahead[0] + ahead[1], behind[0] + behind[1])
                mean = np.minimum(far, fars + turn) - np.maximum(near, nears + turn)
                shared += _overlap(mean, loose, np.zeros(nears.size))
        else:  # on a line, the window that begins first also ends first
            shared = _overlap(far - nears, *ahead)
            later = near + far > nears + fars
            if other is self:
                np.copyto(shared, shared.T.copy(), where=later)
            else:
                np.copyto(shared, _overlap(fars - near, *behind), where=later)
        if other is self:  # two values of the same bin: the mean of the earlier end, less the later start
            count = begin.shape[1]
            weight = (2.0 * np.arange(count) + 1.0) / count**2
            own = np.sort(end, axis=1) @ weight[::-1] - np.sort(begin, axis=1) @ weight
            np.fill_diagonal(shared, np.diagonal(shared) - (far - near)[:, 0] + own)
        high, low = self.contrast / self.width, (1.0 - self.contrast) / self.rows
        highs, lows = other.contrast / other.width, (1.0 - other.contrast) / other.rows
        shared *= high * highs
        shared += high * lows * (far - near) + low * lows * sums[-1]
        shared += low * highs * (fars - nears)
        return np.asarray(shared)

    def squares(self, weights: Floats) -> Floats:
        if self.starts.ndim > 1 or self.width < _NARROW:
            return super().squares(weights)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        begin, end = self._sums_at_ends(sums)
        high, low = self.contrast / self.width, (1.0 - self.contrast) / self.rows
        return np.asarray(high * (high + 2.0 * low) * (end - begin)[:, 0] + low**2 * sums[-1])

    def _sums_at_ends(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the sums of weights up to where windows begin, and up to where they end."""
        starts = self.starts.reshape(self.starts.shape[0], -1)
        if self.circular:
            starts = starts[:, :1] + (starts - starts[:, :1] + self.rows / 2.0) % self.rows - self.rows / 2.0
        rows = np.arange(self.rows + 1.0)

        def reach(points: Floats) -> Floats:
            if not self.circular:
                return np.asarray(np.interp(points, rows, sums))
            turns = np.floor(points / self.rows)
            return np.asarray(np.interp(points - turns * self.rows, rows, sums) + turns * sums[-1])

        return reach(starts), reach(starts + self.width)

    def counts(self, tally: Array) -> Floats:
        cells = tally.size // self.rows * self.rows  # the last entry may be a sum, see `LeadingBits`
        return np.asarray(tally[:cells].reshape(self.rows, -1).sum(axis=1), dtype=np.float64)

    def twins(self) -> Mask:
        starts = self.starts.reshape(self.starts.shape[0], -1)
        return np.asarray(
            (starts[1:] == starts[:-1, :1]).all(axis=1) & (starts[:-1] == starts[:-1, :1]).all(axis=1)
        )

    def spread(self, times: int) -> Windows:
        return replace(self, starts=self.starts.reshape(-1, times))


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """A dense matrix, for distributions without structure; `groups` are the first reports of its rows."""

    matrix: Floats
    groups: Indices

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return rows, columns

    def forward(self, inputs: Floats) -> Floats:
        return product(self.matrix, inputs)

    def backward(self, reports: Floats) -> Floats:
        return product(reports, self.matrix)

    def products(self, weights: Floats, other: Operator) -> Floats:
        return product((self.matrix * weights[:, None]).T, other._matrix)

    @cached_property
    def _matrix(self) -> Floats:
        return self.matrix

    def counts(self, tally: Array) -> Floats:
        return np.add.reduceat(tally, self.groups).astype(np.float64)

    def spread(self, times: int) -> Dense:
        return Dense(self.matrix.reshape(self.shape[0], -1, times).mean(axis=2), self.groups)

    def twins(self) -> Mask:
        return np.asarray((self.matrix[:, 1:] == self.matrix[:, :-1]).all(axis=0))


@dataclass(frozen=True, eq=False)
class Stacked(Operator):
    """A mixture of operators in which the report shows the component: their rows are stacked."""

    weights: tuple[float, ...]
    parts: tuple[Operator, ...]
    outcomes: tuple[int, ...]  # the length of each part of the counts

    @property
    def shape(self) -> tuple[int, int]:
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    def forward(self, inputs: Floats) -> Floats:
        shares = zip(self.weights, self.parts, strict=True)
        return np.concatenate([weight * part.forward(inputs) for weight, part in shares])

    def backward(self, reports: Floats) -> Floats:
        pieces = _split(reports, [part.shape[0] for part in self.parts])
        shares = zip(self.weights, self.parts, pieces, strict=True)
        return np.asarray(sum(weight * part.backward(piece) for weight, part, piece in shares))

    def products(self, weights: Floats, other: Operator) -> Floats:
        if not isinstance(other, Stacked):
            return super().products(weights, other)
        pieces = _split(weights, [part.shape[0] for part in self.parts])
        shares = zip(self.weights, other.weights, self.parts, other.parts, pieces, strict=True)
        return np.asarray(sum(a * b * part.products(piece, other) for a, b, part, other, piece in shares))

    def squares(self, weights: Floats) -> Floats:
        pieces = _split(weights, [part.shape[0] for part in self.parts])
        shares = zip(self.weights, self.parts, pieces, strict=True)
        return np.asarray(sum(weight**2 * part.squares(piece) for weight, part, piece in shares))

    def counts(self, tally: Array) -> Floats:
        pieces = _split(tally, self.outcomes)
        return np.concatenate([part.counts(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def twins(self) -> Mask:
        used = [part.twins() for weight, part in zip(self.weights, self.parts, strict=True) if weight > 0.0]
        return np.asarray(np.logical_and.reduce(used))

    def spread(self, times: int) -> Stacked:
        return replace(self, parts=tuple(part.spread(times) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Product(Operator):
    """Two coordinates that are reported independently: the Kronecker product of two small matrices."""

    first: Floats
    second: Floats

    @property
    def shape(self) -> tuple[int, int]:
        (a, b), (c, d) = self.first.shape, self.second.shape
        return a * c, b * d

    def forward(self, inputs: Floats) -> Floats:
        table = inputs.reshape(self.first.shape[1], self.second.shape[1])
        return product(product(self.first, table), self.second.T).reshape(-1)

    def backward(self, reports: Floats) -> Floats:
        table = reports.reshape(self.first.shape[0], self.second.shape[0])
        return product(product(self.first.T, table), self.second).reshape(-1)

    def counts(self, tally: Array) -> Floats:
        return np.asarray(tally, dtype=np.float64)

    def spread(self, times: int) -> Product:
        table = self.second.reshape(len(self.second), -1, times)
        return Product(self.first, table.mean(axis=2))

    def twins(self) -> Mask:
        return np.zeros(self.shape[1] - 1, dtype=np.bool_)


def _loose(points: Floats) -> Floats:
    """Return the range of the positions of the windows of a bin."""
    count = points.shape[1]
    return np.asarray((points.max(axis=1) - points.min(axis=1)) * (count / max(count - 1, 1)))


def _overlap(mean: Floats, first: Floats, second: Floats) -> Floats:
    """Return the mean overlap of two windows from the mean of its signed length.

    `first` and `second` are the ranges of the two ends. The length varies by up to ± their mean h with a
    triangular distribution. This matters where windows just touch: E[max(d, 0)] = max(m, 0) + (h −
    |m|)³/(6h²).
    """
    most = (float(first.max()) + float(second.max())) / 2.0
    touching = np.flatnonzero(np.abs(mean) < most)
    found = np.maximum(mean, 0.0)
    if touching.size:
        row, column = np.divmod(touching, mean.shape[1])
        loose = (first[row, column % first.shape[1]] + second[column]) / 2.0
        short = np.maximum(loose - np.abs(mean[row, column]), 0.0)
        found[row, column] += short * (short / np.maximum(loose, 1e-300)) ** 2 / 6.0
    return found


def _split(vector: Array, lengths: Sequence[int]) -> list[Array]:
    return np.split(vector, np.cumsum(lengths)[:-1])
