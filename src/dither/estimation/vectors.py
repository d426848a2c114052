"""Means of vectors: every coordinate, projections, the length and the direction, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

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
    """The interval of the length of a mean vector: all L with (square − L²)² ≤ z²·(4·along·L² + 2·squares).

    The variance of the estimated square grows with L², so that an error from the estimate itself would be too
    small whenever the estimate is too short.
    """

    square: float  # an unbiased estimate of the squared length
    along: float  # the variance of the estimate in its own direction
    squares: float  # the sum of the squared variances of all coordinates

    def interval(self, level: float) -> tuple[float, float]:
        z = student_t_quantile(level)
        middle = self.square + 2.0 * self.along * z**2
        reach = z * math.sqrt(max(4.0 * self.along * (middle - self.along * z**2) + 2.0 * self.squares, 0.0))
        return math.sqrt(max(middle - reach, 0.0)), math.sqrt(max(middle + reach, 0.0))


@dataclass(frozen=True, eq=False)
class VectorCosine(ConfidenceInterval):
    """The interval of the cosine of the angle between an estimate v = m + e and the mean m.

    With X = |e|² and Y = ⟨m, e⟩, |m|² = |v|² − X − 2Y, and the cosine is

        ⟨v, m⟩/(|v|·|m|) = (|v|² − X − Y)/(|v|·√(|v|² − X − 2Y)) ≈ √(1 − (X − Y²/|m|²)/|v|²).

    The terms linear in Y cancel. X − Y²/|m|² is the squared error across the mean. It is distributed nearly
    as χ² with `freedom` degrees, by its mean and variance; its cube root is nearly normal [WilsonHilferty31].
    """

    across: float  # the expected squared error across the mean, relative to |v|²
    freedom: float

    def interval(self, level: float) -> tuple[float, float]:
        spread = 2.0 / (9.0 * self.freedom)
        reach = student_t_quantile(level) * math.sqrt(spread)
        shares = [1.0 - self.across * max(1.0 - spread + side * reach, 0.0) ** 3 for side in (1.0, -1.0)]
        # A negative share is a mean that may be 0: then its angle may be above 90°.
        low, high = (math.copysign(math.sqrt(min(abs(share), 1.0)), share) for share in shares)
        return low, high


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

    def _variances(self) -> tuple[float, float, float]:
        """Return the variance along the estimate, the sum over all coordinates, and the sum of squares."""
        variances = np.asarray(self.standard_error) ** 2
        own = float(self.relative @ self.relative)
        along = float(self.relative**2 @ variances) / own if own > 0.0 else float(variances.mean())
        return along, float(variances.sum()), float((variances**2).sum())

    def length(self) -> Estimate:
        """Estimate the length of the mean vector, from the centre of the domain."""
        along, total, squares = self._variances()
        square = float(self.relative @ self.relative) - total
        interval = VectorLength(square, along, squares)
        return self._number(math.sqrt(max(square, 0.0)), interval, ", length", (0.0, math.inf))

    def cosine(self) -> Estimate:
        """Estimate the cosine of the angle between this estimate and the mean: near 1 if it is close."""
        own = float(self.relative @ self.relative)
        if not own > 0.0:
            raise NotIdentifiable("expected an estimate with a direction, got 0; collect more reports")
        along, total, squares = self._variances()
        across = max(total - along, 0.0)
        rest = max(squares - along**2, np.finfo(float).tiny)
        interval = VectorCosine(across / own, max(across**2 / rest, 1.0))
        return self._number(math.sqrt(max(1.0 - across / own, 0.0)), interval, ", cosine", (-1.0, 1.0))

    def _number(
        self, value: float, interval: ConfidenceInterval, remark: str, limits: tuple[float, float]
    ) -> Estimate:
        return Estimate(
            value,
            None,
            self.n,
            self.guarantee,
            confidence=interval,
            people=self.people,
            remark=remark,
            limits=limits,
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
    return _of_sums(question, sums, np.sqrt(spread / n), n, some, own)


def _of_sums(
    question: VectorTerms,
    sums: Floats,
    error: Floats,
    n: int,
    some: int,  # reports from which the error is estimated
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
        confidence=StudentInterval(value, error, some),
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
    n = len(reports)
    return _of_sums(question, sums, np.sqrt(spread), n, n, reports, given, remark)


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
