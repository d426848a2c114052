"""The regressors of a regression: private and public factors, and terms that are products of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from itertools import product as combinations_of
from typing import Any, Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.person_numbers import PersonNumbers, indicators, protocol_of
from dither.foundation.arrays import Array, Floats

INTERCEPT: Final = "intercept"
MOST: Final = 200  # coefficients
_SAME: Final = 1e-10  # relative to the length of a column; a smaller residual means a dependent column

Column = Reports | Sequence[Hashable] | Array
Pair = tuple[int, int]  # the indices of two columns of a design


class DataColumns(Mapping[str, Column]):
    """The columns of a mapping or a data frame, by name."""

    def __init__(self, data: object) -> None:
        if not (isinstance(data, Mapping) or hasattr(data, "columns")):
            raise InvalidParameter(
                "expected a mapping from names to reports and public columns, or a data frame of these, "
                f"not {found(data)}"
            )
        self._data: Any = data
        self._names = [str(name) for name in (data if isinstance(data, Mapping) else data.columns)]

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise unknown_name("column", name, self._names)
        column: Column = self._data[name]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class Factor:
    """A regressor: the labels of its dummies (empty for a number), and the data about people.

    `reports` are private. `public` has a column for each coefficient, and `encode` returns these columns for
    a value. `needs` are the names of the data columns that it takes, by default its own name.
    """

    name: str
    names: tuple[str, ...]
    labels: tuple[Hashable, ...] = ()
    reports: Reports | None = None
    public: Floats | None = None
    encode: Callable[[Mapping[str, object]], Sequence[float]] | None = None
    needs: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the data columns whose values `at` takes."""
        return self.needs or (self.name,)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and highest possible number if they are known; None for labels and functions."""
        if self.labels or self.encode is not None:
            return None
        if self.reports is not None:
            line = self.reports.question.domain.line
            return line.low, line.high
        return None if self.public is None else (float(self.public.min()), float(self.public.max()))

    def at(self, values: Mapping[str, object]) -> Floats:
        """Return the columns of a person with these values; raise InvalidParameter if a value is wrong."""
        for name in self.variables:
            if name not in values:
                raise InvalidParameter(f"expected a value of {name!r} in at; add it")
        if self.encode is not None:
            return np.asarray(self.encode(values), dtype=np.float64)
        value: Any = values[self.name]
        if self.labels:
            if value not in self.labels:
                raise unknown_name(f"label of {self.name!r}", value, map(str, self.labels))
            return np.array([float(value == label) for label in self.labels[1:]])
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise InvalidParameter(f"expected {self.name!r} to be one finite number, got {found(value)}")
        return np.array([float(value)])

    def readings(self) -> Floats:
        """Return, for each person, numbers whose means are the regressors, as columns.

        For an optional number they are the decodings for people who answered, divided by the decoded
        indicator of an answer. People are weighted by the product of the indicators.
        """
        if self.reports is None:
            return np.asarray(self.public)
        if self.labels:
            return indicators(self.reports)[:, 1:]
        numbers = PersonNumbers.of(self.reports)
        return np.asarray(numbers.value / numbers.answered + numbers.middle)[:, None]

    def product(self, first: int, second: int, read: Floats) -> Floats:
        """Return, for each person, a number whose mean is the product of two columns of this factor.

        Products of two labels of a private category are 0, because a person has only one label.
        """
        if self.reports is None:
            return read[:, first] * read[:, second]
        if self.labels:
            return read[:, first] if first == second else np.zeros(len(read))
        numbers = PersonNumbers.of(self.reports)
        middle = numbers.middle
        square = numbers.square / numbers.answered
        return np.asarray(square + 2.0 * middle * (read[:, 0] - middle) + middle**2)


Term = tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class RegressionDesign:
    """Terms of a regression; each has a coefficient for every combination of the columns of its factors."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, given: Mapping[str, Column], people: int) -> RegressionDesign:
        """Return a design with one term for each regressor."""
        if not given:
            raise InvalidParameter("expected at least one regressor, got none")
        return cls(tuple((factor_of(str(name), part, people),) for name, part in given.items()))

    @property
    def factors(self) -> list[Factor]:
        """All factors, each once."""
        return list({id(factor): factor for term in self.terms for factor in term}.values())

    @property
    def variables(self) -> list[str]:
        """The names of the data columns whose values a prediction needs."""
        return list(dict.fromkeys(name for factor in self.factors for name in factor.variables))

    @property
    def private(self) -> list[Reports]:
        """The reports among the regressors."""
        return [factor.reports for factor in self.factors if factor.reports is not None]

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, beginning with the intercept."""
        return [INTERCEPT, *(" × ".join(names) for names, _ in self._columns())]

    def _columns(self) -> Iterator[tuple[tuple[str, ...], list[tuple[Factor, int]]]]:
        """Yield, for each coefficient, its name and its factors, each with the index of a column."""
        for term in self.terms:
            for indices in combinations_of(*(range(len(factor.names)) for factor in term)):
                parts = list(zip(term, indices, strict=True))
                yield tuple(factor.names[index] for factor, index in parts), parts

    def at(self, values: Mapping[str, object]) -> Floats:
        """Return the regressors of a person with these values, without the constant."""
        for name in values:
            if name not in self.variables:
                raise unknown_name("regressor", name, self.variables)
        encoded = {id(factor): factor.at(values) for factor in self.factors}
        return np.array(
            [math.prod(float(encoded[id(f)][at]) for f, at in parts) for _, parts in self._columns()]
        )

    def readings(self, people: int) -> tuple[Floats, dict[Pair, Floats]]:
        """Return decodings of the constant and the regressors, and of products that share a factor.

        The noise of different factors is independent, so the mean of a product of their decodings is the
        product. This fails within a private factor: these products have their own decodings.
        """
        read = {id(factor): factor.readings() for factor in self.factors}
        columns = [parts for _, parts in self._columns()]
        if 1 + len(columns) > MOST:
            raise InvalidParameter(
                f"expected at most {MOST} coefficients, got {1 + len(columns)}; leave regressors out"
            )
        found = np.ones((people, 1 + len(columns)))
        for number, parts in enumerate(columns, 1):
            for factor, at in parts:
                found[:, number] *= read[id(factor)][:, at]
        own: dict[Pair, Floats] = {}
        for (i, first), (j, second) in combinations_with_replacement(enumerate(columns, 1), 2):
            shared = {id(f) for f, _ in first if f.reports is not None} & {id(f) for f, _ in second}
            if not shared:
                continue
            value = np.ones(people)
            there = {id(factor): at for factor, at in second}
            for factor, at in first:
                value = value * (
                    factor.product(at, there[id(factor)], read[id(factor)])
                    if id(factor) in there
                    else read[id(factor)][:, at]
                )
            for factor, at in second:
                if id(factor) not in {id(f) for f, _ in first}:
                    value = value * read[id(factor)][:, at]
            own[i, j] = value
        return found, own

    def check_public(self, people: int) -> None:
        """Raise NotIdentifiable if a public regressor is constant or a linear combination of others."""
        kept = [np.full(people, 1.0 / math.sqrt(people))]
        before: list[str] = []
        for names, parts in self._columns():
            if any(factor.reports is not None for factor, _ in parts):
                continue
            name = " × ".join(names)
            column = np.ones(people)
            for factor, at in parts:
                column = column * np.asarray(factor.public)[:, at]
            column = column - column.mean()
            length = float(np.linalg.norm(column))
            if not length > _SAME * math.sqrt(people) * max(abs(float(np.max(np.abs(column)))), 1e-300):
                raise NotIdentifiable(
                    f"expected values of regressor {name!r} that differ between people, because otherwise "
                    "its coefficient is indistinguishable from the intercept; leave it out"
                )
            rest = column / length
            for _ in range(2):  # a second pass removes rounding errors
                for other in kept:
                    rest = rest - other * float(other @ rest)
            left = float(np.linalg.norm(rest))
            if left < 1e-8:
                raise NotIdentifiable(
                    f"expected regressors that do not follow from each other, but {name!r} follows from "
                    f"{', '.join(before)}, so that their coefficients are not identifiable; leave one out"
                )
            kept.append(rest / left)
            before.append(name)


def factor_of(name: str, given: Column, people: int) -> Factor:
    """Return the factor of reports, or of a public column of numbers or labels."""
    if isinstance(given, Reports):
        question = given.question
        if len(given) != people:
            raise InvalidParameter(
                f"expected a report of both questions from every person, got {len(given)} and {people} "
                "reports"
            )
        if "frequencies" in question.quantities:
            labels = tuple(protocol_of(given).categories.labels)
            return Factor(name, _names(name, labels), labels, given)
        check_numbers(f"regressor {name!r}", given)
        return Factor(name, (name,), (), given)
    if type(given).__name__ == "Counts":
        raise InvalidParameter(
            "expected the reports themselves for a regression, because a summary has lost the order of people"
        )
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        raise InvalidParameter(
            f"expected regressor {name!r} to be reports, or a public column, got {found(given)}"
        )
    if len(given) != people:
        raise InvalidParameter(
            f"expected {people} rows of regressor {name!r}, one for each person, got {len(given)}"
        )
    array = public_numbers(given)
    if array is None:
        return category_factor(name, given)
    if not np.isfinite(array).all():
        raise InvalidParameter(
            f"expected finite numbers of regressor {name!r}, got NaN or an infinity; drop these people"
        )
    return Factor(name, (name,), (), None, array[:, None])


def check_numbers(what: str, reports: Reports) -> None:
    """Raise InvalidParameter, with the name of the column, unless reports are of numbers on an interval."""
    try:
        PersonNumbers.of(reports)
    except InvalidParameter as error:
        raise InvalidParameter(f"{what}: {error}") from None


def public_numbers(given: Column) -> Floats | None:
    """Return a public column as numbers, or None if it holds labels."""
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        return None
    return array.astype(np.float64)


def category_factor(name: str, given: Column) -> Factor:
    """Return the factor of a public column of labels, in the order of their texts."""
    listed = given.tolist() if hasattr(given, "tolist") else list(given)
    try:
        numbers = all(isinstance(label, int | float) for label in set(listed))
        labels = sorted(set(listed), key=None if numbers else lambda label: (label is None, str(label)))
    except TypeError:
        raise InvalidParameter(
            f"expected regressor {name!r} to be numbers or labels, got {found(listed[0])}"
        ) from None
    if not 2 <= len(labels) <= MOST:
        raise InvalidParameter(f"expected 2 to {MOST} labels of regressor {name!r}, got {len(labels)}")
    positions = {label: index for index, label in enumerate(labels)}
    codes = np.fromiter((positions[label] for label in listed), np.int64, len(listed))
    dummies = np.asarray(codes[:, None] == np.arange(1, len(labels)), dtype=np.float64)
    return Factor(name, _names(name, tuple(labels)), tuple(labels), None, dummies)


def _names(name: str, labels: Sequence[Hashable]) -> tuple[str, ...]:
    """Return the names of the coefficients of labels; the first label is the reference."""
    return tuple(f"{name}: {label}" for label in labels[1:])
