"""Once: one answer in a period of days, on a day that is drawn without looking at the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dither.domains import Domain
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Unit
from dither.privacy.combinator import Combinator
from dither.question import Answering, Question, check_source
from dither.randomness import Source
from dither.repetition.dated import DatedReports
from dither.repetition.periods import asked_alone, check_days, check_rows


@final
@dataclass(frozen=True)
class Once(Answering, Combinator):
    """One answer of each person in `days` days, on a day that is drawn uniformly, before the data are seen.

    `every` is the length of a period in days, if there is to be one answer in each period: the guarantee is
    then the sum over all periods. On a device, `dt.Question.once` and an account keep the drawn day, so that
    a restart does not draw again; `perturb` draws for many people at once, as in a simulation.

    Promise:   the mechanism's ε for a person's values on all days together, however they change. With
               `every`, that ε times the number of periods. The day is independent of the values.
    Reports:   those of the mechanism, each with its day. `dt.by_day` estimates from them.
    Use when:  a value may change and is asked for over a long time.

    >>> from dither import RR, Categories
    >>> smokes = RR(Categories(["yes", "no"]), epsilon=1)
    >>> Once(smokes, days=365).guarantee
    Guarantee: ε ≤ 1 for one person
    >>> Once(smokes, days=365, every=73).guarantee
    Guarantee: ε ≤ 5 for one person
    """

    question: Question
    _: KW_ONLY
    days: int = 365
    every: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", asked_alone(self.question, "Once"))
        if self.question.unit in (Unit.LOCATION, Unit.TRAJECTORY):
            raise InvalidParameter("Once asks for one value on a day, not for a path")
        check_days("days", self.days)
        if self.every is not None:
            check_days("every", self.every, most=self.days)

    @property
    def period(self) -> int:
        """The number of days of a period, in which there is one answer; the last one may be shorter."""
        return self.days if self.every is None else self.every

    @property
    def answers(self) -> int:
        """The number of answers of a person over all days."""
        return -(-self.days // self.period)

    @property
    def domain(self) -> Domain:
        """The domain of the mechanism."""
        admits: Domain = self.question.domain
        return admits

    def device(self) -> dict[str, Any]:
        """Return the mechanism's data: the day does not change the distribution of a report."""
        return self.question.device()

    @property
    def plain(self) -> Any:
        """The mechanism, if there is one answer. Several answers are not one draw of it."""
        return self.question if self.answers == 1 else self

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person for the values of all days."""
        return self.promise([self.question.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's guarantee, composed over the answers, for one person.

        The law of (day, report) given the values x₁, …, x_T is P(day)·P(report | x_day), and P(day) is the
        same for all values. So its ratio is at most the mechanism's, for any two sequences of values.
        """
        (once,) = inner
        total = once.repeated(self.answers)
        return Guarantee(total.bound, Unit.PERSON, total.assumes)

    def perturb(self, sequences: object, *, source: Source | None = None) -> DatedReports:
        """Draw the days and the reports of people whose values are given for every day: a row for a person.

        Only the values of the drawn days are read.
        """
        rows = check_rows(sequences, self.domain, self.days)
        people = np.arange(len(rows))
        draw = check_source(source)
        days, parts = [], []
        for first in range(0, self.days, self.period):
            day = first + draw.integers(min(self.period, self.days - first), people.size)
            days.append(day)
            parts.append(self.question.perturb(rows[people, day], source=draw))
        return DatedReports.of(self, parts, days)

    def reports(self, raw: object, days: object) -> DatedReports:
        """Return raw integers, and the day of each from 0 to days − 1, as dated reports."""
        return DatedReports.of(self, [self.question.reports(raw)], [days])

    def at(self, epsilon: float) -> Once:
        """Return the same days with another ε for an answer."""
        return Once(self.question.at(epsilon), days=self.days, every=self.every)

    def describe(self) -> str:
        """Return a description in words: the mechanism, how often it is answered, and the guarantee."""
        often = f"once in {self.days} days" if self.answers == 1 else f"once in every {self.period} days"
        return (
            f"{self.question.describe()} A person answers {often}, on a day drawn without looking at the "
            f"data: {self.guarantee}, for all {self.days} days, however the value changes."
        )
