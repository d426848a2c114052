"""The distribution of the report about one feature: one interface to all mechanisms of one number.

Only `feature_law` looks at the kind of a mechanism; the rest of this package asks a `FeatureLaw`.

The record whose prediction is examined, and how its features are randomised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np

from dither.core.domains import Domain, Interval, Line
from dither.core.kernels.channel import NearestPoint
from dither.core.question import Answering, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, OutsideDomain, unknown_name
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.randomness import Source
from dither.mechanisms.analysis.law import Law, TableLaw, is_discrete
from dither.mechanisms.combined import Attributes
from dither.mechanisms.mechanism import Analysis, CategoryMechanism, NumberMechanism
from dither.privacy import Approximate, Guarantee

MOST_REPORTS: Final = 1 << 20  # a mechanism with more different reports is not tabulated


@dataclass(frozen=True, eq=False)
class Marginal:
    """The probability mass function of the report about one feature: increasing places, and their masses."""

    places: Floats
    masses: Floats

    @cached_property
    def sums(self) -> Floats:
        """The probability of the first k reports, for k from 0 to their number."""
        return np.concatenate([[0.0], np.cumsum(self.masses)])

    def between(self, low: Floats, high: Floats) -> Floats:
        """Return P(low ≤ report ≤ high), which is 0 where low is above high."""
        first = np.searchsorted(self.places, low, side="left")
        last = np.searchsorted(self.places, high, side="right")
        return self.sums[np.maximum(last, first)] - self.sums[first]


class FeatureLaw(ABC):
    """The distribution of the report about one feature, given the feature's value.

    `law` and `sent` are in units in which the domain is [0, 1]; all else is in the user's units.
    """

    moves: ClassVar[bool] = False  # whether a value beyond the line counts as its nearest end

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The values that the mechanism admits."""

    @property
    @abstractmethod
    def line(self) -> Line:
        """The interval or circle that the value, as a number, lies on."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The law of the report as designed, in closed form."""

    @property
    @abstractmethod
    def sent(self) -> Law | None:
        """The law of the integers that devices sample; None if there are more than `MOST_REPORTS`.

        It differs from `law` by about the width of a cell.
        """

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
        places, masses = self.sent.atoms(self.unit(value))
        return Marginal(self.line.from_unit(places), masses) if is_discrete(masses) else None


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
        return None if self.mechanism.outcomes > MOST_REPORTS else self.mechanism.sampled.law

    def draw(self, values: Floats, source: Source) -> Floats:
        if not isinstance(self.mechanism, NumberMechanism):
            raise InvalidParameter("a law is not sampled; pass the mechanism itself")
        return _decode(self.mechanism.perturb(values, source=source))


@dataclass(frozen=True, eq=False)
class CategoryLaw(FeatureLaw):
    """The reports of randomized response on categories that are numbers: `KRR(Categories([0, 0.1, …]))`.

    A value is moved to the nearest category first, as the exponential mechanism does.
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

    def draw(self, values: Floats, source: Source) -> Floats:
        categories = self.mechanism.categories
        nearest = categories.decode(self._order[self._nearest.aim(values)])
        return _decode(self.mechanism.perturb(nearest, source=source))

    @cached_property
    def _labels(self) -> Floats:
        labels = np.asarray(list(self.mechanism.categories.labels))
        if labels.dtype.kind not in "fiu" or not np.isfinite(labels).all():
            raise InvalidParameter("the feature of a classifier is a number: use categories that are numbers")
        return labels.astype(np.float64)

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
    """Return the law of one answer of a mechanism; raise `InvalidParameter` if reports are not numbers."""
    asked = mechanism.plain if isinstance(mechanism, Answering) else mechanism  # memoised or not: one law
    plain = asked.design() if isinstance(asked, Question) else asked
    if isinstance(plain, Analysis):
        return NumberLaw(plain)
    # Reports of other frequency mechanisms are sets of categories, or depend on other people's coins.
    if isinstance(plain, CategoryMechanism) and plain.kernel.one_category and plain.alone:
        return CategoryLaw(plain)
    raise InvalidParameter(
        "a feature is randomised by a mechanism of one number, or by KRR on categories that are numbers; "
        f"not by {type(plain).__name__}"
    )


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A record and the places of its randomised features. Contains private values, and shows none."""

    row: Array
    shape: tuple[int, ...]
    columns: tuple[int, ...]

    @staticmethod
    def of(x: Any, chosen: Sequence[str] | None, names: Sequence[str] | None) -> Subject:
        """Return a record with its chosen features (all, for None), found by name or by position."""
        if hasattr(x, "keys"):
            # The keys of a pandas series are names, but iterating over it yields the values.
            names = [str(name) for name in x.keys()] if names is None else names  # noqa: SIM118
            row = _row([_value(x, name) for name in names])
            shape: tuple[int, ...] = row.shape
        else:
            array = _row(x)
            row, shape = array.reshape(-1), array.shape or (1,)
        if names is not None and len(names) != row.size:
            raise InvalidParameter(f"{len(names)} names do not match the {row.size} features of the record")
        return Subject(row, shape, _columns(row.size, chosen, names))

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        try:
            return self.row[list(self.columns)].astype(np.float64)
        except (TypeError, ValueError):
            raise OutsideDomain("a randomised feature is not a number") from None

    def rows(self, points: Floats) -> Array:
        """Return copies of the record in its shape, each with one row of points as its randomised values."""
        rows = np.repeat(self.row[None], len(points), axis=0)
        rows[:, list(self.columns)] = points
        return rows.reshape(len(points), *self.shape)

    def __repr__(self) -> str:
        return f"Subject({len(self.columns)} of {self.row.size} features randomised)"


def _row(x: Any) -> Array:
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        raise InvalidParameter("a record is an array of features, or features by name") from None
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.ndim != 1:
        raise InvalidParameter("a record is an array of features, or features by name")
    return np.array(x, dtype=object)


def _value(x: Any, name: str) -> Any:
    try:
        value = x[name]
    except (KeyError, IndexError):
        raise InvalidParameter(f"the record has no feature {name!r}") from None
    if np.ndim(value) and np.size(value) != 1:
        raise InvalidParameter("one record was expected; for a whole table use dt.classifiers.over_records")
    return np.asarray(value).reshape(-1)[0] if np.ndim(value) else value


def _columns(count: int, chosen: Sequence[str] | None, names: Sequence[str] | None) -> tuple[int, ...]:
    if chosen is None:
        return tuple(range(count))
    if names is None:
        if len(chosen) == count:
            return tuple(range(count))
        raise InvalidParameter(
            f"the record has {count} features without names; pass names=[…] to say which of them are "
            f"{', '.join(chosen)}"
        )
    places = {str(name): place for place, name in enumerate(names)}
    missing = [name for name in chosen if name not in places]
    if missing:
        raise unknown_name("feature", missing[0], places)
    return tuple(places[name] for name in chosen)


class Randomiser(Protocol):
    """What randomises a record: a mechanism, `Memoised`, `Each` of several, or an `Indicator` on them."""

    @property
    def guarantee(self) -> Guarantee:
        """What a person who answers once is promised."""

    def at(self, epsilon: float) -> Self:
        """Return the same with another budget."""


def parts_by_name(mechanism: object) -> Mapping[str, object] | None:
    """Return the mechanism of each attribute, or None for one mechanism; raise if not all are reported."""
    if not isinstance(mechanism, Attributes):
        return None
    if not mechanism.whole_records:
        raise InvalidParameter(
            f"{type(mechanism).__name__} reports one attribute of a record, not all of them; use dt.Each"
        )
    return mechanism.parts


@dataclass(frozen=True, eq=False)
class Randomisation:
    """A mechanism for every feature, or one for each named feature; with an `Indicator` on it or without.

    `mechanism` is the one inside the indicator, `raw_share` the probability that the raw record is sent.
    """

    given: Randomiser
    mechanism: Randomiser
    parts: Mapping[str, object] | None
    raw_share: float

    @staticmethod
    def of(given: Randomiser) -> Randomisation:
        """Return what the caller gave as a randomisation; raise `InvalidParameter` if it is not one."""
        if not hasattr(type(given), "guarantee"):  # of the class: to compute it may take long
            raise InvalidParameter(
                f"a mechanism, or dt.Each of several, was expected; not {type(given).__name__}"
            )
        untyped: Any = given
        raw_share: float = getattr(given, "raw_share", 0.0)
        mechanism: Randomiser = untyped.mechanism if raw_share else given
        found = Randomisation(given, mechanism, parts_by_name(mechanism), raw_share)
        found.laws(1)  # so that an unsuitable mechanism is refused here
        return found

    @staticmethod
    def without_indicator(given: Randomiser) -> Randomisation:
        """Return the same as `of`; raise `InvalidParameter` for an `Indicator`."""
        found = Randomisation.of(given)
        if found.raw_share:
            raise InvalidParameter("an Indicator is not supported here; pass the mechanism inside it")
        return found

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the randomised features; None if all features are randomised."""
        return None if self.parts is None else tuple(self.parts)

    def laws(self, features: int) -> tuple[FeatureLaw, ...]:
        """Return the law of each randomised feature, in the order of `names` or of the record."""
        if self.parts is None:
            return (feature_law(self.mechanism),) * features
        return tuple(map(feature_law, self.parts.values()))

    def at(self, epsilon: float) -> Randomisation:
        """Return the same with another budget: of every feature, or of all named features together."""
        return Randomisation.of(self.given.at(epsilon))

    def guarantee(self, features: int) -> Guarantee:
        """Return what a person is promised who sends the whole record once."""
        found = self.mechanism.guarantee
        if self.parts is None and features > 1:
            found = Guarantee(found.repeated(features).bound, "record", found.assumes)
        if self.raw_share:
            found = replace(found, bound=Approximate(found.epsilon, self.given.guarantee.delta))
        return found


def _decode(reports: Reports) -> Floats:
    return np.asarray(reports.question.decode(reports.cells), dtype=np.float64)
