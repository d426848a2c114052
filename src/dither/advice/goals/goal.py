"""The interface of a goal: which mechanisms can serve it, and the error that each will have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from dither.advice.catalogue import Candidate
from dither.advice.simulation import Told
from dither.domains import Domain
from dither.errors import InvalidParameter, found


class Goal(ABC):
    """What the reports are collected for: it knows which mechanisms can serve, and predicts their errors."""

    takes: ClassVar[tuple[type[Domain], ...]]
    otherwise: ClassVar[str]  # for the error message: which goal to use on other domains
    close: ClassVar[float] = 1e-4  # the relative accuracy of a predicted error
    simulated: ClassVar[bool] = False  # whether `errors(rough=True)` is much faster
    apart: ClassVar[bool] = False  # whether `dt.compare` lists the goal's own candidates and nothing else

    @final
    def check(self, domain: Domain) -> None:
        """Raise InvalidParameter unless the goal applies to a domain."""
        if not isinstance(domain, self.takes):
            wanted, given = " or ".join(kind.__name__ for kind in self.takes), type(domain).__name__
            raise InvalidParameter(
                f"the goal {type(self).__name__} needs the domain {wanted}, not {given}; {self.otherwise}"
            )

    @abstractmethod
    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        """Return the mechanisms that might serve; with `wait=False` no design is solved."""

    def beside(self, domain: Any, epsilon: float) -> list[Candidate]:
        """Return the mechanisms that serve this goal alone, which `dt.compare` lists with the others."""
        return []

    @abstractmethod
    def error(self, mechanism: Any) -> float | None:
        """Return the predicted error; None if the reports cannot answer, however many there are."""

    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, told: Told | None = None
    ) -> list[tuple[Candidate, float]]:
        """Return the candidates that can serve with their errors; with `rough`, less accurate ones."""
        predicted = [(one, self.error(one.mechanism)) for one in candidates]
        return [(one, error) for one, error in predicted if error is not None]

    def columns(
        self, candidates: list[Candidate], told: Told | None = None
    ) -> tuple[str, list[dict[str, float | None]]]:
        """Return what `dt.compare` shows: how errors were found, and their columns, the first to sort by."""
        return "", [{"error": self.error(one.mechanism)} for one in candidates]

    def least_error(self, candidates: list[Candidate]) -> float | None:
        """Return a lower bound on the error of every mechanism, known or not; None if there is none."""
        return None

    def ranked(self, able: list[tuple[Candidate, float]]) -> list[tuple[Candidate, float]]:
        """Return candidates and their errors, the one to recommend first: by error unless overridden."""
        return sorted(able, key=lambda pair: pair[1])

    @abstractmethod
    def people(self, candidates: list[Candidate], target: float) -> int | None:
        """Return how many people the best candidate needs for a target error; None if no number is enough."""

    def one_liar(self, mechanism: Any) -> float | None:
        """Return the most that one made-up report can move the estimate; None if it is not derived."""
        return None

    @abstractmethod
    def reason(self, first: Candidate, domain: Any) -> str:
        """Return one sentence that says why the first of the ranking is the best."""


def check_people(n: object) -> None:
    """Raise InvalidParameter unless n is None or a whole number of at least 1."""
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
        raise InvalidParameter(f"n, how many people answer, is a whole number of at least 1, not {found(n)}")


def stated(n: int | None) -> int:
    """Return the number of people of a goal; raise InvalidParameter if it was left out."""
    if n is None:
        raise InvalidParameter("state how many people answer, as in dt.goals.Mean(n=10_000)")
    return int(n)
