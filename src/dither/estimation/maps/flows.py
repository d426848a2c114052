"""Origin–destination counts, from the first and the last location of each path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.core.counts import Counts
from dither.core.domains import Paths, Rectangle
from dither.core.kernels.transition import Operator
from dither.core.post_processing import Snapped
from dither.core.reports import Reports
from dither.errors import InvalidParameter, found
from dither.estimation.estimate import Estimate
from dither.estimation.maps.density import (
    Sample,
    axis_names,
    cells_of,
    density,
    flat,
    grid_of,
    likelihoods,
    question_and_parts,
    scale_rows,
    sum_cells,
)
from dither.estimation.maps.routes import (
    NearestPaths,
    centres,
    ends_of_routes,
    is_of_routes,
    synthesise_routes,
)
from dither.estimation.rounding import thousands
from dither.foundation.arrays import Array, Floats, Mask
from dither.foundation.numerics.distributions import student_t_quantile
from dither.foundation.numerics.matrices import product
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_SIDE: Final = 8
_FINER: Final = 6  # the least number of cells a side on which flows are fitted
_WITHIN: Final = 2  # cells along the side of one of those, for the distribution of locations inside it
_RESAMPLES_OF_FLOWS: Final = 16


@dataclass(frozen=True, eq=False, repr=False)
class Flows(Tabular):
    """The numbers of paths between the cells of a grid: `counts[a, b]`, cells in column-major order.

    `standard_errors` are found by resampling paths; they are too small for counts that are estimated as 0.
    They are 0 if paths were counted without noise. For complete paths (`dt.Routes`) the counts belong to
    the nearest public paths. They are unbiased (some may be negative), with valid errors and intervals.
    """

    grid: Rectangle
    columns: int
    rows: int
    counts: Floats
    standard_errors: Floats
    paths: int
    guarantee: Guarantee | None = None
    axes: tuple[str, str] = ("x", "y")  # the names of the coordinates, with their units
    shares: Estimate | None = None  # shares of all paths by pair, for nearest public paths

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the lower and the upper ends of the intervals of the counts."""
        if self.shares is None:
            reach = student_t_quantile(level) * self.standard_errors
            return self.counts - reach, self.counts + reach
        low, high = self.shares.interval(level)
        return np.reshape(low, self.counts.shape) * self.paths, np.reshape(
            high, self.counts.shape
        ) * self.paths

    def records(self) -> list[Row]:
        """Return a row for each pair of cells: their middles, the number of paths, its standard error."""
        middles = centres(self.grid, self.columns, self.rows).tolist()
        return [
            {"from x": a[0], "from y": a[1], "to x": b[0], "to y": b[1], "value": count, "error": error}
            for a, counts, errors in zip(
                middles, self.counts.tolist(), self.standard_errors.tolist(), strict=True
            )
            for b, count, error in zip(middles, counts, errors, strict=True)
        ]

    def plot(self, *, most: int = 12, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the `most` largest flows as arrows between cells; needs the extra `plot`."""
        from dither.estimation.maps.plotting import draw_flows

        return draw_flows(self, most=most, title=title, ax=ax)

    def cell(self, place: object) -> int:
        """Return the index of the cell that contains a location."""
        return int(Snapped(self.grid, self.columns, self.rows).numbers(self.grid.check(place)))

    def __repr__(self) -> str:
        return f"Flows({self.columns} × {self.rows} cells of {self.grid}, {thousands(self.paths)} paths)"


def flows_between(paths: object, area: Rectangle, columns: int = 4, rows: int = 4) -> Flows:
    """Return the counts of origins and destinations of the paths as given, without correcting for noise."""
    own = Paths.of(paths)
    cells = _check_grid(columns, rows)
    snapped = Snapped(area, columns, rows)
    first, last = (
        snapped.numbers(own.points[own.offsets[:-1]]),
        snapped.numbers(own.points[own.offsets[1:] - 1]),
    )
    counts = np.bincount(first * cells + last, minlength=cells * cells).reshape(cells, cells)
    return Flows(area, columns, rows, counts.astype(np.float64), np.zeros(counts.shape), len(own))


_MOST_DRAWN: Final = 10_000_000  # largest number of locations of synthetic paths


def synthesise(
    flows: Flows | Reports | Counts, n: int, *, length: int = 2, source: Source | None = None
) -> Paths:
    """Draw n synthetic paths whose origins and destinations follow the flows.

    A path begins and ends at uniformly drawn points of its two cells, and has `length` points at equal steps
    on the straight line between them. The paths have the same guarantee as the flows, for any n, because they
    are computed from the flows. They contain origins and destinations, but no information about the points
    between.

    From reports of complete paths (`dt.Routes`) the result is public paths with all their points, in
    proportion to the people nearest to them. `length` does not apply.

    >>> from dither import Rectangle, Seeded, Interval
    >>> city = Rectangle(Interval(0, 4), Interval(0, 4))
    >>> seen = flows_between([[(0.5, 0.5), (3.5, 3.5)], [(0.5, 3.5), (3.5, 0.5)]], city, 4, 4)
    >>> synthetic = synthesise(seen, 1_000, length=3, source=Seeded(1))
    >>> len(synthetic), bool((flows_between(synthetic, city).counts > 0).sum() == 2)
    (1000, True)
    """
    if isinstance(flows, Reports | Counts):
        if not is_of_routes(flows) or length != 2:
            raise InvalidParameter(
                "expected flows, as in synthesise(dt.maps.flows(reports), n), or reports on dt.Routes "
                "without length="
            )
        _check_numbers(n, 2)
        return synthesise_routes(flows, n, source)
    if not isinstance(flows, Flows):
        raise InvalidParameter(f"expected flows to be what dt.maps.flows returns, got {type(flows).__name__}")
    _check_numbers(n, length)
    weights = np.maximum(flows.counts, 0.0).reshape(-1)
    if not weights.any():
        raise InvalidParameter(
            "expected at least one flow above 0, got none; collect more reports, or use a coarser grid"
        )
    source = SYSTEM if source is None else source
    parts = np.rint(weights / weights.max() * (1 << 40)).astype(np.int64)
    drawn = source.choices([int(part) for part in parts], n)
    ends = np.stack(np.divmod(drawn, flows.columns * flows.rows), axis=1)  # the two cells of each path
    inside = (source.words(4 * n) >> np.uint64(11)).astype(np.float64).reshape(n, 2, 2) / (1 << 53)
    steps = np.stack(np.divmod(ends, flows.rows), axis=2) + inside
    low = np.array([flows.grid.x.low, flows.grid.y.low])
    size = np.array([flows.grid.x.length / flows.columns, flows.grid.y.length / flows.rows])
    first, last = (low + steps[:, end, None] * size for end in (0, 1))
    along = np.linspace(0.0, 1.0, length)[:, None]
    locations = np.clip(first + along * (last - first), low, [flows.grid.x.high, flows.grid.y.high])
    return Paths(locations.reshape(-1, 2), np.arange(n + 1) * length)


def _check_numbers(n: int, length: int) -> None:
    for name, number, least in (("n", n, 1), ("length", length, 2)):
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= _MOST_DRAWN:
            raise InvalidParameter(
                f"expected {name} to be an integer of at least {least}, got {found(number)}"
            )
    if n * length > _MOST_DRAWN:
        raise InvalidParameter(
            f"expected at most {_MOST_DRAWN} places in all, got {n} paths of {length} places; draw fewer "
            "paths"
        )


def flows(reports: Reports | Counts, columns: int = 4, rows: int = 4) -> Flows:
    """Estimate the number of paths between each pair of cells, by maximum likelihood.

    For complete paths (`dt.Routes`) the counts are of the nearest public paths, without bias.

    Paths of one location are left out. The grid must be coarse: there are cells × cells counts. They are
    fitted on a finer grid of at least six cells a side, inside whose cells origins and destinations are
    assumed to be distributed as all locations are; that can bias counts by a part of their standard error.
    """
    _check_grid(columns, rows)
    if is_of_routes(reports):
        return _flows_of_routes(NearestPaths.of(reports), columns, rows)
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            "expected the reports themselves for flows, because a summary has lost which reports are of one "
            "path"
        )
    mechanism, _ = question_and_parts(reports)
    begins = np.flatnonzero(flat(reports, mechanism)[:, 0])
    ends = np.append(begins[1:], mechanism.counting.answers(reports.cells)) - 1
    going = ends > begins
    total = int(going.sum())
    if not total:
        raise InvalidParameter("expected a path with at least two locations: flows are counts of moves")
    grid = grid_of(mechanism)
    fine = [count * -(-_FINER // count) for count in (columns, rows)]
    within = density(reports, *(_WITHIN * count for count in fine)).probabilities
    within = np.maximum(within, 1e-3 / within.size)
    spots = cells_of(grid, *within.shape)
    first, last = (
        scale_rows(_weigh(likelihoods(reports, spots, some[going]), within, fine)) for some in (begins, ends)
    )
    law = EndpointPairs(first, last)
    sample = Sample(law, np.arange(total), np.arange(total), mechanism.guarantee)

    def found(weights: Floats, start: Floats) -> Floats:
        return sample.likeliest(weights, start, tolerance=1.0, most=200)

    best = found(np.ones(total), np.full(law.shape[1], 1.0 / law.shape[1]))
    again = [found(weights, best) for weights in sample.drawn_again(_RESAMPLES_OF_FLOWS)]
    counts, *others = (total * _gather(estimate, fine, columns, rows) for estimate in (best, *again))
    errors = np.std(others, axis=0, ddof=1)
    return Flows(grid, columns, rows, counts, errors, total, mechanism.guarantee, axis_names(mechanism))


def _flows_of_routes(counts: NearestPaths, columns: int, rows: int) -> Flows:
    """Return the number of nearest public paths between each pair of cells."""
    shares = ends_of_routes(counts, columns, rows)
    size, n = columns * rows, shares.n
    values, errors = (
        np.reshape(np.asarray(part), (size, size)) * n for part in (shares.value, shares.standard_error)
    )
    box = counts.routes.area.box
    return Flows(box, columns, rows, values, errors, n, shares.guarantee, counts.axes, shares)


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


def _weigh(chance: Floats, weights: Floats, fine: list[int]) -> Floats:
    """Return the probability of each report in each cell, from the probabilities in a finer grid's cells."""
    shape = fine[0], fine[1]
    weighed = sum_cells((chance * weights.reshape(-1)).reshape(len(chance), *weights.shape), shape)
    return np.asarray(weighed / sum_cells(weights, shape)).reshape(len(chance), -1)


def _gather(pairs: Floats, fine: list[int], columns: int, rows: int) -> Floats:
    """Return the flows between cells, summed over the cells of a finer grid."""
    table = pairs.reshape(fine[0] * fine[1], *fine)
    ends = sum_cells(table, (columns, rows)).reshape(*fine, columns * rows)
    return sum_cells(ends.transpose(2, 0, 1), (columns, rows)).reshape(-1, columns * rows).T


def _check_grid(columns: int, rows: int) -> int:
    for count in (columns, rows):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_SIDE:
            raise InvalidParameter(
                f"expected flows to be counted on a grid of 1 to {_MOST_SIDE} cells a side, got "
                f"{found(count)}"
            )
    return columns * rows
