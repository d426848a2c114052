"""Regression of a private answer on private and public regressors: least squares, and logistic by likelihood.

Least squares needs averages of products alone. A private number or category is read without bias, the noise
of two questions is independent, and the square of a number has an unbiased reading of its own: so the normal
equations are estimated without bias, and noise does not flatten slopes. A coefficient is a ratio of two such
averages: its interval is Fieller's.

The logistic regression maximises the likelihood of the reports. Private categories among the regressors are
summed over; their shares, which may depend on the public regressors, are parameters too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product as combinations_of
from typing import Any, Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import ConfidenceInterval, PartIntervals
from dither.estimation.moments import MomentReading
from dither.estimation.person_numbers import (
    OF_ANSWERS,
    PersonNumbers,
    answered_all,
    blocks,
    check_pair,
    indicators,
    protocol_of,
)
from dither.estimation.ratios import QuotientInterval
from dither.estimation.weights import Weighting, Weights, as_weights, freedom
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.numerics.distributions import student_t_quantile
from dither.privacy import Guarantee

Regressor = Reports | Sequence[Any] | Array
Regressors = Regressor | Mapping[str, Regressor]

INTERCEPT: Final = "intercept"
_CLASSES: Final = 64  # combinations of private categories that are summed over
_MOST: Final = 200  # coefficients
_STEPS: Final = 200
_FLAT: Final = 1e-9  # of the log-likelihood, below which the maximum is reached
_BEYOND: Final = 30.0  # log-odds that are as good as infinite


@dataclass(frozen=True, eq=False)
class _Column:
    """A regressor: its name, the labels of its dummies (none of a number), and what is known of people."""

    name: str
    labels: tuple[Hashable, ...]
    reports: Reports | None = None
    public: Floats | Integers | None = None

    @property
    def names(self) -> list[Hashable]:
        """The names of its coefficients; the first label is what others are compared with."""
        return [f"{self.name}: {label}" for label in self.labels[1:]] if self.labels else [self.name]

    def at(self, value: Any) -> list[float]:
        """Return the regressors of a person with this value; raise InvalidParameter if it is none."""
        if self.labels:
            if value not in self.labels:
                raise unknown_name(f"label of {self.name!r}", value, map(str, self.labels))
            return [float(value == label) for label in self.labels[1:]]
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise InvalidParameter(f"{self.name} is one finite number, not {found(value)}")
        return [float(value)]

    def readings(self) -> Floats:
        """Return for each person numbers whose means are the regressors, as columns.

        Those of an optional number are readings for who answered, divided by whether they did: people count
        by the product of these (`_Equations`).
        """
        if self.reports is not None:
            if self.labels:
                return indicators(self.reports)[:, 1:]
            told = PersonNumbers.of(self.reports)
            return np.asarray(told.value / told.answered + told.middle)[:, None]
        return self.exact()

    def exact(self) -> Floats:
        """Return the regressors of a public column."""
        given = np.asarray(self.public)
        if not self.labels:
            return given.astype(np.float64)[:, None]
        return np.asarray(given[:, None] == np.arange(1, len(self.labels)), dtype=np.float64)

    def products(self, read: Floats) -> Floats:
        """Return for each person numbers whose means are the squares of its regressors, as columns.

        Products of two labels of a private category are 0 for everybody: nobody has two.
        """
        if self.reports is None or self.labels:
            return read
        told, middle = PersonNumbers.of(self.reports), PersonNumbers.of(self.reports).middle
        square = (told.square / told.answered)[:, None]
        return np.asarray(square + 2.0 * middle * (read - middle) + middle**2)


def _column(name: str, given: Any, people: int) -> _Column:
    if isinstance(given, Reports):
        question = given.question
        if len(given) != people:
            raise InvalidParameter(
                f"every person needs a report of both questions: there are {len(given)} and {people}"
            )
        if "frequencies" in question.quantities:
            return _Column(name, tuple(protocol_of(given).categories.labels), given)
        PersonNumbers.of(given)
        return _Column(name, (), given)
    if isinstance(given, str | bytes) or not hasattr(given, "__len__"):
        raise InvalidParameter(f"regressor {name!r} is reports, or a public column, not {found(given)}")
    if len(given) != people:
        raise InvalidParameter(f"regressor {name!r} has {len(given)} rows, and there are {people} people")
    array = np.asarray(given)
    if array.ndim == 1 and array.dtype.kind in "iufb":
        if not np.isfinite(array.astype(np.float64)).all():
            raise InvalidParameter(f"regressor {name!r} has a number that is not finite; drop these people")
        return _Column(name, (), None, array.astype(np.float64))
    listed = given.tolist() if hasattr(given, "tolist") else list(given)
    labels = sorted(set(listed), key=lambda label: (label is None, str(label)))
    if not 2 <= len(labels) <= _MOST:
        raise InvalidParameter(f"regressor {name!r} has {len(labels)} labels; 2 to {_MOST} can be compared")
    places = {label: place for place, label in enumerate(labels)}
    codes = np.fromiter((places[label] for label in listed), np.int64, people)
    return _Column(name, tuple(labels), None, codes)


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedRegression(LabelledEstimate):
    """The coefficients of a regression, by name, each with its interval; `at` is its prediction.

    `fit["age"]` is a coefficient, and `fit["intercept"]` the constant. A category has a coefficient for each
    label but the first, with which it is compared: `fit["home: house"]`. With one number as the regressor
    they are also `slope` and `intercept`. A logistic regression has coefficients in log-odds of its `answer`;
    `fit.odds("age")` is the ratio of odds.
    """

    parts: Sequence[Estimate] = field(kw_only=True, repr=False)
    columns: Sequence[_Column] = field(kw_only=True, repr=False)
    predict: Callable[[Floats], Estimate] = field(kw_only=True, repr=False)
    answer: Hashable = field(default=None, kw_only=True)

    @property
    def intercept(self) -> Estimate:
        """The constant: the prediction where every regressor is 0 or its first label."""
        return self.parts[0]

    @property
    def slope(self) -> Estimate:
        """The coefficient of the only regressor, a number."""
        if len(self.parts) != 2:
            raise InvalidParameter(
                f"there are {len(self.parts) - 1} coefficients; take one: fit[{self.labels[1]!r}]"
            )
        return self.parts[1]

    def __getitem__(self, label: Any) -> Estimate:
        if label not in self.labels:
            raise unknown_name("coefficient", label, map(str, self.labels))
        return self.parts[list(self.labels).index(label)]

    def at(self, values: Any) -> Estimate:
        """Estimate the mean answer of people with these values: a number, or a mapping from regressors.

        For a logistic regression it is the probability of its answer.
        """
        if not isinstance(values, Mapping):
            if len(self.columns) != 1:
                raise InvalidParameter(f"at takes a mapping with {', '.join(c.name for c in self.columns)}")
            values = {self.columns[0].name: values}
        for name in values:
            if name not in {column.name for column in self.columns}:
                raise unknown_name("regressor", name, [column.name for column in self.columns])
        places: list[float] = []
        for column in self.columns:
            if column.name not in values:
                raise InvalidParameter(f"at needs a value of {column.name!r}, too")
            places += column.at(values[column.name])
        return self.predict(np.array(places))

    def odds(self, label: Hashable) -> Estimate:
        """Return by what factor the odds of the answer grow with a regressor, for a logistic regression."""
        if self.answer is None:
            raise InvalidParameter("odds are those of a logistic regression, of a question with two answers")
        part = self[label]
        interval = TransformedInterval(part, _exp)
        return Estimate(_exp(float(part.value)), None, part.n, part.guarantee, confidence=interval)

    def __repr__(self) -> str:
        what = "" if self.answer is None else f"log-odds of {self.answer!r}: "
        if len(self.parts) == 2 and not self.columns[0].labels and not what:
            return f"slope {self.slope}; intercept {self.intercept}"
        return what + "; ".join(
            f"{label} {part}" for label, part in zip(self.labels, self.parts, strict=True)
        )


def _exp(number: float) -> float:
    return math.exp(min(number, 700.0)) if number > -math.inf else 0.0


def _logistic(number: float) -> float:
    return 1.0 / (1.0 + math.exp(-number)) if number > -700.0 else 0.0


@dataclass(frozen=True, eq=False)
class TransformedInterval(ConfidenceInterval):
    """The interval of an increasing function of an estimated number."""

    plain: Estimate
    function: Callable[[float], float]

    def interval(self, level: float) -> tuple[float, float]:
        low, high = (self.function(float(end)) for end in self.plain.interval(level))
        return low, high


def regression(
    regressors: Regressors,
    response: Reports | str,
    *,
    weights: Weighting | None = None,
    answer: Hashable = None,
) -> EstimatedRegression:
    """Estimate how the response, a private answer, depends on one or several regressors of the same people.

    Regressors are reports on numbers or categories, and public columns of numbers or labels; several are a
    mapping from names. If the response is a number, this is least squares; the noise of private regressors
    does not flatten slopes. If it is a question with two answers, it is a logistic regression of `answer`, by
    default the last one, on public columns and private categories. `weights` are public, one for each person.
    `dt.regression(reports, "weight")` explains one number of reports of `dt.optimal.JointMoments` by the
    others.

    >>> import dither as dt, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> age, city = rng.uniform(20, 60, 20_000), rng.choice(["Kyoto", "Nara"], 20_000)
    >>> hours = 0.1 * age + (city == "Nara") + rng.uniform(0, 4, 20_000)
    >>> source = dt.Seeded(1)
    >>> ages = dt.Podium(dt.Interval(20, 60), epsilon=4).perturb(age, source=source)
    >>> told = dt.Podium(dt.Interval(0, 12), epsilon=4).perturb(hours, source=source)
    >>> fit = dt.regression({"age": ages, "city": city}, told)
    >>> fit["age"], fit["city: Nara"]
    (0.100 ± 0.003 (95 %, n = 20 000), 1.02 ± 0.06 (95 %, n = 20 000))
    """
    if isinstance(response, str) and isinstance(regressors, Reports):
        if weights is not None or answer is not None:
            raise InvalidParameter("numbers in one report have neither weights nor an answer to explain")
        return _within_reports(regressors, response)
    if not isinstance(response, Reports):
        raise InvalidParameter(
            "the response is reports of what is explained, in the order of the people, not "
            f"{type(response).__name__}; a summary has lost the order"
        )
    given = regressors if isinstance(regressors, Mapping) else {"regressor": regressors}
    if not given:
        raise InvalidParameter("a regression needs at least one regressor")
    for regressor in given.values():
        if isinstance(regressor, Reports):
            check_pair(regressor, response)
        elif type(regressor).__name__ == "Counts":
            raise InvalidParameter("a summary has lost the order of people; a regression needs the reports")
    private = [part for part in given.values() if isinstance(part, Reports)]
    if len({id(part.cells) for part in private}) < len(private):
        raise InvalidParameter("these are the same reports twice: their noise is not independent")
    columns = [_column(str(name), part, len(response)) for name, part in given.items()]
    guarantee = reduce(Guarantee.compose, (part.question.guarantee for part in [*private, response]))
    checked = None if weights is None else as_weights(weights, len(response))
    if "frequencies" in response.question.quantities:
        return _logistic_regression(columns, response, checked, answer, guarantee)
    if answer is not None:
        raise InvalidParameter("answer= is for a question with two answers; this one has numbers")
    return _least_squares(columns, response, checked, guarantee)


def _least_squares(
    columns: list[_Column], second: Reports, weights: Weights | None, guarantee: Guarantee
) -> EstimatedRegression:
    response = PersonNumbers.of(second)
    line = response.line
    told = response.value / response.answered + response.middle
    private = [
        PersonNumbers.of(part.reports) for part in columns if part.reports is not None and not part.labels
    ]
    answered = answered_all([response, *private])
    remark = OF_ANSWERS if any(part.optional for part in (response, *private)) else ""
    names = [INTERCEPT, *(name for column in columns for name in column.names)]
    if len(names) > _MOST:
        raise InvalidParameter(f"there are {len(names)} coefficients; at most {_MOST} are estimated")
    equations = _Equations.of(columns, told, answered, weights, remark)
    labels = tuple(names)
    parts = [equations.coefficient(place, guarantee) for place in range(1, len(names))]
    parts.insert(0, equations.predict(np.zeros(len(names) - 1), guarantee, line.unit))

    def predict(places: Floats) -> Estimate:
        return equations.predict(places, guarantee, line.unit)

    return _collect(parts, labels, columns, predict, None)


def _within_reports(reports: Reports, name: str) -> EstimatedRegression:
    """Return the least squares of one number of a report on all others of the same report."""
    reading = MomentReading.of(reports.question)
    at, cells = reading.index(name), reports.cells.reshape(-1).astype(np.int64)
    others = [place for place in range(len(reading.names)) if place != at]
    if not others:
        raise InvalidParameter("a regression needs reports about at least two numbers")
    if cells.size < 3:
        raise NotIdentifiable("a regression needs the reports of at least three people")
    # Regressors and the constant, each less the middle of its domain: readings of their products.
    rows = [reading.values[place] for place in others]
    ones = np.ones_like(reading.values[0])
    read = np.stack([ones, *rows])
    products = np.empty((len(read), len(read), ones.size))
    products[0], products[:, 0] = read, read
    for i, a in enumerate(others, 1):
        for j, b in enumerate(others, 1):
            products[i, j] = reading.products[a, b]
    right = np.stack([reading.values[at], *(reading.products[place, at] for place in others)])
    middle = float(reading.middles[at])
    joint = products[:, :, cells].transpose(2, 0, 1), (right + middle * read)[:, cells].T
    told = reading.values[at][cells] + middle
    equations = _Equations(read[:, cells].T, read[:, cells].T, (), told, np.ones(cells.size), "", joint)
    names = tuple(reading.names[place] for place in others)
    middles = reading.middles[others]
    guarantee = reports.question.guarantee
    parts = [equations.coefficient(place, guarantee) for place in range(1, len(read))]
    parts.insert(0, equations.predict(-middles, guarantee, ""))

    def predict(places: Floats) -> Estimate:
        return equations.predict(places - middles, guarantee, "")

    columns = [_Column(column, ()) for column in names]
    return _collect(parts, (INTERCEPT, *names), columns, predict, None)


def _collect(
    parts: list[Estimate],
    labels: tuple[Hashable, ...],
    columns: list[_Column],
    predict: Callable[[Floats], Estimate],
    answer: Hashable,
) -> EstimatedRegression:
    value = np.array([float(part.value) for part in parts])
    error = np.array([float(part.standard_error) for part in parts])
    return EstimatedRegression(
        value,
        error,
        parts[0].n,
        parts[0].guarantee,
        confidence=PartIntervals(tuple(part._confidence for part in parts)),
        labels=labels,
        parts=tuple(parts),
        columns=tuple(columns),
        predict=predict,
        answer=answer,
    )


@dataclass(frozen=True, eq=False)
class _Equations:
    """The normal equations A·β = b, averages of what each person's reports stand for, without bias.

    `read` are the regressors, with the constant, and `squares` the readings of their squares where they are
    private: the products of `private` columns with themselves are those.
    """

    read: Floats
    squares: Floats
    private: tuple[slice, ...]
    told: Floats
    shares: Floats  # what people count for: weights, times whether they answered; their mean is 1
    remark: str
    # Readings of the products of regressors, and with the response, if one report is about all of them.
    joint: tuple[Floats, Floats] | None = None

    @classmethod
    def of(
        cls, columns: list[_Column], told: Floats, answered: Floats, weights: Weights | None, remark: str
    ) -> _Equations:
        read = [np.ones((told.size, 1)), *(column.readings() for column in columns)]
        own = [column.products(part) for column, part in zip(columns, read[1:], strict=True)]
        ends = np.cumsum([1, *(part.shape[1] for part in read[1:])]).tolist()
        private = tuple(
            slice(begin, end)
            for column, begin, end in zip(columns, ends[:-1], ends[1:], strict=True)
            if column.reports is not None
        )
        shares = answered if weights is None else answered * weights.shares
        shares = shares / float(shares.mean())
        return cls(np.hstack(read), np.hstack([read[0], *own]), private, told, shares, remark)

    def _parts(self, people: slice, centres: Floats) -> tuple[Floats, Floats]:
        """Return some people's matrices and vectors, with regressors taken from `centres`."""
        read, own = self.read[people], self.squares[people]
        if self.joint is not None:
            mixed = read[:, :, None] * centres
            both = self.joint[0][people] - mixed - mixed.transpose(0, 2, 1) + np.outer(centres, centres)
            return both, self.joint[1][people] - self.told[people, None] * centres
        gaps = read - centres
        matrices = gaps[:, :, None] * gaps[:, None, :]
        for here in self.private:
            c = centres[here]
            mixed = read[:, here, None] * c
            squares = own[:, here, None] * np.eye(c.size)
            matrices[:, here, here] = squares - mixed - mixed.transpose(0, 2, 1) + np.outer(c, c)
        return matrices, gaps * self.told[people, None]

    def _solve(self, centres: Floats, place: int) -> tuple[float, float, Floats, Floats]:
        """Return a coefficient times its divisor, the divisor, and each person's influence on both.

        The divisor is what is left of the regressor's mean square when the others explain it: 1/(A⁻¹)ⱼⱼ.
        """
        n, size = self.read.shape
        shares = self.shares
        mean, target = np.zeros((size, size)), np.zeros(size)
        for people in blocks(n, size**2):
            matrices, right = self._parts(people, centres)
            mean += np.tensordot(shares[people], matrices, axes=1) / n
            target += shares[people] @ right / n
        try:
            inverse = np.linalg.inv(mean)
        except np.linalg.LinAlgError:
            raise _unclear() from None
        if not (np.isfinite(inverse).all() and np.linalg.eigvalsh(mean)[0] > 1e-12 * np.abs(mean).max()):
            raise _unclear()
        divisor = 1.0 / float(inverse[place, place])
        rest = inverse[place] * divisor  # the regressor less its fit on the others
        beta = inverse @ target
        moved, below = np.empty(n), np.empty(n)
        for people in blocks(n, size**2):
            matrices, right = self._parts(people, centres)
            moved[people] = (right - matrices @ beta) @ inverse[place]
            below[people] = (matrices @ rest) @ rest - divisor
        value = float(beta[place])
        return value * divisor, divisor, shares * (divisor * moved + value * below), shares * below

    def _estimate(self, centres: Floats, place: int, guarantee: Guarantee, unit: str = "") -> Estimate:
        top, bottom, above, below = self._solve(centres, place)
        n = self.told.size
        matrix = np.cov(above, below) / n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        left = above - top / bottom * below
        interval = QuotientInterval(top, bottom, spread, n, freedom(left - left.mean()))
        return Estimate.of(interval, guarantee, unit=unit, remark=self.remark)

    def coefficient(self, place: int, guarantee: Guarantee) -> Estimate:
        """Estimate the coefficient of a regressor."""
        centres = self.shares @ self.read / len(self.read)
        centres[0] = 0.0  # regressors are taken from about their means, for accuracy
        return self._estimate(centres, place, guarantee)

    def predict(self, places: Floats, guarantee: Guarantee, unit: str) -> Estimate:
        """Estimate the mean answer of people with these regressors: the constant, with those subtracted."""
        return self._estimate(np.concatenate([[0.0], places]), 0, guarantee, unit)


def _unclear() -> NotIdentifiable:
    return NotIdentifiable(
        "the variance of the regressors cannot be told from 0 by these reports, or one follows from others; "
        "ask more people, use a larger ε, or leave regressors out. dt.stats.covariance needs no variances"
    )


def _logistic_regression(
    columns: list[_Column],
    second: Reports,
    weights: Weights | None,
    answer: Hashable,
    guarantee: Guarantee,
) -> EstimatedRegression:
    labels = list(protocol_of(second).categories.labels)
    if len(labels) != 2:
        raise InvalidParameter(
            f"a logistic regression is of a question with two answers, and this one has {len(labels)}; "
            "dt.crosstab and dt.estimate(reports, by=…) compare several"
        )
    answer = labels[-1] if answer is None else answer
    if answer not in labels:
        raise unknown_name("answer", answer, map(str, labels))
    for column in columns:
        if column.reports is not None and not column.labels:
            raise InvalidParameter(
                f"regressor {column.name!r} is a private number: the likelihood needs its distribution "
                "given all other regressors, which these reports do not tell. Ask it as categories "
                "(dt.Categories), use a public column, or compare its means by the answer: "
                "dt.estimate(number, by=answer)"
            )
    model = _LogisticModel.of(columns, second, labels.index(answer), weights)
    names = [INTERCEPT, *(name for column in columns for name in column.names)]
    parts = [model.estimate(np.eye(len(names))[place], guarantee) for place in range(len(names))]

    def predict(places: Floats) -> Estimate:
        plain = model.estimate(np.concatenate([[1.0], places]), guarantee)
        value, error = float(plain.value), float(plain.standard_error)
        chance = _logistic(value)
        interval = TransformedInterval(plain, _logistic)
        return Estimate(chance, chance * (1.0 - chance) * error, plain.n, guarantee, confidence=interval)

    return _collect(parts, tuple(names), columns, predict, answer)


@dataclass(frozen=True, eq=False)
class _LogisticModel:
    """The likelihood of reports on a yes-or-no answer, given public regressors and reports on categories.

    Classes are the combinations of private categories. Of a person, `told` is the likelihood of the reports
    on categories in each class, and `answers` that of the report on the answer. The log-odds of the answer in
    a class are z·β + d·β, with the public regressors z and the dummies d of the class. The shares of the
    classes are softmax(z·γ), saturated if nothing is public.
    """

    public: Floats  # n × p, with the constant
    classes: Floats  # k × q: dummies of each class
    order: Integers  # which coefficient, in the order of the regressors, each column of both is
    told: Floats  # n × k
    answers: Floats  # n × 2: no, yes
    shares: Floats  # weights of those who are alike, summed; they have the mean 1
    squares: Floats  # their squares, summed
    n: int
    best: Floats = field(default_factory=lambda: np.zeros(0))
    top: float = 0.0  # the largest log-likelihood

    @classmethod
    def of(cls, columns: list[_Column], second: Reports, yes: int, weights: Weights | None) -> _LogisticModel:
        n = len(second)
        private = [column for column in columns if column.reports is not None]
        sizes = [len(column.labels) for column in private]
        if math.prod(sizes) > _CLASSES:
            raise InvalidParameter(
                f"the private categories have {math.prod(sizes)} combinations, and at most {_CLASSES} are "
                "summed over; leave one out, or ask with fewer categories"
            )
        parts, order, dummies, place = [np.ones((n, 1))], [0], [], 1
        for column in columns:
            width = len(column.names)
            if column.reports is None:
                parts.append(column.exact())
                order += list(range(place, place + width))
            else:
                dummies += list(range(place, place + width))
            place += width
        told = np.ones((n, math.prod(sizes)))
        lines = []
        for number, cells in enumerate(combinations_of(*(range(size) for size in sizes))):
            row: list[float] = []
            for column, code in zip(private, cells, strict=True):
                row += [float(code == label) for label in range(1, len(column.labels))]
                told[:, number] *= _chances(column.reports, code)
            lines.append(row)
        answers = np.stack([_chances(second, 1 - yes), _chances(second, yes)], axis=1)
        shares = np.ones(n) if weights is None else weights.shares
        classes = np.array(lines).reshape(len(lines), -1)
        # People with the same regressors and reports have the same likelihood: they are counted.
        rows = np.hstack([*parts, told, answers])
        rows, people = np.unique(rows, axis=0, return_inverse=True)
        sums, heavy = (
            np.asarray(np.bincount(people.reshape(-1), shares**power), dtype=np.float64) for power in (1, 2)
        )
        width = sum(part.shape[1] for part in parts)
        public, told, answers = rows[:, :width], rows[:, width:-2], rows[:, -2:]
        made = cls(public, classes, np.array(order + dummies), told, answers, sums, heavy, n)
        best, top = made._climb(np.zeros(made._size), None)
        return replace(made, best=best, top=top)

    @property
    def _odds(self) -> int:
        return int(self.public.shape[1] + self.classes.shape[1])

    @property
    def _size(self) -> int:
        return int(self._odds + (len(self.classes) - 1) * self.public.shape[1])

    def _scores(self, at: Floats) -> tuple[float, Floats]:
        """Return the weighted log-likelihood, and each person's gradient."""
        p, k = self.public.shape[1], len(self.classes)
        odds = self.public @ at[:p][:, None] + (self.classes @ at[p : self._odds])[None, :]
        chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -_BEYOND, _BEYOND)))
        levels = np.zeros((len(self.public), k))
        levels[:, 1:] = self.public @ at[self._odds :].reshape(k - 1, p).T
        levels = np.exp(levels - levels.max(axis=1, keepdims=True))
        levels /= levels.sum(axis=1, keepdims=True)
        answered = self.answers[:, 1:] * chance + self.answers[:, :1] * (1.0 - chance)
        joint = levels * self.told * answered
        whole = joint.sum(axis=1, keepdims=True)
        after = joint / whole
        pull = after * (self.answers[:, 1:] * chance / answered - chance)
        scores = np.hstack(
            [self.public * pull.sum(axis=1, keepdims=True), pull @ self.classes]
            + [self.public * (after - levels)[:, [other]] for other in range(1, k)]
        )
        return float(self.shares @ np.log(whole[:, 0])), scores

    def _climb(self, start: Floats, along: tuple[Floats, float] | None) -> tuple[Floats, float]:
        """Return the parameters of the largest likelihood, and its logarithm.

        By scoring with the outer product of the gradients, damped until the likelihood rises
        [Levenberg44]. With `along`, a direction and a number, only parameters whose product with the
        direction is the number are tried.
        """
        free, at = np.eye(self._size), start
        if along is not None:
            direction, wanted = along
            at = start + direction * ((wanted - float(direction @ start)) / float(direction @ direction))
            free = np.linalg.svd(direction[None, :])[2][1:].T
        now, scores = self._scores(at)
        damping = 1e-6
        for _ in range(_STEPS if free.size else 0):
            moved = scores @ free
            gradient = self.shares @ moved
            matrix = (moved * self.shares[:, None]).T @ moved
            size = float(np.diag(matrix).mean()) + 1e-12
            step = np.linalg.solve(matrix + damping * size * np.eye(len(matrix)), gradient)
            length = float(np.abs(step).max())
            trial = at + free @ (step * min(1.0, 4.0 / length if length > 0.0 else 1.0))
            there, found = self._scores(trial)
            if there > now:
                done = there - now <= _FLAT
                at, now, scores = trial, there, found
                damping = max(damping / 10.0, 1e-9)
                if done:
                    break
            elif damping > 1e6 or float(gradient @ step) <= _FLAT:
                break
            else:
                damping *= 10.0
        return at, now

    def estimate(self, direction: Floats, guarantee: Guarantee) -> Estimate:
        """Estimate a sum of coefficients, in the order of the regressors, with its profile interval."""
        whole = np.zeros(self._size)
        whole[: self._odds] = direction[self.order]
        scores = self._scores(self.best)[1]
        inverse = np.linalg.pinv((scores * self.shares[:, None]).T @ scores, rcond=1e-12)
        variance = float(whole @ inverse @ whole)
        # By weight, the information and the variance of the gradient differ: the likelihood is scaled.
        outer = (scores * self.squares[:, None]).T @ scores
        sandwich = float(whole @ inverse @ outer @ inverse @ whole)
        scale = variance / sandwich if sandwich > 0.0 else 1.0
        value = min(max(float(whole @ self.best), -_BEYOND), _BEYOND)
        error = math.sqrt(max(variance / scale, 0.0))
        interval = ProfileOdds(self, whole, value, error, scale)
        return Estimate(value, error, self.n, guarantee, confidence=interval)


@dataclass(frozen=True, eq=False)
class ProfileOdds(ConfidenceInterval):
    """The profile likelihood interval of a log-odds: all values whose best fit is within the level."""

    model: _LogisticModel
    direction: Floats
    value: float
    error: float
    scale: float

    def interval(self, level: float) -> tuple[float, float]:
        reach = student_t_quantile(level, max(self.model.n - self.direction.size, 1)) ** 2
        return self._end(reach, -1.0), self._end(reach, 1.0)

    def _end(self, reach: float, sign: float) -> float:
        """Return where twice the fall of the log-likelihood reaches a number; infinite if it never does."""
        at, near, far = self.model.best, 0.0, math.inf
        distance = min(max(math.sqrt(reach) * self.error, 0.05), 4.0)
        for _ in range(60):
            wanted = self.value + sign * distance
            if sign * wanted > _BEYOND:
                return sign * math.inf
            at, log = self.model._climb(at, (self.direction, wanted))
            fall = 2.0 * self.scale * (self.model.top - log)
            if abs(fall - reach) < 1e-3 * reach or far - near < 1e-6:
                break
            near, far = (distance, far) if fall < reach else (near, distance)
            guess = distance * math.sqrt(reach / fall) if fall > 0.0 else 2.0 * distance
            if math.isinf(far):
                distance = min(max(guess, 1.2 * distance), 2.0 * distance)
            else:
                distance = guess if near < guess < far else (near + far) / 2.0
        return self.value + sign * distance


def _chances(reports: Reports | None, code: int) -> Floats:
    """Return the likelihood of each report if a category is the person's, up to a constant."""
    question: Any = reports.question if reports is not None else None
    cells = reports.cells.reshape(-1, *question.layout.shape) if reports is not None else np.zeros(0)
    if question.one_category:
        return np.asarray(np.where(cells == code, question.p, question.q))
    return np.asarray(question.kernel.likelihoods(cells, np.asarray(code)), dtype=np.float64).reshape(-1)
