"""Regression of an answer on private and public regressors: least squares, and logistic by likelihood.

Least squares needs only averages of products. A private number or category is decoded without bias, the noise
of two questions is independent, and the square of a number has its own unbiased decoding. So the normal
equations are estimated without bias, and noise does not flatten slopes. A coefficient is a ratio of two such
averages, with Fieller's interval. Regressors are centred at their means and divided by their standard
deviations, so the result does not depend on their scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dither.core.domains.domain import regular
from dither.core.people import join
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.design import (
    Column,
    DataColumns,
    Factor,
    Pair,
    RegressionDesign,
    check_numbers,
    public_numbers,
)
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import PartIntervals
from dither.estimation.logistic import TransformedInterval, fit_logistic
from dither.estimation.moments import MomentReading
from dither.estimation.person_numbers import (
    PersonNumbers,
    answered_all,
    blocks,
    check_pair,
    clipping_of,
)
from dither.estimation.ratios import QuotientInterval
from dither.estimation.rounding import OF_ANSWERS, SHARE
from dither.estimation.weights import Weighting, Weights, as_weights, freedom
from dither.foundation.arrays import Floats
from dither.privacy import Guarantee

if TYPE_CHECKING:
    pass

Regressors = Column | Mapping[str, Column] | str

_SINGULAR = 1e-10  # the smallest eigenvalue of the normal equations, relative to the largest


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedRegression(LabelledEstimate):
    """The coefficients of a regression, by name, each with its interval; `at` is its prediction.

    `fit["age"]` is a coefficient, and `fit["intercept"]` the constant. A category has a coefficient for each
    label except the first, relative to the first: `fit["home: house"]`. With one number as the regressor
    they are also `slope` and `intercept`. An interaction is `fit["age × home: house"]`. `r_squared` is the
    share of the response's variance that the regressors explain, `residual_degrees` the number of people
    minus the number of coefficients. A logistic regression has coefficients in log-odds of its `answer`;
    `fit.odds("age")` is the ratio of odds.
    """

    parts: Sequence[Estimate] = field(kw_only=True, repr=False)
    design: RegressionDesign = field(kw_only=True, repr=False)
    predict: Callable[[Floats], Estimate] = field(kw_only=True, repr=False)
    answer: Hashable = field(default=None, kw_only=True)
    explained_share: Callable[[], Estimate] | None = field(default=None, kw_only=True, repr=False)

    @property
    def residual_degrees(self) -> int:
        """The number of people less the number of coefficients."""
        return self.n - len(self.parts)

    @cached_property
    def r_squared(self) -> Estimate:
        """The share of the variance of the response, without the noise, that the regressors explain."""
        if self.explained_share is None:
            raise InvalidParameter(
                "expected a response of numbers for R²; for a logistic regression use fit.odds(…)"
            )
        return self.explained_share()

    @property
    def intercept(self) -> Estimate:
        """The constant: the prediction where every regressor is 0 or its first label."""
        return self.parts[0]

    @property
    def slope(self) -> Estimate:
        """The coefficient of the only regressor, a number."""
        if len(self.parts) != 2:
            raise InvalidParameter(
                f"expected one coefficient, got {len(self.parts) - 1}; take one: fit[{self.labels[1]!r}]"
            )
        return self.parts[1]

    def __getitem__(self, label: Any) -> Estimate:
        if label not in self.labels:
            raise unknown_name("coefficient", label, map(str, self.labels))
        return self.parts[list(self.labels).index(label)]

    def at(self, values: object) -> Estimate:
        """Estimate the mean answer of people with these values: a number, or a mapping from regressors.

        For a logistic regression it is the probability of its answer.
        """
        variables = self.design.variables
        if not isinstance(values, Mapping):
            if len(variables) != 1:
                raise InvalidParameter(f"expected at to be a mapping with {', '.join(variables)}")
            values = {variables[0]: values}
        return self.predict(self.design.at(values))

    def odds(self, label: Hashable) -> Estimate:
        """Return the odds ratio of a regressor of a logistic regression."""
        if self.answer is None:
            raise InvalidParameter("expected a logistic regression for odds: a response with two answers")
        part = self[label]
        interval = TransformedInterval.of(part, _exp)
        known: dict[str, Any] = {"confidence": interval, "people": part.people}
        return Estimate(_exp(float(part.value)), None, part.n, part.guarantee, **known)

    @property
    def line_ends(self) -> tuple[float, float] | None:
        """Return the lowest and highest value of the only regressor, or None if it is not one number."""
        if len(self.design.variables) != 1:
            return None
        return next((factor.ends for factor in self.design.factors if factor.ends is not None), None)

    def __repr__(self) -> str:
        what = "" if self.answer is None else f"log-odds of {self.answer!r}: "
        parts = [replace(part, clipping=None) for part in self.parts]
        named = list(zip(self.labels, parts, strict=True))
        if self._is_line and not what:
            named = [("slope", parts[1]), ("intercept", parts[0])]
        clipped = "" if self.clipping is None else f"; {self.clipping}"
        return what + "; ".join(f"{label} {part}" for label, part in named) + clipped

    @property
    def _is_line(self) -> bool:
        return len(self.parts) == 2 and not any(factor.labels for factor in self.design.factors)


def _exp(number: float) -> float:
    return math.exp(min(number, 700.0)) if number > -math.inf else 0.0


def regression(
    regressors: Regressors,
    response: Column | object = None,
    *,
    data: object = None,
    weights: Weighting | None = None,
    answer: Hashable = None,
) -> EstimatedRegression:
    """Estimate how the response depends on one or several regressors of the same people.

    Regressors are reports on numbers or categories, and public columns of numbers or labels; several are a
    mapping from names, or a data frame of public columns. The response is reports, or public if a regressor
    is private. If it is a number, this is least squares; the noise of private regressors does not flatten
    slopes. If it is a question with two answers, it is a logistic regression of `answer`, by default the last
    one, on public columns and private categories. `weights` are public, one for each person.

    A formula, "income ~ age + C(education)", takes `data`: a mapping from names to reports and columns
    (`{**dt.data.reports(frame), "age": ages}`), or a data frame of public columns; it needs the extra
    `formulas`. `a * b` and `a:b` are interactions, also of private regressors; functions such as `np.log(a)`
    are of public columns. `dt.stats.regression(reports, "weight")` explains one number of reports of
    `dt.optimal.JointMoments` by the others.

    >>> import dither as dt, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> age, city = rng.uniform(20, 60, 20_000), rng.choice(["Kyoto", "Nara"], 20_000)
    >>> hours = 0.1 * age + (city == "Nara") + rng.uniform(0, 4, 20_000)
    >>> source = dt.Seeded(1)
    >>> ages = dt.Podium(dt.Interval(20, 60), epsilon=4).perturb(age, source=source)
    >>> told = dt.Podium(dt.Interval(0, 12), epsilon=4).perturb(hours, source=source)
    >>> fit = dt.stats.regression({"age": ages, "city": city}, told)
    >>> fit["age"], fit["city: Nara"]
    (0.100 ± 0.003 (95 %, n = 20 000), 1.02 ± 0.06 (95 %, n = 20 000))
    """
    if isinstance(response, str) and isinstance(regressors, Reports):
        if weights is not None or answer is not None:
            raise InvalidParameter(
                "expected no weights and no answer for numbers in one report; leave them out"
            )
        return _dress(_within_reports(regressors, response), {"value": regressors})
    if isinstance(regressors, str):
        from dither.estimation.formulas import read_formula

        given = response if data is None else data
        explained, design = read_formula(regressors, given)
    else:
        if data is not None:
            raise InvalidParameter(
                'expected data= only with a formula: dt.stats.regression("income ~ age", data=columns)'
            )
        explained = _response_column(response)
        alone = isinstance(regressors, Reports) or not (
            isinstance(regressors, Mapping) or hasattr(regressors, "columns")
        )
        named = DataColumns({"regressor": regressors} if alone else regressors)
        design = RegressionDesign.of(named, len(explained))
    people, private = len(explained), _check_private(design, explained)
    design.check_public(people)
    guarantee = reduce(Guarantee.compose, (part.question.guarantee for part in private))
    checked = None if weights is None else as_weights(weights, people)
    if isinstance(explained, Reports):
        answers = "frequencies" in explained.question.quantities
    else:
        answers = public_numbers(explained) is None
    if answers:
        model = fit_logistic(design, explained, checked, answer, guarantee)
        names = design.names
        parts = [model.coefficient(index) for index in range(len(names))]
        logistic = _collect(parts, tuple(names), design, model.chance, answer=model.answer)
        private_factors = {factor.name: factor.reports for factor in design.factors}
        return _dress(logistic, {**private_factors, "the response": explained})
    if answer is not None:
        raise InvalidParameter(
            "expected answer= only for a question with two answers, got one with numbers; leave answer out"
        )
    if isinstance(explained, Reports):
        named_response = isinstance(regressors, str) and regressors.partition("~")[0].strip(" `")
        check_numbers(f"response {named_response!r}" if named_response else "the response", explained)
    fitted = _least_squares(design, explained, checked, guarantee)
    numbers = {factor.name: factor.reports for factor in design.factors}
    return _dress(fitted, {**numbers, "the response": explained})


def _dress(fitted: EstimatedRegression, columns: Mapping[str, object]) -> EstimatedRegression:
    """Return a regression whose coefficients and predictions know their people and print any clipping."""
    reports = [column for column in columns.values() if isinstance(column, Reports)]
    facts: dict[str, Any] = {"people": join(part.people for part in reports)}
    clipped = clipping_of("", columns)
    if clipped is not None:
        facts["clipping"] = clipped
    predict, explained_share = fitted.predict, fitted.explained_share
    return replace(
        fitted,
        parts=tuple(replace(part, **facts) for part in fitted.parts),
        predict=lambda values: replace(predict(values), **facts),
        explained_share=explained_share and (lambda: replace(explained_share(), **facts)),
        **facts,
    )


def _response_column(response: object) -> Column:
    """Return the response; raise InvalidParameter unless it is reports or a column."""
    if isinstance(response, Reports) or getattr(regular(response), "ndim", 0) == 1:
        return cast("Column", response)
    raise InvalidParameter(
        "expected as response reports or a public column, in the order of the people, got "
        f"{type(response).__name__}; a summary has lost the order"
    )


def _check_private(design: RegressionDesign, response: Column) -> list[Reports]:
    """Return the reports of a regression; raise InvalidParameter if they are missing or used twice."""
    private, names = design.private, dict[int, str]()
    if isinstance(response, Reports):
        names[id(response.cells)] = "the response"
    for factor in design.factors:
        if factor.reports is not None:
            name = f"regressor {factor.name!r}"
            other = names.setdefault(id(factor.reports.cells), name)
            if other != name:
                raise InvalidParameter(
                    f"expected different reports of {name} and {other}, got the same ones, whose noise is "
                    "not independent; leave one out"
                )
    if isinstance(response, Reports):
        for reports in design.private:
            check_pair(reports, response)
        private = [*private, response]
    if not private:
        raise InvalidParameter(
            "expected reports as the response or as a regressor, got only public columns; use any "
            "statistics package for a regression without noise"
        )
    return private


@dataclass(frozen=True, eq=False)
class _Response:
    """Decodings of the response, of its square about `middle`, and of whether people answered.

    Squares are needed for R² only. Some mechanisms, such as `Optimal` for a mean, cannot decode them.
    """

    value: Floats
    squares: Callable[[], Floats]
    answered: Floats
    middle: float
    unit: str = ""
    optional: bool = False

    @cached_property
    def square(self) -> Floats:
        """The decodings of squares; raise NotIdentifiable if the mechanism does not have them."""
        return self.squares()

    @classmethod
    def of(cls, given: Column, others: Sequence[PersonNumbers]) -> _Response:
        if not isinstance(given, Reports):
            value = np.asarray(public_numbers(given))
            if not np.isfinite(value).all():
                raise InvalidParameter(
                    "expected finite numbers of the response, got NaN or an infinity; drop these people"
                )
            middle = float(value.mean())
            answered = answered_all(others) if others else np.ones(value.size)
            optional = any(part.optional for part in others)
            return cls(value, lambda: (value - middle) ** 2, answered, middle, "", optional)
        numbers = PersonNumbers.of(given)
        answered = answered_all([numbers, *others])
        optional = any(part.optional for part in (numbers, *others))
        value = numbers.value / numbers.answered + numbers.middle

        def squares() -> Floats:
            return np.asarray(numbers.square / numbers.answered)

        return cls(value, squares, answered, numbers.middle, numbers.line.unit, optional)


def _least_squares(
    design: RegressionDesign, response: Column, weights: Weights | None, guarantee: Guarantee
) -> EstimatedRegression:
    private = [
        PersonNumbers.of(factor.reports)
        for factor in design.factors
        if factor.reports is not None and not factor.labels
    ]
    explained = _Response.of(response, private)
    read, own = design.readings(explained.value.size)
    shares = explained.answered if weights is None else explained.answered * weights.shares
    equations = _Equations(read, own, explained, shares / float(shares.mean()))
    return equations.fit(design, guarantee, np.zeros(read.shape[1] - 1))


def _within_reports(reports: Reports, name: str) -> EstimatedRegression:
    """Return the least squares of one number of a report on all others of the same report."""
    reading = MomentReading.of(reports.question)
    at, cells = reading.index(name), reports.cells.reshape(-1).astype(np.int64)
    others = [index for index in range(len(reading.names)) if index != at]
    if not others:
        raise InvalidParameter("expected reports about at least two numbers for a regression, got one")
    if cells.size < 3:
        raise NotIdentifiable("expected the reports of at least three people for a regression, got fewer")
    # The regressors and the constant are centred at the middles of their domains.
    rows = [reading.values[index] for index in others]
    ones = np.ones_like(reading.values[0])
    read = np.stack([ones, *rows])
    products = np.empty((len(read), len(read), ones.size))
    products[0], products[:, 0] = read, read
    for i, a in enumerate(others, 1):
        for j, b in enumerate(others, 1):
            products[i, j] = reading.products[a, b]
    right = np.stack([reading.values[at], *(reading.products[index, at] for index in others)])
    middle = float(reading.middles[at])
    own = {(i, j): products[i, j][cells] for i in range(1, len(read)) for j in range(i, len(read))}
    reported = reading.values[at][cells] + middle
    response = _Response(reported, lambda: reading.products[at, at][cells], np.ones(cells.size), middle)
    equations = _Equations(
        read[:, cells].T, own, response, np.ones(cells.size), (right + middle * read)[:, cells].T
    )
    names = tuple(reading.names[index] for index in others)
    design = RegressionDesign(tuple((Factor(name, (name,)),) for name in names))
    return equations.fit(design, reports.question.guarantee, reading.middles[others])


def _collect(
    parts: list[Estimate],
    labels: tuple[Hashable, ...],
    design: RegressionDesign,
    predict: Callable[[Floats], Estimate],
    *,
    answer: Hashable = None,
    explained_share: Callable[[], Estimate] | None = None,
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
        remark=OF_ANSWERS if OF_ANSWERS in parts[0].remark else "",
        design=design,
        predict=predict,
        answer=answer,
        explained_share=explained_share,
    )


@dataclass(frozen=True, eq=False)
class _Equations:
    """The unbiased normal equations A·γ = b: averages of each person's decoded reports.

    `read` are decodings of the regressors with the constant. `own` are decodings of their products that are
    not products of decodings. The equations use regressors less their means, divided by their deviations.
    """

    read: Floats
    own: Mapping[Pair, Floats]
    response: _Response
    shares: Floats  # weights times the indicator of an answer, with mean 1
    right: Floats | None = None  # decodings of products with the response, if one report contains all of them

    @property
    def _n(self) -> int:
        return len(self.read)

    @cached_property
    def _centres(self) -> Floats:
        centres = self.shares @ self.read / self._n
        centres += self.shares @ (self.read - centres) / self._n  # remove the rounding error of large numbers
        centres[0] = 0.0
        return np.asarray(centres)

    @cached_property
    def _scales(self) -> Floats:
        scales = self.read.std(axis=0)
        scales[0] = 1.0
        if not (scales > 0.0).all():
            raise _unclear()
        return np.asarray(scales)

    def _parts(self, people: slice) -> tuple[Floats, Floats]:
        """Return some people's matrices and vectors."""
        c, scales, reported = self._centres, self._scales, self.response.value[people]
        raw = self.read[people]
        gaps = (raw - c) / scales
        matrices = gaps[:, :, None] * gaps[:, None, :]
        for (i, j), both in self.own.items():
            mixed = both[people] - raw[:, i] * c[j] - c[i] * raw[:, j] + c[i] * c[j]
            matrices[:, i, j] = matrices[:, j, i] = mixed / (scales[i] * scales[j])
        if self.right is None:
            return matrices, gaps * reported[:, None]
        return matrices, (self.right[people] - reported[:, None] * c) / scales

    @cached_property
    def _solution(self) -> tuple[Floats, Floats, Floats]:
        """The inverse of A, the coefficients, and b."""
        size = self.read.shape[1]
        mean, target = np.zeros((size, size)), np.zeros(size)
        for people in blocks(self._n, size**2):
            matrices, right = self._parts(people)
            mean += np.tensordot(self.shares[people], matrices, axes=1) / self._n
            target += self.shares[people] @ right / self._n
        if not np.linalg.eigvalsh(mean)[0] > _SINGULAR * float(np.abs(mean).max()):
            raise _unclear()
        inverse = np.linalg.inv(mean)
        return np.asarray(inverse), np.asarray(inverse @ target), target

    def _estimate(self, direction: Floats, guarantee: Guarantee, unit: str = "") -> Estimate:
        """Estimate a combination d·γ as a ratio, whose divisor is 1/(d·A⁻¹·d).

        The divisor is the part of the regressor's mean square that the others do not explain.
        """
        inverse, solution, _ = self._solution
        along = inverse @ direction
        divisor = 1.0 / float(direction @ along)
        rest, value = along * divisor, float(direction @ solution)
        moved, below = np.empty(self._n), np.empty(self._n)
        for people in blocks(self._n, len(direction) ** 2):
            matrices, right = self._parts(people)
            moved[people] = (right - matrices @ solution) @ along
            below[people] = (matrices @ rest) @ rest - divisor
        above = self.shares * (divisor * moved + value * below)
        return self._ratio(value * divisor, divisor, above, self.shares * below, guarantee, unit=unit)

    def _ratio(
        self, top: float, bottom: float, above: Floats, below: Floats, guarantee: Guarantee, **more: Any
    ) -> Estimate:
        """Return a quotient with Fieller's interval, from each person's influence on both of its parts."""
        matrix = np.cov(above, below) / self._n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        left = above - top / bottom * below
        interval = QuotientInterval(top, bottom, spread, self._n, freedom(left - left.mean()))
        remark = OF_ANSWERS if self.response.optional else ""
        return Estimate.of(interval, guarantee, remark=remark, **more)

    def coefficient(self, place: int, guarantee: Guarantee) -> Estimate:
        """Estimate the coefficient of a regressor."""
        direction = np.zeros(self.read.shape[1])
        direction[place] = 1.0 / self._scales[place]
        return self._estimate(direction, guarantee)

    def predict(self, values: Floats, guarantee: Guarantee) -> Estimate:
        """Estimate the mean answer of people with these regressors."""
        gaps = (values - self._centres[1:]) / self._scales[1:]
        return self._estimate(np.concatenate([[1.0], gaps]), guarantee, self.response.unit)

    def explained_share(self, guarantee: Guarantee) -> Estimate:
        """Estimate the share of the response's variance that the regressors explain."""
        _, solution, target = self._solution
        response = self.response
        slopes, mean = solution[1:], float(self.shares @ response.value) / self._n
        top = float(slopes @ target[1:])
        gap = mean - response.middle
        squares = response.square - 2.0 * gap * (response.value - response.middle) + gap**2
        bottom = float(self.shares @ squares) / self._n
        if not bottom > 0.0:
            raise NotIdentifiable(
                "the variance of the response is not distinguishable from 0, so its shares are not "
                "identifiable; "
                "collect more reports, or use a larger ε"
            )
        above = np.empty(self._n)
        for people in blocks(self._n, len(solution) ** 2):
            matrices, right = self._parts(people)
            centred = right[:, 1:] - mean * matrices[:, 1:, 0]
            above[people] = 2.0 * (centred @ slopes) - (matrices[:, 1:, 1:] @ slopes) @ slopes - top
        return self._ratio(
            top, bottom, self.shares * above, self.shares * (squares - bottom), guarantee, limits=SHARE
        )

    def fit(self, design: RegressionDesign, guarantee: Guarantee, middles: Floats) -> EstimatedRegression:
        """Return all coefficients; `middles` were subtracted from the decodings of the regressors."""

        def predict(values: Floats) -> Estimate:
            return self.predict(values - middles, guarantee)

        names = design.names
        parts = [self.coefficient(index, guarantee) for index in range(1, len(names))]
        parts.insert(0, predict(np.zeros(len(names) - 1)))
        return _collect(
            parts, tuple(names), design, predict, explained_share=lambda: self.explained_share(guarantee)
        )


def _unclear() -> NotIdentifiable:
    return NotIdentifiable(
        "the variance of the regressors is not distinguishable from 0, or one follows from others; "
        "collect more reports, use a larger ε, or leave regressors out. dt.stats.covariance needs no "
        "variances"
    )
