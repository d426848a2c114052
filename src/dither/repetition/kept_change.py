"""KeptChange: one change of a yes-or-no value, kept by each person, told in intervals of a drawn length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Integers, Mask
from dither.domains import Categories
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Pure, Unit
from dither.privacy.combinator import Combinator
from dither.question import Answering, Question, check_source
from dither.randomness import Source
from dither.repetition.change_reports import ChangeReports
from dither.repetition.periods import asked_alone, check_days, check_rows

MOST_KEPT: Final = 1000


@final
@dataclass(frozen=True)
class KeptChange(Answering, Combinator):
    """Reports about one change of a yes-or-no value, over `days` days: a tree of intervals, one kept change.

    A person draws a group, and a number up to `changes`, once and before the data are seen. The change of the
    value with that number is the kept one. Group 0 answers about the value of the first day. Group g > 0 has
    intervals of 2^(g − 1) days and answers at the end of each: about the value after the kept change, if that
    lies in the interval, and about a fair coin in all others.

    Promise:   the mechanism's ε for a person's values on all days together, however often they change. The
               group and the days of the reports are independent of the values.
    Reports:   those of the mechanism, each with its group and interval. `dt.by_day` estimates from them: the
               shares as if every value stayed as it is after `changes` changes.
    Use when:  a yes-or-no value changes a few times at most and is asked for over a long time.
               `dt.over_time` compares it with `dt.Once`.
    Reference: the tree of [Erlingsson19]; docs/time.md says what is different here.

    >>> from dither import RR, Categories
    >>> year = KeptChange(RR(Categories(["no", "yes"]), epsilon=1), days=365)
    >>> year.guarantee
    Guarantee: ε ≤ 1 for one person
    >>> [year.intervals(group) for group in range(year.groups)]
    [1, 364, 182, 91, 46, 23, 12, 6, 3, 2]
    """

    question: Question
    _: KW_ONLY
    days: int = 365
    changes: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", asked_alone(self.question, "KeptChange"))
        if not tells_changes(self.question):
            raise InvalidParameter(
                "KeptChange asks a question with two answers by a mechanism with two reports, such as "
                f"dt.RR(dt.Categories(['no', 'yes']), epsilon=1), not {self.question.name} on "
                f"{self.question.domain}; dt.Once takes any question"
            )
        check_days("days", self.days, least=2)
        if isinstance(self.changes, bool) or not isinstance(self.changes, int) or self.changes < 1:
            raise InvalidParameter(
                "changes, the most often that a value changes, is a whole number from 1 on"
            )
        if self.changes > min(MOST_KEPT, self.days - 1):
            raise InvalidParameter(
                f"a value changes at most {self.days - 1} times in {self.days} days, and changes is at most "
                f"{MOST_KEPT}; use dt.Once for a value that changes often"
            )

    @property
    def domain(self) -> Categories:
        """The two answers."""
        admits: Categories = self.question.domain
        return admits

    @property
    def groups(self) -> int:
        """The number of groups: one for the first day, and one for each length of intervals."""
        return 1 + (self.days - 1).bit_length()

    def intervals(self, group: int) -> int:
        """Return the number of intervals of a group, each of which has one report of a person."""
        return -(-(self.days - 1) // self.length(group)) if group else 1

    def length(self, group: int) -> int:
        """Return the number of days of an interval. Interval j has the changes on days jL + 1 to (j + 1)L."""
        return 1 << group - 1 if group else 1

    def day(self, group: int, interval: int) -> int:
        """Return the day, from 0 on, at whose end the report of an interval is made."""
        return min((interval + 1) * self.length(group), self.days - 1) if group else 0

    def device(self) -> dict[str, Any]:
        """Return what a device needs: the tree, and the mechanism's data."""
        return {
            "draw": "kept change",
            "days": self.days,
            "changes": self.changes,
            "part": self.question.device(),
        }

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person for the values of all days."""
        return self.promise([self.question.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's guarantee, for all values of one person.

        Let a and b be the largest ratios P(r | yes)/P(r | no) and P(r | no)/P(r | yes), both at most e^ε, and
        let P₀ be the average of the two laws, which a coin has. Two sequences of values differ in one or two
        intervals of a group. In one, the ratio is at most max(a, b). In two, it is a product of a ratio to P₀
        and one from P₀: 2a/(1 + a) · (1 + a)/2 = a, or 2a/(1 + a) · (1 + b)/2 ≤ max(a, b), or the same with a
        and b exchanged. So the ratio is at most e^ε in every group, and the draw of the group is the same
        for all values.
        """
        (once,) = inner
        return Guarantee(once.bound, Unit.PERSON, once.assumes)

    def perturb(self, sequences: object, *, source: Source | None = None) -> ChangeReports:
        """Draw the reports of people whose values are given for every day: a row for a person."""
        rows = check_rows(sequences, self.domain, self.days)
        draw = check_source(source)
        drawn = draw.integers(self.groups, len(rows))
        places = 1 + draw.integers(self.changes, len(rows))
        parts = []
        for group in range(self.groups):
            mine = drawn == group
            codes = self.domain.check(rows[mine]).reshape(-1, self.days)
            count = self.intervals(group)
            answers, _ = self.answers(codes, group, places[mine], range(count), draw)
            parts.append(ChangeReports.of_group(self, group, range(count), answers))
        return ChangeReports.joined(self, parts)

    def answers(
        self, codes: Integers, group: int, places: Integers, due: range, source: Source
    ) -> tuple[Array, Mask]:
        """Draw the reports of people in a group for the intervals in `due`: a row of reports for a person.

        `codes` has the values of each person from the first day on, to the end of the last interval at least.
        `places` are the numbers of the kept changes, 0 for none: then all reports are about coins. The second
        result is True for the people whose kept change lies in one of these intervals.
        """
        told = np.zeros((len(codes), len(due)), dtype=np.int64)
        inside = np.zeros(len(codes), dtype=np.bool_)
        if group == 0:
            told[:] = codes[:, :1]
        else:
            told[:] = source.coins(1, 2, told.size).reshape(told.shape)
            day = _kept_days(codes, places)
            interval = (day - 1) // self.length(group)
            inside = (day > 0) & (interval >= due.start) & (interval < due.stop)
            told[inside, interval[inside] - due.start] = codes[inside, day[inside]]
        cells = self.question.kernel.draw(told.reshape(-1), source, threads=1)
        return cells.reshape(told.shape), inside

    def reports(self, raw: object) -> ChangeReports:
        """Return rows of three whole numbers (group, interval, report) as reports; refuse impossible ones."""
        return ChangeReports.of(self, raw)

    def at(self, epsilon: float) -> KeptChange:
        """Return the same tree with another ε."""
        return KeptChange(self.question.at(epsilon), days=self.days, changes=self.changes)

    def describe(self) -> str:
        """Return a description in words: the mechanism, the kept change, and the guarantee."""
        which = "the first change" if self.changes == 1 else f"one of the first {self.changes} changes"
        return (
            f"{self.question.describe()} A person keeps {which} of the value, and answers at the end of "
            "each interval of a length drawn without looking at the data: about the kept change in its "
            f"interval, about coins in all others. {self.guarantee}, for all {self.days} days, however the "
            "value changes."
        )


def tells_changes(question: Question) -> bool:
    """Return whether a question has two answers, two reports and a pure ε, as `KeptChange` needs."""
    two = isinstance(question.domain, Categories) and len(question.domain) == 2
    return two and question.outcomes == 2 and isinstance(question.guarantee.bound, Pure)


def _kept_days(codes: Integers, places: Integers) -> Integers:
    """Return the day of each person's kept change, the change with the number in `places`; 0 if none."""
    moved = codes[:, 1:] != codes[:, :-1]
    kept = moved & (np.cumsum(moved, axis=1) == places[:, None])
    day = 1 + np.argmax(kept, axis=1) if kept.shape[1] else np.zeros(len(codes), dtype=np.int64)
    return np.where(kept.any(axis=1), day, 0).astype(np.int64)
