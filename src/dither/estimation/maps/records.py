"""The joint distribution of several numbers of a person, from reports of `dt.Optimal` on a `dt.Box`.

Tables are by likelihood, smoothed. Shares, means and correlations begin there, and are corrected by a step
that is linear in the reports: weights φ of the N numbers for which E[φ(report)] is nearly the wanted function
of the record. The remaining bias is multiplied by the error of the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dither.core.counts import name_result
from dither.core.domains import Box
from dither.core.kernels.places.nearest import BoxKernel
from dither.core.kernels.transition import Dense
from dither.core.people import People
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.maps.density import Sample, check_smoothing, measured_smoothing, smooth_map
from dither.estimation.maps.plotting import draw_cells
from dither.estimation.rounding import thousands
from dither.foundation.arrays import Floats
from dither.foundation.numerics.codebooks import cover
from dither.foundation.numerics.distributions import student_t_quantile
from dither.foundation.numerics.matrices import cholesky, product, solve_lower, solve_upper
from dither.foundation.plotting import dress_axes
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS: Final = 1_000  # cells of the grid of a fit, about
_MOST_BINS: Final = 24  # largest number of cells along one side
_INSIDE: Final = 8  # number of records that represent a cell
_FEWEST: Final = 50  # least number of distinct points
_RECORDS: Final = 4_000  # number of records in a linear step
# Penalties on the variance, relative to the bias.
_PENALTIES: Final = tuple(10.0**-power for power in range(12))


@dataclass(frozen=True, eq=False)
class BiasedInterval(ConfidenceInterval):
    """The interval of an estimate with a possible bias, which is added to its half-width."""

    value: float
    error: float
    n: int
    bias: float
    ends: tuple[float, float] = (-math.inf, math.inf)

    def interval(self, level: float) -> tuple[float, float]:
        half = student_t_quantile(level, self.n - 1) * self.error + self.bias
        return max(self.value - half, self.ends[0]), min(self.value + half, self.ends[1])


@dataclass(frozen=True, eq=False, repr=False)
class JointDensity(Tabular):
    """The share of people in each cell of a grid over a box, and further estimates from the same reports.

    `probabilities` has an axis for each number, and `table` sums it; both are by likelihood, smoothed, and
    with many numbers cells are large. The intervals of `share`, `mean` and `correlation` contain the bias
    that would result if every cell of the table had a relative error of 100 %.
    """

    box: Box
    probabilities: Floats
    sample: Sample
    kernel: Any
    people: People = field(default=(), kw_only=True)  # who sent the reports, if known

    @property
    def n(self) -> int:
        """The number of people."""
        return self.sample.whose.size

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the question that the reports answer."""
        return self.sample.guarantee

    @property
    def bins(self) -> int:
        """The number of cells along each side."""
        return int(self.probabilities.shape[0])

    def edges(self, name: str) -> Floats:
        """Return the ends of the cells of a number."""
        return self.box.sides[self._place(name)].from_unit(np.arange(self.bins + 1) / self.bins)

    def table(self, *names: str) -> Floats:
        """Return the smoothed shares of the cells of one number, or of several together."""
        locations = [self._place(name) for name in names]
        if not locations or len(set(locations)) < len(locations):
            raise InvalidParameter("expected one name of a number, or several different names")
        others = tuple(axis for axis in range(self.probabilities.ndim) if axis not in locations)
        return np.asarray(self.probabilities.sum(axis=others).transpose(np.argsort(np.argsort(locations))))

    def records(self) -> list[Row]:
        """Return a row for each cell: the middle of each number, and the share of people."""
        middles = [(self.edges(name)[1:] + self.edges(name)[:-1]) / 2.0 for name in self.box.names]
        cells = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, len(middles)).tolist()
        return [
            {**dict(zip(self.box.names, cell, strict=True)), "value": share}
            for cell, share in zip(cells, self.probabilities.reshape(-1).tolist(), strict=True)
        ]

    def plot(self, *names: str, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw two numbers together, by default the first two; needs the extra `plot`."""
        first, second = chosen = names or self.box.names[:2]
        sides = [self.box.sides[self._place(name)] for name in chosen]
        ends = [(side.low, side.high) for side in sides]
        ax = draw_cells(self.table(first, second), (ends[0], ends[1]), "people in a cell", ax=ax)
        units = [f" ({side.unit})" if side.unit else "" for side in sides]
        name = title or self.about
        head = f"{name}\n" * bool(name) + f"n = {thousands(self.n)}, {self.guarantee}"
        return dress_axes(ax, title=head, x=f"{first}{units[0]}", y=f"{second}{units[1]}")

    def share(self, **ranges: tuple[float, float]) -> Estimate:
        """Estimate the share of people in ranges of some numbers, as in `share(age=(30, 50))`."""
        inside = np.ones(len(self._records))
        for name, ends in ranges.items():
            side = self.box.sides[self._place(name)]
            if (
                not isinstance(ends, tuple)
                or len(ends) != 2
                or not side.low <= ends[0] < ends[1] <= side.high
            ):
                raise InvalidParameter(
                    f"expected a range of {name} as a pair of numbers in {side}, the lower one first"
                )
            column = self._records[:, self._place(name)]
            inside = inside * ((column >= ends[0]) & (column <= ends[1]))
        return self._linear(inside, (0.0, 1.0))

    def mean(self, name: str) -> Estimate:
        """Estimate the mean of one number. `dt.Sampled` with `dt.PM` has a smaller error for means alone."""
        side = self.box.sides[self._place(name)]
        return self._linear(self._records[:, self._place(name)], (side.low, side.high))

    def correlation(self, first: str, second: str) -> Estimate:
        """Estimate the correlation coefficient of two numbers; its error follows from the moments."""
        if self._place(first) == self._place(second):
            raise InvalidParameter(
                f"expected the names of two different numbers, got {first!r} twice; name another one"
            )
        x, y = (self.box.to_unit(self._records)[:, self._place(name)] - 0.5 for name in (first, second))
        every = np.stack([x, y, x * x, y * y, x * y])
        moments = np.array([self._correct(moment)[0] for moment in every])
        mx, my, xx, yy, xy = moments
        first_spread, second_spread = xx - mx * mx, yy - my * my
        if min(first_spread, second_spread) <= 1e-4:
            raise NotIdentifiable(
                "expected variances that are distinguishable from 0, got one that is not; collect more "
                "reports"
            )
        root = math.sqrt(first_spread * second_spread)
        value = (xy - mx * my) / root
        by_means = -my / root + value * mx / first_spread, -mx / root + value * my / second_spread
        by_squares = -value / (2.0 * first_spread), -value / (2.0 * second_spread)
        slope = np.array([*by_means, *by_squares, 1.0 / root])
        # One correction of all five moments has less variance and bias.
        moved, error, bias = self._correct(slope @ every)
        value = min(max(float(value + moved - slope @ moments), -1.0), 1.0)
        interval = BiasedInterval(value, error, self.n, bias, (-1.0, 1.0))
        return Estimate.of(interval, self.guarantee, people=self.people)

    def _linear(self, wanted: Floats, ends: tuple[float, float]) -> Estimate:
        value, error, bias = self._correct(wanted)
        value = min(max(value, ends[0]), ends[1])
        interval = BiasedInterval(value, error, self.n, bias, ends)
        return Estimate.of(interval, self.guarantee, limits=ends, people=self.people)

    def _correct(self, wanted: Floats) -> tuple[float, float, float]:
        """Return the mean of a function of the record, its standard error and its largest bias."""
        scores, shift, bias = self._weights(wanted)
        counts = self._counts / self.n
        reported = float(scores @ counts)
        return reported + shift, math.sqrt(float(counts @ (scores - reported) ** 2) / self.n), bias

    def _weights(self, wanted: Floats) -> tuple[Floats, float, float]:
        """Return a number for each report that has nearly the wanted mean at each record, less its bias.

        The bias is computed for the people of the table. Among several penalties on the variance, the one
        with the shortest interval is used.
        """
        law, roots, factors = self._factors
        centre = float(self._people @ wanted)
        target = product(law, self._people * (wanted - centre)) / roots

        def step(factor: Floats) -> tuple[float, Floats, float, float]:
            scores = centre + solve_upper(factor, solve_lower(factor, target)) / roots
            gap = product(scores, law) - wanted
            bias = float(self._people @ np.abs(gap))
            error = math.sqrt(float(np.square(roots) @ (scores - centre) ** 2) / self.n)
            return 2.0 * error + bias, scores, -float(self._people @ gap), bias

        return min(map(step, factors), key=lambda made: made[0])[1:]

    @cached_property
    def _factors(self) -> tuple[Floats, Floats, list[Floats]]:
        """P(report | record), the roots of its mean, and its scaled square with each penalty, factored.

        The largest eigenvalue of the scaled square is 1, since the probabilities of reports add up to 1.
        """
        law = self.kernel.laws(self._records).T
        roots = np.sqrt(product(law, self._people))
        scaled = law * np.sqrt(self._people) / roots[:, None]
        square, level = product(scaled, scaled.T), np.eye(len(law))
        return law, roots, [cholesky(square + penalty * level) for penalty in _PENALTIES]

    @cached_property
    def _records(self) -> Floats:
        return self.box.from_unit(cover(_RECORDS, len(self.box.sides)))

    @cached_property
    def _people(self) -> Floats:
        """The share of people at each record, from the table mixed with a small uniform share."""
        cells = np.minimum((self.box.to_unit(self._records) * self.bins).astype(np.int64), self.bins - 1)
        density = self.probabilities[tuple(cells.T)]
        return np.asarray(0.9 * density / density.sum() + 0.1 / len(density))

    @cached_property
    def _counts(self) -> Floats:
        return self.sample.row_counts(np.ones(self.n))

    def _place(self, name: str) -> int:
        if name not in self.box.names:
            raise unknown_name("number", name, self.box.names)
        return self.box.names.index(name)

    def __repr__(self) -> str:
        return f"JointDensity({self.bins}^{len(self.box.names)} cells of {self.box}, n = {thousands(self.n)})"


@name_result
def joint(reports: Reports, *, smoothing: float | Literal["measured"] = "measured") -> JointDensity:
    """Estimate the joint distribution of several numbers, from reports of `dt.Optimal` on a `dt.Box`.

    `smoothing` is as in `dt.maps.density`.
    """
    if not isinstance(reports, Reports) or not isinstance(reports.question.kernel, BoxKernel):
        raise InvalidParameter(
            "expected reports of dt.Optimal on a dt.Box; use dt.maps.density for locations"
        )
    check_smoothing(smoothing)
    question = reports.question
    box, kernel = question.domain, question.kernel
    different = len(np.unique(kernel.selector.points, axis=0))
    if different < _FEWEST:
        raise NotIdentifiable(
            "expected reports of many different records for a distribution, got reports that distinguish "
            f"only {different} records, because they were designed for single records; use dt.Optimal(box, "
            'epsilon=…, purpose="map"), or "both"'
        )
    reported = reports.cells.reshape(-1).astype(np.int64)
    if not reported.size:
        raise InvalidParameter("expected at least one report, got 0")
    axes = len(box.sides)
    bins = min(_MOST_BINS, max(2, round(_CELLS ** (1.0 / axes))))
    corners = np.stack(np.meshgrid(*[np.arange(bins)] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    law = np.zeros((kernel.outcomes, len(corners)))
    for inner in cover(_INSIDE, axes):
        law += kernel.laws(box.from_unit((corners + inner) / bins)).T / _INSIDE
    sample = Sample(Dense(law, np.arange(len(law))), reported, np.arange(reported.size), question.guarantee)
    level, inside = np.full(len(corners), 1.0 / len(corners)), np.ones((bins,) * axes, dtype=bool)
    share = measured_smoothing(sample, level, inside, 1) if smoothing == "measured" else smoothing
    found = smooth_map(sample.law, sample.row_counts(np.ones(reported.size)), level, inside, share)
    return JointDensity(box, found.reshape(inside.shape), sample, kernel)
