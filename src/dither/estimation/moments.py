"""Means, variances and covariances of several numbers in one report of `dt.optimal.JointMoments`.

A report decodes to unbiased numbers for the person's u, u² and u·v, with every number from −1 to 1. Averages
of functions of these have influence functions that take one value for each possible report, so counts are
enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import PartIntervals, StudentInterval
from dither.estimation.person_numbers import clipping_of
from dither.estimation.ratios import QuotientInterval
from dither.foundation.arrays import Floats
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.core.kernels.splines import SplineKernel


def has_moments(question: Question) -> bool:
    """Return whether the reports of a question contain the moments of several numbers."""
    return "moments" in question.quantities


def names_of(question: Question) -> tuple[str, ...]:
    """Return the names of the numbers; a single one is called "value"."""
    return tuple(getattr(question.domain, "names", ("value",)))


@dataclass(frozen=True, eq=False)
class MomentReading:
    """The decoding of each report: unbiased numbers for each y and each product y·z.

    y is a number of the person minus the middle of its domain."""

    names: tuple[str, ...]
    middles: Floats
    values: Floats  # a row for each number, a column for each report
    products: Floats  # axes: two numbers and the report

    @classmethod
    def of(cls, question: Question) -> MomentReading:
        """Return the decodings in the units of the numbers."""
        if not has_moments(question):
            raise InvalidParameter(
                "expected reports of dt.optimal.JointMoments, or of two questions, got only "
                f"reports of {question.name}"
            )
        kernel = cast("SplineKernel", question.kernel)
        names, table = names_of(question), kernel.reading.table
        low, high = np.array(kernel.ends).T
        half, axes = (high - low) / 2.0, len(names)
        products = np.empty((axes, axes, table.shape[1]))
        for axis in range(axes):
            products[axis, axis] = half[axis] ** 2 * table[axes + axis]
        for index, (a, b) in enumerate(combinations(range(axes), 2)):
            products[a, b] = products[b, a] = half[a] * half[b] * table[2 * axes + index]
        return cls(names, (low + high) / 2.0, half[:, None] * table[:axes], products)

    def index(self, name: object) -> int:
        """Return the index of a number; raise InvalidParameter if the name is unknown."""
        if name not in self.names:
            raise unknown_name("number", name, self.names)
        return self.names.index(str(name))


class CountedMoments:
    """The averages of two numbers in one report, and the influence of each possible report on them."""

    def __init__(self, reports: Reports | Counts, pair: object = None) -> None:
        summary = summarise(reports)
        self.reading = MomentReading.of(summary.question)
        self.n, self.counts = int(summary.n), summary.counts.astype(np.float64)
        if self.n < 3:
            raise NotIdentifiable("expected the reports of at least three people for moments, got fewer")
        self.guarantee: Guarantee = summary.question.guarantee
        self.remark = ""
        self.places = self._pair(pair)
        self.values = [self.reading.values[index] for index in self.places]
        self.means = [float(self.counts @ value) / self.n for value in self.values]

    def _pair(self, pair: object) -> tuple[int, int]:
        names = self.reading.names
        if pair is None and len(names) <= 2:
            return 0, len(names) - 1
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            listed = " and ".join(map(repr, names))
            raise InvalidParameter(f"expected a pair of numbers, two of {listed}, got {found(pair)}")
        return self.reading.index(pair[0]), self.reading.index(pair[1])

    def _moment(self, first: int, second: int) -> tuple[float, Floats]:
        """Return an unbiased covariance of two of the sides, and the influence of each report on it."""
        product = self.reading.products[self.places[first], self.places[second]]
        gaps = [self.values[side] - self.means[side] for side in (first, second)]
        size = float(self.counts @ product) / self.n
        noise = (
            float(self.counts @ (gaps[0] * gaps[1])) / (self.n - 1) / self.n
        )  # noise of the product of means
        influence = product - size - self.means[first] * gaps[1] - self.means[second] * gaps[0]
        return size - self.means[first] * self.means[second] + noise, np.asarray(influence)

    @property
    def covariance(self) -> float:
        """The covariance, without bias."""
        return self._moment(0, 1)[0]

    @property
    def moved(self) -> Floats:
        """The influence of each report on the covariance."""
        return self._moment(0, 1)[1]

    def variance(self, side: int) -> tuple[float, Floats]:
        """Return the variance of one number, and the influence of each report on it."""
        return self._moment(side, side)

    def mean(self, side: int) -> StudentInterval:
        """Return the mean of one number."""
        value = float(self.reading.middles[self.places[side]]) + self.means[side]
        return self.average(value, self.values[side])

    def average(self, value: float, influence: Floats) -> StudentInterval:
        """Return a value with the error of its influence function, one number for each report."""
        gaps = influence - float(self.counts @ influence) / self.n
        spread = float(self.counts @ gaps**2) / (self.n - 1)
        skew = float(self.counts @ gaps**3) / self.n / spread if spread > 0.0 else 0.0
        return StudentInterval(value, math.sqrt(spread / self.n), self.n, skew)

    def quotient(self, top: float, bottom: float, above: Floats, below: Floats) -> QuotientInterval:
        """Return a ratio with the errors of the influence functions of its two parts."""
        matrix = np.cov(above, below, fweights=self.counts.astype(np.int64)) / self.n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        return QuotientInterval(top, bottom, spread, self.n)


@name_result
def moments(reports: Reports | Counts) -> LabelledEstimate:
    """Estimate the mean and the variance of each number, and the covariance of each pair, by label."""
    summary = summarise(reports)
    names = MomentReading.of(summary.question).names
    found_parts: dict[str, tuple[CountedMoments, StudentInterval]] = {}
    for name in names:
        own = CountedMoments(summary, (name, name))
        found_parts[f"mean of {name}"] = own, own.mean(0)
    for name in names:
        own = CountedMoments(summary, (name, name))
        found_parts[f"variance of {name}"] = own, own.average(*own.variance(0))
    for pair in combinations(names, 2):
        both = CountedMoments(summary, pair)
        found_parts["covariance of {} and {}".format(*pair)] = both, both.average(both.covariance, both.moved)
    guarantee = summary.question.guarantee
    parts = tuple(Estimate.of(interval, guarantee) for _, interval in found_parts.values())
    return LabelledEstimate(
        np.array([float(part.value) for part in parts]),
        np.array([float(part.standard_error) for part in parts]),
        int(summary.n),
        guarantee,
        confidence=PartIntervals(tuple(interval for _, interval in found_parts.values())),
        labels=tuple(found_parts),
        clipping=clipping_of("moments", {"value": summary}),
    )
