"""Origin–destination counts, from the first and the last location of each path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.arrays import Array, Floats, Mask
from dither.domains import Paths, Rectangle
from dither.errors import InvalidParameter, found
from dither.estimation.estimate import thousands
from dither.kernels.transition import Operator
from dither.maps.density import Sample, cells_of, density, flat, grid_of, likelihoods, scaled, summed, told
from dither.numerics.matrices import product
from dither.post_processing import Snapped
from dither.privacy import Guarantee
from dither.reports import Reports

_MOST_SIDE: Final = 8
_FINER: Final = 6  # the least number of cells a side on which flows are fitted
_WITHIN: Final = 2  # cells along the side of one of those, for the distribution of locations inside it
_RESAMPLES: Final = 16


@dataclass(frozen=True, eq=False)
class Flows:
    """How many paths go from each cell of a grid to each: `counts[a, b]`, cells counted column by column.

    `standard_errors` are found by resampling paths; they are too small for counts that are estimated as 0.
    They are 0 if paths were counted without noise.
    """

    grid: Rectangle
    columns: int
    rows: int
    counts: Floats
    standard_errors: Floats
    paths: int
    guarantee: Guarantee | None = None

    def cell(self, place: object) -> int:
        """Return the number of the cell in which a place lies."""
        return int(Snapped(self.grid, self.columns, self.rows).numbers(self.grid.check(place)))

    def __repr__(self) -> str:
        return f"Flows({self.columns} × {self.rows} cells of {self.grid}, {thousands(self.paths)} paths)"


def flows_between(paths: object, area: Rectangle, columns: int = 4, rows: int = 4) -> Flows:
    """Return the counts of origins and destinations of the paths as given, without correcting for noise."""
    own = Paths.of(paths)
    cells = _checked(columns, rows)
    snapped = Snapped(area, columns, rows)
    first, last = (
        snapped.numbers(own.points[own.offsets[:-1]]),
        snapped.numbers(own.points[own.offsets[1:] - 1]),
    )
    counts = np.bincount(first * cells + last, minlength=cells * cells).reshape(cells, cells)
    return Flows(area, columns, rows, counts.astype(np.float64), np.zeros(counts.shape), len(own))


def flows(reports: Reports, columns: int = 4, rows: int = 4) -> Flows:
    """Estimate how many paths go from each cell to each, by maximum likelihood.

    Paths of one location are left out. The grid must be coarse: there are cells × cells counts. They are
    fitted on a finer grid of at least six cells a side, inside whose cells origins and destinations are
    assumed to be distributed as all locations are; that can bias counts by a part of their standard error.
    """
    mechanism, _ = told(reports)
    _checked(columns, rows)
    begins = np.flatnonzero(flat(reports, mechanism)[:, 0])
    ends = np.append(begins[1:], mechanism.counting.answers(reports.cells)) - 1
    going = ends > begins
    total = int(going.sum())
    if not total:
        raise InvalidParameter("no path has two locations, so there are no flows")
    grid = grid_of(mechanism)
    fine = [count * -(-_FINER // count) for count in (columns, rows)]
    within = density(reports, *(_WITHIN * count for count in fine)).probabilities
    within = np.maximum(within, 1e-3 / within.size)
    spots = cells_of(grid, *within.shape)
    first, last = (
        scaled(_weighed(likelihoods(reports, spots, some[going]), within, fine)) for some in (begins, ends)
    )
    law = EndpointPairs(first, last)
    sample = Sample(law, np.arange(total), np.arange(total), mechanism.guarantee)

    def found(weights: Floats, start: Floats) -> Floats:
        return sample.likeliest(weights, start, tolerance=1.0, most=200)

    best = found(np.ones(total), np.full(law.shape[1], 1.0 / law.shape[1]))
    again = [found(weights, best) for weights in sample.drawn_again(_RESAMPLES)]
    counts, *others = (total * _gathered(one, fine, columns, rows) for one in (best, *again))
    errors = np.std(others, axis=0, ddof=1)
    return Flows(grid, columns, rows, counts, errors, total, mechanism.guarantee)


@dataclass(frozen=True, eq=False)
class EndpointPairs(Operator):
    """The likelihood of two reports of one path, independent given its two cells; a row for each path."""

    first: Floats
    last: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.first), self.first.shape[1] * self.last.shape[1]

    def forward(self, inputs: Floats) -> Floats:
        table = inputs.reshape(self.first.shape[1], self.last.shape[1])
        return np.asarray((product(self.first, table) * self.last).sum(axis=1))

    def backward(self, reports: Floats) -> Floats:
        return product(self.first.T, reports[:, None] * self.last).reshape(-1)

    def counts(self, tally: Array) -> Floats:
        return np.asarray(tally, dtype=np.float64)

    def spread(self, times: int) -> EndpointPairs:
        table = self.last.reshape(len(self.last), -1, times)
        return EndpointPairs(self.first, table.mean(axis=2))

    def twins(self) -> Mask:
        return np.zeros(self.shape[1] - 1, dtype=np.bool_)


def _weighed(chance: Floats, weights: Floats, fine: list[int]) -> Floats:
    """Return the probability of each report in each cell, from those in the cells of a finer grid."""
    shape = fine[0], fine[1]
    weighed = summed((chance * weights.reshape(-1)).reshape(len(chance), *weights.shape), shape)
    return np.asarray(weighed / summed(weights, shape)).reshape(len(chance), -1)


def _gathered(pairs: Floats, fine: list[int], columns: int, rows: int) -> Floats:
    """Return the flows between cells, summed from those between the cells of a finer grid."""
    table = pairs.reshape(fine[0] * fine[1], *fine)
    ends = summed(table, (columns, rows)).reshape(*fine, columns * rows)
    return summed(ends.transpose(2, 0, 1), (columns, rows)).reshape(-1, columns * rows).T


def _checked(columns: int, rows: int) -> int:
    for count in (columns, rows):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_SIDE:
            raise InvalidParameter(
                f"flows are counted on a grid of 1 to {_MOST_SIDE} cells a side, not {found(count)}"
            )
    return columns * rows
