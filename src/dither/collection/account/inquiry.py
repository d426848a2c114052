"""The terms that an asker adds to a question: its name, the asker, and the number of answers."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dither.collection.account.budget import Data
from dither.collection.account.names import check_name
from dither.core.domains import Paths
from dither.core.memoised import Memoised
from dither.core.question import Question, as_question
from dither.core.repetition import ChangeReports, KeptChange, Once
from dither.core.reports import Reports
from dither.errors import InvalidParameter, OutsideDomain, check_choice, found
from dither.foundation.randomness import SYSTEM, Source
from dither.privacy import PAC, Approximate, Guarantee, Pure
from dither_device.kept_change import flips_of, reported_changes, tree_of
from dither_device.state import MOST_SECOND
from dither_device.words import Words

if TYPE_CHECKING:
    from dither.core.question.base import Asks

_MOST_DAYS: Final = 36_600
_START: Final = datetime.date(1970, 1, 1)
_PATHS: Final = ("location", "trajectory")
Every = Literal["day", "week", "month"]  # a period of the calendar, in UTC


# The answer to a repeated question: a new report, charged again; the first report again, for any
# later value, charged once; one report for each value, made from the device's key, charged once; one
# report in each period of `days` days, on a day drawn beforehand; reports about one change, by dt.KeptChange,
# charged once in each period.
Repeat = Literal["fresh", "same", "per value", "once", "kept change"]


@dataclass(frozen=True)
class Inquiry:
    """A question with its name, its asker and the number of answers. `Account.answer` takes it.

    `name` and `asker` are public texts. `times` is the number of locations of a path, needed if the question
    promises its ε for one location. `data` is the time span of the value, two moments, the second excluded.
    Every epoch in it is charged; by default only the present epoch. `days` and `start` are the periods of
    `"once"` and `"kept change"`; `changes` is for the latter. Values outside the domain are clipped or
    wrapped by the device text; `otherwise` replaces values for which that is impossible. `every` is a
    period of the calendar, "day", "week" or "month", in place of `days` of `"once"`. `terms` are the `limit`
    and the `phase` of a campaign, and `taken` maps a value to the question's input; a campaign states all
    three. `words` are its texts for people.

    >>> from dither import Interval, Podium
    >>> Inquiry("age", Podium(Interval(18, 100), epsilon=0.5), asker="clinic.example").guarantee
    Guarantee: ε ≤ 0.5 for one value
    """

    name: str
    question: Question
    _: KW_ONLY
    asker: str = ""
    repeat: Repeat = "fresh"
    days: int | None = None
    changes: int | None = None
    start: datetime.date = _START
    times: int | None = None
    data: tuple[datetime.datetime, datetime.datetime] | None = None
    otherwise: Any = None
    every: Every | None = None
    terms: Data | None = None
    taken: Callable[[object], object] | None = field(default=None, repr=False, compare=False)
    words: Data | None = field(default=None, repr=False, compare=False)

    if TYPE_CHECKING:  # a mechanism is accepted in place of its question

        def __init__(
            self,
            name: str,
            question: Question | Asks,
            *,
            asker: str = "",
            repeat: Repeat = "fresh",
            days: int | None = None,
            changes: int | None = None,
            start: datetime.date = ...,
            times: int | None = None,
            data: tuple[datetime.datetime, datetime.datetime] | None = None,
            otherwise: object = None,
            every: Every | None = None,
            terms: Data | None = None,
            taken: Callable[[object], object] | None = None,
            words: Data | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name("the name of a question", self.name, least=1)
        check_name("the name of an asker", self.asker, least=0)
        given: object = self.question
        if isinstance(given, Memoised):
            raise InvalidParameter(
                'expected a mechanism without dt.Memoised; give the mechanism itself, and repeat="per value"'
            )
        if isinstance(given, Once):
            raise InvalidParameter(
                "expected a mechanism, got dt.Once(…); use dt.Inquiry.once(name, once, asker=…)"
            )
        if isinstance(given, KeptChange):
            raise InvalidParameter(
                "expected a mechanism, got dt.KeptChange(…); use dt.Inquiry.kept_change(name, "
                "change, "
                "asker=…)"
            )
        try:
            object.__setattr__(self, "question", as_question(given))
        except InvalidParameter:
            raise InvalidParameter("expected one mechanism or question, such as dt.Podium(…)") from None
        if not self.question.alone:
            raise InvalidParameter(
                f"expected a question that a device answers by itself, got {self.question.name}; "
                "choose "
                "another mechanism"
            )
        check_choice("repeat", self.repeat, Repeat)
        self._check_periods()
        if not isinstance(self.start, datetime.date):
            raise InvalidParameter("expected start to be a date: a day on which a period begins")
        if (self.question.unit == "location") != (self.times is not None):
            raise InvalidParameter(
                "expected times, the number of locations of a path, if and only if the promise is for one "
                "location; give times, or leave it out"
            )
        if not isinstance(self.guarantee.bound, Pure | Approximate | PAC):
            raise InvalidParameter(
                "expected a promise for any two values because an account counts these, got "
                f"{self.guarantee}; "
                "choose another mechanism"
            )
        _ = self.span
        if self.otherwise is not None:
            if self._by_location:
                raise InvalidParameter(
                    "expected no otherwise for a path because it does not have a replacement "
                    "value; leave it out"
                )
            self.question.domain.check([self.otherwise])

    def _check_periods(self) -> None:
        once = self._periodic
        if self.every is not None:
            check_choice("every", self.every, Every)
            if self.repeat != "once" or self.days is not None:
                raise InvalidParameter(
                    'expected every with repeat="once" and without days; leave days out, or every'
                )
            once = False
        if once != (self.days is not None) or (once and not _whole(self.days, 1, _MOST_DAYS)):
            raise InvalidParameter(
                f'expected days from 1 to {_MOST_DAYS} if and only if repeat="once"; give days, such as '
                "days=365, or leave it out"
            )
        if (self.repeat == "kept change") != (self.changes is not None):
            raise InvalidParameter(
                'expected changes if and only if repeat="kept change"; give both or neither'
            )
        if self.repeat == "kept change" and (self.data is not None or self.otherwise is not None):
            raise InvalidParameter(
                "expected neither data nor otherwise for a kept change because it is about all days of "
                "its "
                "period; leave them out"
            )

    @staticmethod
    def once(
        name: str, once: Once, *, asker: str = "", start: datetime.date = _START, otherwise: object = None
    ) -> Inquiry:
        """Return the inquiry that is answered by `once`. The account draws the day and keeps it.

        Each period is charged when it is answered. Periods are counted from `start`. After `once.days` days a
        question begins another round, and is charged again.
        """
        if not isinstance(once, Once):
            raise InvalidParameter(f"expected dt.Once(…), got {found(once)}")
        return Inquiry(
            name,
            once.question,
            asker=asker,
            repeat="once",
            days=once.period,
            start=start,
            otherwise=otherwise,
        )

    @staticmethod
    def kept_change(
        name: str, change: KeptChange, *, asker: str = "", start: datetime.date = _START
    ) -> Inquiry:
        """Return the inquiry that is answered by `change`. The account draws the group and keeps it.

        `account.answer` takes the values of all days of the period so far, one for each day, and returns the
        reports of the intervals that are over, or None before the first ends. Each period of `change.days`
        days from `start` on is charged once, to all of its days.
        """
        if not isinstance(change, KeptChange):
            raise InvalidParameter(f"expected dt.KeptChange(…), got {found(change)}")
        return Inquiry(
            name,
            change.question,
            asker=asker,
            repeat="kept change",
            days=change.days,
            changes=change.changes,
            start=start,
        )

    def text(self, *languages: str) -> str:
        """Return the question's words for people, in the best of some languages, or in this computer's.

        It is the name of the question if the campaign has no words for it.
        """
        return Words(self.name, self.words or {}).text(*languages)

    def labels(self, *languages: str) -> list[tuple[object, str]]:
        """Return the words of each listed answer in the best of some languages; empty for other domains."""
        return [*Words(self.name, self.words or {}).labels(*languages)]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the question, or of its kept change."""
        return (self.question if self.change is None else self.change).fingerprint

    @cached_property
    def change(self) -> KeptChange | None:
        """The kept change of this question, or None."""
        if self.repeat != "kept change" or self.days is None or self.changes is None:
            return None
        return KeptChange(self.question, days=self.days, changes=self.changes)

    @property
    def _by_location(self) -> bool:
        """True if a value is a list of locations, each with its report; a complete path has one report."""
        return self.question.unit in _PATHS and self.question.domain.protects != "trajectory"

    @property
    def _periodic(self) -> bool:
        return self.repeat in ("once", "kept change")

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of one answer; a permanent answer has it for all its repetitions together."""
        if self.change is not None:
            return self.change.guarantee
        once = self.question.guarantee
        if self.times is not None:
            once = once.repeated(self.times)
        if self.repeat == "per value":
            return self._memoise(bytes(32)).promise([once])
        return once

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """The time span of the data in seconds since 1970: its first second, and the first after it."""
        if self.data is None:
            return None
        try:
            first, end = self.data
            moments = first.timestamp(), end.timestamp()
            aware = first.tzinfo is not None and end.tzinfo is not None
        except (TypeError, ValueError, AttributeError, OverflowError):
            raise InvalidParameter(
                "expected data to be a pair of datetimes with time zones; pass data=(first, end)"
            ) from None
        since, until = int(moments[0] // 1), -int(-moments[1] // 1)
        if not aware or not 0 <= since < until <= MOST_SECOND:
            raise InvalidParameter(
                "expected data to be a pair of datetimes with time zones, the first before the second, from "
                "1970 on"
            )
        return since, until

    @cached_property
    def facts(self) -> Data:
        """The facts that decide whether this is answered, as plain data: see docs/account.md."""
        once = self._periodic and self.every is None
        return {
            "asker": self.asker,
            "question": self.name,
            "fingerprint": self.fingerprint,
            "mechanism": self.question.name,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "assumes": list(self.guarantee.assumes),
            "repeat": self.repeat,
            "days": self.days if once else None,
            "start": (self.start - _START).days if once else None,
            "data": None if self.span is None else list(self.span),
            **({} if self.changes is None else {"changes": self.changes}),
            **({} if self.times is None else {"times": self.times}),
            **({} if self.every is None else {"every": self.every}),
            **(self.terms or {}),
        }

    def draw(self, value: object, key: Callable[[], bytes], source: Source = SYSTEM) -> Reports:
        """Draw the report of a value; with the key if there is one answer for each value."""
        inside = self._inside(value)
        if self.repeat == "per value":
            return self._memoise(key()).perturb(inside)
        return self.question.perturb(inside, source=source)

    def mark(self, value: object, key: Callable[[], bytes]) -> str:
        """Return the mark that distinguishes a value of this question: 16 bytes, useless without the key.

        Values that are moved to the same point of the domain have the same mark.
        """
        return self._memoise(key()).mark(self._inside(value))

    def draw_owed(
        self, values: object, owed: Data, key: Callable[[], bytes], source: Source = SYSTEM
    ) -> tuple[ChangeReports, Data]:
        """Draw the reports of the intervals that are due, from the values of all days of the period so far.

        The second result is the record that the account keeps.
        """
        if self.change is None:
            raise InvalidParameter(
                "expected a question about a kept change; make it with dt.Inquiry.kept_change(…)"
            )
        codes = self.change.domain.check(values)
        if codes.shape != (owed["days"],):
            raise InvalidParameter(
                f"expected one value for each of the {owed['days']} days of the period so far, today's last"
            )
        secret = key()
        before, group = reported_changes(owed, secret), owed["group"]
        intervals = range(owed["before"]["intervals"], owed["intervals"])
        row = codes[None, :]
        if self.change.changes > 1 and group:
            ratio = self.question.kernel.ratio.as_integer_ratio()
            flips = np.array([flips_of(ratio, owed, secret)])
            cells, used = self.change.flip_answers(row, group, flips, np.array([before]), intervals, source)
            before = int(used[0])
        else:
            cells, reported = self.change.answers(row, group, np.array([int(not before)]), intervals, source)
            before = before or int(reported[0])
        reports = ChangeReports.of_group(self.change, group, intervals, cells)
        return reports, tree_of(owed, secret, before)

    def to_bytes(self, reports: Reports | ChangeReports) -> bytes:
        """Return the stored and sent bytes of a report: its integers, little endian.

        Proved of one number: message_value (proofs/Counting.v) and messages_private (proofs/Window.v).
        """
        if isinstance(reports, ChangeReports):
            return reports.cells.astype("<u4").tobytes()  # rows of group, interval and report
        cells = np.ascontiguousarray(reports.cells)
        return cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()

    def from_bytes(self, stored: bytes) -> Reports | ChangeReports:
        """Return the report that `to_bytes` wrote."""
        if self.change is not None:
            return self.change.reports(np.frombuffer(stored, "<u4").reshape(-1, 3))
        layout = self.question.layout
        cells = np.frombuffer(stored, layout.base.newbyteorder("<")).astype(layout.base)
        return self.question.reports(cells.reshape(-1, *layout.shape))

    def _memoise(self, key: bytes) -> Memoised:
        # Two askers may use the same name for their questions; the noise must differ.
        return Memoised(self.question, key, name=f"{len(self.asker)} {self.asker} {self.name}")

    def _inside(self, value: object) -> object:
        """Return the input of `perturb` for one value, moved into the domain as the device text says."""
        value = value if self.taken is None else self.taken(value)
        if self._by_location:
            return self._path([value] if self.times == 1 and np.asarray(value).shape == (2,) else value)
        domain, values = self.question.domain, [value]
        try:
            if domain.outside != "refuse":
                return domain.clip(values)
            domain.check(values)
        except OutsideDomain:
            if self.otherwise is None:
                raise
            return [self.otherwise]
        return values

    def _path(self, value: object) -> Paths:
        paths = Paths.of(value)
        if len(paths) != 1:
            raise InvalidParameter(f"expected one path, got {len(paths)}; answer them one by one")
        if self.times is not None and len(paths.points) != self.times:
            raise InvalidParameter(
                f"expected a path of {self.times} locations, because the question charges that number, got "
                f"{len(paths.points)}"
            )
        return Paths(self.question.domain.clip(paths.points), paths.offsets)


def _whole(number: object, least: int, most: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and least <= number <= most
