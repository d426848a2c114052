"""The distribution of the report about one feature: one interface to mechanisms of numbers and categories.

Only `feature_law` depends on the type of a mechanism; the rest of this package uses a `FeatureLaw`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Interval, Line
from dither.core.kernels.channel import NearestPoint
from dither.core.question import Answering, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats, Integers
from dither.foundation.randomness import Source
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.analysis.law import Law, TableLaw, is_discrete
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.numeric.base import NumberMechanism

MOST_REPORTS: Final = 1 << 20  # a mechanism with more distinct reports is not tabulated


@dataclass(frozen=True, eq=False)
class Marginal:
    """The probability mass function of the report about one feature: increasing points and their masses."""

    places: Floats
    masses: Floats

    @cached_property
    def sums(self) -> Floats:
        """The probability of the first k reports, for k from 0 to the number of reports."""
        return np.concatenate([[0.0], np.cumsum(self.masses)])

    def between(self, low: Floats, high: Floats) -> Floats:
        """Return P(low ≤ report ≤ high), 0 if low is above high."""
        first = np.searchsorted(self.places, low, side="left")
        last = np.searchsorted(self.places, high, side="right")
        return self.sums[np.maximum(last, first)] - self.sums[first]


class FeatureLaw(ABC):
    """The distribution of the report about one feature, given the feature's value.

    `law` and `sent` are in units in which the domain is [0, 1]; all else is in the user's units.
    """

    moves: ClassVar[bool] = False  # True if a value beyond the line counts as its nearest end

    @property
    @abstractmethod
    def labels(self) -> tuple[Hashable, ...] | None:
        """The labels of categories that are not numbers: values are then their codes; None for numbers."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The values that the mechanism accepts."""

    @property
    @abstractmethod
    def line(self) -> Line:
        """The interval or circle that the value, as a number, lies on."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The distribution of the report as designed, in closed form."""

    @property
    @abstractmethod
    def sent(self) -> Law | None:
        """The distribution of the integers that devices sample; None if there are more than `MOST_REPORTS`.

        Values differ from those under `law` by about the width of a cell.
        """

    @property
    @abstractmethod
    def reports(self) -> float:
        """The number of different reports; infinite if there are more than `MOST_REPORTS`."""

    @abstractmethod
    def draw(self, values: Floats, source: Source) -> Floats:
        """Draw an independent report for each value, by the integers that devices sample."""

    def unit(self, value: object) -> Floats:
        """Return a value in the units of `law`; raise `OutsideDomain` if the domain does not have it."""
        inside = self.line.clip(value) if self.moves else value
        return self.line.to_unit(self.line.check(inside).astype(np.float64))

    def marginal(self, value: float) -> Marginal | None:
        """Return the probability of every report that a device may send, or None if they cannot be listed."""
        if self.sent is None:
            return None
        positions, masses = self.sent.atoms(self.unit(value))
        return Marginal(self.line.from_unit(positions), masses) if is_discrete(masses) else None


def marginals(laws: Sequence[FeatureLaw], values: Floats) -> tuple[Marginal, ...] | None:
    """Return the probabilities of all reports about each feature, or None if one cannot be listed."""
    found = []
    for law, value in zip(laws, values.tolist(), strict=True):
        marginal = law.marginal(value)
        if marginal is None:
            return None
        found.append(marginal)
    return tuple(found)


@dataclass(frozen=True, eq=False)
class NumberLaw(FeatureLaw):
    """The reports of a mechanism of one number."""

    mechanism: Analysis

    @property
    def domain(self) -> Domain:
        return self.line

    @property
    def line(self) -> Line:
        return self.mechanism.line

    @property
    def law(self) -> Law:
        return self.mechanism.law

    @property
    def sent(self) -> Law | None:
        if not isinstance(self.mechanism, NumberMechanism):
            return self.mechanism.law
        return None if self.mechanism.question.outcomes > MOST_REPORTS else self.mechanism.sampled.law

    @property
    def labels(self) -> None:
        """None: values are numbers."""

    @property
    def reports(self) -> float:
        if not isinstance(self.mechanism, NumberMechanism) or self.sent is None:
            return math.inf
        return self.mechanism.question.outcomes

    def draw(self, values: Floats, source: Source) -> Floats:
        if not isinstance(self.mechanism, NumberMechanism):
            raise InvalidParameter("cannot sample a distribution; pass the mechanism itself")
        return _decode(self.mechanism.perturb(values, source=source))


@dataclass(frozen=True, eq=False)
class CategoryLaw(FeatureLaw):
    """The reports of randomized response on categories, such as `KRR(Categories(["red", "blue"]))`.

    Values are codes. If all categories are numbers, `KRR(Categories([0, 0.1, …]))`, values are numbers, and
    moved to the nearest category first, as by the exponential mechanism.
    """

    mechanism: CategoryMechanism

    moves = True

    def __post_init__(self) -> None:
        _ = self._points

    @property
    def domain(self) -> Domain:
        return self.mechanism.categories

    @cached_property
    def line(self) -> Line:
        return Interval(self._points[0], self._points[-1])

    @cached_property
    def law(self) -> Law:
        return TableLaw(self._chances, self.line.to_unit(self._points))

    @property
    def sent(self) -> Law | None:
        return None if len(self.mechanism.categories) > MOST_REPORTS else self.law

    @property
    def reports(self) -> float:
        return len(self.mechanism.categories) if self.sent is not None else math.inf

    def draw(self, values: Floats, source: Source) -> Floats:
        codes = self._order[self._nearest.aim(values)]
        listed = self.mechanism.categories.labels
        drawn = self.mechanism.perturb([listed[code] for code in codes.tolist()], source=source)
        return self._labels[drawn.cells.astype(np.int64)]

    @property
    def labels(self) -> tuple[Hashable, ...] | None:
        return None if self._numbers is not None else tuple(self.mechanism.categories.labels)

    @cached_property
    def _numbers(self) -> Floats | None:
        """The categories as numbers; None if some are not numbers."""
        listed = list(self.mechanism.categories.labels)
        if not all(isinstance(label, bool | int | float | np.number) for label in listed):
            return None
        numbers = np.array(listed, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidParameter("expected categories that are numbers to be finite")
        return numbers

    @cached_property
    def _labels(self) -> Floats:
        """The number that stands for each category: itself or its code."""
        return np.arange(float(len(self.mechanism.categories))) if self._numbers is None else self._numbers

    @cached_property
    def _order(self) -> Integers:
        """The codes of the categories in the order of their numbers."""
        return np.argsort(self._labels)

    @cached_property
    def _points(self) -> Floats:
        return self._labels[self._order]

    @cached_property
    def _nearest(self) -> NearestPoint:
        return NearestPoint.on_interval(self._points.tolist())

    def _chances(self, unit: float) -> Floats:
        value = float(self.line.from_unit(np.asarray(unit)))
        label = self.mechanism.categories.labels[self._order[self._nearest.aim_one(value)]]
        return np.array([float(chance) for chance in self.mechanism.probabilities(label)])[self._order]


def feature_law(mechanism: object) -> FeatureLaw:
    """Return the law of one answer of a mechanism; raise `InvalidParameter` if a report has several parts."""
    request = mechanism.plain if isinstance(mechanism, Answering) else mechanism  # memoised or not: one law
    plain = request.design() if isinstance(request, Question) else request
    if isinstance(plain, Analysis):
        return NumberLaw(plain)
    # Reports of other frequency mechanisms are sets of categories, or depend on other people's coins.
    if isinstance(plain, CategoryMechanism) and plain.question.kernel.one_category and plain.question.alone:
        return CategoryLaw(plain)
    raise InvalidParameter(
        "expected a mechanism of one number, or one whose report is one category, such as KRR, got "
        f"{type(plain).__name__}; choose another one"
    )


def _decode(reports: Reports) -> Floats:
    return np.asarray(reports.question.decode(reports.cells), dtype=np.float64)
