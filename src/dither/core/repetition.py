"""Answers over days: once in a period, or about one kept change."""

from __future__ import annotations

import json
from collections.abc import Sequence, Sized
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core import registry
from dither.core.combinator import Combinator
from dither.core.domains import Categories, Domain
from dither.core.domains.separate import as_array
from dither.core.question import Answering, Question, as_question, check_source
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.foundation.arrays import Array, Integers, Mask
from dither.foundation.randomness import Source
from dither.privacy import Guarantee, Pure

if TYPE_CHECKING:
    from dither.advice.explain import Explanation
    from dither.core.kernels.ball import FlipPattern
    from dither.core.question.base import Asks


@dataclass(frozen=True, eq=False, repr=False)
class ChangeReports:
    """Reports of `KeptChange`, each with the group of the person and its interval; sorted by these two."""

    change: KeptChange
    groups: Array
    intervals: Array
    reports: Reports

    @staticmethod
    def of_group(change: KeptChange, group: int, due: range, cells: Array) -> ChangeReports:
        """Return reports of one group: a row of cells for a person, a column for each interval."""
        intervals = np.repeat(np.arange(due.start, due.stop, dtype=np.uint32), len(cells))
        groups = np.full(intervals.size, group, dtype=np.uint8)
        return ChangeReports(change, groups, intervals, Reports(change.question, cells.T.reshape(-1)))

    @staticmethod
    def join(change: KeptChange, parts: list[ChangeReports]) -> ChangeReports:
        """Return the reports of all groups together; pass them in the order of the groups."""
        groups, intervals = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("groups", "intervals")
        )
        return ChangeReports(change, groups, intervals, Reports.concatenate([part.reports for part in parts]))

    @staticmethod
    def of(change: KeptChange, raw: object) -> ChangeReports:
        """Return rows of group, interval and report; raise MalformedReport if no device could send one."""
        try:
            table = np.asarray(raw)
            integral = table.dtype.kind in "iu" or not table.size
        except (TypeError, ValueError):
            integral, table = False, np.empty(0)
        if not integral or table.ndim != 2 or table.shape[1] != 3:
            raise MalformedReport(
                "expected reports about changes as rows of three integers: group, interval, report"
            )
        table = table.astype(np.int64)
        groups, intervals, cells = table.T
        if table.size and not (groups.min() >= 0 and groups.max() < change.groups):
            raise MalformedReport(f"expected a group to be an integer from 0 to {change.groups - 1}")
        counts = np.array([change.intervals(group) for group in range(change.groups)])
        if ((intervals < 0) | (intervals >= counts[groups])).any():
            raise MalformedReport(
                "expected an interval to be an integer below the number of intervals of its group"
            )
        reports = change.question.reports(cells)
        order = np.lexsort((intervals, groups))
        return ChangeReports(
            change, groups[order].astype(np.uint8), intervals[order].astype(np.uint32), reports[order]
        )

    @property
    def cells(self) -> Integers:
        """The reports as rows of three integers: group, interval, report."""
        return np.stack([self.groups, self.intervals, self.reports.cells], axis=1).astype(np.int64)

    @property
    def values(self) -> Array:
        """The decoded reports: one of the two answers each, about a change or about a coin."""
        return self.reports.values

    def interval_counts(self, group: int) -> tuple[Integers, Integers]:
        """Return the number of reports of each interval of a group, and how many of them are 1."""
        low, high = np.searchsorted(self.groups, (group, group + 1))
        intervals, size = self.intervals[low:high].astype(np.int64), self.change.intervals(group)
        ones = intervals[self.reports.cells[low:high] == 1]
        return np.bincount(intervals, minlength=size), np.bincount(ones, minlength=size)

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return f"ChangeReports({len(self):,} about {self.change.days} days)".replace(",", " ")


@dataclass(frozen=True, eq=False, repr=False)
class ChangeCounts:
    """How many reports of `KeptChange` each interval has, and how many are 1: all that estimates need.

    Both are arrays with the intervals of group 0, then of group 1, and so on. Counts of several collectors
    add. `begins` is the date of the first day, if it is known.

    >>> import dither as dt
    >>> moved = dt.KeptChange(dt.KRR(dt.Categories(["no", "yes"]), epsilon=1), days=4)
    >>> ChangeCounts.of(moved.perturb([["no", "no", "yes", "yes"]] * 100))  # doctest: +ELLIPSIS
    ChangeCounts(... about 4 days)
    """

    change: KeptChange
    totals: Integers
    ones: Integers
    begins: date | None = None
    about: str = ""  # the name of the question in a campaign

    def __post_init__(self) -> None:
        size = sum(map(self.change.intervals, range(self.change.groups)))
        for name in ("totals", "ones"):
            counts = np.asarray(getattr(self, name))
            if counts.dtype.kind not in "iu" or counts.shape != (size,):
                raise MalformedReport(f"expected an integer for each of the {size} intervals of all groups")
            object.__setattr__(self, name, counts.astype(np.int64))
        if (self.ones < 0).any() or (self.ones > self.totals).any():
            raise MalformedReport("expected counts from 0 on, and at most as many ones as reports")

    @staticmethod
    def of(reports: ChangeReports) -> ChangeCounts:
        """Return the counts of reports."""
        pairs = [reports.interval_counts(group) for group in range(reports.change.groups)]
        totals, ones = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return ChangeCounts(reports.change, totals, ones)

    def interval_counts(self, group: int) -> tuple[Integers, Integers]:
        """Return the number of reports of each interval of a group, and how many of them are 1."""
        first = sum(map(self.change.intervals, range(group)))
        part = slice(first, first + self.change.intervals(group))
        return self.totals[part], self.ones[part]

    def __add__(self, other: object) -> ChangeCounts:
        """Return the counts of two collectors of a campaign."""
        if not isinstance(other, ChangeCounts):
            return NotImplemented
        if (self.change.fingerprint, self.begins) != (other.change.fingerprint, other.begins):
            raise Mismatch("expected counts of changes of the same question and days; add others separately")
        totals, ones = self.totals + other.totals, self.ones + other.ones
        return ChangeCounts(self.change, totals, ones, self.begins, self.about or other.about)

    def __radd__(self, other: object) -> ChangeCounts:
        return self if other == 0 else NotImplemented  # sum(…) begins with 0

    def to_json(self) -> str:
        """Return the counts as JSON, with the specification of the question."""
        facts = {
            **{"dither-changes": 1, "about": self.about, "days": self.change.days},
            "begins": None if self.begins is None else self.begins.isoformat(),
            "changes": self.change.changes,
            "question": json.loads(self.change.question.to_json()),
            **{"totals": self.totals.tolist(), "ones": self.ones.tolist()},
        }
        return json.dumps(facts, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> ChangeCounts:
        """Read what `to_json` wrote; raise MalformedReport for anything else."""
        from dither.core.wire import from_specification

        try:
            data = json.loads(text)
            if data["dither-changes"] != 1:
                raise ValueError("another version")
            change = KeptChange(
                from_specification(data["question"]), days=data["days"], changes=data["changes"]
            )
            begins = None if data["begins"] is None else date.fromisoformat(data["begins"])
            totals, ones = (np.array(data[name]) for name in ("totals", "ones"))
            return ChangeCounts(change, totals, ones, begins, str(data["about"]))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError, InvalidParameter):
            raise MalformedReport(
                "expected counts of changes, as ChangeCounts.to_json() writes them"
            ) from None

    def __len__(self) -> int:
        return int(self.totals.sum())

    def __repr__(self) -> str:
        return f"ChangeCounts({len(self):,} about {self.change.days} days)".replace(",", " ")


@dataclass(frozen=True, eq=False, repr=False)
class DatedReports:
    """Reports of `Once` and the day of each, from 0. They are sorted by day, so the order reveals nothing."""

    once: Once
    reports: Reports
    days: Integers

    @staticmethod
    def of(once: Once, parts: list[Reports], days: Sequence[object]) -> DatedReports:
        """Return reports with their days; raise MalformedReport unless each has a day of the question."""
        try:
            every = [np.asarray(part) for part in days]
            if any(part.dtype.kind not in "iu" and part.size for part in every):
                raise ValueError("not integers")
            day = np.concatenate([part.astype(np.int64) for part in every])
        except (TypeError, ValueError):
            raise MalformedReport("expected the days of reports to be a list of integers") from None
        together = Reports.concatenate(parts)
        if day.ndim != 1 or len(together) != day.size:
            raise MalformedReport(f"expected one day for each of {len(together)} reports")
        if day.size and not (day.min() >= 0 and day.max() < once.days):
            raise MalformedReport(f"expected a day to be an integer from 0 to {once.days - 1}")
        order = np.argsort(day, kind="stable")
        day = day[order]
        day.setflags(write=False)
        return DatedReports(once, together[order], day)

    def between(self, first: int, end: int) -> Reports:
        """Return the reports from day `first` to the day before `end`."""
        low, high = np.searchsorted(self.days, (first, end))
        return self.reports[int(low) : int(high)]

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return f"DatedReports({len(self):,} on {self.once.days} days)".replace(",", " ")


MOST_DAYS: Final = 36_600


def check_days(name: str, given: object, *, least: int = 1, most: int = MOST_DAYS) -> None:
    """Raise InvalidParameter unless this is an integer number of days in the range."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InvalidParameter(
            f"expected {name} to be an integer number of days from {least} to {most}, got {found(given)}"
        )


def check_rows(sequences: object, domain: Domain, days: int) -> Array:
    """Return people's values as an array, a row for each person; raise InvalidParameter otherwise."""
    try:
        people = len(sequences) if isinstance(sequences, Sized) else 0
        rows = as_array(domain, sequences, (people, days))
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != days:
        raise InvalidParameter(f"expected a row for each person with a value for each of the {days} days")
    return rows


def asked_alone(asked: object, name: str) -> Question:
    """Return the question that is repeated; raise InvalidParameter unless a device answers it by itself."""
    wrong = f"{name} expects one mechanism that a device runs by itself, got {type(asked).__name__}"
    try:
        question = as_question(asked)
    except InvalidParameter:
        raise InvalidParameter(wrong) from None
    if not question.alone:
        raise InvalidParameter(wrong)
    return question


class AskedAgain(Answering, Combinator):
    """One question, repeated: each report has the distribution of the question's own reports."""

    question: Question

    @property
    def domain(self) -> Domain:
        """The domain of the mechanism."""
        admits: Domain = self.question.domain
        return admits

    def device(self) -> dict[str, Any]:
        """Return the question's data: asking again does not change the distribution of one report."""
        return self.question.device()

    def explain(self, name: str, **options: object) -> Explanation:
        """Explain the question in plain words under a name, as `dt.Questionnaire.explain` does."""
        explained: Explanation = registry.adviser("explain").explain({name: self}, **options)
        return explained


@dataclass(frozen=True)
class Once(AskedAgain):
    """One answer of each person in `days` days, on a day that is drawn uniformly, before the data are seen.

    With `every`, there is one answer in each period of this number of days, and the guarantee is the sum over
    all periods. On a device, `dt.Inquiry.once` and an account keep the drawn day, so that a restart does not
    draw again; `perturb` draws for many people at once, as in a simulation.

    Promise:   the mechanism's ε for a person's values on all days together, however they change. With
               `every`, that ε times the number of periods. The day is independent of the values.
    Reports:   the mechanism's, each with its day. `dt.by_day` estimates from them.
    Use when:  a value may change and is collected for a long time.

    >>> from dither import KRR, Categories
    >>> smokes = KRR(Categories(["yes", "no"]), epsilon=1)
    >>> Once(smokes, days=365).guarantee
    Guarantee: ε ≤ 1 for one person
    >>> Once(smokes, days=365, every=73).guarantee
    Guarantee: ε ≤ 5 for one person
    """

    question: Question
    _: KW_ONLY
    days: int = 365
    every: int | None = None

    if TYPE_CHECKING:  # a mechanism is as good as its question

        def __init__(
            self, question: Question | Asks, *, days: int = 365, every: int | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", asked_alone(self.question, "Once"))
        if self.question.unit == "trajectory" != self.question.domain.protects:
            raise InvalidParameter(
                "expected one value or one location a day for Once, got a path; pass a mechanism "
                "for single locations"
            )
        check_days("days", self.days)
        if self.every is not None:
            check_days("every", self.every, most=self.days)

    @property
    def period(self) -> int:
        """The number of days of a period with one answer; the last period may be shorter."""
        return self.days if self.every is None else self.every

    @property
    def answers(self) -> int:
        """The number of answers of a person over all days."""
        return -(-self.days // self.period)

    @property
    def plain(self) -> object:
        """The mechanism, if there is one answer. Several answers are not one draw of it."""
        return self.question if self.answers == 1 else self

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person for the values of all days."""
        return self.promise([self.question.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's guarantee, composed over the answers, for one person.

        The distribution of (day, report) given the values x₁, …, x_T is P(day)·P(report | x_day), and P(day)
        is the same for all values. So for any two sequences of values, the ratio is at most the mechanism's.
        """
        (once,) = inner
        total = once.repeated(self.answers)
        return Guarantee(total.bound, "person", total.assumes)

    def perturb(self, sequences: object, *, source: Source | None = None) -> DatedReports:
        """Draw the days and the reports of people whose values are given for every day: a row for a person.

        Only the values of the drawn days are read. Locations are drawn only on devices.
        """
        if self.question.unit == "location":
            raise InvalidParameter(
                "expected values of many people, because Once does not draw locations here; draw "
                "locations with an account"
            )
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


MOST_KEPT: Final = 1000


@dataclass(frozen=True)
class KeptChange(Answering, Combinator):
    """Reports about the first changes of a yes-or-no value, over `days` days: a tree of intervals.

    A person draws a group once and before the data are seen. Group 0 answers about the value of the first
    day. Group g > 0 has intervals of 2^(g − 1) days and answers at the end of each. With one kept change, the
    report is about the value after it, if it lies in the interval, and about a fair coin in all others. With
    more, a person also draws a pattern of flips (`ball.py`): at the end of the i-th interval over which the
    value changed, the value is reported, or the other one if the i-th flip says so. All other reports are
    fair coins.

    Promise:   the mechanism's ε for a person's values on all days together, however often they change. The
               group and the days of the reports are independent of the values.
    Reports:   the mechanism's, each with its group and interval. `dt.by_day` estimates from them: the
               shares as if every value stayed as it is after `changes` changes.
    Use when:  a yes-or-no value changes at most a few times and is collected for a long time.
               `dt.over_time` compares it with `dt.Once`.
    Reference: the tree of [Erlingsson19]; docs/time.md lists the differences, and the source of the patterns
               of flips.

    >>> from dither import KRR, Categories
    >>> year = KeptChange(KRR(Categories(["no", "yes"]), epsilon=1), days=365)
    >>> year.guarantee
    Guarantee: ε ≤ 1 for one person
    >>> [year.intervals(group) for group in range(year.groups)]
    [1, 364, 182, 91, 46, 23, 12, 6, 3, 2]
    """

    question: Question
    _: KW_ONLY
    days: int = 365
    changes: int = 1

    if TYPE_CHECKING:  # a mechanism is as good as its question

        def __init__(self, question: Question | Asks, *, days: int = 365, changes: int = 1) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", asked_alone(self.question, "KeptChange"))
        if not tells_changes(self.question):
            raise InvalidParameter(
                "expected a mechanism with two answers and two reports for KeptChange, such as "
                f"dt.KRR(dt.Categories(['no', 'yes']), epsilon=1), got {self.question.name} on "
                f"{self.question.domain}; use dt.Once for any other question"
            )
        check_days("days", self.days, least=2)
        if isinstance(self.changes, bool) or not isinstance(self.changes, int) or self.changes < 1:
            raise InvalidParameter(
                "expected changes, the largest number of changes of a value, to be an integer from 1 on"
            )
        if self.changes > min(MOST_KEPT, self.days - 1):
            raise InvalidParameter(
                f"expected changes of at most {min(MOST_KEPT, self.days - 1)} in {self.days} days, "
                f"got {self.changes}; use dt.Once for a value that changes often"
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
            "draw": "kept change" if self.changes == 1 else "kept changes",
            "days": self.days,
            "changes": self.changes,
            "part": self.question.device(),
        }

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person for the values of all days."""
        return self.promise([self.question.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's guarantee over all values of one person.

        Let a and b be the largest ratios P(r | yes)/P(r | no) and P(r | no)/P(r | yes), both at most e^ε, and
        let P₀ be the average of the two distributions (a coin's). Two sequences of values differ in one or
        two intervals of a group. In one, the ratio is at most max(a, b). In two, it is a product of a ratio
        to P₀ and one from P₀: 2a/(1 + a) · (1 + a)/2 = a, or 2a/(1 + a) · (1 + b)/2 ≤ max(a, b), or the same
        with a and b exchanged. So the ratio is at most e^ε in every group, and the draw of the group is the
        same for all values. With more than one change the ratio belongs to the pattern of flips (`ball.py`).
        """
        (once,) = inner
        return Guarantee(once.bound, "person", once.assumes)

    def perturb(self, sequences: object, *, source: Source | None = None) -> ChangeReports:
        """Draw the reports of people whose values are given for every day: a row for a person."""
        rows = check_rows(sequences, self.domain, self.days)
        draw = check_source(source)
        drawn = draw.integers(self.groups, len(rows))
        positions = 1 + draw.integers(self.changes, len(rows))
        parts = []
        for group in range(self.groups):
            mine = drawn == group
            codes = self.domain.check(rows[mine]).reshape(-1, self.days)
            count = self.intervals(group)
            if self.changes == 1 or not group:
                answers, _ = self.answers(codes, group, positions[mine], range(count), draw)
            else:
                flips, unused = self.pattern(group).draw(len(codes), draw), np.zeros(len(codes), dtype=int)
                answers, _ = self.flip_answers(codes, group, flips, unused, range(count), draw)
            parts.append(ChangeReports.of_group(self, group, range(count), answers))
        return ChangeReports.join(self, parts)

    def answers(
        self, codes: Integers, group: int, places: Integers, due: range, source: Source
    ) -> tuple[Array, Mask]:
        """Draw the reports of people in a group for the intervals in `due`: a row of reports for a person.

        `codes` has the values of each person from the first day on, to the end of the last interval at least.
        `places` are the numbers of the kept changes, 0 for none: then all reports are about coins. The second
        result is True for the people whose kept change lies in one of these intervals.
        """
        reported = np.zeros((len(codes), len(due)), dtype=np.int64)
        inside = np.zeros(len(codes), dtype=np.bool_)
        if group == 0:
            reported[:] = codes[:, :1]
        else:
            reported[:] = source.coins(1, 2, reported.size).reshape(reported.shape)
            day = _kept_days(codes, places)
            interval = (day - 1) // self.length(group)
            inside = (day > 0) & (interval >= due.start) & (interval < due.stop)
            reported[inside, interval[inside] - due.start] = codes[inside, day[inside]]
        cells = self.question.kernel.draw(reported.reshape(-1), source, threads=1)
        return cells.reshape(reported.shape), inside

    def pattern(self, group: int) -> FlipPattern:
        """Return the flips of a group's reports about changes: at most as many as it has intervals."""
        from dither.core.kernels.ball import FlipPattern  # imported only for reports about changes

        return FlipPattern.best(self.question.kernel.ratio, min(self.changes, self.intervals(group)))

    def flip_answers(
        self, codes: Integers, group: int, flips: Mask, used: Integers, due: range, source: Source
    ) -> tuple[Array, Integers]:
        """Draw the reports of people in a group g > 0 for the intervals in `due`, by their patterns of flips.

        `used` is the number of flips of each person that were used in earlier intervals. The second result is
        the number that is used now. After the last flip all reports are coins.
        """
        reported = source.coins(1, 2, len(codes) * len(due)).reshape(len(codes), len(due)).astype(np.int64)
        changed = np.cumsum(codes[:, 1:] != codes[:, :-1], axis=1)
        values = codes.copy()  # A value stays after `changes` changes.
        values[:, 1:] = codes[:, :1] ^ (np.minimum(changed, self.changes) & 1)
        count = used.copy()
        for column, interval in enumerate(due):
            end = self.day(group, interval)
            moved = (values[:, end] != values[:, interval * self.length(group)]) & (count < flips.shape[1])
            people = np.flatnonzero(moved)
            reported[people, column] = values[people, end] ^ flips[people, count[people]]
            count += moved
        return reported.astype(self.question.layout), count

    def reports(self, raw: object) -> ChangeReports:
        """Return rows of three integers (group, interval, report) as reports; refuse impossible ones."""
        return ChangeReports.of(self, raw)

    def at(self, epsilon: float) -> KeptChange:
        """Return the same tree with another ε."""
        return KeptChange(self.question.at(epsilon), days=self.days, changes=self.changes)

    def describe(self) -> str:
        """Return a description in words: the mechanism, the kept change, and the guarantee."""
        which = "the first change" if self.changes == 1 else f"the first {self.changes} changes"
        return (
            f"{self.question.describe()} A person keeps {which} of the value, and answers at the end of "
            "each interval of a length drawn without looking at the data: about a kept change in its "
            f"interval, about coins in all others. {self.guarantee}, for all {self.days} days, however the "
            "value changes."
        )


def tells_changes(question: Question) -> bool:
    """Return whether a question has two answers, two reports and a pure ε, as `KeptChange` needs."""
    two = question.domain.count == 2
    return two and question.outcomes == 2 and isinstance(question.guarantee.bound, Pure)


def _kept_days(codes: Integers, indices: Integers) -> Integers:
    """Return the day of each person's kept change, the change with the number in `indices`; 0 if none."""
    moved = codes[:, 1:] != codes[:, :-1]
    kept = moved & (np.cumsum(moved, axis=1) == indices[:, None])
    day = 1 + np.argmax(kept, axis=1) if kept.shape[1] else np.zeros(len(codes), dtype=np.int64)
    return np.where(kept.any(axis=1), day, 0).astype(np.int64)
