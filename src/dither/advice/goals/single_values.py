"""The goal of single values: each report by itself, without averaging over people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from dither.advice.catalogue import Candidate, on_a_line, solved
from dither.advice.compare import error_of
from dither.advice.goals.goal import Goal
from dither.domains import Circle, Interval
from dither.errors import InvalidParameter
from dither.losses import Criterion, Power, absolute, check_criterion, check_loss, worst
from dither.optimal.closed_form import known_optimum
from dither.optimal.mechanism import Optimal
from dither.table import percent


@final
@dataclass(frozen=True)
class SingleValues(Goal):
    """Each report by itself: the expected loss of one report, in the worst case or on average."""

    loss: Power = absolute
    criterion: Criterion = worst

    takes = (Interval, Circle)
    otherwise = "for categories use dt.goals.Frequencies, for places dt.goals.Locations"

    def __post_init__(self) -> None:
        check_loss(self.loss)
        check_criterion(self.criterion)

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        best = solved(domain, epsilon, (self.loss,), (self.criterion,), wait=wait)
        return [*best, *on_a_line(domain, epsilon, (self.loss,))]

    def error(self, mechanism: Any) -> float:
        return error_of(mechanism, self.loss, self.criterion)

    def people(self, candidates: list[Candidate], target: float) -> int | None:
        raise InvalidParameter("the error of a single value does not depend on how many people there are")

    def reason(self, first: Candidate, domain: Any) -> str:
        least = known_optimum(domain, first.mechanism.epsilon, self.loss, self.criterion)
        if least is not None and self.error(first.mechanism) <= least * (1.0 + 1e-9):
            return f"no mechanism at all has a smaller {self.criterion!r} {self.loss!r} error"
        if isinstance(first.mechanism, Optimal):
            return (
                f"solved: its {self.criterion!r} {self.loss!r} error is at most "
                f"{percent(first.mechanism.gap)} above the smallest there is"
            )
        return f"the smallest {self.criterion!r} {self.loss!r} error of the mechanisms in closed form"
