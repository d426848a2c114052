"""Goals about vectors of many numbers: their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from dither.advice.catalogue import Candidate
from dither.advice.goals.numbers import Goal, check_people, people_of
from dither.advice.simulation import Progress
from dither.advice.vectors import check_each, on_vectors, sampled_words, squared_error
from dither.core.domains import Domain
from dither.core.domains.vectors import Vectors
from dither.estimation.reading import reach_of_one
from dither.foundation.tables import percent
from dither.mechanisms.combined import Sampled
from dither.mechanisms.optimal.vectors import InBall


@dataclass(frozen=True)
class MeanOfVectors(Goal):
    """The mean of n people's vectors: the root mean squared length of the error, for the worst vectors.

    `each` is the largest distance of a single number from its centre: 0.5 for answers from 0 to 1. With it,
    `dt.Sampled` (one number of each person) is also compared. It has a smaller error where vectors are near
    the corners of that box, and the reason in the table states for which vectors.

    >>> import dither as dt
    >>> table = dt.recommend(dt.Vectors(384, exact=True), MeanOfVectors(n=20_000), epsilon=2)
    >>> [row["mechanism"] for row in table]
    ['Optimal', 'Sampled(Optimal(unbiased=True) of each number)']
    >>> round(table[0]["error"], 3)
    0.176
    """

    n: int | None = None
    each: float | None = None

    apart = True
    takes = (Vectors,)
    otherwise = "for one number use dt.goals.Mean"

    def __post_init__(self) -> None:
        check_people(self.n)
        check_each(self.each)

    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        return on_vectors(cast(Vectors, domain), epsilon, self.each, wait=wait)

    def error(self, mechanism: object) -> float | None:
        """Return the error of a mechanism for complete vectors; None for others."""
        return math.sqrt(mechanism.error / people_of(self.n)) if isinstance(mechanism, InBall) else None

    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, progress: Progress | None = None
    ) -> list[tuple[Candidate, float]]:
        n = people_of(self.n)
        return [
            (held, math.sqrt(squared_error(held) / n))
            for held in candidates
            if isinstance(held.mechanism, InBall | Sampled)
        ]

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int:
        best = min(map(squared_error, candidates))
        return max(1, math.ceil((best + sampling) / target**2 * (1.0 - 1e-12)))

    def least_error(self, candidates: list[Candidate]) -> float | None:
        """Return the bound for all vectors of the length; None if their numbers have a bound of their own."""
        bounds = [
            held.mechanism.bound
            for held in candidates
            if isinstance(held.mechanism, InBall)
            and held.mechanism.domain.dimension > 1
            and self.each is None
        ]
        return math.sqrt(bounds[0] / people_of(self.n)) if bounds else None

    def sampling(self, domain: Domain) -> float:
        """Return the squared length: the variance of vectors about a mean of 0."""
        return cast(Vectors, domain).length ** 2

    def one_liar(self, mechanism: object) -> float | None:
        """Return the largest shift of the mean by one made-up report, in a direction of the liar's choice."""
        if isinstance(mechanism, InBall):
            return mechanism.liar * mechanism.domain.length / people_of(self.n)
        parts = list(mechanism.parts.values()) if isinstance(mechanism, Sampled) else []
        reach = reach_of_one(parts[0]) if parts else None
        return None if reach is None else reach * len(parts) / people_of(self.n)

    def reason(self, first: Candidate, domain: Domain) -> str:
        words = sampled_words(cast(Vectors, domain), first.mechanism.guarantee.epsilon, self.each)
        if isinstance(first.mechanism, InBall):
            return f"the complete vector in one report; {_above(first.mechanism)}{words}"
        return f"one number of each person, drawn at random, with the whole budget, unbiased{words}"


def _above(mechanism: InBall) -> str:
    if mechanism.domain.dimension < 2:
        return "for one number use dt.Interval"
    return f"an error at most {percent(math.sqrt(1.0 + mechanism.gap) - 1.0)} above the smallest possible"
