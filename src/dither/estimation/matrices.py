"""Frequencies from reports of a table of probabilities (`dt.Matrix`), by least squares or likelihood."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from dither.core.counts import Counts, summarise
from dither.core.kernels.channel import CodeChannelKernel, LinearReading
from dither.core.kernels.transition import Dense
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, check_choice
from dither.estimation.frequency import EstimatedFrequencies
from dither.estimation.frequency_interval import ScoreInterval
from dither.estimation.frequency_posterior import Narrowed
from dither.estimation.intervals import AnyTimeInterval, BoundedNumbers, ConfidenceInterval, StudentInterval
from dither.estimation.likelihood import climb
from dither.estimation.method import category_question
from dither.estimation.rounding import SHARE
from dither.estimation.weights import Weights, as_weights, check_weighted, influences, student
from dither.foundation.arrays import Floats, Integers

FrequencyMethod = Literal["linear", "likelihood"]
_CLOSE: Final = 1e-6  # nats; a log-likelihood this close to its maximum counts as maximal
_MOST_LISTED: Final = 1 << 22  # largest number of probabilities in a table for maximum likelihood
_FLOOR: Final = 1e-9  # lower limit of probabilities that are divisors
_SINGULAR: Final = 1e-12


@dataclass(frozen=True, eq=False)
class ReadingInterval(ConfidenceInterval):
    """The intervals of averages of decoded reports, by Student's t; clipped if `possible`.

    `share` is the average. For "likelihood", `share` is the efficient unconstrained estimate, and the
    interval also contains `value`, the likeliest frequency.
    """

    share: float | Floats
    error: float | Floats
    n: int
    skew: float | Floats
    ends: tuple[float | Floats, float | Floats]  # the least and the greatest decoded number of a report
    value: float | Floats | None = None
    possible: bool = False
    weighted: bool = False
    narrowed: Narrowed | None = None  # for `EstimatedFrequencies.projected`: None, because `other` is 0
    shared: tuple[float, float, float] = (0.0, 0.0, 0.0)
    other: float = 0.0
    gap: float = 1.0
    claimed: bool = True
    beyond: None = None

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = StudentInterval(self.share, self.error, self.n, self.skew).interval(level)
        if self.value is not None:
            low, high = np.minimum(low, self.value), np.maximum(high, self.value)
        return (np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)) if self.possible else (low, high)

    def pick(self, at: int) -> ReadingInterval:
        """Return the interval of one of several categories."""
        share, error, skew, low, high, value = (
            float(np.broadcast_to(0.0 if part is None else part, np.shape(self.share))[at])
            for part in (self.share, self.error, self.skew, *self.ends, self.value)
        )
        given = None if self.value is None else value
        return replace(self, share=share, error=error, skew=skew, ends=(low, high), value=given)

    def at_any_time(self) -> AnyTimeInterval:
        """Return the interval that holds at all numbers of reports at once."""
        if self.value is not None or self.weighted:
            raise NotIdentifiable(
                'expected method="linear" and reports of equal weights for intervals at any time'
            )
        mean = np.asarray(self.share, dtype=np.float64)
        squares = np.asarray(self.error) ** 2 * self.n * (self.n - 1)
        return AnyTimeInterval(BoundedNumbers(mean, squares, self.n, *self.ends), (0.0, 1.0), self.possible)


@dataclass(frozen=True, eq=False)
class MatrixCounts:
    """Reports of a table of probabilities, or their counts, for averages of any number per category."""

    summary: Counts
    table: Floats  # the number of each report, by category
    reports: Reports | None  # None if only their counts are known
    weights: Weights | None = None

    def average(self, numbers: Floats) -> StudentInterval:
        """Return the weighted mean of Σ number·indicator over the categories, with its interval."""
        if self.weights is not None:
            return student(*self._average(numbers), self.weights)
        value, error, skew = moments_of((numbers @ self.table)[None], self.summary.counts, self.summary.n)
        return StudentInterval(float(value[0]), float(error[0]), self.summary.n, float(skew[0]))

    def influence(self, numbers: Floats) -> Floats:
        """Return each person's influence on that mean."""
        return self._average(numbers)[1]

    def _average(self, numbers: Floats) -> tuple[float, Floats]:
        if self.reports is None:
            raise InvalidParameter(
                "expected the reports themselves, because a summary has lost which report is whose; pass "
                "the reports"
            )
        cells = self.reports.cells.reshape(-1).astype(np.int64)
        return influences((numbers @ self.table)[cells], self.weights)


def table_frequencies(
    given: Reports | Counts, *, method: FrequencyMethod = "linear", weights: object = None
) -> EstimatedFrequencies:
    """Return the frequencies of the inputs of a table of probabilities.

    By "linear", each report is decoded by numbers whose expectation is 1 for the category and 0 for the
    others. They have the least variance for equally frequent inputs. By "likelihood", the frequencies are the
    likeliest non-negative ones that sum to one, with the errors of the Fisher information.
    """
    check_choice("method", method, FrequencyMethod)
    summary = summarise(given)
    question = summary.question
    if summary.n == 0:
        raise NotIdentifiable("expected at least one report to estimate frequencies, got 0")
    if method == "likelihood":
        if weights is not None:
            raise InvalidParameter(
                'expected no method="likelihood" for weighted frequencies, because they are linear; leave '
                "method out"
            )
        return _likeliest(summary)
    reading = shares_reading(question)
    if reading is None:
        raise InvalidParameter(
            f"expected reports of a table of probabilities, got reports of {question.name}; use "
            "dt.frequencies(reports)"
        )
    table = reading.table
    sent = given if isinstance(given, Reports) and len(given) == summary.n else None
    checked = None
    if weights is not None:
        sent = check_weighted(given)
        checked = as_weights(weights, len(sent))
    reported = MatrixCounts(summary, table, sent, checked)
    if checked is not None:
        parts = [reported.average(row) for row in np.eye(len(table))]
        value, error, skew = (
            np.array([getattr(part, name) for part in parts]) for name in ("value", "error", "skew")
        )
    else:
        value, error, skew = moments_of(table, summary.counts, summary.n)
    interval: ReadingInterval | ScoreInterval = ReadingInterval(
        value,
        error,
        summary.n,
        skew,
        (table.min(axis=1), table.max(axis=1)),
        weighted=checked is not None,
    )
    rates = getattr(question.kernel, "rates", None) if hasattr(question.kernel, "different") else None
    if rates is not None and checked is None:  # each report supports one input, so the counts are binomial
        own, other = (float(rate) for rate in rates)
        share = summary.counts[question.kernel.different[:, 0].astype(np.int64)] / summary.n
        mean = np.clip(share, other, own)
        error = np.sqrt(mean * (1.0 - mean) / summary.n) / (own - other)
        interval = ScoreInterval(share, other, own - other, summary.n, error)
    return EstimatedFrequencies(
        value,
        error,
        summary.n,
        question.guarantee,
        labels=_labels(question, len(table)),
        confidence=interval,
        remark="" if checked is None else f", design effect {checked.design_effect:.2f}",
        told=reported,
        limits=SHARE,
    )


def shares_reading(question: Question) -> LinearReading | None:
    """Return the decoding of the shares of inputs of a table of probabilities, or None without a table."""
    if getattr(question.book, "shares", False):
        book: LinearReading = question.book
        return book
    reading: LinearReading | None = getattr(question.kernel, "shares_reading", None)
    return reading


def _labels(question: Question, size: int) -> tuple[Hashable, ...]:
    listed = question.domain.listed
    names = () if listed is None else listed.labels
    # Groups of locations of a list that share a report.
    merged = getattr(question.kernel, "names_of_groups", None)
    return tuple(names if merged is None else merged(names)) or tuple(range(size))


def moments_of(table: Floats, counts: Floats | Integers, n: int) -> tuple[Floats, Floats, Floats]:
    """Return the mean of the numbers of reports, its standard error, and the third moment over the second."""
    shares = counts / n
    value = table @ shares
    gaps = table - value[:, None]
    second = gaps**2 @ shares * (n / max(n - 1, 1))
    skew = np.divide(gaps**3 @ shares, second, out=np.zeros_like(second), where=second > 0.0)
    return value, np.sqrt(second / n), skew


def listed_matrix(question: Question) -> Floats:
    """Return the probability of every report for every category; raise InvalidParameter if not listed."""
    kernel = question.kernel
    if isinstance(kernel, CodeChannelKernel):
        return kernel.channel.matrix
    reading = shares_reading(question)
    if reading is not None:
        return reading.channel
    if getattr(question, "one_category", False):
        protocol = category_question(question)
        size = len(protocol.categories)
        if size**2 <= _MOST_LISTED:
            return np.where(np.eye(size, dtype=np.bool_), protocol.p, protocol.q)
    raise InvalidParameter(
        'expected reports of dt.Matrix, or of dt.KRR on at most 2 048 categories, for method="likelihood", '
        f"got reports of {question.name}; dt.frequencies(reports).projected() is never negative"
    )


def _likeliest(summary: Counts) -> EstimatedFrequencies:
    question, n = summary.question, summary.n
    matrix = listed_matrix(question)
    counts = np.asarray(summary.counts, dtype=np.float64)
    size = len(matrix)
    operator = Dense(np.ascontiguousarray(matrix.T), np.arange(matrix.shape[1]))
    fit = climb(operator, counts, np.full(size, 1.0 / size), tolerance=_CLOSE)
    expected = np.maximum(fit.operator.forward(fit.probabilities), _FLOOR)
    scaled = matrix / expected
    information = scaled @ matrix.T  # information of one report about the shares of the inputs
    eigenvalues = np.linalg.eigvalsh(information)
    if not eigenvalues[0] > _SINGULAR * eigenvalues[-1]:
        raise NotIdentifiable(
            "expected inputs with different distributions of reports, got some with the same one; merge "
            "these inputs"
        )
    # The unconstrained estimate is one step of scoring from the likeliest one, with weights that sum to 1.
    numbers = np.asarray(np.linalg.solve(information, scaled), dtype=np.float64)
    value, error, skew = moments_of(numbers, counts, n)
    interval = ReadingInterval(value, error, n, skew, (0.0, 1.0), fit.probabilities, possible=True)
    return EstimatedFrequencies(
        fit.probabilities,
        error,
        n,
        question.guarantee,
        labels=_labels(question, size),
        confidence=interval,
        remark=", likelihood",
        limits=SHARE,
    )
