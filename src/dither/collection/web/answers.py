"""Answers over HTTP: the query, the estimate, and its rows in several formats."""

from __future__ import annotations

import asyncio
import datetime
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.collection.collector import Collector
from dither.collection.published import Published
from dither.collection.settings import Networks, limited_as
from dither.collection.web.formats import COLUMNS, FORMATS, LEVEL, PlainRow, in_words
from dither.collection.web.query import PARTS, By, Query, What
from dither.collection.web.requests import Handler, client_address
from dither.collection.web.words import LOWER
from dither.core.counts import Counts
from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import of_values, outside_columns
from dither.core.question import Question
from dither.errors import DitherError, InvalidParameter, MissingExtra, NotIdentifiable, found, unknown_name
from dither.estimation.bounds import Bounds
from dither.estimation.comparison import combine_versions
from dither.estimation.distributions import EstimatedDistribution
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import level_of_one
from dither.estimation.method import usual_quantity
from dither.estimation.rounding import OF_ANSWERS
from dither.estimation.verbs import QUANTITIES, distribution, estimate
from dither.foundation.arrays import Floats
from dither.foundation.tables import Row, percent

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def _quantity_name(query: Query, question: Question) -> str:
    """Return the name of a number of the queried quantity."""
    usual = usual_quantity(question)
    name = QUANTITIES[usual].each if usual else "estimate"
    if query.what is What.ANSWERED:
        return query.quantity
    return (name if query.what is What.USUAL else query.quantity) + of_values(question.domain.clipping)


LOOKS: Final = 100
_STATE: Final = 48  # bits of a number of reports
GROWTH: Final = 1.2  # growth of the number of reports after which the next look is taken

SHOWN, FEW, NONE, NO_ANSWER = "shown", "too few people", "no reports", "no answer"
ANY_TIME: Final = f"{LEVEL:.0%} at any time".replace("%", " %")
MANY_LOOKS: Final = f"{LEVEL:.0%} over {LOOKS} looks".replace("%", " %")
MANY_BINS: Final = f"{MANY_LOOKS}, in {LEVEL:.0%} of the bins on average".replace("5%", "5 %")
_ANALYSED: Final = (
    "the answers are not one number or a list of shares; dt.Counts.from_bytes reads the summary, for the "
    "modules dt.maps (places, several numbers) and dt.tables (profiles)"
)
LYING: Final = "{}, and what {} of lies add"


@dataclass(frozen=True)
class ReportsPart:
    """A part of the reports: one day, one label, or all."""

    day: str | None = None
    label: str | None = None


def versions_of(published: Published, known: Iterable[Published]) -> list[Published]:
    """Return all versions of a campaign, in order: all campaigns with its name and asker."""
    own = published.contract
    there = [each for each in known if (each.contract.name, each.contract.asker) == (own.name, own.asker)]
    return sorted(there, key=lambda each: each.contract.version)


def look_of(n: int, people: int) -> int:
    """Return the number of the look at n reports; it increases when n has grown by a factor of 1.2."""
    return 0 if n < people else 1 + math.floor(math.log(n / people) / math.log(GROWTH) + 1e-9)


def without_answer(
    query: Query, part: ReportsPart, n: int, state: str, reason: str, name: str = ""
) -> PlainRow:
    """Return the row for a part without an answer, with the reason."""
    return _row(query, part, n, name or query.quantity, state=state, reason=reason)


def rows(query: Query, part: ReportsPart, summary: Counts) -> list[PlainRow]:
    """Return the rows of a quantity, or one row with the reason if these reports cannot answer it."""
    question = summary.question
    name = _quantity_name(query, question)
    if not summary.n:
        return [without_answer(query, part, 0, NONE, "no reports have arrived", name)]
    if query.what is What.USUAL and not usual_quantity(question):
        return [without_answer(query, part, summary.n, NO_ANSWER, _ANALYSED, name)]
    try:
        if query.what is What.DISTRIBUTION:
            return list(_bins(query, part, distribution(summary, query.bins)))
        if query.what is What.USUAL:
            return list(_estimates(query, part, name, estimate(summary)))
        if query.what is What.QUANTILE and "cumulative shares" in question.quantities:
            raise NotIdentifiable("dt.cumulative(summary).quantile reads quantiles of these reports")
        share = (query.share,) if query.what is What.QUANTILE else ()
        quantity = "response rate" if query.what is What.ANSWERED else query.what.value
        found = QUANTITIES[quantity].function(summary, *share)
        return list(_estimates(query, part, name, found))
    except DitherError as error:
        return [without_answer(query, part, summary.n, NO_ANSWER, str(error), name)]


def _estimates(query: Query, part: ReportsPart, name: str, plain: Estimate) -> Iterator[PlainRow]:
    wide, words = _widen(plain, query)
    wider = wide.numbers(LEVEL)  # also dates, whose unit identifies them
    if query.lying is not None:
        wider = _with_lies(plain, wider, query.lying)
        words = LYING.format(words, f"{100 * query.lying:g} %")
    shared: dict[str, Any] = {"unit": plain.unit or None, "interval": words, "n of interval": plain.n}
    if isinstance(plain, Bounds):
        shared["reason"] = plain.words  # the range for the next phase, and the number of missing people
    elif plain.lower_bound:
        shared["reason"] = f"{LOWER}devices may have thinned {percent(plain.thinned or 0.0)} of the sets"
    elif OF_ANSWERS in plain.remark:
        shared["reason"] = OF_ANSWERS.removeprefix(", ")
    base = _row(query, part, plain.n, name, **shared, **outside_columns(plain.clipping))
    named = plain.numbers() if hasattr(plain, "names") else wider  # "up to 10", of cumulative shares
    for name_of, record in zip(named, wider, strict=True):
        answer, ends = name_of.get("answer"), {end: _finite(record[end]) for end in ("low", "high")}
        yield {**base, "answer": None if answer is None else str(answer), "value": record["value"], **ends}


def _with_lies(plain: Estimate, wide: Sequence[Row], share: float) -> list[Row]:
    """Return rows whose intervals are widened by the effect of a share of lies on one look."""
    honest, attacked = plain.numbers(LEVEL), plain.if_lying(share).numbers(LEVEL)
    return [
        {
            **row,
            "low": row["low"] - (before["low"] - after["low"]),
            "high": row["high"] + (after["high"] - before["high"]),
        }
        for row, before, after in zip(wide, honest, attacked, strict=True)
    ]


def difference_rows(query: Query, parts: Sequence[tuple[Query, Counts]], name: str) -> list[PlainRow]:
    """Return the differences of the usual quantity of each part from the first, with their intervals.

    Both intervals hold at any time with half of the error each, and so does their difference [union bound];
    those of directions hold at 100 looks. A difference of directions is at most half a turn.
    `p` is at least the least error at which that interval excludes 0: one of 0.2, 0.1, 0.05, … or 1.
    """
    try:
        plain = [estimate(summary) for _, summary in parts]
        if any(isinstance(each, Bounds) for each in plain):
            raise NotIdentifiable("the quantiles of a range are not compared")
        estimates = [_widen(each, replace(query, what=What.USUAL)) for each in plain]
    except DitherError as error:
        return [without_answer(query, ReportsPart(), parts[0][1].n, NO_ANSWER, str(error), name)]
    made: list[PlainRow] = []
    base = estimates[0][0]
    for (part, _), (other, words) in zip(parts[1:], estimates[1:], strict=True):
        unit, n = other.unit.span if isinstance(other.unit, Calendar) else other.unit, other.n + base.n
        shared: dict[str, Any] = {"unit": unit or None, "interval": words}
        if words != ANY_TIME:
            shared["n of interval"] = n
        row = _row(query, ReportsPart(_iso(query.since), part.label), n, name, **shared)
        values = _gap(other, base).tolist()
        low, high = _difference_ends(other, base, 1.0 - LEVEL)
        errors = _least_errors(other, base)
        for index, names in enumerate(other.numbers()):
            answer = names.get("answer")
            made.append(
                {
                    **row,
                    "answer": None if answer is None else str(answer),
                    "value": values[index],
                    "low": _finite(low[index]),
                    "high": _finite(high[index]),
                    "p": errors[index],
                }
            )
    return made


def version_rows(query: Query, parts: Sequence[tuple[int, Counts]]) -> list[PlainRow]:
    """Return the usual quantity of each version of a question, and that of all versions together.

    Where lists of answers differ, each answer uses the versions that offer it. If versions cannot be
    combined, a row states the reason.
    """
    usual, whole = replace(query, what=What.USUAL), ReportsPart()
    made = [
        {**row, "version": str(number)} for number, summary in parts for row in rows(usual, whole, summary)
    ]
    if len(parts) < 2:
        return made
    every, name = _numbers(number for number, _ in parts), made[0]["quantity"]
    try:
        combined = combine_versions([summary for _, summary in parts], at_any_time=True)
    except DitherError as error:
        n = sum(summary.n for _, summary in parts)
        return [*made, {**without_answer(usual, whole, n, NO_ANSWER, str(error), name), "version": every}]
    if isinstance(combined, Estimate):
        return [*made, *({**row, "version": every} for row in _estimates(usual, whole, name, combined))]
    for record in combined.records():
        offer = _numbers(int(row["version"]) for row in made if row["answer"] == record["answer"])
        ends = {end: record[end] for end in ("value", "low", "high")}
        row = _row(usual, whole, record["n"], name, interval=ANY_TIME, **{"n of interval": record["n"]})
        made.append({**row, **ends, "answer": record["answer"], "version": offer})
    return made


def _numbers(numbers: Iterable[int]) -> str:
    """Return the numbers of versions as one cell: 1 + 2."""
    return " + ".join(map(str, numbers))


def number_of_days(days: int) -> str:
    """Return a number of days in words: day, 30 days."""
    return "day" if days == 1 else f"{days} days"


def _gap(other: Estimate, base: Estimate) -> Floats:
    """Return the difference of estimates; of directions, along the shorter arc."""
    gap, turn = np.atleast_1d(np.asarray(other.value) - np.asarray(base.value)), _turn(other)
    return np.mod(gap + turn / 2.0, turn) - turn / 2.0 if turn else gap


def _turn(direction: Estimate) -> float:
    """Return the length of a circle; 0 for an estimate that is not a direction."""
    return direction.confidence.period if direction.confidence is not None else 0.0


def _arms(wide: Estimate, level: float) -> tuple[Any, Any]:
    """Return the distances from the estimate to the ends of its interval."""
    (low, high), value, turn = wide.interval(level), np.asarray(wide.value), _turn(wide)
    if not turn:
        return value - low, high - value
    if high - low >= turn:
        return turn / 2.0, turn / 2.0
    return (value - low) % turn, (high - value) % turn


def _difference_ends(other: Estimate, base: Estimate, error: float) -> tuple[list[float], list[float]]:
    """Return the ends of a difference's interval that misses with at most this probability."""
    gap, level, turn = _gap(other, base), 1.0 - error / 2.0, _turn(other)
    (left, right), (least, most) = _arms(other, level), _arms(base, level)
    below, above = left + most, right + least
    if turn and below + above >= turn:
        below = above = turn / 2.0
    return np.atleast_1d(gap - below).tolist(), np.atleast_1d(gap + above).tolist()


def _least_errors(other: Estimate, base: Estimate) -> list[float]:
    """Return for each difference the smallest listed error at which its interval excludes 0, or 1."""
    least = np.ones(np.size(other.value))
    for error in _ERRORS:
        low, high = map(np.asarray, _difference_ends(other, base, error))
        apart = (low > 0.0) | (high < 0.0)
        if _turn(other):  # it may also reach 0 in the other direction
            apart &= (low > -_turn(other)) & (high < _turn(other))
        if not apart.any():
            break
        least[apart] = error
    return [float(error) for error in least]


# The p-values that are distinguished.
_ERRORS: Final = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6, 1e-9)


def _widen(plain: Estimate, query: Query) -> tuple[Estimate, str]:
    """Return the estimate with the interval to show, and the name of that interval."""
    if query.what in (What.USUAL, What.ANSWERED):
        try:
            return plain.at_any_time(), ANY_TIME
        except DitherError:
            return plain.over_looks(LOOKS), MANY_LOOKS
    return plain.over_looks(LOOKS), MANY_LOOKS


def _bins(query: Query, part: ReportsPart, shape: EstimatedDistribution) -> Iterator[PlainRow]:
    more = {"interval": MANY_BINS, "n of interval": shape.n, **outside_columns(shape.clipping)}
    more["unit"] = shape.line.unit or None  # unit of the ends
    base = _row(query, part, shape.n, f"share of a bin{of_values(shape.clipping)}", **more)
    for record in shape.numbers(level_of_one(LEVEL, LOOKS)):
        point = record.get("point")
        ends = {name: record[name] for name in ("from", "to", "value", "low", "high")}
        yield {**base, **ends, "answer": None if point is None else f"{point:g}"}


def _row(query: Query, part: ReportsPart, n: int, quantity: str, **more: object) -> PlainRow:
    base = dict.fromkeys(COLUMNS)
    known: dict[str, Any] = {
        "question": query.question,
        "quantity": quantity,
        "day": part.day,
        "label": part.label,
        "n": n,
        "state": SHOWN,
    }
    return {**base, **known, **more}


def _finite(number: float) -> float | None:
    """Return a number for JSON; None for an infinite end."""
    return number if math.isfinite(number) else None


_THREADS: Final = 2
_KEPT: Final = 4096  # answers that are remembered
_COUNTED: Final = 16  # summaries that are kept: half a megabyte each, at most
_WAITING: Final = 64  # largest number of waiting requests; further ones are answered as too busy
_WAITING_EACH: Final = 8  # largest number of waiting requests of one address

Key = tuple[str, Query]


class TooBusy(Exception):
    """Too many answers are requested at once."""


class Answers:
    """The answers of a collector's campaigns. Nothing is computed on the event loop.

    An answer is computed once for each number of reports. The intervals of quantiles and distributions are
    renewed when that number has grown by a factor of 1.2, so 100 looks are enough from the minimum number of
    people to 80 million times that number. Between looks the interval of the last look is shown, with its
    number of reports.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="dither-answers")
        collector.at_end.append(self.close)
        self._kept: OrderedDict[Key, tuple[int, list[PlainRow]]] = OrderedDict()
        self._looks: OrderedDict[Key, tuple[int, list[PlainRow]]] = OrderedDict()
        self._counted: OrderedDict[tuple[object, ...], tuple[int, Counts]] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()  # requests by address

    async def of(self, campaign: str, queries: list[Query], address: str = "") -> list[PlainRow]:
        """Return the rows of all queries; raise TooBusy if too many answers are being computed.

        `address` is the reader's, as limits know it; one address has at most 8 answers computed at a time.
        """
        known = self._rows_known(campaign, queries)
        if known is not None:
            return known
        if self._waiting.total() >= _WAITING or self._waiting[address] >= _WAITING_EACH:
            raise TooBusy
        self._waiting[address] += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, self.compute, campaign, queries)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]

    def compute(self, campaign: str, queries: list[Query]) -> list[PlainRow]:
        """Return the rows of all queries, in the caller's thread."""
        return [row for query in queries for row in self._answer(campaign, query)]

    def _rows_known(self, campaign: str, queries: list[Query]) -> list[PlainRow] | None:
        """Return the rows if all are up to date, so that nothing has to be computed."""
        found: list[PlainRow] = []
        for query in queries:
            if query.by is not None:
                return None
            state = self._state(campaign, query)
            with self._lock:
                kept = self._kept.get((campaign, query))
            if kept is None or kept[0] != state:
                return None
            found += kept[1]
        return found

    def _answer(self, campaign: str, query: Query) -> list[PlainRow]:
        live = self._collector.live
        if query.what in (What.DIFFERENCE, What.CHANGE):
            return self._differences(campaign, query)
        if query.what is What.VERSIONS:
            return self._versions(campaign, query)
        if query.by is By.LABEL:
            labels = live.labels(campaign, query.question, shown=True)
            parts = [replace(query, by=None, label=label) for label in labels]
        elif query.by is By.DAY:
            parts = [replace(query, by=None, day=day) for day in self._days(campaign, query)]
        elif query.by is not None:
            groups: dict[datetime.date, list[datetime.date]] = {}
            for day in self._days(campaign, query):
                groups.setdefault(query.by.first(day), []).append(day)
            parts = [
                replace(query, by=None, since=max(first, query.since or first), until=days[-1])
                for first, days in groups.items()
            ]
        else:
            return self._part(campaign, query)
        return [row for part in parts for row in self._part(campaign, part)]

    def _days(self, campaign: str, query: Query) -> list[datetime.date]:
        """Return the shown days that a query covers."""
        days = self._collector.live.days(campaign, query.question, shown=True)
        since, until = query.since or datetime.date.min, query.until or datetime.date.max
        return [day for day in days if since <= day <= until and query.day in (None, day)]

    def _parts(self, campaign: str, query: Query) -> list[datetime.date | None]:
        """Return the days whose reports are added up; None means all."""
        if query.since is None and query.until is None:
            return [query.day]
        return list(self._days(campaign, query))

    def _count(self, campaign: str, query: Query) -> int:
        """Return the number of reports of a query that are shown."""
        live, days = self._collector.live, self._parts(campaign, query)
        return sum(live.n(campaign, query.question, day, query.label, shown=True) for day in days)

    def _state(self, campaign: str, query: Query) -> int:
        """Return a number that changes with the answer: n, and the number of removals."""
        removals = self._collector.live.removals
        return removals << _STATE | self._count(campaign, query)

    def summary(self, campaign: str, query: Query) -> Counts:
        """Return the counts of the shown reports of a query. Each day of a period is shown separately.

        Several quantities of the same reports follow each other, so the last few counts are kept.
        """
        live, days = self._collector.live, self._parts(campaign, query)
        key, state = (campaign, query.question, query.label, tuple(days)), self._state(campaign, query)
        with self._lock:
            kept = self._counted.get(key)
        if kept is not None and kept[0] == state:
            return kept[1]
        total = Counts.empty(live.question_of(campaign, query.question))
        for day in days:
            total = total + live.summary(campaign, query.question, day, query.label, shown=True)
        if state & ((1 << _STATE) - 1) == total.n:  # no report came meanwhile
            with self._lock:
                self._counted[key] = (state, total)
                while len(self._counted) > _COUNTED:
                    self._counted.popitem(last=False)
        return total

    def _differences(self, campaign: str, query: Query) -> list[PlainRow]:
        """Return the differences of the usual quantity of each label, or of a period, from the first part."""
        parts, name = self._comparison(campaign, query)
        state = sum(self._state(campaign, part) for part in parts)
        with self._lock:
            kept = self._kept.get((campaign, query))
        if kept is not None and kept[0] == state:
            return kept[1]
        name += of_values(self._collector.live.question_of(campaign, query.question).domain.clipping)
        found = [(part, summary) for part in parts if (summary := self.summary(campaign, part)).n]
        made = difference_rows(query, found, name) if len(found) > 1 else []
        if made:
            people = self._collector.campaigns[campaign].contract.people
            look = look_of(sum(summary.n for _, summary in found), people)
            made = self._with_interval_of_look((campaign, query), made, look)
        self._keep(self._kept, (campaign, query), (state, made))
        return made

    def versions(self, campaign: str, question: str) -> list[Published]:
        """Return all versions of a campaign that ask a question, the first one first."""
        known = versions_of(self._collector.campaigns[campaign], self._collector.campaigns.values())
        return [published for published in known if question in published.contract.questions]

    def mark(self, campaign: str, question: str) -> object:
        """Return a mark that changes whenever an answer to a question, in any version, changes."""
        live = self._collector.live
        there = [published.id for published in self.versions(campaign, question)]
        numbers = [(live.n(each, question, shown=True), live.waiting(each, question)) for each in there]
        return live.removals, tuple(numbers)

    def _versions(self, campaign: str, query: Query) -> list[PlainRow]:
        """Return the usual quantity of each version with shown reports, and of all versions together."""
        usual = replace(query, what=What.USUAL, by=None)
        there = self.versions(campaign, query.question)
        state = hash(tuple((published.id, self._state(published.id, usual)) for published in there))
        with self._lock:
            kept = self._kept.get((campaign, query))
        if kept is not None and kept[0] == state:
            return kept[1]
        counted = [(each.contract.version, self.summary(each.id, usual)) for each in there]
        made = version_rows(query, [(number, summary) for number, summary in counted if summary.n])
        self._keep(self._kept, (campaign, query), (state, made))
        return made

    def _comparison(self, campaign: str, query: Query) -> tuple[list[Query], str]:
        """Return the parts that a query compares, the base first, and the name of the difference."""
        usual = replace(query, what=What.USUAL, by=None)
        if query.what is What.DIFFERENCE:
            labels = self._collector.live.labels(campaign, query.question, shown=True)
            first = labels[0] if labels else ""
            return [replace(usual, label=label) for label in labels], f"difference from {first or 'no label'}"
        if query.since is None:
            raise InvalidParameter(
                "expected last or since with what=change because it compares a period with the one "
                "before it; "
                "give one of them"
            )
        until = query.until or self._collector.day()
        days = (until - query.since).days + 1
        if days < 1:
            raise InvalidParameter("expected since on or before until; exchange the two days")
        before = replace(
            usual, since=query.since - datetime.timedelta(days), until=query.since - datetime.timedelta(1)
        )
        return [before, usual], f"change from the {number_of_days(days)} before"

    def _part(self, campaign: str, query: Query) -> list[PlainRow]:
        live = self._collector.live
        key, state = (campaign, query), self._state(campaign, query)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] == state:
            return kept[1]
        people = self._collector.campaigns[campaign].contract.people
        part = ReportsPart(_iso(query.day or query.since), query.label)
        is_all = part == ReportsPart() and query.until is None
        waiting = live.waiting(campaign, query.question, shown=True) if is_all else 0  # unknown for a part
        if not state % (1 << _STATE) and (waiting or not is_all):
            question = live.question_of(campaign, query.question)
            name = _quantity_name(query, question)
            reason = f"answers are shown from {people} reports on"
            return [without_answer(query, part, waiting, FEW, reason, name)]
        summary = self.summary(campaign, query)
        made = self._with_interval_of_look(key, rows(query, part, summary), look_of(summary.n, people))
        if summary.n:
            self._keep(self._kept, key, (state >> _STATE << _STATE | summary.n, made))
        return made

    def _with_interval_of_look(self, key: Key, made: list[PlainRow], look: int) -> list[PlainRow]:
        """Return the rows with the intervals of the present look, which may be of fewer reports."""
        if made[0]["interval"] not in (MANY_LOOKS, MANY_BINS):
            return made
        with self._lock:
            before = self._looks.get(key)
        same = before is not None and before[0] >= look and len(before[1]) == len(made)  # n may fall
        if before is None or not same:
            self._keep(self._looks, key, (look, made))
            return made
        kept = ("low", "high", "n of interval", "p")
        pairs = zip(made, before[1], strict=True)
        return [{**row, **{name: old[name] for name in kept}} for row, old in pairs]

    def _keep(
        self, where: OrderedDict[Key, tuple[int, list[PlainRow]]], key: Key, value: tuple[int, list[PlainRow]]
    ) -> None:
        with self._lock:
            where[key] = value
            where.move_to_end(key)
            while len(where) > _KEPT:
                where.popitem(last=False)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _iso(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()


_PLAIN: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_SUMMARY: Final = "application/vnd.dither.summary"


def answer_handlers(collector: Collector, answers: Answers | None = None) -> dict[str, Handler]:
    """Return the handlers of answers and summaries."""
    from starlette.responses import Response

    said = Answers(collector) if answers is None else answers

    async def answer(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        name = request.path_params["form"]
        if name not in FORMATS:
            raise unknown_name("format", name, list(FORMATS))
        queries = Query.of(query_terms(request), published.contract, collector.day())
        reader = limited_as(client_address(request.scope, Networks(collector.settings.proxies)))
        rows = in_words(await said.of(published.id, queries, reader), published.contract)
        form = FORMATS[name]
        body = await asyncio.get_running_loop().run_in_executor(None, form.write, published.id, rows)
        return Response(body, media_type=form.media, headers=_PLAIN)

    async def summary(request: Request) -> Response:
        published = collector.campaigns[request.path_params["campaign"]]
        terms = {"question": "", **query_terms(request)}
        for name in terms:
            if name not in PARTS:
                raise unknown_name("parameter of a summary", name, PARTS)
        (query,) = Query.of(terms, published.contract, collector.day())
        made = await asyncio.get_running_loop().run_in_executor(None, said.summary, published.id, query)
        if not made.n:
            people = published.contract.people
            return problem(409, f"too few people: summaries are given from {people} reports on")
        return Response(made.to_bytes(), media_type=_SUMMARY, headers=_PLAIN)

    return {"answers": guard(collector, answer), "summary": guard(collector, summary)}


def problem(status: int, words: str) -> Response:
    """Return an error as a JSON answer."""
    from starlette.responses import JSONResponse

    return JSONResponse({"words": words}, status_code=status, headers=_PLAIN)


def guard(collector: Collector, endpoint: Handler) -> Handler:
    """Return an endpoint of a campaign that answers a wrong request with an explanation, never with 500."""

    async def checked(request: Request) -> Response | None:
        if request.path_params["campaign"] not in collector.campaigns:
            return problem(404, "this collector has no such campaign")
        try:
            return await endpoint(request)
        except TooBusy:
            return problem(503, "too many answers are being computed; ask again in a few seconds")
        except MissingExtra as error:
            return problem(501, str(error))
        except DitherError as error:
            return problem(400, str(error))

    return checked


def query_terms(request: Request) -> dict[str, str]:
    """Return the parameters of a URL; each may be given once."""
    terms: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in terms:
            raise InvalidParameter(f"expected the parameter {found(name)} once; leave the others out")
        terms[name] = value
    return terms
