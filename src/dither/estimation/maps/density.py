"""Density maps by maximum likelihood, and shares of areas with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dither.core.counts import Counts
from dither.core.domains import Paths, Rectangle, Sphere
from dither.core.domains.domain import Interval
from dither.core.kernels.transition import Dense, Operator
from dither.core.question.paths import PathQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, found
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood import (
    DIP,
    ProfileInterval,
    Relaxed,
    climb,
    mean_quantity,
    mistakes_of,
    profile_estimate,
    smooth,
)
from dither.estimation.maps.routes import PathDensity, centres, check_part, density_of_routes, is_of_routes
from dither.estimation.rounding import SHARE, thousands
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.numerics.matrices import dot, product
from dither.foundation.randomness import Seeded
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST: Final = 1 << 25  # likelihoods held at once
_BLOCK: Final = 1 << 17


class Part(NamedTuple):
    """Locations that share a mechanism, with the mechanism; paths are not divided."""

    mechanism: PathQuestion
    rows: Integers


def question_and_parts(reports: Reports) -> tuple[PathQuestion, list[Part]]:
    """Return the path mechanism of reports and their parts, one for each length if ε is divided by length."""
    if not isinstance(reports, Reports) or not isinstance(reports.question, PathQuestion):
        made = reports.question.name if isinstance(reports, Reports) else type(reports).__name__
        raise InvalidParameter(
            f"expected reports of a path mechanism, such as dt.TraCSC, got reports of {made}; for several "
            "numbers use dt.maps.joint"
        )
    mechanism = reports.question
    begins = flat(reports, mechanism)[:, 0] != 0
    if not begins.size:
        raise InvalidParameter("expected at least one report, got 0")
    every = np.arange(begins.size)
    paths = Paths.split(np.zeros((begins.size, 2)), begins)
    return mechanism, [Part(design, every[rows]) for design, _, rows in mechanism.split(paths)]


def flat(reports: Reports, mechanism: PathQuestion) -> Array:
    """Return reports as rows, one a location."""
    return reports.cells.reshape(-1, 1 + mechanism.columns)


def likelihoods(reports: Reports, cells: Floats, wanted: Integers | None = None) -> Floats:
    """Return the probability of each report in each cell, a row for each report, up to a factor of the row.

    A cell is represented by a few points of equal weight. `wanted` selects locations, by default all.
    """
    mechanism, parts = question_and_parts(reports)
    every = flat(reports, mechanism)
    chosen = np.arange(len(every)) if wanted is None else wanted
    if chosen.size * len(cells) > _MOST:
        raise InvalidParameter(
            f"expected at most {_MOST // len(cells)} reports of {mechanism.name} for this grid, got "
            f"{chosen.size}; use a coarser grid (maps of TraCSC on a rectangle take any number)"
        )
    found = np.empty((chosen.size, len(cells)))
    size = max(1, _BLOCK // (cells.size // 2))
    for single, rows in parts:
        likelihood = single.likelihood(cells).of(every[rows])
        kept, inner = np.flatnonzero(np.isin(chosen, rows)), np.searchsorted(rows, chosen)
        for begin in range(0, kept.size, size):
            to = kept[begin : begin + size]
            found[to] = likelihood(inner[to])
    return found


def profiled_share(sample: Sample, weight: Floats, shares: Floats) -> Estimate:
    """Return the share of a part with a profile likelihood interval; `weight` is each cell's part in it.

    The likelihood treats locations as independent, although the locations of one path are not. So the counts
    are divided by the ratio of the score's variance over paths to its variance over independent locations.
    """
    counts = sample.row_counts(np.ones(sample.whose.size)) / clustering(sample, weight, shares)
    if sample.spare is None:
        relaxed = Relaxed.of(sample.law, counts)
    else:
        inside = sample.law.backward(np.ones(counts.size)) > 0.0  # a map covers more than a disk
        weight = weight[inside]
        relaxed = relaxed_by(sample.law.dense()[:, inside], counts, sample.spare[:, inside])
    value = min(max(float(weight @ relaxed.probabilities), 0.0), 1.0)
    interval = ProfileInterval(value, relaxed, mean_quantity(weight, 0.0, 1.0), 0.0)
    found = profile_estimate(value, sample.whose.size, sample.guarantee, interval)
    return replace(found, limits=SHARE)


def relaxed_by(laws: Floats, counts: Floats, spare: Floats) -> Relaxed:
    """Fit reports that each have their own distribution, with pseudo-counts of evenly spread people.

    The pseudo-counts are shared by the reports of such people, whose likelihoods are the rows of `spare`.
    The χ² distances of the cells are averages over them: E[r_i·r_j] − 1, r being a likelihood relative to the
    mean over the cells.
    """
    ratio = spare / spare.mean(axis=1, keepdims=True)
    distances = product(ratio.T, ratio) / len(ratio) - 1.0
    n, cells = float(counts.sum()), laws.shape[1]
    added = min(DIP * math.sqrt(n) * mistakes_of(distances), n)
    every = np.concatenate([laws, spare])
    weights = np.concatenate([counts, np.full(len(spare), added / len(spare))])
    fit = climb(Dense(every, np.arange(len(every))), weights, np.full(cells, 1.0 / cells))
    return Relaxed(fit, added / (n + added))


def clustering(sample: Sample, weight: Floats, shares: Floats) -> float:
    """Return the variance of the score over paths, relative to independent locations; at least 1."""
    change = shares * (weight - weight @ shares)
    score = (sample.law.forward(change) / np.maximum(sample.law.forward(shares), 1e-300))[sample.rows]
    score = score - score.mean()
    alone = dot(score, score)
    together = float(np.square(np.bincount(sample.whose, score)).sum())
    return max(together / alone, 1.0) if alone > 0.0 else 1.0


_ACROSS: Final = 3  # points along each side of a cell, if every report has its own likelihood
_MOST_BINS: Final = 256
_FINE: Final = 32
_FINE_EACH: Final = 16  # least number of cells along each side of such a fit
# Largest number of likelihoods of such a fit; a larger map is fitted on its own grid.
_MOST_FINE: Final = 1 << 24
_SPARE: Final = 2000  # number of locations for pseudo-counts
_SMOOTHING: Final = 0.01
_SHARES: Final = (0.0003, 0.001, 0.003, 0.01, 0.03)  # candidates for the share of smoothing
_RESAMPLES: Final = 20
_STEPS: Final = 300  # steps of EM from one maximum to the nearby one of a resample


@dataclass(frozen=True, eq=False, repr=False)
class DensityMap(Tabular):
    """The share of locations in each cell of a grid over an area; `probabilities[i, j]` is column i, row j.

    `share` estimates the share of a part of the area, by likelihood and without smoothing. Its interval is a
    profile likelihood interval; the locations of one path are not independent and count as fewer.
    """

    grid: Rectangle
    probabilities: Floats
    fine: Floats  # the shares on the finer grid of the maximum-likelihood map
    sample: Sample
    finer: Callable[[tuple[int, int]], Sample] | None = None
    axes: tuple[str, str] = ("x", "y")  # the names of the coordinates, with their units

    counted: ClassVar[str] = "locations"

    @property
    def n(self) -> int:
        """The number of reported locations."""
        return self.sample.whose.size

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that made the reports."""
        return self.sample.guarantee

    @cached_property
    def _likeliest(self) -> Floats:
        """The maximum-likelihood maps of the data and of the resamples."""
        first = self.sample.likeliest(np.ones(self.n), self.fine.reshape(-1))
        drawn = [
            self.sample.likeliest(weights, first, most=_STEPS)
            for weights in self.sample.drawn_again(_RESAMPLES)
        ]
        return np.stack([first, *drawn]).reshape(-1, *self.fine.shape)

    def share(self, part: Rectangle) -> Estimate:
        """Estimate the share of locations in a rectangle; a cell that it cuts counts in proportion."""
        check_part(part)
        sample, fine = self._for_shares
        columns, rows = fine.shape
        weight = np.outer(_overlap(self.grid.x, part.x, columns), _overlap(self.grid.y, part.y, rows))
        return profiled_share(sample, weight.reshape(-1), fine.reshape(-1))

    @cached_property
    def _for_shares(self) -> tuple[Sample, Floats]:
        """The sample on a grid of at least 16 cells a side, if memory allows it, and the map on it."""
        if self.finer is None:
            return self.sample, self.fine
        shape = self.fine.shape
        times = _times(_FINE_EACH, *shape)
        if self.n * shape[0] * times[0] * shape[1] * times[1] > _MOST_FINE:
            times = (1, 1)
        fine = np.kron(self.fine, np.full(times, 1.0 / (times[0] * times[1])))
        return self.finer((shape[0] * times[0], shape[1] * times[1])), fine

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each cell in the maximum-likelihood map; the smoothed map varies less."""
        maps = sum_cells(self._likeliest[1:], self.probabilities.shape)
        return np.asarray(maps.std(axis=0, ddof=1))

    def records(self) -> list[Row]:
        """Return a row for each cell: its middle, and the share of locations in it."""
        middles = centres(self.grid, *self.probabilities.shape).tolist()
        return [
            {"x": x, "y": y, "value": share}
            for (x, y), share in zip(middles, self.probabilities.reshape(-1).tolist(), strict=True)
        ]

    def plot(
        self,
        *,
        places: Mapping[str, tuple[float, float]] | None = None,
        title: str = "",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the map on `ax`, with `places` marked by their names; needs the extra `plot`."""
        from dither.estimation.maps.plotting import draw_density

        return draw_density(self, places=places or {}, title=title, ax=ax)

    def __repr__(self) -> str:
        columns, rows = self.probabilities.shape
        return f"DensityMap({columns} × {rows} cells of {self.grid}, n = {thousands(self.n)})"


@dataclass(frozen=True, eq=False)
class Sample:
    """The distribution of reports on a grid, and the row and the path of each location.

    If every report has its own distribution, `spare` are the likelihoods of reports of evenly spread people.
    """

    law: Operator
    rows: Integers
    whose: Integers
    guarantee: Guarantee
    spare: Floats | None = None

    def row_counts(self, weights: Floats) -> Floats:
        """Return the weighted count of each row."""
        return np.asarray(np.bincount(self.rows, weights, self.law.shape[0]), dtype=np.float64)

    def likeliest(self, weights: Floats, start: Floats, tolerance: float = 0.1, most: int = 1_000) -> Floats:
        """Return the maximum-likelihood probabilities of the cells if locations have weights."""
        begin = np.maximum(start, 1e-6 / start.size)  # EM never moves a probability away from 0
        fit = climb(self.law, self.row_counts(weights), begin / begin.sum(), tolerance=tolerance, most=most)
        return fit.probabilities

    def drawn_again(self, times: int) -> Iterator[Floats]:
        """Return the weights of locations in bootstrap samples: each path has a Poisson(1) weight."""
        source, paths = Seeded(3), int(self.whose[-1]) + 1
        ends = np.cumsum([np.exp(-1.0) / factorial for factorial in (1, 1, 2, 6, 24, 120, 720)])
        for _ in range(times):
            uniform = (source.words(paths) >> np.uint64(11)) / 2.0**53
            yield np.searchsorted(ends, uniform)[self.whose].astype(np.float64)


def density(
    reports: Reports | Counts,
    columns: int = 32,
    rows: int = 32,
    *,
    smoothing: float | Literal["measured"] | None = None,
) -> DensityMap | PathDensity:
    """Estimate how locations are distributed over a grid; for complete paths, the nearest public paths.

    After each step of EM a share `smoothing` of each cell goes to its neighbours; with 0 the result is the
    spiky maximum-likelihood map. "measured" takes the share for which one half of the paths best predicts the
    reports of the other half; it is the default for reports of `dt.Optimal`, and 0.01 for others. For
    `dt.Optimal` and TraCS-C the distribution of a report is a table or a product. So the running time does
    not depend on the number of reports, and the fit uses at least 32 cells a side. For other mechanisms every
    report has its own distribution, and shares of parts are estimated on at least 16 cells a side. With OGPM
    inside, locations near the border are not identifiable; use `dt.TraCSC(area, epsilon=…, inner=dt.SW)`.
    """
    _check(columns, rows, smoothing)
    if is_of_routes(reports):
        if smoothing is not None:
            raise InvalidParameter(
                "expected no smoothing for the density of nearest public paths; leave smoothing out"
            )
        return density_of_routes(reports, columns, rows)
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            "expected the reports themselves for a map of locations, got their counts; pass the reports"
        )
    mechanism, parts = question_and_parts(reports)
    grid = grid_of(mechanism)
    times = _times(_FINE, columns, rows)
    separable = mechanism.separable((columns * times[0], rows * times[1])) if len(parts) == 1 else None
    if separable is None:
        times = (1, 1)
    shape = columns * times[0], rows * times[1]
    inside = _inside(mechanism, grid, *shape)
    if separable is None:
        law: Operator = _each(reports, grid, shape, inside)
        locations = np.arange(law.shape[0])
    else:
        law, locations = separable.operator, separable.groups(flat(reports, mechanism))
    whose = np.cumsum(flat(reports, mechanism)[:, 0] != 0) - 1
    sample = Sample(law, locations, whose, mechanism.guarantee)
    counts = sample.row_counts(np.ones(whose.size))
    level = inside.reshape(-1) / inside.sum()
    finer_cells = times[0] * times[1]  # the same distance in the area for every grid
    if smoothing is None:
        few = separable is not None and isinstance(separable.operator, Dense)
        smoothing = "measured" if few else _SMOOTHING
    if smoothing == "measured":
        smoothing = measured_smoothing(sample, level, inside, finer_cells)
    if smoothing:
        best = smooth_map(law, counts, level, inside, smoothing * finer_cells)
    else:
        best = climb(law, counts, level, tolerance=1e-2, most=2_000).probabilities
    fine = best.reshape(shape)
    finer = partial(_on_grid, reports, grid, whose) if separable is None else None
    shown = sum_cells(fine, (columns, rows))
    return DensityMap(grid, shown, fine, sample, finer, axis_names(mechanism))


def smooth_map(law: Operator, counts: Floats, level: Floats, inside: Mask, share: float) -> Floats:
    """Return the shares of cells by EM, after each step of which a share of each goes to its neighbours."""
    mixed = min(1.0, share)

    def kernel(now: Floats) -> Floats:
        return (1.0 - mixed) * now + mixed * _spread(now, inside)

    return smooth(law, counts, level, kernel, tolerance=0.1).probabilities


def measured_smoothing(sample: Sample, level: Floats, inside: Mask, times: int) -> float:
    """Return the share with which either half of the paths predicts the other half's reports best."""
    first = (Seeded(5).words(int(sample.whose[-1]) + 1) & np.uint64(1)).astype(np.float64)[sample.whose]
    halves = [sample.row_counts(first), sample.row_counts(1.0 - first)]
    if not (halves[0].sum() and halves[1].sum()):
        return _SMOOTHING

    def predicts(share: float) -> float:
        total = 0.0
        for own, other in (halves, halves[::-1]):
            found = smooth_map(sample.law, own, level, inside, share * times)
            total += float(other @ np.log(np.maximum(sample.law.forward(found), 1e-300)))
        return total

    return max(_SHARES, key=predicts)


def _check(columns: int, rows: int, smoothing: object) -> None:
    for count in (columns, rows):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MOST_BINS:
            raise InvalidParameter(
                f"expected 1 to {_MOST_BINS} columns and rows of a map, got {found(count)}"
            )
    if smoothing is not None:
        check_smoothing(smoothing)


def check_smoothing(smoothing: object) -> None:
    """Raise InvalidParameter unless it is a share, or "measured"."""
    if smoothing == "measured":
        return
    if not (isinstance(smoothing, int | float) and 0.0 <= smoothing <= 1.0):
        raise InvalidParameter(
            f'expected smoothing to be a share from 0 to 1, or "measured", got {found(smoothing)}'
        )


def _each(reports: Reports, grid: Rectangle, shape: tuple[int, int], inside: Mask) -> Dense:
    """Return P(report | cell), a row for each report."""
    matrix = scale_rows(likelihoods(reports, cells_of(grid, *shape)) * inside.reshape(-1))
    return Dense(matrix, np.arange(len(matrix)))


def _times(least: int, columns: int, rows: int) -> tuple[int, int]:
    """Return the refinement of the fit's grid along both sides."""
    return -(-least // columns), -(-least // rows)


def _on_grid(reports: Reports, grid: Rectangle, whose: Integers, shape: tuple[int, int]) -> Sample:
    """Return the sample on another grid, with likelihoods of people who are spread evenly."""
    mechanism, _ = question_and_parts(reports)
    inside = _inside(mechanism, grid, *shape)
    law, spare = _each(reports, grid, shape, inside), _spare(reports, grid, shape, inside)
    return Sample(law, np.arange(law.shape[0]), whose, mechanism.guarantee, spare)


def _spare(reports: Reports, grid: Rectangle, shape: tuple[int, int], inside: Mask) -> Floats:
    """Return the likelihoods of reports of people who are spread evenly, on paths of the same lengths."""
    mechanism, _ = question_and_parts(reports)
    begins = flat(reports, mechanism)[:, 0] != 0
    begins = begins[: max(_SPARE, int(np.argmax(begins[1:])) + 1)]  # at least one path
    last = int(np.flatnonzero(begins)[-1])
    begins = begins[:last] if last >= _SPARE // 2 else begins
    random = np.random.default_rng(5)  # the added people are not secret, so a fixed seed is enough
    cell = random.choice(inside.size, begins.size, p=inside.reshape(-1) / inside.sum())
    corner = np.stack(np.divmod(cell, shape[1]), axis=1)
    unit = (corner + random.random((begins.size, 2))) / shape
    locations = np.stack([grid.x.from_unit(unit[:, 0]), grid.y.from_unit(unit[:, 1])], axis=1)
    paths = Paths.split(mechanism.domain.clip(locations), begins)
    return _each(reports.question.perturb(paths, source=Seeded(4)), grid, shape, inside).matrix


def scale_rows(found: Floats) -> Floats:
    """Return rows scaled to a largest entry of 1, against underflow; their factors do not matter."""
    return np.asarray(found / found.max(axis=1, keepdims=True))


def sum_cells(fine: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the sums of a finer grid's cells, in the last two axes, over the cells of a coarser one."""
    columns, rows = shape
    across, along = fine.shape[-2] // columns, fine.shape[-1] // rows
    return np.asarray(fine.reshape(*fine.shape[:-2], columns, across, rows, along).sum(axis=(-3, -1)))


def grid_of(mechanism: PathQuestion) -> Rectangle:
    """Return the rectangle that a map covers."""
    box: Rectangle = mechanism.area.box
    return box


def axis_names(mechanism: PathQuestion) -> tuple[str, str]:
    """Return the names of the coordinates of a mechanism's area, with their units."""
    if isinstance(mechanism.area, Sphere):
        return "longitude (°)", "latitude (°)"
    grid = grid_of(mechanism)
    first, second = (f" ({side.unit})" if side.unit else "" for side in (grid.x, grid.y))
    return f"x{first}", f"y{second}"


def cells_of(grid: Rectangle, columns: int, rows: int) -> Floats:
    """Return the cells of a grid, column by column, as a few places each."""
    fine = centres(grid, columns * _ACROSS, rows * _ACROSS).reshape(columns, _ACROSS, rows, _ACROSS, 2)
    return fine.transpose(0, 2, 1, 3, 4).reshape(columns * rows, _ACROSS**2, 2)


def _inside(mechanism: PathQuestion, grid: Rectangle, columns: int, rows: int) -> Mask:
    middles = centres(grid, columns, rows)
    gap = np.abs(mechanism.domain.clip(middles) - middles).max(axis=1)
    return np.asarray((gap <= 1e-9 * max(grid.x.length, grid.y.length)).reshape(columns, rows))


def _spread(now: Floats, inside: Mask) -> Floats:
    """Average with neighbours, 1 : 2 : 1 along every side; at the border a cell is its own neighbour."""
    table = now.reshape(inside.shape)
    for _ in range(inside.ndim):
        padded = np.concatenate([table[:1], table, table[-1:]])
        table = np.moveaxis(0.5 * table + 0.25 * (padded[:-2] + padded[2:]), 0, -1)
    table = table * inside
    return np.asarray(table / table.sum()).reshape(-1)


def _overlap(side: Interval, part: Interval, count: int) -> Floats:
    edges = side.low + side.length * np.arange(count + 1) / count
    shared = np.minimum(edges[1:], part.high) - np.maximum(edges[:-1], part.low)
    return np.asarray(np.clip(shared / (side.length / count), 0.0, 1.0))
