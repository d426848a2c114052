"""Estimates about the people of each class: means and variances of numbers, shares of categories."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.intervals import StudentInterval
from dither.estimation.person_numbers import PersonNumbers, indicators, protocol_of
from dither.estimation.projections import simplex
from dither.estimation.weights import student
from dither.foundation.arrays import Array, Floats
from dither.foundation.tables import Row
from dither.mechanisms.combined import Records

_FEW: Final = 10  # the least estimated number of people in a class
_LEAST_SPREAD: Final = 0.01  # the least standard deviation of a class, in lengths of the domain
_SURE: Final = 4.0  # squared standard errors between the variances of a class and of all people
_LEAST_SHARE: Final = 0.5  # the least number of people counted for a category of a class


@dataclass(frozen=True, eq=False)
class Classes:
    """For each person a number per class with mean 1 if it is the person's class, and otherwise 0."""

    labels: tuple[Hashable, ...]
    members: Floats  # people × classes

    @classmethod
    def of(cls, labels: object, people: int) -> Classes:
        """Return the classes of public labels, or of reports on a private label."""
        if isinstance(labels, Reports):
            if len(labels) != people:
                raise InvalidParameter(
                    f"expected a report on the label for each of {people} people, got {len(labels)}; pass "
                    "one for each"
                )
            return cls(tuple(protocol_of(labels).categories.labels), indicators(labels))
        given = np.asarray(labels)
        if given.shape != (people,):
            raise InvalidParameter(
                f"expected one label for each of {people} people, or their reports, got {found(labels)}"
            )
        known, codes = np.unique(given, return_inverse=True)
        if known.size < 2:
            raise InvalidParameter(
                "expected labels of at least two classes, got one; pass the reports of all classes"
            )
        return cls(tuple(known.tolist()), np.asarray(codes[:, None] == np.arange(known.size), np.float64))


@dataclass(frozen=True, eq=False)
class NumberFeature:
    """A number: its mean and variance in each class."""

    name: str
    domain: str
    means: Floats
    spreads: Floats
    intervals: Sequence[StudentInterval]

    def log_chances(self, values: Array) -> Floats:
        """Return the logarithm of the normal density of each value in each class."""
        try:
            given = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"expected numbers in the column {self.name!r}; convert the other values, or leave "
                "their "
                "rows out"
            ) from None
        if not np.isfinite(given).all():
            raise InvalidParameter(
                f"expected no missing values in the column {self.name!r}; fill them in, or leave "
                "their "
                "rows out"
            )
        gaps = (given[:, None] - self.means) / self.spreads
        return np.asarray(-0.5 * gaps**2 - np.log(self.spreads))

    def rows(self, labels: Sequence[Hashable]) -> list[Row]:
        """Return a row for each class: the mean with its interval, and the standard deviation."""
        return [
            _row(self.name, "mean", label, interval, {"spread": float(spread)})
            for label, interval, spread in zip(labels, self.intervals, self.spreads, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class CategoryFeature:
    """An answer from a list: its shares in each class."""

    name: str
    answers: Sequence[Hashable]
    shares: Floats  # classes × answers
    intervals: Sequence[Sequence[StudentInterval]]

    def log_chances(self, values: Array) -> Floats:
        """Return the logarithm of the share of each value in each class."""
        codes = {answer: code for code, answer in enumerate(self.answers)}
        try:
            at = [codes[value] for value in np.asarray(values, dtype=object).tolist()]
        except (KeyError, TypeError):
            listed = ", ".join(map(str, self.answers[:6]))
            raise InvalidParameter(
                f"expected the answers {listed} … in the column {self.name!r}; correct the other values"
            ) from None
        return np.asarray(np.log(self.shares)[:, at].T)

    def rows(self, labels: Sequence[Hashable]) -> list[Row]:
        """Return a row for each class and answer: the share with its interval."""
        return [
            _row(self.name, f"share of {answer}", label, interval, {"spread": None})
            for label, own in zip(labels, self.intervals, strict=True)
            for answer, interval in zip(self.answers, own, strict=True)
        ]


Feature = NumberFeature | CategoryFeature


def _row(name: str, what: str, label: Hashable, interval: StudentInterval, more: Row) -> Row:
    low, high = interval.interval(0.95)
    return {
        "feature": name,
        "class": label,
        "quantity": what,
        "value": float(np.asarray(interval.value)),
        "low": float(low),
        "high": float(high),
        **more,
    }


def features_of(records: Records, classes: Classes) -> list[Feature]:
    """Return the feature of every attribute by class; each person reported all attributes or one."""
    if not isinstance(records, Records):
        raise InvalidParameter(f"expected the reports of dt.Each or dt.Sampled, got {found(records)}")
    entries: list[Feature] = []
    for index, (name, reports) in enumerate(records.items()):
        here = slice(None) if records.chosen is None else records.chosen == index
        entries.append(_feature(name, reports, classes.members[here]))
    return entries


def _feature(name: str, reports: Reports, members: Floats) -> Feature:
    sizes = members.sum(axis=0)
    if not (sizes > _FEW).all():
        raise NotIdentifiable(
            f"fewer than {_FEW} people of a class are estimated to have reported {name!r}; ask more people"
        )
    if "frequencies" in reports.question.quantities:
        return _shares(name, reports, members, sizes)
    return _moments(name, reports, members, sizes)


def _shares(name: str, reports: Reports, members: Floats, sizes: Floats) -> CategoryFeature:
    read, n = indicators(reports), len(members)
    answers = protocol_of(reports).categories.labels
    pooled = simplex(read.mean(axis=0))
    shares, intervals = np.empty((len(sizes), len(answers))), []
    for at, size in enumerate(sizes):
        raw = members[:, at] @ read / size
        influence = members[:, [at]] * (read - raw) * (n / size)
        own = [student(float(value), column) for value, column in zip(raw, influence.T, strict=True)]
        noise = float(np.sum([np.asarray(part.error) ** 2 for part in own]))
        kept = _shrinkage(float(((raw - pooled) ** 2).sum()), noise)
        mixed = simplex(kept * raw + (1.0 - kept) * pooled)
        shares[at] = (mixed * size + _LEAST_SHARE) / (size + _LEAST_SHARE * len(answers))
        intervals.append(own)
    return CategoryFeature(name, tuple(answers), shares, intervals)


def _moments(name: str, reports: Reports, members: Floats, sizes: Floats) -> NumberFeature:
    decoded = PersonNumbers.of(reports)
    value, square, there, n = decoded.value, decoded.square, decoded.answered, len(members)
    middle, length = decoded.middle, decoded.line.length
    pooled = float(value.sum() / there.sum())
    variance = _variance(value, square, there, pooled, length)
    means, spreads, intervals = [], [], []
    for at in range(len(sizes)):
        weight = members[:, at]
        count = float((weight * there).sum())
        if not count > _FEW:
            raise NotIdentifiable(
                f"fewer than {_FEW} people of a class are estimated to have answered {name!r}"
            )
        mean = float(weight @ value / count)
        interval = student(middle + mean, weight * (value - mean * there) * (n / count))
        kept = _shrinkage((mean - pooled) ** 2, float(np.asarray(interval.error)) ** 2)
        own = float(weight @ square / count) - mean**2
        spread = student(own, weight * (square - 2.0 * mean * value - (own - mean**2) * there) * (n / count))
        share = _shrinkage((own - variance) ** 2, _SURE * float(np.asarray(spread.error)) ** 2)
        means.append(middle + kept * mean + (1.0 - kept) * pooled)
        spreads.append(max(share * own + (1.0 - share) * variance, (_LEAST_SPREAD * length) ** 2))
        intervals.append(interval)
    limits = np.clip(means, decoded.line.low, decoded.line.high)
    return NumberFeature(name, str(decoded.line), limits, np.sqrt(spreads), intervals)


def _variance(value: Floats, square: Floats, there: Floats, mean: float, length: float) -> float:
    """Return the variance of all people, shrunk to the variance of an even distribution within noise."""
    own = float(square.sum() / there.sum()) - mean**2
    even = length**2 / 12.0
    noise = student(own, square - 2.0 * mean * value - (own - mean**2) * there)
    error = float(np.asarray(noise.error)) * there.size / float(there.sum())
    kept = even**2 / (even**2 + error**2)
    return max(kept * own + (1.0 - kept) * even, (_LEAST_SPREAD * length) ** 2)


def _shrinkage(gap: float, noise: float) -> float:
    """Return the share of a class's difference from all people that is kept: it is not noise [James61].

    The square of an estimated difference is on average the true one and the variance of its error.
    """
    return max(gap - noise, 0.0) / gap if gap > 0.0 else 0.0


def columns_of(table: object, names: Sequence[str]) -> Mapping[str, Array]:
    """Return the columns of a data frame or a mapping by name, or of an array in the order of the names."""
    listed = getattr(table, "columns", None)
    held = list(table) if isinstance(table, Mapping) else None if listed is None else list(listed)
    if held is None:
        rows = np.asarray(table, dtype=object)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise InvalidParameter(
                f"expected a table with the {len(names)} columns {', '.join(names)}, got {found(table)}"
            )
        return {name: rows[:, at] for at, name in enumerate(names)}
    missing = [name for name in names if name not in held]
    if missing:
        raise InvalidParameter(f"expected the column {missing[0]!r} of the fitted model in the table; add it")
    return {name: np.asarray(table[name]) for name in names}  # type: ignore[index]
