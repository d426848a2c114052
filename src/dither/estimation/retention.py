"""Retention: the share of devices that come back, from permanent labels with their dates of installation.

The labels are the same in every period, so estimates of different periods are correlated, and the overlap of
two periods cannot be seen without an identifier. One residual for each cohort gives the interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.core.presence import PresenceCounts
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.frequency import supported_frequencies
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import check_level, student_t_quantile
from dither.foundation.tables import ResultTable, Row, period_start

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST_COHORTS: Final = 4  # least number of residuals for an interval
_WIDEST: Final = 0.5  # largest half-width of a stated retention
_EMPTY: Final = ResultTable("", ())


@dataclass(frozen=True, eq=False, repr=False)
class Retention(ResultTable):
    """The share of devices that are active again a number of periods after their installation.

    The rows are the curve: `after`, `value` with its interval, `churn` (the share that is not active) and
    `cohorts`, the number of cohorts that are pooled. `actives` are the exact numbers of devices, `cohorts`
    the estimated devices of each cohort in each period, `labels` the shares of the public labels. `missing`
    is a text about quantities that cannot be stated yet, or is empty.
    """

    actives: ResultTable = _EMPTY
    cohorts: ResultTable = _EMPTY
    labels: ResultTable = _EMPTY
    missing: str = ""
    level: float = 0.95
    tables: Mapping[str, ResultTable] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        parts = {"actives": self.actives, "retention": self, "cohorts": self.cohorts, "labels": self.labels}
        object.__setattr__(self, "tables", {name: part for name, part in parts.items() if part.rows})

    def after(self, periods: int) -> Row:
        """Return the row of the curve for a number of periods; raise NotIdentifiable if it is missing."""
        for row in self.rows:
            if row["after"] == periods:
                return row
        raise NotIdentifiable(
            f"expected a retention after {periods} periods, got none: {self.missing or 'no cohort is so old'}"
        )

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the retention curve with its intervals, and return the axes; needs the extra `plot`."""
        from dither.foundation.plotting import (
            BLUE,
            as_per_cent,
            axes_or_new,
            draw_intervals,
            dress_axes,
            start_at_zero,
        )

        rows = [row for row in self.rows if row["value"] is not None]
        if not rows:
            raise NotIdentifiable(
                f"expected a retention to draw, got none: {self.missing or 'no cohort is old enough'}"
            )
        ax = axes_or_new(ax)
        after = [row["after"] for row in rows]
        ax.plot(after, [row["value"] for row in rows], color=BLUE, linewidth=1.2)
        draw_intervals(ax, after, rows, (0.0, 1.0), upright=True)
        ax.set_xticks(after if len(after) <= 12 else after[:: -(-len(after) // 12)])
        start_at_zero(ax)
        as_per_cent(ax, "y")
        period = next(iter(self.actives.rows[0])) if self.actives.rows else "period"
        name = title or self.about or "Retention"
        return dress_axes(ax, title=name, x=f"{period}s after installation", y="devices active again")


def retention(counts: PresenceCounts, *, level: float = 0.95) -> Retention:
    """Return the retention curve, exact actives, cohorts and shares of public labels.

    `counts` come from a campaign with `repeat = "present"`; `dither estimate --retention ADDRESS` fetches
    them. The retention after a periods is Σ est[k, k + a] / Σ est[k, k] over cohorts k. Its interval has one
    residual for each cohort, est[k, k + a] − R·est[k, k]; cohorts are taken as independent, periods are not.
    Devices whose installation is before or after the listed days are not used.

    >>> import dither as dt
    >>> from datetime import date
    >>> from dither.results import PresenceCounts
    >>> weeks = [date(2026, 5, 4), date(2026, 5, 11)]
    >>> label = dt.KRR(dt.Categories([str(week) for week in weeks]), epsilon=2)
    >>> came = [[110, 100], [90, 134]]  # reports of the label, a row for each week
    >>> counts = PresenceCounts("week", weeks, [300, 320], question=label, counts=came)
    >>> print(dt.retention(counts).actives)
    Devices by week, counted exactly
    <BLANKLINE>
    week        devices
    2026-05-04      300
    2026-05-11      320
    """
    if not isinstance(counts, PresenceCounts):
        raise InvalidParameter(f"expected counts of presence (PresenceCounts), got {found(counts)}")
    check_level(level)
    shown = [(day, count) for day, count in zip(counts.periods, counts.messages, strict=True)]
    actives = ResultTable(
        f"Devices by {counts.every}, counted exactly",
        tuple({counts.every: day.isoformat(), "devices": count} for day, count in shown if count is not None),
    )
    labels = _label_shares(counts, level)
    hidden = sum(count is None for _, count in shown)
    few = f"{hidden} periods have fewer than {counts.people} devices and are not shown. " if hidden else ""
    first = Retention(
        "Retention",
        (),
        actives,
        _EMPTY,
        labels,
        "The campaign has no permanent label.",
        level,
        limits=(0.0, 1.0),
        about=counts.about,
    )
    if counts.question is None:
        return replace(first, title=f"Retention: {few}{first.missing}", missing=few + first.missing)
    days = _days_of(counts)
    if days is None:
        raise NotIdentifiable(
            "expected a label of days of installation for retention: installed = true and categories of "
            "first days"
        )
    table = CohortTable.of(counts, days)
    if table.is_longer:
        few += (
            f"The label's cohorts are longer than a {counts.every}, so the devices of one are installed in "
            f'several: retention needs cohorts of one {counts.every} each, or every = "month" with labels of '
            "months. "
        )
    rows, missing = _curve(table, level, counts.every)
    missing = (few + missing).strip()
    title = f"Share of devices that are active again, by {counts.every}s after installation"
    said = "\n".join([f"{title} ({100 * level:g} %)", *([missing] * bool(missing))])
    return replace(first, title=said, rows=rows, cohorts=table.result(level), missing=missing)


def _days_of(counts: PresenceCounts) -> list[date] | None:
    """Return the days in the categories of the permanent label, or None if they are not days."""
    labels = getattr(getattr(counts.question, "domain", None), "labels", None) or ()
    try:
        return [date.fromisoformat(label) for label in labels] or None
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True, eq=False)
class CohortTable:
    """Estimated devices of cohorts in periods, `devices[k, t]` with `errors[k, t]`; NaN if nothing is shown.

    `places[k]` is the period in which cohort k was installed; the first label (all before) and the last one
    (all after) have −1, as does a label with a length other than one period. `starts[k]` is the period in
    which the label of the cohort begins, whatever its length.
    """

    every: str
    cohorts: tuple[date, ...]
    periods: tuple[date, ...]
    devices: Floats
    errors: Floats
    places: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, counts: PresenceCounts, days: list[date]) -> CohortTable:
        """Decode the labels of every period: frequencies times actives."""
        shape = len(days), len(counts.periods)
        devices, errors = np.full(shape, np.nan), np.full(shape, np.nan)
        for index, messages in enumerate(counts.messages):
            marked = counts.of_period(index)
            if messages is not None and marked.n:
                known = supported_frequencies(marked)
                devices[:, index] = np.asarray(known.value) * messages
                errors[:, index] = np.asarray(known.standard_error) * messages
        at = {day: index for index, day in enumerate(counts.periods)}
        starts = [period_start(counts.every, day) for day in days]
        positions = [-1] * len(days)
        for k in range(1, len(days) - 1):
            following = at.get(starts[k], -2) + 1
            if starts[k] == days[k] and days[k + 1] == starts[k + 1] and _is_next(counts, starts, k):
                positions[k] = following - 1 if following > 0 else -1
        begun = [-1, *(at.get(start, -1) for start in starts[1:-1]), -1][: len(days)]
        every, periods = counts.every, tuple(counts.periods)
        return cls(every, tuple(days), periods, devices, errors, tuple(positions), tuple(begun))

    @property
    def is_longer(self) -> bool:
        """Whether cohorts begin in these periods, and no cohort is one period long."""
        return max(self.starts, default=-1) >= 0 > max(self.places, default=-1)

    def pair(self, after: int) -> tuple[Floats, Floats]:
        """Return the devices of cohorts when they were installed, and `later` periods later."""
        pairs = [
            (self.devices[k, index], self.devices[k, index + after])
            for k, index in enumerate(self.places)
            if index >= 0 and index + after < len(self.periods)
        ]
        both = np.array([pair for pair in pairs if all(map(math.isfinite, pair))]).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def result(self, level: float) -> ResultTable:
        """Return the devices of each cohort in each period since, with intervals."""
        z = student_t_quantile(level)
        rows = [
            {
                **{"installed": self.cohorts[k].isoformat(), self.every: self.periods[t].isoformat()},
                **{"after": t - index, "value": float(self.devices[k, t])},
                "low": float(self.devices[k, t] - z * self.errors[k, t]),
                "high": float(self.devices[k, t] + z * self.errors[k, t]),
            }
            for k, index in enumerate(self.starts)
            for t in range(max(index, 0), len(self.periods) if index >= 0 else 0)
            if math.isfinite(self.devices[k, t])
        ]
        return ResultTable(f"Devices by {self.every} of installation", tuple(rows), limits=(0.0, math.inf))


def _is_next(counts: PresenceCounts, starts: list[date], k: int) -> bool:
    """Return whether the label after k begins with the next period."""
    middle = starts[k].toordinal() + {"day": 1, "week": 7, "month": 32}[counts.every]
    return starts[k + 1] == period_start(counts.every, date.fromordinal(middle))


def _curve(table: CohortTable, level: float, every: str) -> tuple[tuple[Row, ...], str]:
    """Return the rows of the retention curve, and a text about missing data."""
    rows: list[Row] = []
    widest = (0, 0.0)
    longest = len(table.periods) - 1
    for after in range(1, longest + 1):
        first, later = table.pair(after)
        size = first.size
        if size < _FEWEST_COHORTS or first.sum() <= 0.0:
            continue
        share = float(later.sum() / first.sum())
        residuals = later - share * first
        error = math.sqrt(float(residuals @ residuals) * size / (size - 1)) / float(first.sum())
        half = student_t_quantile(level, size - 1) * error
        if half > _WIDEST:
            widest = max(widest, (after, half), key=lambda pair: pair[1])
            continue
        ends = {"value": share, "low": share - half, "high": share + half}
        rows.append({"after": after, **ends, "churn": 1.0 - share, "cohorts": size})
    return tuple(rows), _missing(table, rows, widest, every)


def _missing(table: CohortTable, rows: list[Row], widest: tuple[int, float], every: str) -> str:
    """Return a sentence with the number of missing periods or devices."""
    if table.is_longer:
        return ""  # an earlier sentence says it
    usable = [position for position in table.places if position >= 0]
    least = _FEWEST_COHORTS + 1
    if len(usable) < least and not rows:
        return f"Retention needs {least} {every}s of installation that are over; there are {len(usable)}."
    if widest[0]:
        times = math.ceil((widest[1] / _WIDEST) ** 2)
        return (
            f"Retention after {widest[0]} {every}s is known only to ± {100 * widest[1]:.0f} points and is "
            f"left out: it needs about {times} times the devices, or {times} times the cohorts."
        )
    return ""


def _label_shares(counts: PresenceCounts, level: float) -> ResultTable:
    """Return the share of each public label in each period, among the devices that carry public labels.

    These devices are a random sample of all devices. The interval is Wilson's [Wilson27].
    """
    rows = []
    z = student_t_quantile(level)
    for index, day in enumerate(counts.periods):
        n, messages = counts.public[index], counts.messages[index]
        if not n or messages is None:
            continue
        for label, some in counts.labels.items():
            if not some[index]:
                continue
            share = some[index] / n
            centre, wide = (share + z * z / (2 * n)) / (1 + z * z / n), z / (1 + z * z / n)
            half = wide * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
            if n == messages:  # every device carries a public label: the share is exact
                centre, half = share, 0.0
            ends = {"value": share, "low": centre - half, "high": centre + half}
            rows.append({counts.every: day.isoformat(), "label": label, **ends})
    return ResultTable("Shares of public labels", tuple(rows), limits=(0.0, 1.0))
