"""Densities, flows and synthetic paths of the nearest public paths, from reports of complete paths.

A report follows from the public path nearest to a person's own. So the shares of people next to each public
path are estimated without bias. The same holds for every sum over public paths, such as the number of paths
through a cell, or from one cell to another. Reports do not show how a person's path differs from the public
path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from dither.core.counts import Counts, summarise
from dither.core.domains import Paths, Rectangle, Routes
from dither.core.kernels.places.routes import RouteKernel
from dither.core.post_processing import Snapped
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.frequency_interval import ScoreInterval
from dither.estimation.intervals import ConfidenceInterval, StudentInterval
from dither.estimation.matrices import moments_of, table_frequencies
from dither.estimation.rounding import SHARE, thousands
from dither.foundation.arrays import Floats, Integers, Mask
from dither.foundation.randomness import SYSTEM, Source
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def centres(grid: Rectangle, columns: int, rows: int) -> Floats:
    """Return the middles of the cells of a grid, column by column."""
    x = grid.x.from_unit((np.arange(columns) + 0.5) / columns)
    y = grid.y.from_unit((np.arange(rows) + 0.5) / rows)
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)


def check_part(part: object) -> None:
    """Raise InvalidParameter unless a part of a map is a rectangle."""
    if not isinstance(part, Rectangle):
        raise InvalidParameter(f"expected a part of the map to be a dt.Rectangle, got {type(part).__name__}")


def is_of_routes(reports: object) -> bool:
    """Return whether these are reports of complete paths, or counts of them."""
    return isinstance(reports, Reports | Counts) and isinstance(reports.question.kernel, RouteKernel)


@dataclass(frozen=True, eq=False)
class NearestPaths:
    """The counts of the public paths nearest to people's own paths, for shares of any of them."""

    summary: Counts

    @staticmethod
    def of(reports: Reports | Counts) -> NearestPaths:
        """Return the counts of reports of complete paths; raise NotIdentifiable without reports."""
        summary = summarise(reports)
        if not summary.n:
            raise NotIdentifiable("expected at least one report of a public path, got 0")
        return NearestPaths(summary)

    @property
    def kernel(self) -> RouteKernel:
        """The integers of the question, with the public paths."""
        kernel: RouteKernel = self.summary.question.kernel
        return kernel

    @property
    def routes(self) -> Routes:
        """The domain of the paths."""
        return self.kernel.routes

    @property
    def axes(self) -> tuple[str, str]:
        """The names of the coordinates, with their units."""
        box = self.routes.area.box
        first, second = (f" ({side.unit})" if side.unit else "" for side in (box.x, box.y))
        return f"x{first}", f"y{second}"

    @cached_property
    def paths(self) -> Floats:
        """The public paths, of shape (N, points, 2)."""
        return self.routes.places(self.kernel.paths)

    def shares(self, chosen: Mask) -> Estimate:
        """Estimate the share of people next to any of the chosen public paths; rows are several shares.

        With K = 1 the number of reports among the chosen ones is binomial, and the interval is the score
        interval of that number. Otherwise it is the interval of an average.
        """
        summary, rates = self.summary, self.kernel.rates
        if rates is None:
            return self.average(chosen.astype(np.float64))
        own, other = (float(rate) for rate in rates)
        least = chosen.sum(axis=-1) * other
        reported = np.asarray(chosen @ summary.counts / summary.n)
        mean = np.clip(reported, least, least + own - other)
        error = np.sqrt(mean * (1.0 - mean) / summary.n) / (own - other)
        interval = ScoreInterval(reported[()], cast(float, least), own - other, summary.n, error[()])
        return self._estimate((reported - least) / (own - other), error, interval)

    def average(self, numbers: Floats) -> Estimate:
        """Estimate the mean of a number ≥ 0 of the nearest public path; rows are several numbers.

        With K = 1 the interval is a score interval: the variance follows from the hypothetical mean m of the
        number in a report. If its mean square is ρ·m, ρ being the same for all m, m/ρ has the variance of a
        binomial share. ρ is computed from the reports and one more report, at the mean of the numbers that
        are not 0.
        """
        summary, rates = self.summary, self.kernel.rates
        if rates is not None:
            own, other = (float(rate) for rate in rates)
            typical = numbers.sum(axis=-1) / np.maximum((numbers > 0.0).sum(axis=-1), 1)
            total = numbers @ summary.counts
            square = (numbers**2) @ summary.counts + typical**2
            ratio = np.where(typical > 0.0, square / np.where(typical > 0.0, total + typical, 1.0), 1.0)
            least, reported = numbers.sum(axis=-1) * other, np.asarray(total / summary.n)
            mean = np.maximum(reported, least)
            error = np.sqrt(np.maximum(mean * ratio - mean**2, 0.0) / summary.n) / (own - other)
            ends = cast(float, least / ratio), cast(float, (own - other) / ratio)
            score = ScoreInterval((reported / ratio)[()], *ends, summary.n, error[()])
            return self._estimate((reported - least) / (own - other), error, score)
        table = np.atleast_2d(numbers) @ self.kernel.shares_reading.table
        value, error, skew = moments_of(table, summary.counts, summary.n)
        if numbers.ndim == 1:
            value, error, skew = value[0], error[0], skew[0]
        return self._estimate(value, error, StudentInterval(value, error, summary.n, skew))

    def _estimate(self, value: Floats, error: Floats, interval: ConfidenceInterval) -> Estimate:
        summary = self.summary
        return Estimate(
            value[()],
            error[()],
            summary.n,
            summary.question.guarantee,
            confidence=interval,
            limits=SHARE,
            people=summary.people,
        )

    def cells(self, grid: Rectangle, columns: int, rows: int) -> Integers:
        """Return the index of the cell of each point of each public path, in column-major order."""
        return Snapped(grid, columns, rows).numbers(self.paths)


@dataclass(frozen=True, eq=False, repr=False)
class PathDensity(Tabular):
    """The share of people whose nearest public path passes each cell of a grid: `passing`, with intervals.

    `probabilities[i, j]` is the share of the places of nearest public paths in column i, row j. Both are
    about public paths. A person whose path is unlike all public paths is still counted at the nearest one.
    """

    counts: NearestPaths
    grid: Rectangle
    columns: int
    rows: int
    axes: tuple[str, str] = ("x", "y")  # the names of the coordinates, with their units

    counted: ClassVar[str] = "complete paths, each read as its nearest public path"

    @property
    def n(self) -> int:
        """The number of reported paths."""
        return self.counts.summary.n

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that made the reports, for one complete path."""
        guarantee: Guarantee = self.counts.summary.question.guarantee
        return guarantee

    @cached_property
    def _visits(self) -> Floats:
        """Return the share of the places of each public path (rows) in each cell (columns)."""
        cells = self.counts.cells(self.grid, self.columns, self.rows)
        visits = np.zeros((len(cells), self.columns * self.rows))
        for locations in cells.T:
            visits[np.arange(len(cells)), locations] += 1.0 / cells.shape[1]
        return visits

    @cached_property
    def passing(self) -> Estimate:
        """The share of people whose nearest public path has a place in each cell, column by column."""
        return self.counts.shares((self._visits > 0.0).T)

    @cached_property
    def _occupied(self) -> Estimate:
        return self.counts.average(self._visits.T)

    @property
    def probabilities(self) -> Floats:
        """The unbiased share of the places of nearest public paths in each cell; they sum to 1."""
        return np.reshape(np.asarray(self._occupied.value), (self.columns, self.rows))

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each cell's share of places."""
        return np.reshape(np.asarray(self._occupied.standard_error), (self.columns, self.rows))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the lower and the upper ends of the intervals of the cells' shares of places."""
        shape = self.columns, self.rows
        low, high = self._occupied.interval(level)
        return np.reshape(np.asarray(low), shape), np.reshape(np.asarray(high), shape)

    def share(self, part: Rectangle) -> Estimate:
        """Estimate the share of people whose nearest public path has a place in a rectangle."""
        check_part(part)
        low, high = ([part.x.low, part.y.low], [part.x.high, part.y.high])
        inside = np.all((self.counts.paths >= low) & (self.counts.paths <= high), axis=2)
        return self.counts.shares(np.any(inside, axis=1))

    def records(self) -> list[Row]:
        """Return a row for each cell: its middle, the share of people who pass, the share of places."""
        middles = centres(self.grid, self.columns, self.rows).tolist()
        low, high = self.passing.interval()
        return [
            {"x": x, "y": y, "value": share, "low": least, "high": most, "places": locations}
            for (x, y), share, least, most, locations in zip(
                middles,
                np.asarray(self.passing.value).tolist(),
                np.asarray(low).tolist(),
                np.asarray(high).tolist(),
                self.probabilities.reshape(-1).tolist(),
                strict=True,
            )
        ]

    def plot(
        self,
        *,
        places: Mapping[str, tuple[float, float]] | None = None,
        title: str = "",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the shares of places on `ax`, with `places` marked by their names; needs the extra `plot`."""
        from dither.estimation.maps.plotting import draw_density

        return draw_density(self, places=places or {}, title=title, ax=ax)

    def __repr__(self) -> str:
        return (
            f"PathDensity({self.columns} × {self.rows} cells of {self.grid}, of the nearest of "
            f"{self.counts.kernel.outcomes} public paths, n = {thousands(self.n)} complete paths)"
        )


def density_of_routes(reports: Reports | Counts, columns: int, rows: int) -> PathDensity:
    """Return the density of the nearest public paths on a grid over the area."""
    counts = NearestPaths.of(reports)
    return PathDensity(counts, counts.routes.area.box, columns, rows, counts.axes)


def ends_of_routes(counts: NearestPaths, columns: int, rows: int) -> Estimate:
    """Return the share of people whose nearest public path goes from each cell to each cell, row by row."""
    cells = counts.cells(counts.routes.area.box, columns, rows)
    size = columns * rows
    pair = cells[:, 0] * size + cells[:, -1]
    return counts.shares(pair == np.arange(size * size)[:, None])


def synthesise_routes(reports: Reports | Counts, n: int, source: Source | None) -> Paths:
    """Draw n of the public paths, as often as people are next to each, by the projected frequencies."""
    counts = NearestPaths.of(reports)
    shares = np.asarray(table_frequencies(counts.summary).projected("simplex").value)
    parts = np.rint(shares / shares.max() * (1 << 40)).astype(np.int64)
    drawn = (SYSTEM if source is None else source).choices([int(part) for part in parts], n)
    size = counts.routes.points
    return Paths(counts.paths[drawn].reshape(-1, 2), np.arange(n + 1) * size)
