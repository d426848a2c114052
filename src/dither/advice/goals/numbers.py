"""Goals about numbers: means, quantiles, distributions and single values."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, replace
from typing import Any, ClassVar, Final, get_args

import numpy as np

from dither.advice import simulation
from dither.advice.catalogue import Candidate, on_a_line, on_categories, on_sets, solved_candidates
from dither.advice.compare import average_variance, error_of, largest, mean_over
from dither.advice.simulation import FINAL, FIRST, Distance, Progress, ShapeQuestion, Simulated
from dither.core.domains import Categories, Circle, Domain, Interval, Several, finite
from dither.errors import DitherError, InvalidParameter, NotIdentifiable, check_choice, found
from dither.estimation.linear import length_factor
from dither.estimation.reading import least_variance_reading, mean_of_ends, reach_of_one
from dither.foundation.arrays import Floats
from dither.foundation.losses import Criterion, Loss, absolute, as_power, check_criterion, squared
from dither.foundation.tables import percent
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.analysis.law import COSINE, Moment
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.pm import CROSSOVER
from dither.mechanisms.optimal.mechanism import Optimal
from dither.mechanisms.optimal.problem import known_optimum, least_frequency_variance
from dither.mechanisms.optimal.queries.workload import Cumulative


class Goal(ABC):
    """The purpose of a collection. It lists the mechanisms that can serve it and predicts their errors."""

    takes: ClassVar[tuple[type[Domain], ...]]
    otherwise: ClassVar[str]  # for the error message: which goal to use on other domains
    close: ClassVar[float] = 1e-4  # the relative accuracy of a predicted error
    near: ClassVar[float] = 0.0  # errors up to this factor above the smallest are ranked by bytes
    simulated: ClassVar[bool] = False  # True if `errors(rough=True)` is much faster
    units: ClassVar[bool] = False  # True if promises of candidates have different units; units are then shown
    instead: ClassVar[str] = "in longer reports"  # the price of a smaller error than the first's
    apart: ClassVar[bool] = False  # True if `dt.compare` lists only the goal's own candidates

    def __str__(self) -> str:
        """Return the goal in words, such as "mean of 1 000 people, worst case"."""
        words = [re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()]
        parameters: Mapping[str, Field[Any]] = getattr(self, "__dataclass_fields__", {})
        for name, parameter in parameters.items():
            value = getattr(self, name)
            if value is None or value is False or not parameter.repr:
                continue
            if name == "n":
                words[0] += f" of {value:,} people".replace(",", " ")
            elif name == "criterion":
                words.append("worst case" if value == "worst" else "average case")
            else:
                words.append(name if value is True else f"{name} {value}")
        return ", ".join(words)

    def check(self, domain: Domain) -> None:
        """Raise InvalidParameter unless the goal applies to a domain."""
        if not isinstance(domain, self.takes):
            wanted, given = " or ".join(kind.__name__ for kind in self.takes), type(domain).__name__
            raise InvalidParameter(
                f"expected the domain {wanted} for the goal {type(self).__name__}, got {given}; "
                f"{self.otherwise}"
            )

    @abstractmethod
    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        """Return the mechanisms that might serve; with `wait=False` no design is solved."""

    def beside(self, domain: object, epsilon: float) -> list[Candidate]:
        """Return the mechanisms only for this goal; `dt.compare` lists them with the others."""
        return []

    @abstractmethod
    def error(self, mechanism: Any) -> float | None:
        """Return the predicted error, or None if no number of reports is enough."""

    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, progress: Progress | None = None
    ) -> list[tuple[Candidate, float]]:
        """Return the candidates that can serve with their errors; with `rough`, less accurate ones."""
        predicted = [(candidate, self.error(candidate.mechanism)) for candidate in candidates]
        return [(candidate, error) for candidate, error in predicted if error is not None]

    def columns(
        self, candidates: list[Candidate], progress: Progress | None = None
    ) -> tuple[str, list[dict[str, float | None]]]:
        """Return the source of the errors and their columns, for `dt.compare`; the first is the sort key."""
        return "", [{"error": self.error(candidate.mechanism)} for candidate in candidates]

    def least_error(self, candidates: list[Candidate]) -> float | None:
        """Return a lower bound on the error of every mechanism, known or not, or None."""
        return None

    def rank(self, able: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Return candidates and their errors by error; those near the smallest by the bytes of a report.

        Candidates with a weaker promise, for one location of a path, come last.
        """
        near = self.near * min(error for _, error in able)

        def key(pair: tuple[Candidate, float]) -> tuple[bool, bool, float, float]:
            weaker = self.units and pair[0].mechanism.guarantee.unit == "location"
            return bool(weaker), *_frugal(pair, near)

        return sorted(able, key=key)

    @abstractmethod
    def sampling(self, domain: Domain) -> float | None:
        """Return n times the squared sampling error of the worst population; None if not derived."""

    @abstractmethod
    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        """Return the number of people that the best candidate needs for a target error; None if impossible.

        `sampling` is n times the squared sampling error that the target is to contain.
        """

    def one_liar(self, mechanism: object) -> float | None:
        """Return the largest effect of one made-up report on the estimate, or None if it is not derived."""
        return None

    @abstractmethod
    def reason(self, first: Candidate, domain: Domain) -> str:
        """Return one sentence with the reason for the first rank."""


def check_people(n: object) -> None:
    """Raise InvalidParameter unless n is None or an integer of at least 1."""
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
        raise InvalidParameter(
            f"expected n, how many people answer, to be an integer of at least 1, got {found(n)}"
        )


def people_of(n: int | None) -> int:
    """Return the number of people of a goal; raise InvalidParameter if it was left out."""
    if n is None:
        raise InvalidParameter("expected n, how many people answer; give it, as in dt.goals.Mean(n=10_000)")
    return int(n)


_TWICE: Final = Moment(
    lambda gap: np.cos(4.0 * np.pi * gap),
    lambda gap: np.sin(4.0 * np.pi * (gap - np.round(gap))) / (4.0 * np.pi),
)
_NEARLY: Final = 1.015  # frequencies: errors up to this factor above the smallest count as equal
_COARSE: Final = 1 << 11  # cells on which the gain of a decoding is computed
_COMPARED: Final = 65  # number of values at which the gain is computed
# The ε from which Podium has a smaller variance than Hybrid, as dt.mean decodes them.
_GIVES_WAY: Final = {**CROSSOVER, "average": 0.6241}
_STRAIGHT: Final = 1e-9  # largest distance of E[report] from an affine function, in lengths of the domain


@dataclass(frozen=True)
class Averaged(Goal):
    """A goal whose error is √(v/n), v being the variance that one report contributes."""

    n: int | None = None

    def __post_init__(self) -> None:
        check_people(self.n)

    @abstractmethod
    def spread(self, mechanism: Any) -> float | None:
        """Return n times the squared error; None if no estimate is possible."""

    def error(self, mechanism: Any) -> float | None:
        spread = self.spread(mechanism)
        return None if spread is None else math.sqrt(spread / people_of(self.n))

    def one_liar(self, mechanism: object) -> float | None:
        reach = reach_of_one(mechanism)
        return None if reach is None else reach / people_of(self.n)

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        spreads = [self.spread(candidate.mechanism) for candidate in candidates]
        least = min((spread for spread in spreads if spread is not None), default=None)
        return None if least is None else max(1, math.ceil((least + sampling) / target**2 * (1.0 - 1e-12)))


@dataclass(frozen=True)
class Mean(Averaged):
    """The mean of n people's numbers; on a circle the mean direction of people who agree.

    `criterion` is "worst", for people who all have the value with the largest variance, or "average", for
    values that are uniform on the domain. Only mechanisms whose E[report] is affine in the value can answer:
    OGPM on an interval cannot. `deviation` is the standard deviation of people's values, if it is known: the
    sampling error follows from it.
    """

    criterion: Criterion = "worst"
    deviation: float | None = field(default=None, repr=False)

    takes = (Interval, Circle)
    otherwise = "for categories use dt.goals.Frequencies, for vectors dt.goals.MeanOfVectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_criterion(self.criterion)
        if self.deviation is not None and not finite("a standard deviation", self.deviation) >= 0.0:
            raise InvalidParameter(
                f"expected the standard deviation of values to be a number from 0, got "
                f"{found(self.deviation)}"
            )

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        best = solved_candidates(domain, epsilon, (), (self.criterion,), unbiased=True, wait=wait)
        return [*best, *on_a_line(domain, epsilon, (absolute, squared), variants=False)]

    def spread(self, mechanism: Any) -> float | None:
        if mechanism.domain.circular:
            try:
                length_factor(mechanism.question)
            except NotIdentifiable:  # a few sectors turn directions, so their mean is not estimated
                return None
            return self._over(mechanism, lambda x: _turning(mechanism, x))
        if isinstance(mechanism, Optimal) and mechanism.unbiased:
            return error_of(mechanism, squared, self.criterion)
        slope = _slope(mechanism)
        if slope is None:
            return None
        spread = self._over(mechanism, lambda x: np.asarray(mechanism.variance(x))) / slope**2
        return spread * reading_gain(mechanism, self.criterion)

    def sampling(self, domain: Domain) -> float | None:
        """Return the variance of values: half at each end in the worst case, uniform on average."""
        if domain.circular or domain.line is None:
            return 0.0  # people who agree
        if self.deviation is not None:
            return float(self.deviation) ** 2
        return domain.line.length**2 / (4.0 if self.criterion == "worst" else 12.0)

    def _over(self, mechanism: Analysis, function: Callable[[Floats], Floats]) -> float:
        over = largest if self.criterion == "worst" else mean_over
        return over(mechanism, function)

    def reason(self, first: Candidate, domain: Domain) -> str:
        if domain.circular:
            return "it has the smallest variance across the true direction, relative to the length along it"
        if isinstance(first.mechanism, Optimal):
            return (
                f"solved: unbiased, and its {self.criterion} variance is at most "
                f"{percent(first.mechanism.gap)} above the smallest there is"
            )
        return (
            f"unbiased, with the smallest {self.criterion} variance; in closed form Hybrid gives way to "
            f"Podium at ε = {_GIVES_WAY[self.criterion]:.4g}"
        )


@dataclass(frozen=True)
class Frequencies(Averaged):
    """The frequency of each category among n people, with the root mean square error over the categories.

    The error is the same for all frequencies.
    """

    takes = (Categories, Several)
    otherwise = "for numbers use dt.goals.Distribution"
    near = _NEARLY

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        return on_sets(domain, epsilon) if domain.sets else on_categories(domain, epsilon)

    def spread(self, mechanism: Any) -> float:
        return average_variance(mechanism)

    def sampling(self, domain: Domain) -> float:
        """Return the mean of f(1 − f) over the categories: largest if all are equally frequent."""
        share = 0.0 if domain.listed is None else min(domain.most / len(domain.listed), 0.5)
        return float(share * (1.0 - share))

    def reason(self, first: Candidate, domain: Any) -> str:
        if domain.sets:
            made = first.mechanism
            cut = f"; {remark}" if (remark := made.cut_remark) else ""
            return (
                f"any set against any other, in {made.report_bytes}-byte reports; a variance at most "
                f"{percent(made.gap)} above the smallest possible{cut}"
            )
        least = least_frequency_variance(len(domain), first.mechanism.epsilon)
        above = math.sqrt(average_variance(first.mechanism) / least) - 1.0
        size = f"in {first.mechanism.report_bytes:g}-byte reports"
        if above <= 1e-6:
            return f"the smallest error possible, {size}"
        return f"an error {percent(above)} above the smallest possible, {size}"


def _frugal(pair: tuple[Candidate, float], near: float) -> tuple[bool, float, float]:
    candidate, error = pair
    return error > near, candidate.mechanism.report_bytes if error <= near else 0.0, error


def _slope(mechanism: Analysis) -> float | None:
    """Return the slope of the mean report in the value; None if it is not affine in the value."""
    line = mechanism.line
    x = np.linspace(line.low, line.high, 17)
    means = np.asarray(mechanism.mean(x))
    slope = float(means[-1] - means[0]) / line.length
    gaps = means - means[0] - slope * (x - line.low)
    return slope if slope > 0.0 and float(np.abs(gaps).max()) <= _STRAIGHT * slope * line.length else None


def reading_gain(mechanism: Mechanism[Any], criterion: Criterion) -> float:
    """Return the variance of the numbers that `dt.mean` averages, relative to affine ones.

    It is computed on fewer cells, where it is nearly the same, and once for a design: rankings ask again.
    """
    key = (mechanism.fingerprint, repr(mechanism), criterion)
    if key not in _gains:
        _gains[key] = _coarse_gain(mechanism, criterion)
    return _gains[key]


_gains: dict[tuple[str, str, Criterion], float] = {}


def _coarse_gain(mechanism: Any, criterion: Criterion) -> float:
    try:
        question = (replace(mechanism, cells=_COARSE) if _is_fine(mechanism) else mechanism).question
    except DitherError:  # the window does not fit into these cells
        return 1.0
    readings = [question.unbiased_reading(), least_variance_reading(question)]
    if any(reading is None for reading in readings) or np.array_equal(
        *(reading.values for reading in readings)
    ):
        return 1.0
    inputs = np.linspace(question.line.low, question.line.high, _COMPARED)
    operator = question.likelihood(inputs, question.outcomes)
    middle = (question.line.low + question.line.high) / 2.0
    plain, best = (
        operator.backward((reading.values - middle) ** 2) - (inputs - middle) ** 2 for reading in readings
    )
    over = np.max if criterion == "worst" else mean_of_ends
    return float(over(best) / over(plain))


def _is_fine(mechanism: Mechanism[Any]) -> bool:
    return bool(getattr(mechanism, "cells", 0) > _COARSE)


def _turning(mechanism: Analysis, x: Floats) -> Floats:
    """Return n times the variance of the mean direction of people at x: E[sin²(Y − x)]/ρ².

    The error of the mean direction is the mean report's component across the true direction, divided by the
    component along it.
    """
    unit = mechanism.line.to_unit(x)
    along = mechanism.law.expect(unit, COSINE)
    across = (1.0 - mechanism.law.expect(unit, _TWICE)) / 2.0
    return np.asarray(across / along**2 * (mechanism.line.length / (2.0 * np.pi)) ** 2)


@dataclass(frozen=True)
class SingleValues(Goal):
    """Each report by itself: the expected loss of one report, in the worst case or on average."""

    loss: Loss = "absolute"
    criterion: Criterion = "worst"

    takes = (Interval, Circle)
    otherwise = "for categories use dt.goals.Frequencies, for places dt.goals.Locations"

    def __post_init__(self) -> None:
        as_power(self.loss)
        check_criterion(self.criterion)

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        power = as_power(self.loss)
        best = solved_candidates(domain, epsilon, (power,), (self.criterion,), wait=wait)
        return [*best, *on_a_line(domain, epsilon, (power,))]

    def error(self, mechanism: Any) -> float:
        return error_of(mechanism, as_power(self.loss), self.criterion)

    def sampling(self, domain: Domain) -> None:
        """Return None, because this is not an estimate for a population."""

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        raise InvalidParameter(
            "expected a target that depends on the number of people, but the error of a single value does "
            "not; use a goal such as dt.goals.Mean()"
        )

    def reason(self, first: Candidate, domain: Any) -> str:
        least = known_optimum(domain, first.mechanism.epsilon, as_power(self.loss), self.criterion)
        if least is not None and self.error(first.mechanism) <= least * (1.0 + 1e-9):
            return f"no mechanism at all has a smaller {self.criterion} {as_power(self.loss)!r} error"
        if isinstance(first.mechanism, Optimal):
            return (
                f"solved: its {self.criterion} {as_power(self.loss)!r} error is at most "
                f"{percent(first.mechanism.gap)} above the smallest there is"
            )
        return f"the smallest {self.criterion} {as_power(self.loss)!r} error of the mechanisms in closed form"


_NEAR = 1.15  # relative to the best in the first ranking: simulated again with more runs and other seeds
_BINS = 64  # neighbouring parts of the domain that reports must distinguish


@dataclass(frozen=True)
class _Simulated(Goal):
    """A goal whose error is simulated: 12 runs for every mechanism, 64 for those near the best."""

    n: int | None = None

    close: ClassVar[float] = 0.02
    simulated: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_people(self.n)

    @property
    @abstractmethod
    def question(self) -> ShapeQuestion:
        """The simulated question."""

    @property
    def _parts(self) -> int:
        return _BINS

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        plain = on_a_line(domain, epsilon, (absolute, squared), variants=False)
        return [*plain, *(self.beside(domain, epsilon) if wait else [])]

    def beside(self, domain: Any, epsilon: float) -> list[Candidate]:
        if domain.circular or domain.line is not domain:
            return []
        try:
            return [Candidate("Cumulative", Cumulative(domain, epsilon=epsilon))]
        except DitherError:  # a budget out of range
            return []

    def error(self, mechanism: Any) -> float | None:
        found = self.prediction(mechanism)
        return None if found is None else found.error

    def prediction(self, mechanism: object, progress: Progress | None = None) -> Simulated | None:
        """Return the simulated error with its standard error; None if reports identify no shape."""
        n = people_of(self.n)
        if not simulation.tells_apart(mechanism, self._parts):
            return None
        return simulation.simulate(mechanism, self.question, n, FINAL, progress)

    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, progress: Progress | None = None
    ) -> list[tuple[Candidate, float]]:
        """Return the candidates that can serve with their errors: few runs for all, many for the best."""
        n = people_of(self.n)
        able = [
            candidate for candidate in candidates if simulation.tells_apart(candidate.mechanism, self._parts)
        ]
        first = [
            simulation.simulate(candidate.mechanism, self.question, n, FIRST, progress).error
            for candidate in able
        ]
        near = 0.0 if rough else _NEAR * min(first, default=0.0)
        return [
            (candidate, simulation.simulate(candidate.mechanism, self.question, n, FINAL, progress).error)
            if error <= near
            else (candidate, error)
            for candidate, error in zip(able, first, strict=True)
        ]

    def span(self, mechanism: Mechanism[Any], error: float) -> tuple[float, float] | None:
        """Return the range of simulated errors over single shapes, or None on a circle."""
        if mechanism.domain.circular:
            return None
        n, question = people_of(self.n), self.question
        if question.share is not None:
            return question.span(Simulated(error, 0.0, 0, 0), simulation.line_of(mechanism))
        runs = FINAL if simulation.is_known(mechanism, question, n, FINAL) else FIRST
        return question.span(simulation.simulate(mechanism, question, n, runs), simulation.line_of(mechanism))

    def usual_first(self, ranking: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Return the ranking with SW first, unless another is better by two standard errors, run by run."""
        usual = next((pair for pair in ranking if pair[0].name == "SW"), None)
        if usual is None or usual is ranking[0] or usual[0].mechanism.domain.circular:
            return ranking
        n = people_of(self.n)
        both = (
            simulation.simulate(candidate.mechanism, self.question, n, FINAL)
            for candidate, _ in (ranking[0], usual)
        )
        if not next(both).is_less(next(both)):
            return [usual, *(pair for pair in ranking if pair is not usual)]
        return ranking

    def questions(self) -> dict[str, ShapeQuestion]:
        """Return the simulated question of each column of `dt.compare`; the first is the sort key."""
        return {"error": self.question}

    def columns(
        self, candidates: list[Candidate], progress: Progress | None = None
    ) -> tuple[str, list[dict[str, float | None]]]:
        n, rows = people_of(self.n), []
        for candidate in candidates:
            able = simulation.tells_apart(candidate.mechanism, self._parts)
            row: dict[str, float | None] = {}
            for name in self.questions():
                row |= dict.fromkeys(
                    [name] if candidate.mechanism.domain.circular else [name, f"{name} from", f"{name} to"]
                )
            for name, question in self.questions().items() if able else ():
                found = simulation.simulate(candidate.mechanism, question, n, FIRST, progress)
                row[name] = found.error
                if not candidate.mechanism.domain.circular:
                    ends = question.span(found, simulation.line_of(candidate.mechanism))
                    row[f"{name} from"], row[f"{name} to"] = ends
            rows.append(row)
        if self.question.share is not None:
            return "simulated for twelve shapes, from the least to the largest error of a shape", rows
        seeds = f"{len(FIRST)} runs (seeds {FIRST.start} to {FIRST.stop - 1})"
        circle = any(candidate.mechanism.domain.circular for candidate in candidates)
        return f"simulated for {'a Beta' if circle else 'twelve shapes'}, {seeds}", rows

    def sampling(self, domain: Domain) -> None:
        """Return None, because it is part of the error."""

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        able = [
            candidate for candidate in candidates if simulation.tells_apart(candidate.mechanism, self._parts)
        ]
        if not able:
            return None
        pilot = [
            simulation.simulate(candidate.mechanism, self.question, 10_000, FIRST).error for candidate in able
        ]
        best = able[int(np.argmin(pilot))]
        return simulation.people_for_error(best.mechanism, self.question, target)

    def reason(self, first: Candidate, domain: Domain) -> str:
        population = "Beta(4, 4)" if domain.circular else "people of twelve shapes and their mirror images"
        what = "the smallest error" if self.question.share is None else "no error resolved below it"
        found = self.prediction(first.mechanism)
        spread = 0.0 if found is None else 100.0 * found.standard_error / found.error
        first_seed, runs = (FINAL.start, len(FINAL)) if found is None else (found.first_seed, found.runs)
        seeds = f"{runs} runs (seeds {first_seed} to {first_seed + runs - 1})"
        text = f"{what} in simulations: {population}, {seeds}, ± {spread:.2g} %"
        if isinstance(first.mechanism, Cumulative):
            return f"{text}; estimated by dt.cumulative(reports, method='empirical bayes')"
        return text


@dataclass(frozen=True)
class Distribution(_Simulated):
    """The distribution of the values of n people, as `dt.distribution` estimates it.

    The error is `"w1"`, the area between the true and the estimated cumulative distribution (how far, on
    average, people would have to move to turn one into the other), or `"ks"`, their largest gap. It is
    simulated with the mechanism itself, for people drawn from twelve shapes and their mirror images, and
    includes their sampling error. On a circle, people have the shape Beta(4, 4). Reports of `Cumulative` are
    estimated by `dt.cumulative(reports, method="empirical bayes")`. Mechanisms for which the first or last
    two of `bins` equal parts are not identifiable, as OGPM near the ends of an interval, are left out.
    """

    bins: int = _BINS
    distance: Distance = "w1"

    takes = (Interval, Circle)
    otherwise = "for categories ask dt.goals.Frequencies"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or self.bins < 2:
            raise InvalidParameter("expected bins to be an integer, at least 2")
        check_choice("distance", self.distance, Distance)

    @property
    def question(self) -> ShapeQuestion:
        return ShapeQuestion(self.distance)

    def questions(self) -> dict[str, ShapeQuestion]:
        order = sorted(get_args(Distance), key=lambda distance: distance != self.distance)
        return {distance.upper(): ShapeQuestion(distance) for distance in order}

    @property
    def _parts(self) -> int:
        return self.bins


@dataclass(frozen=True)
class Quantile(_Simulated):
    """A quantile of n people's values, as `dt.quantile` estimates it: the root mean square error.

    It is simulated with the mechanism itself, for people drawn from twelve shapes and their mirror images,
    and includes their sampling error. A table of such simulations ships with the package, for ε from 0.25 to
    8 and 300 people or more. A mechanism is ranked before SW only if it is better by two standard errors.
    """

    share: float = 0.5

    takes = (Interval,)
    otherwise = "directions have no order; ask dt.goals.Mean or dt.goals.Distribution"

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
            raise InvalidParameter("expected the share of a quantile to be a number strictly between 0 and 1")

    @property
    def question(self) -> ShapeQuestion:
        return ShapeQuestion(None, float(self.share))
