"""Goals that are averages over many people: a mean, frequencies."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.advice.catalogue import Candidate, on_a_line, on_categories, solved
from dither.advice.compare import average_variance, error_of, largest, mean_over
from dither.advice.goals.goal import Goal, check_people, stated
from dither.arrays import Floats
from dither.domains import Categories, Circle, Interval
from dither.estimation.bounds.lying import reach_of_one
from dither.kernels.law import COSINE, Moment
from dither.losses import Criterion, absolute, check_criterion, squared, worst
from dither.mechanisms.analysis import Analysis
from dither.mechanisms.numeric.hybrid import CROSSOVER
from dither.optimal.closed_form import least_frequency_variance
from dither.optimal.mechanism import Optimal
from dither.table import percent

_TWICE: Final = Moment(
    lambda gap: np.cos(4.0 * np.pi * gap),
    lambda gap: np.sin(4.0 * np.pi * (gap - np.round(gap))) / (4.0 * np.pi),
)
_NEARLY: Final = 1.015  # frequencies: errors up to this factor above the smallest count as equal
_STRAIGHT: Final = 1e-9  # how far E[report] may be from an affine function, in lengths of the domain


@dataclass(frozen=True)
class Averaged(Goal):
    """A goal whose error is √(v/n), v being the variance that one report contributes."""

    n: int | None = None

    def __post_init__(self) -> None:
        check_people(self.n)

    @abstractmethod
    def spread(self, mechanism: Any) -> float | None:
        """Return n times the squared error; None if no estimate is possible."""

    @final
    def error(self, mechanism: Any) -> float | None:
        spread = self.spread(mechanism)
        return None if spread is None else math.sqrt(spread / stated(self.n))

    @final
    def one_liar(self, mechanism: Any) -> float | None:
        reach = reach_of_one(mechanism)
        return None if reach is None else reach / stated(self.n)

    @final
    def people(self, candidates: list[Candidate], target: float) -> int | None:
        spreads = [self.spread(one.mechanism) for one in candidates]
        least = min((spread for spread in spreads if spread is not None), default=None)
        return None if least is None else max(1, math.ceil(least / target**2 * (1.0 - 1e-12)))


@final
@dataclass(frozen=True)
class Mean(Averaged):
    """The mean of n people's numbers; on a circle the mean direction of people who agree.

    `criterion` is dt.worst, for people who all have the value with the largest variance, or dt.average, for
    values that are uniform on the domain. Only mechanisms whose E[report] is affine in the value can answer:
    OGPM on an interval cannot.
    """

    criterion: Criterion = worst

    takes = (Interval, Circle)
    otherwise = "for categories use dt.goals.Frequencies"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_criterion(self.criterion)

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        best = solved(domain, epsilon, (), (self.criterion,), unbiased=True, wait=wait)
        return [*best, *_plain(domain, epsilon)]

    def spread(self, mechanism: Any) -> float | None:
        if isinstance(mechanism.domain, Circle):
            return self._over(mechanism, lambda x: _turning(mechanism, x))
        if isinstance(mechanism, Optimal) and mechanism.unbiased:
            return error_of(mechanism, squared, self.criterion)
        slope = _slope(mechanism)
        if slope is None:
            return None
        return self._over(mechanism, lambda x: np.asarray(mechanism.variance(x))) / slope**2

    def _over(self, mechanism: Analysis, function: Callable[[Floats], Floats]) -> float:
        over = largest if self.criterion is Criterion.WORST else mean_over
        return over(mechanism, function)

    def reason(self, first: Candidate, domain: Any) -> str:
        if isinstance(domain, Circle):
            return "it has the smallest variance across the true direction, relative to the length along it"
        if isinstance(first.mechanism, Optimal):
            return (
                f"solved: unbiased, and its {self.criterion!r} variance is at most "
                f"{percent(first.mechanism.gap)} above the smallest there is"
            )
        return (
            f"unbiased, with the smallest {self.criterion!r} variance; in closed form Hybrid gives way to "
            f"Podium at ε = {CROSSOVER[self.criterion]:.4g}"
        )


@final
@dataclass(frozen=True)
class Frequencies(Averaged):
    """How frequent each category is among n people: the root mean square error over the categories.

    It is the same whatever the frequencies are.
    """

    takes = (Categories,)
    otherwise = "for numbers use dt.goals.Distribution"

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        return on_categories(domain, epsilon)

    def spread(self, mechanism: Any) -> float:
        return average_variance(mechanism)

    def ranked(self, able: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Return the candidates by error; those within 1.5 % of the smallest by the bytes of a report."""
        near = _NEARLY * min(error for _, error in able)
        return sorted(able, key=lambda pair: _frugal(pair, near))

    def reason(self, first: Candidate, domain: Any) -> str:
        least = least_frequency_variance(len(domain), first.mechanism.epsilon)
        above = math.sqrt(average_variance(first.mechanism) / least) - 1.0
        size = f"in {first.mechanism.report_bytes:g}-byte reports"
        if above <= 1e-6:
            return f"the smallest error possible, {size}"
        return f"an error {percent(above)} above the smallest possible, {size}"


def _frugal(pair: tuple[Candidate, float], near: float) -> tuple[bool, float, float]:
    candidate, error = pair
    return error > near, candidate.mechanism.report_bytes if error <= near else 0.0, error


def _plain(domain: Any, epsilon: float) -> list[Candidate]:
    """Return every mechanism once: an estimate is the same for all codebooks of the same reports."""
    return [one for one in on_a_line(domain, epsilon, (absolute, squared)) if not one.variant]


def _slope(mechanism: Analysis) -> float | None:
    """Return the slope of the mean report in the value; None if it is not affine in the value."""
    line = mechanism.line
    x = np.linspace(line.low, line.high, 17)
    means = np.asarray(mechanism.mean(x))
    slope = float(means[-1] - means[0]) / line.length
    gaps = means - means[0] - slope * (x - line.low)
    return slope if slope > 0.0 and float(np.abs(gaps).max()) <= _STRAIGHT * slope * line.length else None


def _turning(mechanism: Analysis, x: Floats) -> Floats:
    """Return n times the variance of the mean direction of people at x: E[sin²(Y − x)]/ρ².

    The error of the mean direction is the mean report's component across the true direction, divided by the
    component along it.
    """
    unit = mechanism.line.to_unit(x)
    along = mechanism.law.expect(unit, COSINE)
    across = (1.0 - mechanism.law.expect(unit, _TWICE)) / 2.0
    return np.asarray(across / along**2 * (mechanism.line.length / (2.0 * np.pi)) ** 2)
