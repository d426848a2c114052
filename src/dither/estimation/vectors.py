"""Means of vectors: every coordinate, projections, the length and the direction, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.domains import Vectors
from dither.core.kernels.directions import DirectionsKernel, unpack
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval, StudentInterval
from dither.estimation.rounding import show_interval, thousands
from dither.estimation.weights import Weighting, as_weights
from dither.foundation.arrays import Array, Floats
from dither.foundation.numerics.distributions import student_t_quantile
from dither.privacy import Guarantee

_ROWS = 1 << 10  # reports that are decoded together


@dataclass(frozen=True, eq=False)
class VectorLength(ConfidenceInterval):
    """The interval of the length of a mean vector, from the nearly normal interval of its square."""

    square: float  # an unbiased estimate of the squared length
    error: float  # its standard error

    def interval(self, level: float) -> tuple[float, float]:
        reach = student_t_quantile(level) * self.error
        return math.sqrt(max(self.square - reach, 0.0)), math.sqrt(max(self.square + reach, 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedVector(Estimate):
    """The mean of vectors: `value` and `standard_error` have a number for each coordinate.

    `estimate @ direction` is the projection on a vector, `length()` the length of the mean, and `cosine()`
    the cosine of the angle between the estimate and the mean that it estimates.
    """

    reports: Reports | None = field(default=None, kw_only=True)
    weighting: Floats | None = field(default=None, kw_only=True)
    # The mean relative to the centre of the domain. Its length and direction are estimated.
    relative: Floats = field(kw_only=True)

    @property
    def total_error(self) -> float:
        """The root mean squared length of the error of the complete vector."""
        return math.sqrt(float(np.sum(np.asarray(self.standard_error) ** 2)))

    def length(self) -> Estimate:
        """Estimate the length of the mean vector, from the centre of the domain."""
        variances = np.asarray(self.standard_error) ** 2
        square = float(self.relative @ self.relative - variances.sum())
        # Only the sum is cut at 0. Cutting its terms one by one would count noise as signal.
        around = max(float(((self.relative**2 - variances) * variances).sum()), 0.0)
        error = math.sqrt(2.0 * float((variances**2).sum()) + 4.0 * around)
        interval = VectorLength(square, error)
        value = math.sqrt(max(square, 0.0))
        return self._number(value, interval, ", length", math.inf)

    def cosine(self) -> Estimate:
        """Estimate the cosine of the angle between this estimate and the mean: near 1 if it is close."""
        own = math.sqrt(float(self.relative @ self.relative))
        if not own > 0.0:
            raise NotIdentifiable("expected an estimate with a direction, got 0; collect more reports")
        length = self.length()
        around = cast("VectorLength", length.confidence)
        interval = VectorLength(around.square / own**2, around.error / own**2)
        value = min(float(length.value) / own, 1.0)
        return self._number(value, interval, ", cosine", 1.0)

    def _number(self, value: float, interval: VectorLength, remark: str, most: float) -> Estimate:
        return Estimate(
            value,
            None,
            self.n,
            self.guarantee,
            confidence=interval,
            people=self.people,
            remark=remark,
            limits=(0.0, most),
            about=self.about,
            clipping=self.clipping,
        )

    def __matmul__(self, direction: object) -> Estimate:
        """Return the estimate of the product of the mean with a vector; needs the reports themselves."""
        along = np.asarray(direction, dtype=np.float64)
        if along.shape != np.shape(self.value) or not np.isfinite(along).all():
            raise InvalidParameter(
                f"expected a vector of {np.size(self.value)} finite numbers, got {found(direction)}"
            )
        if self.reports is None:
            raise NotIdentifiable(
                "expected the mean of reports for a projection, got a sum of estimates, whose error along a "
                "direction is unknown; estimate dt.mean(reports) from the reports"
            )
        numbers = _projections(self.reports, along)
        value = float(np.asarray(self.value) @ along)
        if self.weighting is None:
            error = float(numbers.std(ddof=1)) / math.sqrt(self.n)
        else:
            share = self.weighting / self.weighting.sum()
            error = math.sqrt(float((share**2 * (numbers - value) ** 2).sum()))
        return Estimate.of(
            StudentInterval(value, error, self.n),
            self.guarantee,
            people=self.people,
            influence=(numbers - numbers.mean()) / self.n if self.weighting is None else None,
            about=self.about,
            clipping=self.clipping,
        )

    def __repr__(self) -> str:
        length = self.length()
        shown = show_interval(float(length.value), *length.interval(), (0.0, math.inf))
        first = ", ".join(f"{number:.3g}" for number in np.asarray(self.value)[:4].tolist())
        more = ", …" if np.size(self.value) > 4 else ""
        clipped = "" if self.clipping is None else f"; {self.clipping}"
        return (
            f"[{first}{more}] of {np.size(self.value)} numbers, length {shown}, error {self.total_error:.2g} "
            f"(95 %, n = {thousands(self.n)}{self.remark}{clipped})"
        )


class VectorTerms(NamedTuple):
    """The properties of a question that the mean of vectors needs."""

    domain: Vectors
    kernel: DirectionsKernel
    book: float  # the gain
    guarantee: Guarantee


def vector_question(reports: Reports | Counts) -> VectorTerms:
    """Return the question of reports on vectors; raise InvalidParameter if they are on something else."""
    question = reports.question
    if "mean vector" not in question.quantities:
        raise InvalidParameter(f"expected reports on dt.Vectors, got reports on {question.domain}")
    return VectorTerms(question.domain, question.kernel, question.book, question.guarantee)


@name_result
def mean_vector(reports: Reports | Counts, weights: Weighting | None = None) -> EstimatedVector:
    """Estimate the mean of vectors, without bias up to 1 % of its length (measured).

    The variances come from one report in sixteen, chosen by their public seeds.
    """
    summary = reports if isinstance(reports, Reports) else summarise(reports)
    question = vector_question(summary)
    if weights is not None:
        if not isinstance(reports, Reports):
            raise InvalidParameter(
                "expected the reports themselves for a weighted mean, got their counts; pass the reports"
            )
        return _average(question, reports, weights)
    own = reports if isinstance(reports, Reports) else None
    counted = summarise(reports)
    n, domain = counted.n, question.domain
    axes = question.kernel.directions.axes
    some = int(counted.counts[-1])
    if n < 2 or some < 2:
        raise NotIdentifiable(
            "expected about 32 reports or more for the mean of vectors with its error; collect more reports"
        )
    unit = question.kernel.scale / question.book
    longest = question.kernel.directions.longest
    sums = (counted.counts[: domain.dimension] - n * longest) * unit / n
    squares = counted.counts[axes : axes + domain.dimension] * unit**2 / some
    spread = np.maximum(squares - sums**2, 0.0)
    return _of_sums(question, sums, np.sqrt(spread / n), n, own)


def _of_sums(
    question: VectorTerms,
    sums: Floats,
    error: Floats,
    n: int,
    reports: Reports | None,
    weighting: Floats | None = None,
    remark: str = "",
) -> EstimatedVector:
    domain = question.domain
    value = domain.middle + sums * domain.length
    error = error * domain.length
    return EstimatedVector(
        value,
        error,
        n,
        question.guarantee,
        confidence=StudentInterval(value, error, n),
        relative=sums * domain.length,
        labels=tuple(range(domain.dimension)),
        reports=reports,
        weighting=weighting,
        remark=remark,
    )


def _average(question: VectorTerms, reports: Reports, weights: Weighting) -> EstimatedVector:
    checked = as_weights(weights, len(reports))
    given = np.asarray(checked.values, dtype=np.float64)
    share = given / given.sum()
    size = question.domain.dimension
    sums, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    for begin, rows in _decode(question, reports.cells):
        own = share[begin : begin + len(rows), None]
        sums += (own * rows).sum(axis=0)
        first += (own**2 * rows).sum(axis=0)
        second += (own**2 * rows**2).sum(axis=0)
    spread = np.maximum(second - 2.0 * sums * first + sums**2 * float((share**2).sum()), 0.0)
    remark = f", design effect {checked.design_effect:.2f}"
    return _of_sums(question, sums, np.sqrt(spread), len(reports), reports, given, remark)


def _decode(question: VectorTerms, cells: Array) -> Iterator[tuple[int, Floats]]:
    """Yield the decoded reports in units of the length, relative to the centre, block by block."""
    numbers, seeds = unpack(cells)
    unit = question.kernel.scale / question.book
    for begin in range(0, len(numbers), _ROWS):
        block = slice(begin, begin + _ROWS)
        rows = question.kernel.directions.coordinates(numbers[block], seeds[block])
        yield begin, np.asarray(rows[:, : question.domain.dimension] * unit, dtype=np.float64)


def _projections(reports: Reports, along: Floats) -> Floats:
    """Return the product of each decoded report with a vector."""
    question = vector_question(reports)
    domain = question.domain
    parts = [
        domain.middle @ along + rows @ along * domain.length for _, rows in _decode(question, reports.cells)
    ]
    return np.concatenate(parts)
