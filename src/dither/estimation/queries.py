"""Answers to linear queries, unbiased, with errors from the reports; cumulative shares."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.domains import Categories
from dither.core.question import QueryQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, check_choice, found
from dither.estimation.density import posterior_of_cells
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import AnyTimeInterval, BoundedNumbers, ConfidenceInterval, StudentInterval
from dither.estimation.rounding import SHARE, thousands
from dither.foundation.arrays import Floats
from dither.foundation.numerics.matrices import product
from dither.foundation.tables import Row, Tabular, show_label
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ON_EDGE: Final = 1e-9  # relative to the domain; a point this close to an edge is at the edge


@name_result
def answers(reports: Reports | Counts) -> Estimate:
    """Estimate the answer to each query of a workload, without bias, in the order of the queries.

    A report y contributes b_y to the answers, with E[b_Y] = W·shares. The error of a mean of independent
    numbers contains sampling and noise.
    """
    value, error, question, n = _read(reports)
    table = question.reading.table
    interval = QueryInterval(StudentInterval(value, error, n), table.min(axis=1), table.max(axis=1))
    return Estimate(value, error, n, question.guarantee, confidence=interval)


@dataclass(frozen=True, eq=False)
class QueryInterval(ConfidenceInterval):
    """The intervals of averages of bounded numbers."""

    average: StudentInterval
    low: Floats
    high: Floats

    def interval(self, level: float) -> tuple[Any, Any]:
        return self.average.interval(level)

    def at_any_time(self) -> AnyTimeInterval:
        """Return the intervals that hold at all numbers of reports at once."""
        n, mean = self.average.n, np.asarray(self.average.value)
        squares = np.asarray(self.average.error) ** 2 * n * (n - 1)
        return AnyTimeInterval(BoundedNumbers(mean, squares, n, self.low, self.high))


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedCumulative(Estimate):
    """The share of people below the upper end of each cell, or with at most each answer of a scale.

    `value[i]` is the share up to `edges[i + 1]`. The last share is 1. With `"linear"`, standard errors and
    intervals belong to the unbiased estimates. The regression to an increasing curve has a smaller error.
    """

    edges: Floats = field(kw_only=True)

    @property
    def names(self) -> list[str]:
        """The upper end of each cumulative share: an answer of the scale, or the end of a cell."""
        ends = self.labels or [f"{edge:.6g}" for edge in self.edges[1:]]
        return [f"up to {show_label(end)}" for end in ends]

    @property
    def probabilities(self) -> Floats:
        """The share of every cell: the differences of the cumulative shares."""
        return np.diff(np.concatenate([[0.0], np.asarray(self.value)]))

    def cdf(self, x: object) -> Estimate:
        """Estimate the share of people below x, with linear interpolation between edges.

        The interval of a share between two edges holds if people are even inside this cell; it prints this
        condition. On an ordinal scale x is an answer, and the share counts people with at most this answer.
        """
        position = self._place(x)
        return self._at(position)

    def quantile(self, q: float) -> Estimate | EstimatedAnswer:
        """Estimate the value below which a share q of the people is; on a scale, the answer.

        The interval holds every value whose cumulative share is compatible with q.
        """
        if not (isinstance(q, int | float | np.floating) and 0.0 < q < 1.0):
            raise InvalidParameter(
                f"expected the q of a quantile to be a number strictly between 0 and 1, got {found(q)}"
            )
        heights = isotonic(np.concatenate([[0.0], np.asarray(self.value)]))
        middle = _inverse(heights, self.edges, q)
        if self.labels:
            low, high = self.interval()
            upper, lower = (isotonic(np.concatenate([[0.0], end])) for end in (high, low))
            ends = [self._answer(heights[1:], q) for heights in (heights, upper, lower)]
            return EstimatedAnswer(
                ends[0], (ends[1], ends[2]), self.n, self.guarantee, self.labels, about=self.about
            )
        interval = CumulativeQuantile(self, q, condition=self.condition)
        return Estimate(middle, None, self.n, self.guarantee, confidence=interval, people=self.people)

    def _answer(self, heights: Floats, share: float) -> Hashable:
        """Return the first answer up to which at least a share of the people are."""
        index = int(np.searchsorted(heights, share - 1e-12, side="left"))
        return self.labels[min(index, len(self.labels) - 1)]

    def _place(self, x: object) -> float:
        if self.labels:
            if x not in self.labels:
                raise InvalidParameter(f"expected x to be an answer of this scale, got {found(x)}")
            return float(self.labels.index(x)) + 0.5
        if isinstance(x, bool) or not isinstance(x, int | float | np.integer | np.floating) or np.isnan(x):
            raise InvalidParameter(f"expected x to be one number, got {found(x)}")
        return float(x)

    def _at(self, point: float) -> Estimate:
        heights = np.concatenate([[0.0], np.asarray(self.value)])
        errors = np.concatenate([[0.0], np.asarray(self.standard_error)])
        value, error = (float(np.interp(point, self.edges, part)) for part in (heights, errors))
        condition, gap = self.condition, float(np.abs(self.edges - point).min())
        inside = self.edges[0] < point < self.edges[-1] and gap > _ON_EDGE * float(np.ptp(self.edges))
        if inside and not self.labels:  # the reports do not show where in a cell people are
            condition += f"{' and' if condition else ' if'} even inside the cell"
        interval = StudentInterval(value, error, self.n, condition=condition)
        return Estimate.of(interval, self.guarantee, limits=SHARE, origin=self, people=self.people)


@dataclass(frozen=True, eq=False)
class CumulativeQuantile(ConfidenceInterval):
    """The interval of a quantile between the edges of cells: all cells that may contain it.

    The reports do not show where in a cell people are, so the interval contains complete cells.
    """

    shares: EstimatedCumulative
    q: float
    condition: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        edges = self.shares.edges
        # Nobody is below the first edge, and everybody is below the last.
        first, last = (
            int(np.searchsorted(isotonic(np.concatenate([[0.0], end])), self.q, side="left"))
            for end in reversed(self.shares.interval(level))
        )
        return float(edges[max(first - 1, 0)]), float(edges[min(last, edges.size - 1)])


@dataclass(frozen=True, repr=False)
class EstimatedAnswer(Tabular):
    """An answer of an ordered scale, such as the median, with the ends of its 95 % interval."""

    value: Hashable
    ends: tuple[Hashable, Hashable]
    n: int
    guarantee: Guarantee
    scale: Sequence[Hashable]  # all answers, in their order

    def records(self) -> list[Row]:
        """Return one row: the answer, and the first and last answer of its interval."""
        value, low, high = map(show_label, (self.value, *self.ends))
        return [{"value": value, "low": low, "high": high, "n": self.n}]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the answer on its scale with its interval; needs the extra `plot`."""
        from dither.estimation.plotting import draw_answer

        return draw_answer(self, title=title, ax=ax)

    def __str__(self) -> str:
        return str(show_label(self.value))

    def __repr__(self) -> str:
        low, high = self.ends
        between = "" if low == high else f" ({low} – {high})"
        return f"{self}{between} (95 %, n = {thousands(self.n)})"


@name_result
def cumulative(
    reports: Reports | Counts,
    *,
    method: Literal["linear", "empirical bayes"] = "linear",
    monotone: bool = True,
) -> EstimatedCumulative:
    """Estimate cumulative shares from the reports of `Cumulative`.

    By default the unbiased estimates are replaced by the increasing numbers from 0 to 1 that are nearest in
    squares (isotonic regression). This never increases the sum of squared errors. `monotone=False` leaves
    them unbiased. `method="empirical bayes"` assumes that the shares of neighbouring cells lie about a smooth
    curve; the first and last cell may differ from it by a factor. If this is true, errors are smaller, and
    intervals hold on average.
    """
    check_choice("method", method, Literal["linear", "empirical bayes"])
    value, error, question, n = _read(reports)
    edges = question.reading.edges
    if edges is None:
        raise InvalidParameter(
            f"expected reports of Cumulative for cumulative shares, got reports of {question.name}; use "
            "dt.stats.answers for other workloads"
        )
    condition = ""
    if method == "empirical bayes":
        condition = " if neighbouring cells are alike"
        posterior = posterior_of_cells(question.reading.channel, summarise(reports).counts)
        sums = np.tri(posterior.shares.size)
        value = product(sums, posterior.shares)
        error = np.sqrt(np.maximum((product(sums, posterior.covariance) * sums).sum(axis=1), 0.0))
    value[-1], error[-1] = 1.0, 0.0
    shares = np.clip(isotonic(value), 0.0, 1.0) if monotone else value
    domain = question.domain
    labels = tuple(domain.labels) if isinstance(domain, Categories) else ()
    interval = StudentInterval(shares, error, n, condition=condition)
    return EstimatedCumulative(
        shares,
        error,
        n,
        question.guarantee,
        edges=edges,
        labels=labels,
        confidence=interval,
        remark=", cumulative",
        limits=SHARE,
    )


def isotonic(values: Floats) -> Floats:
    """Return the increasing numbers nearest in squares, by pooling neighbours out of order [Barlow72]."""
    means: list[float] = []
    sizes: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        means.append(value)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(means[-2] * sizes[-2] + means[-1] * sizes[-1]) / size]
            sizes[-2:] = [size]
    return np.repeat(means, sizes)


def _read(reports: Reports | Counts) -> tuple[Floats, Floats, QueryQuestion, int]:
    summary = summarise(reports)
    question = summary.question
    if not isinstance(question, QueryQuestion):
        raise InvalidParameter(
            f"expected reports of Cumulative or of a workload, got reports of {question.name}"
        )
    n = summary.n
    if n < 2:
        raise NotIdentifiable("expected at least two reports for answers with errors, got fewer")
    shares = summary.counts / n
    table = question.reading.table
    value = table @ shares
    spread = np.maximum(table**2 @ shares - value**2, 0.0) / (n - 1)
    return np.asarray(value), np.sqrt(spread), question, n


def _inverse(heights: Floats, edges: Floats, share: float) -> float:
    """Return the point at which an increasing curve reaches a share, or the nearer end."""
    index = int(np.searchsorted(heights, share, side="left"))
    if index == 0:
        return float(edges[0])
    if index == heights.size:
        return float(edges[-1])
    rise = heights[index] - heights[index - 1]
    part = (share - heights[index - 1]) / rise if rise > 0.0 else 1.0
    return float(edges[index - 1] + part * (edges[index] - edges[index - 1]))
