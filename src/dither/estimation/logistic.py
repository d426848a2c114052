"""Logistic regression by the likelihood of the reports, with profile intervals of the log-odds.

Private categories among the regressors are summed over. Their shares are also parameters and may depend on
the public regressors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from itertools import product as combinations_of
from typing import Any, Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import InvalidParameter, unknown_name
from dither.estimation.design import Column, RegressionDesign, category_factor
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.person_numbers import protocol_of
from dither.estimation.rounding import OF_ANSWERS, SHARE
from dither.estimation.weights import Weights
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.distributions import student_t_quantile
from dither.privacy import Guarantee

_CLASSES: Final = 64  # combinations of private categories that are summed over
_STEPS: Final = 200
_FEW: Final = 30.0  # equivalent answers without noise; below this, coverage of log-odds is 90 to 92 %
_FLAT: Final = 1e-9  # the search ends when the log-likelihood gains less than this
_BEYOND: Final = 30.0  # log-odds treated as infinite, for regressors with mean 0 and variance 1


def logistic(number: float) -> float:
    """Return the probability with these log-odds."""
    return 1.0 / (1.0 + math.exp(-number)) if number > -700.0 else 0.0


@dataclass(frozen=True, eq=False)
class TransformedInterval(ConfidenceInterval):
    """The interval of an increasing function of an estimated number."""

    plain: Estimate
    function: Callable[[float], float]
    condition: str = ""

    @classmethod
    def of(cls, plain: Estimate, function: Callable[[float], float]) -> TransformedInterval:
        """Return the interval of a function, with the condition of the number's interval."""
        return cls(plain, function, plain.condition)

    def interval(self, level: float) -> tuple[float, float]:
        low, high = (self.function(float(end)) for end in self.plain.interval(level))
        return low, high


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """The fitted model of an answer; coefficients are in the units of the regressors."""

    model: _LogisticModel
    answer: Hashable
    guarantee: Guarantee
    middles: Floats
    scales: Floats

    def coefficient(self, place: int) -> Estimate:
        """Estimate the intercept (index 0) or the coefficient of a regressor."""
        if place == 0:
            return self.log_odds(np.zeros(self.middles.size))
        direction = np.zeros(1 + self.middles.size)
        direction[place] = 1.0 / self.scales[place - 1]
        return self.model.estimate(direction, self.guarantee)

    def log_odds(self, values: Floats) -> Estimate:
        """Estimate the log-odds of the answer for people with these regressors."""
        gaps = (values - self.middles) / self.scales
        return self.model.estimate(np.concatenate([[1.0], gaps]), self.guarantee)

    def chance(self, values: Floats) -> Estimate:
        """Estimate the probability of the answer for people with these regressors."""
        plain = self.log_odds(values)
        value, error = float(plain.value), float(plain.standard_error)
        chance = logistic(value)
        interval = TransformedInterval.of(plain, logistic)
        error *= chance * (1.0 - chance)
        return Estimate(
            chance, error, plain.n, self.guarantee, confidence=interval, remark=plain.remark, limits=SHARE
        )


def fit_logistic(
    design: RegressionDesign,
    response: Column,
    weights: Weights | None,
    answer: Hashable,
    guarantee: Guarantee,
) -> LogisticFit:
    """Return the model of one of two answers, reported or public, among the people who answered."""
    silent: list[Floats] = []
    if isinstance(response, Reports):
        labels: list[Any] = list(protocol_of(response).categories.labels)
        chances = [_chances(response, index) for index in range(len(labels))]
        if None in labels:
            silent = [chances.pop(labels.index(None))]
            labels.remove(None)
    else:
        public = category_factor("response", response)
        labels, last = list(public.labels), np.asarray(public.public)[:, -1]
        chances = [1.0 - last, last]
    if len(labels) != 2:
        raise InvalidParameter(
            f"expected a question with two answers for a logistic regression, got {len(labels)} answers; "
            "dt.stats.crosstab and dt.estimate(reports, by=…) compare several"
        )
    answer = labels[-1] if answer is None else answer
    if answer not in labels:
        raise unknown_name("answer", answer, map(str, labels))
    for term in design.terms:
        private = [factor for factor in term if factor.reports is not None]
        for factor in private:
            if not factor.labels:
                raise InvalidParameter(
                    f"expected regressor {factor.name!r} to be public or categories, got a private number, "
                    "whose distribution given all other regressors is not in these reports. Collect it as "
                    "categories (dt.Categories), use a public column, or compare its means by the answer: "
                    "dt.estimate(number, by=answer)"
                )
        if private and len(term) > 1:
            raise InvalidParameter(
                "expected interactions of public columns in a logistic regression, got the private "
                f"{private[0].name!r}; leave this interaction out"
            )
    yes = labels.index(answer)
    answers = np.stack([chances[1 - yes], chances[yes], *silent], axis=1)
    # Public columns are centred and divided by their standard deviations; private dummies are unchanged.
    columns, width = [], len(design.names) - 1
    middles, scales, index = np.zeros(width), np.ones(width), 0
    for term in design.terms:
        size = math.prod(len(factor.names) for factor in term)
        if term[0].reports is None:
            read = RegressionDesign((term,)).readings(len(response))[0][:, 1:]
            middles[index : index + size], scales[index : index + size] = read.mean(axis=0), read.std(axis=0)
            columns.append((read - read.mean(axis=0)) / read.std(axis=0))
        index += size
    model = _LogisticModel.of(design, columns, answers, weights)
    return LogisticFit(model, answer, guarantee, middles, scales)


@dataclass(frozen=True, eq=False)
class _LogisticModel:
    """The likelihood of reports on a yes-or-no answer, given public regressors and reports on categories.

    A class is a combination of private categories, and of whether a person answered if the answer is
    optional. For each person, `told` is the likelihood of the reports on categories in each class, and
    `answers` is the likelihood of the report on the answer. For people who did not answer, it is the same for
    both answers. The log-odds of the answer in a class are z·β + d·β, with the public regressors z and the
    dummies d of the class. The shares of the classes are softmax(z·γ), or free parameters if no regressor is
    public.
    """

    public: Floats  # n × p, with the constant
    classes: Floats  # k × q: dummies of each class
    order: Integers  # the index of each column's coefficient, in the order of the regressors
    told: Floats  # n × k
    answers: Floats  # n × k × 2: no, yes
    shares: Floats  # sums of the weights of identical people; the weights have the mean 1
    squares: Floats  # sums of the squared weights
    n: int
    remark: str = ""
    best: Floats = field(default_factory=lambda: np.zeros(0))
    top: float = 0.0  # the largest log-likelihood

    @classmethod
    def of(
        cls, design: RegressionDesign, public_columns: list[Floats], answers: Floats, weights: Weights | None
    ) -> _LogisticModel:
        n, scaled = len(answers), iter(public_columns)
        private = [factor for factor in design.factors if factor.reports is not None]
        sizes = [len(column.labels) for column in private]
        if math.prod(sizes) > _CLASSES:
            raise InvalidParameter(
                f"expected at most {_CLASSES} combinations of the private categories, got "
                f"{math.prod(sizes)}; leave one out, or ask with fewer categories"
            )
        parts, order, dummies, position = [np.ones((n, 1))], [0], [], 1
        for term in design.terms:
            width = math.prod(len(factor.names) for factor in term)
            if term[0].reports is None:
                parts.append(next(scaled))
                order += list(range(position, position + width))
            else:
                dummies += list(range(position, position + width))
            position += width
        reported = np.ones((n, math.prod(sizes)))
        lines = []
        for number, cells in enumerate(combinations_of(*(range(size) for size in sizes))):
            row: list[float] = []
            for column, code in zip(private, cells, strict=True):
                row += [float(code == label) for label in range(1, len(column.labels))]
                reported[:, number] *= _chances(column.reports, code)
            lines.append(row)
        shares = np.ones(n) if weights is None else weights.shares
        classes = np.array(lines).reshape(len(lines), -1)
        optional = answers.shape[1] > 2
        if optional:  # add a class of people who did not answer for each class
            classes, reported = np.vstack([classes, 0.0 * classes]), np.hstack([reported, reported])
        sides = [answers[:, :2]] * len(lines) + [answers[:, [-1, -1]]] * (len(classes) - len(lines))
        # People with the same regressors and reports have the same likelihood, so they are counted.
        rows = np.hstack([*parts, reported, *sides])
        rows, people = np.unique(rows, axis=0, return_inverse=True)
        sums, heavy = (
            np.asarray(np.bincount(people.reshape(-1), shares**power), dtype=np.float64) for power in (1, 2)
        )
        width, k = sum(part.shape[1] for part in parts), len(classes)
        public, reported = rows[:, :width], rows[:, width : width + k]
        answers, remark = rows[:, width + k :].reshape(-1, k, 2), OF_ANSWERS if optional else ""
        made = cls(public, classes, np.array(order + dummies), reported, answers, sums, heavy, n, remark)
        best, top = made._climb(np.zeros(made._size), None)
        return replace(made, best=best, top=top)

    @property
    def without_noise(self) -> float:
        """The number of answers without noise with the same information about a share of one half.

        A report whose likelihoods under the two answers are a and b has ((a − b)/(a + b))² of the information
        of an answer, and less if the person may not have answered. If this number is small, the likelihood
        ratio has Student's t distribution instead of a normal one.
        """
        (no, yes), (silent, _) = self.answers[:, 0].T, self.answers[:, -1].T
        every = yes + no + silent if self.remark else yes + no
        return float(self.shares @ ((yes - no) / every) ** 2)

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
        answered = self.answers[..., 1] * chance + self.answers[..., 0] * (1.0 - chance)
        joint = levels * self.told * answered
        total = joint.sum(axis=1, keepdims=True)
        after = joint / total
        pull = after * (self.answers[..., 1] * chance / answered - chance)
        scores = np.hstack(
            [self.public * pull.sum(axis=1, keepdims=True), pull @ self.classes]
            + [self.public * (after - levels)[:, [other]] for other in range(1, k)]
        )
        return float(self.shares @ np.log(total[:, 0])), scores

    def _climb(self, start: Floats, along: tuple[Floats, float] | None) -> tuple[Floats, float]:
        """Return the parameters of the largest likelihood, and its logarithm.

        The method is scoring with the outer product of the gradients, damped until the likelihood rises
        [Levenberg44]. `along` is a direction and a number: only parameters are tried whose product with the
        direction is the number.
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
        size = float(np.abs(direction).sum())  # distances are judged in units of the model
        plain = self._profile(direction / size, guarantee)
        value, error = size * float(plain.value), size * float(plain.standard_error)
        interval = TransformedInterval.of(plain, lambda number: size * number)
        return Estimate(value, error, self.n, guarantee, confidence=interval, remark=self.remark)

    def _profile(self, direction: Floats, guarantee: Guarantee) -> Estimate:
        complete = np.zeros(self._size)
        complete[: self._odds] = direction[self.order]
        scores = self._scores(self.best)[1]
        inverse = np.linalg.pinv((scores * self.shares[:, None]).T @ scores, rcond=1e-12)
        variance = float(complete @ inverse @ complete)
        # With weights, the information and the variance of the gradient differ, so the likelihood is scaled.
        outer = (scores * self.squares[:, None]).T @ scores
        sandwich = float(complete @ inverse @ outer @ inverse @ complete)
        scale = variance / sandwich if sandwich > 0.0 else 1.0
        value = min(max(float(complete @ self.best), -_BEYOND), _BEYOND)
        error = math.sqrt(max(variance / scale, 0.0))
        few = self.without_noise
        condition = f", as of {few:.0f} answers without noise, which are few" if few < _FEW else ""
        interval = ProfileOdds(self, complete, value, error, scale, condition)
        return Estimate(value, error, self.n, guarantee, confidence=interval)


@dataclass(frozen=True, eq=False)
class ProfileOdds(ConfidenceInterval):
    """The profile likelihood interval of a log-odds: all values whose best fit is within the level."""

    model: _LogisticModel
    direction: Floats
    value: float
    error: float
    scale: float
    condition: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        free = max(int(self.model.without_noise) - self.direction.size, 1)
        reach = student_t_quantile(level, free) ** 2
        return self._end(reach, -1.0), self._end(reach, 1.0)

    def _end(self, reach: float, sign: float) -> float:
        """Return the point at which twice the fall of the log-likelihood is a given number, or infinity."""
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
    """Return the likelihood of each report for each category of the person, up to a constant."""
    question: Any = reports.question if reports is not None else None
    cells = reports.cells.reshape(-1, *question.layout.shape) if reports is not None else np.zeros(0)
    if question.one_category:
        return np.asarray(np.where(cells == code, question.p, question.q))
    return np.asarray(question.kernel.likelihoods(cells, np.asarray(code)), dtype=np.float64).reshape(-1)
