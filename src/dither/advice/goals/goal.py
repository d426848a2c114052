"""The interface of a goal: which mechanisms can serve it, and the error that each will have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from dither.advice.catalogue import Candidate
from dither.domains import Domain
from dither.errors import InvalidParameter


class Goal(ABC):
    """What is wanted of the reports. A goal knows which mechanisms can serve it and how well."""

    takes: ClassVar[tuple[type[Domain], ...]]
    otherwise: ClassVar[str]  # what to ask on other domains
    close: ClassVar[float] = 1e-4  # how well an error is known, relatively
    simulated: ClassVar[bool] = False  # whether a rough prediction is much quicker

    @final
    def check(self, domain: Domain) -> None:
        """Raise unless this can be asked of a domain."""
        if not isinstance(domain, self.takes):
            wanted, found = " or ".join(kind.__name__ for kind in self.takes), type(domain).__name__
            raise InvalidParameter(
                f"{type(self).__name__} is asked of {wanted}, not of {found}; {self.otherwise}"
            )

    @abstractmethod
    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        """Give the mechanisms that might serve; without `wait`, no design is solved for it."""

    @abstractmethod
    def error(self, mechanism: Any) -> float | None:
        """Predict the error; None where the reports cannot answer, however many there are."""

    def errors(self, candidates: list[Candidate], *, rough: bool = False) -> list[tuple[Candidate, float]]:
        """Predict the errors of all that can serve; with `rough`, well enough to find the best."""
        predicted = [(one, self.error(one.mechanism)) for one in candidates]
        return [(one, error) for one, error in predicted if error is not None]

    @abstractmethod
    def people(self, candidates: list[Candidate], target: float) -> int | None:
        """Give how many people the best of the mechanisms needs for a target; None where no number does."""

    @abstractmethod
    def reason(self, first: Candidate, domain: Any) -> str:
        """Say in one sentence why the first of the ranking is the first."""


def check_people(n: object) -> None:
    """Raise unless a number of people is a whole number, or left open."""
    if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
        raise InvalidParameter("n is how many people answer: a whole number, at least 1")


def stated(n: int | None) -> int:
    """Give the number of people of a goal, or say that it is needed."""
    if n is None:
        raise InvalidParameter("state how many people answer, as in dt.goals.Mean(n=10_000)")
    return int(n)
