"""Estimates by group: one pass over labelled reports, in memory that does not grow with their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from dither.core.counts import Counts, summarise
from dither.core.people import People, join, people_by_id, take
from dither.core.question import Question, as_question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.method import MINIMUM
from dither.estimation.pairs import EstimatedTable, crosstab
from dither.estimation.person_numbers import (
    PersonNumbers,
    check_pair,
    indicators,
    protocol_of,
)
from dither.estimation.ratios import QuotientInterval
from dither.estimation.rounding import OF_ANSWERS, SHARE, thinned_share
from dither.estimation.weights import Weighting, Weights, as_weights, check_weighted, freedom
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.numerics.distributions import check_level
from dither.foundation.tables import ResultTable, Row, percent, show_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Label = tuple[Hashable, ...]  # one entry for each column of labels
Labels = Sequence[Hashable] | Array | Mapping[str, Sequence[Hashable] | Array]
Quantity = Callable[[Counts], Estimate]

_ALL: Final = " in all groups"  # printed after the number of people of a private group
_N_OF_ALL: Final = "; n counts all people"
MOST_GROUPS: Final = 100_000
_PIECES: Final = 64  # largest number of arrays in a group before they are joined


class _Tally:
    """The reports of one group, kept as arrays until their counts need less memory."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.pieces: list[Array] = []
        self.bytes = 0
        self.counted: Counts | None = None
        self.people: People | None = None  # None before the first part; empty if unknown

    def add(self, cells: Array, people: People = ()) -> None:
        self.people = people if self.people is None else ()
        self.pieces.append(cells)
        self.bytes += cells.nbytes
        if self.bytes > 8 * self.question.counting.size:
            self.counted, self.pieces, self.bytes = self._count(), [], 0
        elif len(self.pieces) > _PIECES:
            self.pieces = [np.concatenate(self.pieces)]

    def summary(self) -> Counts:
        return replace(self._count(), people=self.people or ())

    def _count(self) -> Counts:
        if not self.pieces:
            return Counts.empty(self.question) if self.counted is None else self.counted
        new = Counts.of(Reports(self.question, np.concatenate(self.pieces)))
        return new if self.counted is None else self.counted + new


class GroupCounts:
    """Reports counted by group, a chunk at a time.

    `by` are the names of the columns of labels. A group needs at most twice the memory of a summary.
    """

    def __init__(self, asked: object, by: Sequence[str]) -> None:
        question = as_question(asked)
        if not question.alone:
            raise InvalidParameter(
                f"expected reports that are independent between people, got reports of {question.name}, "
                "whose groups have no errors of their own; use a mechanism of one person, such as KRR"
            )
        self.question, self.by, self.about = question, tuple(by), ""
        self._tallies: dict[Label, _Tally] = {}

    def add(self, labels: Sequence[Sequence[Hashable]], reports: Reports) -> None:
        """Count reports; `labels` has a column for each name in `by`, and each column a label per report."""
        cells, self.about = reports.cells, self.about or reports.about
        for label, rows in _divide(labels, len(cells)):
            # A copy: a view would keep the complete chunk in memory.
            self._tally(label).add(cells[rows], take(reports.people, rows))

    @staticmethod
    def rows(labels: Sequence[Sequence[Hashable]], n: int) -> Iterator[tuple[Label, Integers]]:
        """Yield the groups in the order of their labels, each with the row indices of its people."""
        return iter(sorted(_divide(labels, n), key=lambda group: order_of(group[0])))

    def add_summary(self, label: Label, summary: Counts) -> None:
        """Add the summary of a group's reports."""
        tally = self._tally(label)
        tally.people = ()
        tally.counted = summary if tally.counted is None else tally.counted + summary

    def _tally(self, label: Label) -> _Tally:
        if label not in self._tallies:
            if len(self._tallies) >= MOST_GROUPS:
                raise InvalidParameter(
                    f"expected at most {MOST_GROUPS} groups by {', '.join(self.by)}, got more; use coarser "
                    "labels"
                )
            self._tallies[label] = _Tally(self.question)
        return self._tallies[label]

    def summaries(self) -> Iterator[tuple[Label, Counts]]:
        """Yield the groups in the order of their labels, each with its summary."""
        for label in sorted(self._tallies, key=order_of):
            yield label, self._tallies[label].summary()

    def estimates(
        self, quantity: Quantity, *, minimum: int = MINIMUM, level: float = 0.95
    ) -> GroupedEstimates:
        """Return the estimate of every group with at least `minimum` reports."""
        least = check_minimum(minimum)
        kept: dict[Hashable, Estimate] = {}
        left_out = 0
        for label, summary in self.summaries():
            if summary.n < least:
                left_out += 1
                continue
            answer = quantity(summary)
            if not isinstance(answer, Estimate):
                raise InvalidParameter(
                    f"expected the quantity of a group to be an estimate, such as dt.mean's, got "
                    f"{type(answer).__name__}"
                )
            kept[label[0] if len(label) == 1 else label] = answer
        found = keep_groups(kept, self.by, least, left_out, level)
        return replace(found, about=self.about)


@dataclass(frozen=True, eq=False, repr=False)
class GroupedEstimates(ResultTable):
    """The estimates of groups as a tidy table: the labels, value, low, high and n, a row for each.

    Frequencies have a row for each answer of each group. `groups["Kyoto"]` is the estimate of a group; with
    several columns of labels its key is a tuple. Groups with fewer than `minimum` reports are left out, and
    `left_out` is their number.
    """

    estimates: Mapping[Hashable, Estimate] = field(default_factory=dict)
    by: tuple[str, ...] = ("group",)
    minimum: int = 0
    left_out: int = 0
    level: float = 0.95

    @classmethod
    def of(
        cls,
        estimates: Mapping[Hashable, Estimate],
        by: Sequence[str] = ("group",),
        minimum: int = 0,
        left_out: int = 0,
        level: float = 0.95,
    ) -> GroupedEstimates:
        """Return a table of estimates of independent groups."""
        level = check_level(level)
        rows = tuple(row for label, part in estimates.items() for row in _rows(label, part, by, level))
        columns = "" if tuple(by) == ("group",) else f" by {', '.join(by)}"
        title = f"{_many(len(estimates), 'group')}{columns}, {100 * level:g} % intervals"
        if left_out:
            title += f"; {_many(left_out, 'group')} with fewer than {minimum} reports left out"
        clipped = next((part.clipping for part in estimates.values() if part.clipping is not None), None)
        if clipped is not None:
            title += f", {clipped}"
        if any(OF_ANSWERS in part.remark for part in estimates.values()):
            title += OF_ANSWERS + _N_OF_ALL
        thinned = thinned_share(list(estimates.values()))
        if thinned is not None:
            title += f", up to {percent(thinned)} of the sets are thinned"
        kept = MappingProxyType(dict(estimates))
        limits = {part.limits for part in estimates.values()}
        bounds = limits.pop() if len(limits) == 1 else (-math.inf, math.inf)
        return cls(title, rows, kept, tuple(by), minimum, left_out, level, limits=bounds)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and key not in self.estimates:
            return self.rows[key]
        try:
            return self.estimates[key]
        except (KeyError, TypeError):
            raise unknown_name("group", key, map(str, self.estimates)) from None

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the groups side by side with their intervals, and return the axes; needs the extra `plot`."""
        from dither.estimation.plotting import draw_groups

        return draw_groups(self, title=title, ax=ax)

    def items(self) -> ItemsView[Hashable, Estimate]:
        """Return the labels of the groups with their estimates."""
        return self.estimates.items()


def estimate_groups(
    reports: object,
    by: Labels | Reports,
    quantity: Quantity | None,
    minimum: int,
    level: float,
    weights: Weighting | None = None,
    person: Sequence[Hashable] | Array | None = None,
    *,
    usual: Callable[..., Estimate],
) -> GroupedEstimates:
    """Return the estimates of groups of reports, by labels or by private reports on a category.

    `usual` estimates each group if no quantity is given. `person` is a public id for each report.
    """
    reports = _check_reports(reports, "label")
    if isinstance(by, str | bytes) or not hasattr(by, "__len__"):
        raise InvalidParameter(
            f"expected by to be a label for each report, or a mapping from names to such columns, got "
            f"{found(by)}"
        )
    columns: Mapping[str, Any] = by if isinstance(by, Mapping) else {"group": by}
    if not columns:
        raise InvalidParameter("expected by to have at least one column of labels, got none")
    least = check_minimum(minimum)
    check_level(level)
    given = None if weights is None else as_weights(weights, len(check_weighted(reports)))
    private = [name for name, labels in columns.items() if isinstance(labels, Reports)]
    if person is not None:
        if private:
            raise InvalidParameter(
                "expected person= only with groups by public labels, such as waves; leave person out"
            )
        reports = replace(reports, people=_named_people(person, reports))
    if private:
        if quantity is not None:
            raise InvalidParameter(
                "expected no quantity for groups by a private category, because their mean or frequencies "
                "are estimated; leave quantity out"
            )
        return _estimate_private(reports, columns, private, least, level, given)
    counts = GroupCounts(reports.question, list(columns))
    if given is None and person is None:
        counts.add(list(columns.values()), reports)
        return counts.estimates(quantity or usual, minimum=minimum, level=level)
    kept: dict[Hashable, Estimate] = {}
    left_out = 0
    for label, rows in counts.rows(list(columns.values()), len(reports.cells)):
        if rows.size < least:
            left_out += 1
            continue
        part = reports[rows] if person is None else _once(reports[rows], label)
        answer = _of_rows(part, quantity, usual, None if given is None else given[rows])
        kept[label[0] if len(label) == 1 else label] = replace(answer, people=part.people)
    return keep_groups(kept, list(columns), least, left_out, level)


def _named_people(person: object, reports: Reports) -> People:
    """Return the people who sent the reports, from one public id for each report."""
    if isinstance(person, str | bytes | Reports) or not hasattr(person, "__len__"):
        raise InvalidParameter(f"expected person to be a public id for each report, got {found(person)}")
    ids = list(_plain(person))
    if len(ids) != len(reports.cells):
        raise InvalidParameter(
            f"expected {len(reports.cells)} ids of persons, one for each report, got {len(ids)}"
        )
    return people_by_id(ids, reports.about)


def _check_reports(reports: object, each: str) -> Reports:
    """Return the reports; raise InvalidParameter if they are a summary or reports of several questions."""
    if isinstance(reports, Mapping):
        summarise(cast("Any", reports))  # raises, and names the questions
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            f"expected reports with one {each} each (a summary has lost their order), got "
            f"{type(reports).__name__}"
        )
    return reports


def estimate_people(
    reports: object, person: object, weights: Weighting | None, usual: Callable[..., Estimate]
) -> Estimate:
    """Return the usual estimate of reports, with the error of several reports of a person."""
    reports = _check_reports(reports, "id")
    named = replace(reports, people=_named_people(person, reports))
    return (usual(named) if weights is None else usual(named, weights=weights)).for_people(named.people)


def _of_rows(
    part: Reports, quantity: Quantity | None, usual: Callable[..., Estimate], weights: Weights | None
) -> Estimate:
    """Return the estimate of a group from its reports, with or without weights."""
    if weights is None:
        return (usual if quantity is None else quantity)(part)  # type: ignore[arg-type]
    return usual(part, weights=weights) if quantity is None else _weighted_quantity(quantity, part, weights)


def _once(part: Reports, label: Label) -> Reports:
    """Return the reports of a group; raise InvalidParameter if a person has two, as these are dependent."""
    (crowd,) = part.people
    twice = len(crowd.rows) - np.unique(crowd.rows).size
    if twice:
        raise InvalidParameter(
            f"expected one row for each person in a group, but group {' · '.join(map(str, label))} has "
            f"{_many(twice, 'further row')} of people who are already in it, and rows of one person are not "
            "independent; keep one row of a person in each group"
        )
    return part


def mean_of_each(parts: Mapping[str, Any], mean: Callable[[Any], Estimate]) -> GroupedEstimates:
    """Return the means of several questions to the same people as a table; name questions without a mean."""
    kept: dict[Hashable, Estimate] = {}
    without: list[str] = []
    reason: Exception | None = None
    for name, part in parts.items():
        try:
            kept[name] = mean(part)
        except NotIdentifiable as error:
            reason = reason or error
            without.append(name)
        except InvalidParameter:
            if "mean" in getattr(getattr(part, "question", None), "quantities", ("mean",)):
                raise
            without.append(name)
    names = ", ".join(map(str, without))
    if not kept:
        raise reason or NotIdentifiable(
            f"expected a question with a mean, got none ({names}); use dt.frequencies for shares"
        )
    title = f"means of {_many(len(kept), 'question')}, 95 % intervals" + f"; no mean of {names}" * bool(names)
    optional = ", ".join(str(name) for name, part in kept.items() if OF_ANSWERS in part.remark)
    title += f"; {optional}{OF_ANSWERS}{_N_OF_ALL}" * bool(optional)
    return replace(GroupedEstimates.of(kept, ("question",)), title=title)


def _weighted_quantity(quantity: Any, part: Reports, weights: Weights) -> Estimate:
    try:
        found: Estimate = quantity(part, weights=weights)
    except TypeError:
        raise InvalidParameter(
            "expected a quantity that takes the group and its weights: lambda group, weights: "
            "dt.quantile(group, 0.9, weights=weights)"
        ) from None
    return found


def keep_groups(
    kept: dict[Hashable, Estimate], by: Sequence[str], least: int, left_out: int, level: float
) -> GroupedEstimates:
    """Return a table of the groups that were kept; raise NotIdentifiable if no group was kept."""
    if not kept:
        raise NotIdentifiable(
            f"expected at least one group with {least} reports or more, got none (of {left_out} groups); use "
            "coarser groups, or a smaller minimum"
        )
    return GroupedEstimates.of(kept, by, least, left_out, level)


def _estimate_private(
    reports: Reports,
    columns: Mapping[str, Any],
    private: list[str],
    least: int,
    level: float,
    weights: Weights | None,
) -> GroupedEstimates:
    """Return estimates by a private category, within each group of the public columns."""
    if len(private) > 1:
        raise InvalidParameter(
            f"expected groups by one private column, got {' and '.join(map(repr, private))}; choose one of "
            "them"
        )
    labels_of: Reports = columns[private[0]]
    check_pair(reports, labels_of)
    others = [name for name in columns if name not in private]
    if not others:
        found, left_out = _private_groups(reports, labels_of, least, weights)
        return _say_everybody(keep_groups(dict(found), list(columns), least, left_out, level), private[0])
    kept: dict[Hashable, Estimate] = {}
    left_out = 0
    counts = GroupCounts(reports.question, others)
    for label, rows in counts.rows([columns[name] for name in others], len(reports.cells)):
        if rows.size < max(least, 3):
            left_out += 1
            continue
        own = None if weights is None else weights[rows]
        found, few = _private_groups(reports[rows], labels_of[rows], least, own)
        left_out += few
        for answer, group in found.items():
            named = {**dict(zip(others, label, strict=True)), private[0]: answer}
            kept[tuple(named[name] for name in columns)] = group
    return _say_everybody(keep_groups(kept, list(columns), least, left_out, level), private[0])


def _say_everybody(groups: GroupedEstimates, private: str) -> GroupedEstimates:
    """Return private groups with a remark on n and a label for the group without an answer."""
    rows = tuple({**row, private: show_label(row[private])} for row in groups.rows)
    title = f"{groups.title.removesuffix(_N_OF_ALL)}{_N_OF_ALL}, because who is in a group is private"
    return replace(groups, title=title, rows=rows)


def _private_groups(
    reports: Reports, request: Reports, least: int, weights: Weights | None
) -> tuple[dict[Hashable, Estimate], int]:
    """Return the mean or the frequencies of the people of each private category, corrected for the noise.

    The mean of a group is E[y·x]/E[y], with the unbiased decodings x of the number and y of the category: a
    ratio of two averages of all people, with Fieller's interval. A group is left out if fewer people than
    `least` are estimated to be in it.
    """
    labels = protocol_of(request).categories.labels
    n = len(reports)
    guarantee = reports.question.guarantee.compose(request.question.guarantee)
    read = indicators(request)
    shares = np.ones(n) if weights is None else weights.shares
    sizes = shares @ read
    kept: dict[Hashable, Estimate] = {}
    if "frequencies" in reports.question.quantities:
        table = crosstab(request, reports, weights=weights).within_rows()
        for index, label in enumerate(labels):
            if sizes[index] >= least:
                part = cast("QuotientInterval", table.confidence).pick(index)
                kept[label] = LabelledEstimate.of(
                    part,
                    guarantee,
                    labels=table.columns,
                    origin=table,
                    people=join([request.people, reports.people]),
                    each=partial(_cell_influence, table, index),
                    limits=SHARE,
                    remark=_ALL,
                )
        return kept, len(labels) - len(kept)
    decoded = PersonNumbers.of(reports)
    line, middle = decoded.line, decoded.middle
    for index, label in enumerate(labels):
        weighed = shares * read[:, index] * decoded.answered  # 0 for people without an answer
        bottom = float(weighed.mean())
        if bottom * n < least:
            continue
        inside = shares * read[:, index]
        centre = float((inside * decoded.value).mean()) / bottom
        # Centring the number at the mean of its group reduces rounding errors.
        moved = inside * (decoded.value - centre * decoded.answered)
        matrix = np.cov(moved, weighed) / n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        interval = ShiftedQuotient(middle + centre, QuotientInterval(0.0, bottom, spread, n, freedom(moved)))
        kept[label] = Estimate.of(
            interval,
            guarantee,
            unit=line.unit,
            origin=request,
            people=join([reports.people, request.people]),
            influence=moved / bottom,
            limits=(line.low, line.high),
            clipping=None if line.clipping is None else replace(line.clipping, quantity="mean"),
            remark=_ALL + (OF_ANSWERS if decoded.optional else ""),
        )
    return kept, len(labels) - len(kept)


def _cell_influence(table: EstimatedTable, row: int, column: int) -> Floats | None:
    """Return each person's influence on a share within a row of a table."""
    return table.evidence.influence((row, column), table.whose)


@dataclass(frozen=True, eq=False)
class ShiftedQuotient(ConfidenceInterval):
    """A number plus a ratio of two averages."""

    start: float
    ratio: QuotientInterval

    @property
    def value(self) -> float:
        """The sum."""
        return self.start + float(self.ratio.value)

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.ratio.error)

    @property
    def n(self) -> int:
        """The number of people."""
        return self.ratio.n

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.ratio.interval(level)
        return self.start + float(low), self.start + float(high)


def _divide(labels: Sequence[Sequence[Hashable]], n: int) -> Iterator[tuple[Label, Integers]]:
    """Yield each combination of labels with the row indices of its people, in order."""
    if any(len(column) != n for column in labels):
        raise InvalidParameter(
            f"expected a label for every report, got {n} reports and "
            f"{' and '.join(str(len(column)) for column in labels)} labels"
        )
    if not n:
        return
    positions: dict[Label, int] = {}
    try:
        codes = np.fromiter(
            (positions.setdefault(label, len(positions)) for label in zip(*map(_plain, labels), strict=True)),
            np.int64,
            n,
        )
    except TypeError:
        raise InvalidParameter("expected a label of a group to be a text, a number, a date or None") from None
    ends = np.cumsum(np.bincount(codes))[:-1]
    yield from zip(positions, np.split(np.argsort(codes, kind="stable"), ends), strict=True)


def check_labels(by: Sequence[str], questions: Sequence[str], there: Sequence[str]) -> None:
    """Raise InvalidParameter unless `by` names existing columns that are not questions."""
    if not by or len(set(by)) < len(by):
        raise InvalidParameter("expected by to name one or more columns of labels, each once")
    for column in by:
        if column not in there:
            labels = [name for name in there if name not in questions]
            if not labels:
                raise InvalidParameter(
                    f"expected the public column {column!r}, got reports without public columns; "
                    "keep it with keep=[…] when you randomise"
                )
            raise unknown_name("column", column, labels)
        if column in questions:
            raise InvalidParameter(
                f"expected a column of public labels in by, got the question {column!r}, whose reports are "
                "random; use dt.stats.crosstab for two questions together"
            )


def check_grouping(by: str | Sequence[str], minimum: int, level: float) -> list[str]:
    """Return the columns of labels as a list; raise InvalidParameter if the minimum or level is invalid.

    Call it before the reports are loaded, because a data frame may take hours.
    """
    check_minimum(minimum)
    check_level(level)
    return [by] if isinstance(by, str) else list(by)


def check_minimum(minimum: object) -> int:
    """Return the smallest size of a group; raise InvalidParameter unless it is an integer, at least 2."""
    if isinstance(minimum, bool) or not isinstance(minimum, int | np.integer) or minimum < 2:
        raise InvalidParameter(
            f"expected the minimum number of reports of a group to be an integer from 2 upwards, got "
            f"{found(minimum)}"
        )
    return int(minimum)


def _plain(column: Any) -> Iterable[Hashable]:
    """Return labels as Python objects, with None for NaN because NaN does not equal itself."""
    listed = column.tolist() if hasattr(column, "tolist") else column
    return (None if isinstance(label, float) and math.isnan(label) else label for label in listed)


def order_of(label: Label) -> Any:
    """Return the sort key of a label: numbers first, then others by type and value, None last."""
    return [
        (part is None, "" if isinstance(part, int | float) else type(part).__name__, _Comparable(part))
        for part in label
    ]


class _Comparable:
    """A label that is compared by its own order, or by its text if it has no order."""

    def __init__(self, label: object) -> None:
        self.label: Any = label

    def __lt__(self, other: _Comparable) -> bool:
        try:
            return bool(self.label < other.label)
        except TypeError:
            return str(self.label) < str(other.label)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Comparable) and bool(self.label == other.label)

    __hash__ = None  # type: ignore[assignment]


def _rows(label: Hashable, group: Estimate, by: Sequence[str], level: float) -> Iterator[Row]:
    named = dict(zip(by, label if len(by) > 1 and isinstance(label, tuple) else (label,), strict=True))
    low, high = group.interval(level)
    answers = group.labels  # labels of frequencies, and of their intervals at any time
    of = group.facts()
    if answers:
        for answer, *numbers in zip(answers, np.asarray(group.value), low, high, strict=True):
            value, least, most = map(float, numbers)
            shown = {**named, "answer": show_label(answer)}
            yield {**shown, "value": value, "low": least, "high": most, "n": group.n, **of}
        return
    if np.ndim(group.value):
        raise InvalidParameter(
            "expected the quantity of a group to be one number, or frequencies, got several numbers"
        )
    yield {**named, **group.records(level)[0]}


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
