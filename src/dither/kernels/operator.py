"""From probabilities of inputs to probabilities of reports, and back: matrices that are applied, not written.

The columns are inputs, the rows are reports, or groups of neighbouring ones. A window makes each column a
constant plus one moving block, so that a product is one prefix sum: O(rows + columns), whatever the width.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_STARK: Final = 1.0 - 1e-9  # from this contrast on, rounding errors are as large as the rows without a window


class Operator(ABC):
    """The matrix P(report | input), known by its products with vectors."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many rows (reports) and columns (inputs) there are."""

    @abstractmethod
    def forward(self, inputs: Floats) -> Floats:
        """Give the probability of each report from a weight for each input: the matrix times a vector."""

    @abstractmethod
    def backward(self, reports: Floats) -> Floats:
        """Give the mean of a number per report for each input: the transposed matrix times a vector."""

    @abstractmethod
    def counts(self, tally: NDArray[Any]) -> Floats:
        """Give how often each row was reported, from a mechanism's tally."""

    @abstractmethod
    def twins(self) -> NDArray[np.bool_]:
        """Say for each input but the first whether its reports have the same law as the one before's."""

    def spread(self, times: int) -> Operator:
        """Give the operator of bins, each spread evenly over so many neighbouring inputs."""
        return self if times == 1 else Spread(self, times)

    @final
    def dense(self) -> Floats:
        """Write the matrix out: for small ones, and for tests."""
        return np.stack([self.forward(unit) for unit in np.eye(self.shape[1])], axis=1)


@final
@dataclass(frozen=True, eq=False)
class Windows(Operator):
    """Inputs whose reports are uniform with probability 1 − contrast, else uniform in a window.

    `starts` and `width` are counted in rows and need not be whole: a window that covers a part of a row has
    that part of the row's probability. This is also what rounding a start at random does.
    """

    starts: Floats
    width: float
    rows: int
    contrast: float
    circular: bool = False

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return self.rows, self.starts.size

    @property
    def _length(self) -> int:
        return 2 * self.rows if self.circular else self.rows

    @cached_property
    def _edges(self) -> tuple[Integers, Floats]:
        """The rows in which windows begin, then those in which they end, and the part of the row before."""
        edges = np.concatenate([self.starts, np.minimum(self.starts + self.width, self._length)])
        rows = np.floor(edges)
        return rows.astype(np.intp), edges - rows

    @cached_property
    def _places(self) -> Integers:
        rows, _ = self._edges
        return np.concatenate([rows, rows + 1])

    def forward(self, inputs: Floats) -> Floats:  # noqa: D102
        # A window begins with a step up, shared by two rows where it begins inside one, and ends with a step
        # down: scatter the steps, then add up.
        steps = np.empty((2, 2 * inputs.size))
        here, next_ = steps
        here[: inputs.size] = inputs
        np.negative(inputs, out=here[inputs.size :])
        np.multiply(here, self._edges[1], out=next_)
        here -= next_
        inside = np.asarray(np.bincount(self._places, steps.reshape(-1), self._length + 2), dtype=np.float64)
        np.add.accumulate(inside, out=inside)
        covered = inside[: self.rows]
        if self.circular:
            covered += inside[self.rows : self._length]
        if self.contrast > _STARK:
            np.maximum(covered, 0.0, out=covered)
        covered *= self.contrast / self.width
        covered += (1.0 - self.contrast) / self.rows * float(np.add.reduce(inputs))
        return covered

    def backward(self, reports: Floats) -> Floats:  # noqa: D102
        rows, before = self._edges
        padded, sums = np.empty(self._length + 1), np.empty(self._length + 2)
        padded[: self.rows] = reports
        if self.circular:
            padded[self.rows : -1] = reports
        padded[-1] = sums[0] = 0.0
        np.add.accumulate(padded, out=sums[1:])
        # The sum up to an edge: all rows before, and a part of the row it lies in.
        reached = padded.take(rows)
        reached *= before
        reached += sums.take(rows)
        window = reached[self.starts.size :] - reached[: self.starts.size]
        window *= self.contrast / self.width
        window += (1.0 - self.contrast) / self.rows * sums[self.rows]
        return window

    def counts(self, tally: NDArray[Any]) -> Floats:  # noqa: D102
        cells = tally.size // self.rows * self.rows  # a last entry may hold a sum, see `tally`
        return np.asarray(tally[:cells].reshape(self.rows, -1).sum(axis=1), dtype=np.float64)

    def twins(self) -> NDArray[np.bool_]:  # noqa: D102
        return np.asarray(np.diff(self.starts) == 0.0)


@final
@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """A matrix written out, for laws without a structure; `groups` are the first reports of its rows."""

    matrix: Floats
    groups: Integers

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        rows, columns = self.matrix.shape
        return rows, columns

    def forward(self, inputs: Floats) -> Floats:  # noqa: D102
        return self.matrix @ inputs

    def backward(self, reports: Floats) -> Floats:  # noqa: D102
        return reports @ self.matrix

    def counts(self, tally: NDArray[Any]) -> Floats:  # noqa: D102
        return np.add.reduceat(tally, self.groups).astype(np.float64)

    def spread(self, times: int) -> Dense:  # noqa: D102
        return Dense(self.matrix.reshape(self.shape[0], -1, times).mean(axis=2), self.groups)

    def twins(self) -> NDArray[np.bool_]:  # noqa: D102
        return np.asarray((self.matrix[:, 1:] == self.matrix[:, :-1]).all(axis=0))


@final
@dataclass(frozen=True, eq=False)
class Stacked(Operator):
    """One of several operators, chosen by a coin that the report shows: their rows one below the other."""

    weights: tuple[float, ...]
    parts: tuple[Operator, ...]
    outcomes: tuple[int, ...]  # how long each part of the tally is

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    def forward(self, inputs: Floats) -> Floats:  # noqa: D102
        shares = zip(self.weights, self.parts, strict=True)
        return np.concatenate([weight * part.forward(inputs) for weight, part in shares])

    def backward(self, reports: Floats) -> Floats:  # noqa: D102
        pieces = _split(reports, [part.shape[0] for part in self.parts])
        shares = zip(self.weights, self.parts, pieces, strict=True)
        return np.asarray(sum(weight * part.backward(piece) for weight, part, piece in shares))

    def counts(self, tally: NDArray[Any]) -> Floats:  # noqa: D102
        pieces = _split(tally, self.outcomes)
        return np.concatenate([part.counts(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def twins(self) -> NDArray[np.bool_]:  # noqa: D102
        used = [part.twins() for weight, part in zip(self.weights, self.parts, strict=True) if weight > 0.0]
        return np.asarray(np.logical_and.reduce(used))


@final
@dataclass(frozen=True, eq=False)
class Spread(Operator):
    """Bins of inputs, each spread evenly over `times` neighbouring inputs of another operator."""

    fine: Operator
    times: int

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        rows, columns = self.fine.shape
        return rows, columns // self.times

    def forward(self, inputs: Floats) -> Floats:  # noqa: D102
        return self.fine.forward(np.repeat(inputs / self.times, self.times))

    def backward(self, reports: Floats) -> Floats:  # noqa: D102
        return np.asarray(self.fine.backward(reports).reshape(-1, self.times).mean(axis=1))

    def counts(self, tally: NDArray[Any]) -> Floats:  # noqa: D102
        return self.fine.counts(tally)

    def twins(self) -> NDArray[np.bool_]:  # noqa: D102
        same = np.append(self.fine.twins(), True).reshape(-1, self.times)
        linked, inner = np.asarray(same.all(axis=1)), np.asarray(same[:, :-1].all(axis=1))
        return np.asarray(linked[:-1] & inner[1:])


def _split(vector: NDArray[Any], lengths: Sequence[int]) -> list[NDArray[Any]]:
    return np.split(vector, np.cumsum(lengths)[:-1])
