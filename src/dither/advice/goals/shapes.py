"""Goals that are shapes: a distribution, a quantile. Their errors are simulated."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from dither.advice import simulation
from dither.advice.catalogue import Candidate, on_a_line
from dither.advice.goals.goal import Goal, check_people, stated
from dither.advice.simulation import FINAL, FIRST, Distance, ShapeQuestion, Simulated, Told
from dither.domains import Circle, Interval
from dither.errors import DitherError, InvalidParameter
from dither.losses import absolute, squared
from dither.optimal.queries.cumulative import Cumulative

_NEAR = 1.15  # of the best in the first ranking: simulated again with more runs and other seeds
_BINS = 64  # neighbouring parts of the domain that reports must tell apart


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
        """What is simulated."""

    @property
    def _parts(self) -> int:
        return _BINS

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        # Every mechanism once: an estimate is the same for all codebooks of the same reports.
        plain = [one for one in on_a_line(domain, epsilon, (absolute, squared)) if not one.variant]
        return [*plain, *(self.beside(domain, epsilon) if wait else [])]

    @final
    def beside(self, domain: Any, epsilon: float) -> list[Candidate]:
        if not isinstance(domain, Interval):
            return []
        try:
            return [Candidate("Cumulative", Cumulative(domain, epsilon=epsilon))]
        except DitherError:  # a budget out of range
            return []

    @final
    def error(self, mechanism: Any) -> float | None:
        found = self.prediction(mechanism)
        return None if found is None else found.error

    @final
    def prediction(self, mechanism: Any, told: Told | None = None) -> Simulated | None:
        """Return the simulated error with its standard error; None if reports cannot tell a shape."""
        n = stated(self.n)
        if not simulation.tells_apart(mechanism, self._parts):
            return None
        return simulation.simulated(mechanism, self.question, n, FINAL, told)

    @final
    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, told: Told | None = None
    ) -> list[tuple[Candidate, float]]:
        """Return the candidates that can serve with their errors: few runs for all, many for the best."""
        n = stated(self.n)
        able = [one for one in candidates if simulation.tells_apart(one.mechanism, self._parts)]
        first = [simulation.simulated(one.mechanism, self.question, n, FIRST, told).error for one in able]
        near = 0.0 if rough else _NEAR * min(first, default=0.0)
        return [
            (one, simulation.simulated(one.mechanism, self.question, n, FINAL, told).error)
            if error <= near
            else (one, error)
            for one, error in zip(able, first, strict=True)
        ]

    def questions(self) -> dict[str, ShapeQuestion]:
        """Return what `dt.compare` simulates for each column, the first to sort by."""
        return {"error": self.question}

    @final
    def columns(
        self, candidates: list[Candidate], told: Told | None = None
    ) -> tuple[str, list[dict[str, float | None]]]:
        n, rows = stated(self.n), []
        for one in candidates:
            able = simulation.tells_apart(one.mechanism, self._parts)
            row: dict[str, float | None] = dict.fromkeys(self.questions())
            for name, question in self.questions().items() if able else ():
                row[name] = simulation.simulated(one.mechanism, question, n, FIRST, told).error
            rows.append(row)
        how = f"simulated for a Beta, {len(FIRST)} runs (seeds {FIRST.start} to {FIRST.stop - 1})"
        return how, rows

    @final
    def people(self, candidates: list[Candidate], target: float) -> int | None:
        able = [one for one in candidates if simulation.tells_apart(one.mechanism, self._parts)]
        if not able:
            return None
        pilot = [simulation.simulated(one.mechanism, self.question, 10_000, FIRST).error for one in able]
        best = able[int(np.argmin(pilot))]
        return simulation.people_for_error(best.mechanism, self.question, target)

    def reason(self, first: Candidate, domain: Any) -> str:
        population = "Beta(4, 4)" if isinstance(domain, Circle) else "Beta(2, 5)"
        found = self.prediction(first.mechanism)
        spread = 0.0 if found is None else 100.0 * found.standard_error / found.error
        told = (
            f"the smallest error in simulations: {population}, {len(FINAL)} runs (seeds {FINAL.start} to "
            f"{FINAL.stop - 1}), ± {spread:.2g} %"
        )
        if isinstance(first.mechanism, Cumulative):
            return f"{told}; read by dt.cumulative(reports, method=dt.empirical_bayes)"
        return told


@final
@dataclass(frozen=True)
class Distribution(_Simulated):
    """How the values of n people are distributed, as `dt.distribution` estimates it.

    The error is `dt.goals.Distance.W1`, the area between the true and the estimated cumulative distribution
    (how far, on average, people would have to move to turn one into the other), or `Distance.KS`, their
    largest gap. It is simulated with the mechanism itself, for people with the shape Beta(2, 5), on a circle
    Beta(4, 4). `Cumulative` is read by `dt.cumulative(reports, method=dt.empirical_bayes)`. Mechanisms for
    which the first or last two of `bins` equal parts are not identifiable, as OGPM near the ends of an
    interval, are left out.
    """

    bins: int = _BINS
    distance: Distance = Distance.W1

    takes = (Interval, Circle)
    otherwise = "for categories ask dt.goals.Frequencies"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.bins, bool) or not isinstance(self.bins, int) or self.bins < 2:
            raise InvalidParameter("bins are a whole number, at least 2")
        if not isinstance(self.distance, Distance):
            raise InvalidParameter("the distance is dt.goals.Distance.W1 or dt.goals.Distance.KS")

    @property
    def question(self) -> ShapeQuestion:
        return ShapeQuestion(self.distance)

    def questions(self) -> dict[str, ShapeQuestion]:
        order = sorted(Distance, key=lambda one: one is not self.distance)
        return {one.name: ShapeQuestion(one) for one in order}

    @property
    def _parts(self) -> int:
        return self.bins


@final
@dataclass(frozen=True)
class Quantile(_Simulated):
    """A quantile of n people's values, as `dt.quantile` estimates it: the root mean square error.

    It is simulated for a population with the shape Beta(2, 5), by the mechanism itself.
    """

    share: float = 0.5

    takes = (Interval,)
    otherwise = "directions have no order; ask dt.goals.Mean or dt.goals.Distribution"

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
            raise InvalidParameter("the share of a quantile is a number strictly between 0 and 1")

    @property
    def question(self) -> ShapeQuestion:
        return ShapeQuestion(None, float(self.share))
