"""`dt.by_day`: estimates for each day from dated reports or from changes, pooled over days on request.

Sums of changes over days are estimated from noisy sums over dyadic intervals, by weighted least squares. The
sums of one level are independent, and the sum of an interval is also the sum of its two halves. The best
linear unbiased estimate of any weighted sum of daily changes uses all levels. It is computed from the leaves
to the root, as in [Hay10, Section 4], for any variances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from dither.core.domains import Line, finite
from dither.core.domains.calendar import Calendar
from dither.core.repetition import ChangeCounts, ChangeReports, DatedReports, KeptChange
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import StudentInterval
from dither.estimation.rounding import SHARE, thousands
from dither.estimation.verbs import estimate
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.tables import Row, Tabular, period_start
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNKNOWN: Final = 1e12  # the variance of an interval without reports


@dataclass(frozen=True)
class NoisySums:
    """Estimated sums of the changes in the intervals of one level, and their variances."""

    values: Floats
    variances: Floats


@dataclass(frozen=True)
class _Node:
    """The estimate of an interval from its own level and all finer levels.

    `sum` and `variance` describe its sum of changes x. Given x, the estimate for the days from `first` on is
    offset + slope·x, with variance `rest`. The estimate is 0 before these days and x after them.
    """

    sum: float
    variance: float
    first: int
    offset: Floats
    slope: Floats
    rest: Floats

    def pad(self, first: int, end: int) -> tuple[Floats, Floats, Floats]:
        """Return offset, slope and rest for the days from `first` to the day before `end`."""
        around = self.first - first, end - self.first - self.slope.size
        return (
            np.pad(self.offset, around),
            np.pad(self.slope, around, constant_values=(0.0, 1.0)),
            np.pad(self.rest, around),
        )


def running_sums(levels: list[NoisySums], days: int, smoothing: int = 1) -> tuple[Floats, Floats]:
    """Return the sum of all changes up to each day, averaged over the days around it, and the variances.

    `levels[h]` has the intervals of 2^h days. The first interval begins on day 1; day 0 has no change.
    `smoothing` is an odd number of days that are averaged, fewer at both ends.
    """
    half = smoothing // 2
    nodes = [
        _leaf(leaf, value, variance, days, half)
        for leaf, (value, variance) in enumerate(zip(levels[0].values, levels[0].variances, strict=True))
    ]
    height = 0
    while len(nodes) > 1:
        height += 1
        unknown = np.zeros(-(-len(nodes) // 2)), np.full(-(-len(nodes) // 2), UNKNOWN)
        own = levels[height] if height < len(levels) else NoisySums(*unknown)
        nodes = [
            _with_own(_together(nodes[index : index + 2]), own.values[index // 2], own.variances[index // 2])
            for index in range(0, len(nodes), 2)
        ]
    (root,) = nodes
    offset, slope, rest = root.pad(0, days)
    return offset + slope * root.sum, rest + slope**2 * root.variance


def _leaf(leaf: int, value: float, variance: float, days: int, half: int) -> _Node:
    """Return the node of the changes on day leaf + 1, weighted by each day's averaged days from then on."""
    day = np.arange(max(0, leaf + 1 - half), min(days, leaf + 1 + half))
    first, end = np.maximum(0, day - half), np.minimum(days, day + half + 1)
    slope = (end - (leaf + 1)) / (end - first)
    return _Node(value, variance, max(0, leaf + 1 - half), np.zeros(day.size), slope, np.zeros(day.size))


def _together(halves: list[_Node]) -> _Node:
    """Return the node of an interval from the nodes of its halves; the last interval may have only one."""
    if len(halves) == 1:
        return halves[0]
    left, right = halves
    first, end = left.first, right.first + right.slope.size
    (offset_1, slope_1, rest_1), (offset_2, slope_2, rest_2) = (half.pad(first, end) for half in halves)
    total = left.variance + right.variance
    # Given the sum x of both, the left sum has mean a·left + (1 − a)(x − right) and variance a·left.variance.
    a = right.variance / total
    apart = slope_1 - slope_2
    return _Node(
        left.sum + right.sum,
        total,
        first,
        offset_1 + offset_2 + apart * (a * left.sum - (1.0 - a) * right.sum),
        slope_2 + apart * (1.0 - a),
        rest_1 + rest_2 + apart**2 * a * left.variance,
    )


def _with_own(node: _Node, value: float, variance: float) -> _Node:
    """Return a node whose sum is combined with an estimate of its own level, weighted by precision."""
    share = node.variance / (node.variance + variance)
    known = node.sum + share * (value - node.sum)
    return _Node(known, (1.0 - share) * node.variance, node.first, node.offset, node.slope, node.rest)


_MOST_VARIANCE: Final = UNKNOWN / 1e6  # a larger variance means that some days have no reports


def shares_by_day(reports: ChangeReports | ChangeCounts, smoothing: int) -> tuple[list[Estimate | None], int]:
    """Return the shares of each day, None where a part of its reports is missing, and the number of people.

    The share counts values as they are after `changes` changes; later changes are ignored. Variances are
    upper bounds: a report has two values, so its variance is at most ¼, and the reports of a person in two
    intervals are never positively correlated.
    """
    change = reports.change
    counts = [reports.interval_counts(group) for group in range(change.groups)]
    people = sum(int(total.max(initial=0)) for total, _ in counts)
    other, gap = _response(change)
    (total,), (ones,) = counts[0]
    begin, spread = 0.0, UNKNOWN
    if total:
        begin = float(ones / total - other) / gap
        near = (ones + 2.0) / (total + 4.0)  # added counts keep the share away from 0 and 1 [Agresti98]
        spread = float(near * (1.0 - near) / total) / gap**2
    levels = []
    for group, (total, ones) in enumerate(counts[1:], 1):
        seen = np.maximum(total, 1)
        if change.changes == 1:  # a report is "yes" with probability (1 + d)/2, d being the mean change
            means = 2.0 * (ones / seen - other) / gap - 1.0
        else:
            means = (2.0 * ones / seen - 1.0) / float(change.pattern(group).mean)
        spreads = np.where(total > 0, _noise(change, group, gap) / seen, UNKNOWN)
        levels.append(NoisySums(np.where(total > 0, means, 0.0), spreads))
    sums, variances = running_sums(levels, change.days, smoothing)
    found: list[Estimate | None] = []
    for share, variance in zip(begin + sums, spread + variances, strict=True):
        if variance > _MOST_VARIANCE:
            found.append(None)
            continue
        value, error = np.array([1.0 - share, share]), np.full(2, np.sqrt(variance))
        labels, who = change.domain.labels, change.guarantee
        # All days are of the same people.
        day = LabelledEstimate(value, error, people, who, labels=labels, limits=SHARE, origin=reports)
        found.append(day)
    return found, people


def predicted_error(change: KeptChange, n: int) -> float:
    """Return the root mean square, over all days, of the standard error of a day's share with n people."""
    _, gap = _response(change)
    each = n / change.groups
    levels = [
        NoisySums(np.zeros(size), np.full(size, _noise(change, group, gap) / each))
        for group in range(1, change.groups)
        for size in [change.intervals(group)]
    ]
    _, variances = running_sums(levels, change.days)
    return float(np.sqrt(np.mean(variances) + 0.25 / each / gap**2))


def _response(change: KeptChange) -> tuple[float, float]:
    """Return the probability of report 1 under answer 0, and its increase under answer 1."""
    first, second = (change.question.kernel.probabilities(code)[1] for code in (0, 1))
    return float(first), float(second - first)


def _noise(change: KeptChange, group: int, gap: float) -> float:
    """Return an upper bound of the variance of one person's estimate of the changes in an interval.

    Changes of one value alternate in sign. So if flips are positively correlated, the variance of a weighted
    sum of k reports is at most 1 + covariance·(⌈k/2⌉ − 1) times its variance for independent flips.
    """
    if change.changes == 1:
        return 1.0 / gap**2
    pattern = change.pattern(group)
    together = 1.0 + max(float(pattern.covariance), 0.0) * ((pattern.size + 1) // 2 - 1)
    return together / float(pattern.mean) ** 2


def pooled_distances(days: int, smoothing: int) -> Floats:
    """Return the mean distance, in days, of the days that are averaged around each day."""
    half = smoothing // 2
    each = np.arange(days)
    below, above = np.minimum(each, half), np.minimum(days - 1 - each, half)
    total = below * (below + 1) / 2.0 + above * (above + 1) / 2.0
    return np.asarray(total / (below + above + 1.0))


_WEEK: Final = 7
_FEW: Final = 500  # reports of a day; with fewer, their variance comes from all days
_STATES: Final = 8  # the level, its slope, and six weekly effects (seven effects sum to 0)
_STEPS: Final = 12  # number of compared step sizes of the level, and of its slope
_MOST_JUMPS: Final = 6
_BESIDE: Final = 7  # days on each side of a jump that are compared
_CLEARER: Final = 3.0  # least rise of the log-evidence for an accepted jump
_SEEN: Final = 1.0  # the smallest considered jump, in standard errors of a day
_SMALL_JUMP: Final = " unless the level jumps by less than three errors of a day"  # too small to be detected
_DOUBT: Final = 9.0  # uncertainty of a jump's day, in days times its squared size in such errors
_PATTERNS: Final = (0.0, 0.1, 0.3, 1.0, 3.0)  # sizes of a weekly pattern, in standard errors of a day


@dataclass(frozen=True)
class SmoothDays:
    """Values of all days, their standard errors, and the probability that there is a weekly pattern.

    `jumps` are the first days after detected jumps of the level.
    """

    values: Floats
    errors: Floats
    weekly: float
    jumps: tuple[int, ...] = ()


def smooth_days(values: Floats, variances: Floats, scale: float) -> SmoothDays:
    """Return the values of days as a level that moves by random steps, with or without a weekly pattern.

    `variances` are the variances of the daily values, infinite for missing values. `scale` is the typical
    size of values. Models differ in the size of the steps of the level, or of its slope, and in the size of
    the pattern. Each is a linear Gaussian model: a forward filter gives its evidence, and a backward smoother
    gives the values of all days [Durbin12, Ch. 4]. The results are averaged with the evidence as weight. A
    jump of the level is added if the evidence rises. Near a jump, the steps are larger on all days on which
    the jump may be.
    """
    known = np.isfinite(variances)
    noise = float(np.sqrt(np.median(variances[known])))
    models = _models(noise, scale, values.size)
    extra, left, jumps = np.zeros(values.size), values.copy(), list[int]()
    evidence, means, spreads = _filter(values, variances, *models, extra)
    while len(jumps) < _MOST_JUMPS:
        index, size = _largest_step(left, known)
        if abs(size) < _SEEN * noise:
            break
        doubt = math.ceil(_DOUBT * (noise / size) ** 2)
        beside = slice(max(index - doubt, 1), index + doubt + 1)
        larger = extra.copy()
        larger[beside] += size**2 / (2 * doubt + 1)
        tried = _filter(values, variances, *models, larger)
        if float(tried[0].max()) < float(evidence.max()) + _CLEARER:
            break
        (evidence, means, spreads), extra = tried, larger
        left[index:] -= size
        jumps.append(index)
    patterned, sloped, moving = models[2][:, 2, 2] > 0.0, models[1] > 0.0, models[0] > 0.0
    # A weekly pattern has probability 1/2. A constant level and one that moves are likelier than
    # one whose slope moves; within each kind all sizes are alike.
    kinds = np.where(sloped, 2, np.where(moving, 1, 0)) + 3 * patterned
    prior = np.log(np.array([2.0, 2.0, 0.5, 2.0, 2.0, 0.5]))[kinds] - np.log(np.bincount(kinds)[kinds])
    weights = _weights(evidence + prior)
    mean = weights @ means
    # A step or a pattern may be too small to detect, so half of the error comes from the models with both.
    doubted = np.where(moving & patterned, evidence + prior, -np.inf)
    spread = (weights + _weights(doubted)) / 2.0 @ (spreads + (means - mean) ** 2)
    return SmoothDays(mean, np.sqrt(spread), float(weights[patterned].sum()), tuple(sorted(jumps)))


def _largest_step(left: Floats, known: Array) -> tuple[int, float]:
    """Return the day at which the level jumps most, from the week before to the week after, and the jump."""
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, left, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    days = np.arange(1, left.size)
    first, last = np.maximum(days - _BESIDE, 0), np.minimum(days + _BESIDE, left.size)
    before, after = counts[days] - counts[first], counts[last] - counts[days]
    gaps = (sums[last] - sums[days]) / np.maximum(after, 1) - (sums[days] - sums[first]) / np.maximum(
        before, 1
    )
    gaps = np.where((before > 1) & (after > 1), gaps, 0.0)
    at = int(np.argmax(np.abs(gaps)))
    return int(days[at]), float(gaps[at])


def _weights(logs: Floats) -> Floats:
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def _models(noise: float, scale: float, days: int) -> tuple[Floats, Floats, Floats]:
    """Return, for each model, the variances of the steps of level and slope, and the prior of the states."""
    levels = [(0.0, 0.0), *((noise * ratio, 0.0) for ratio in np.geomspace(1e-2, 1.0, _STEPS))]
    slopes = [(0.0, noise * ratio) for ratio in np.geomspace(1e-4, 3e-3, _STEPS)]
    within = np.eye(_WEEK)[: _WEEK - 1, : _WEEK - 1] - 1.0 / _WEEK
    steps, priors = [], []
    for pattern in _PATTERNS:
        for level, slope in [*levels, *slopes]:
            prior = np.zeros((_STATES, _STATES))
            prior[0, 0] = scale**2
            prior[1, 1] = (scale / days) ** 2 if slope else 0.0
            prior[2:, 2:] = (pattern * noise) ** 2 * within
            steps.append((level**2, slope**2))
            priors.append(prior)
    found = np.array(steps)
    return found[:, 0], found[:, 1], np.array(priors)


def _observation(day: int) -> Floats:
    """Return the coefficients of the states in a day's value: the level and the effect of the weekday."""
    row = np.zeros(_STATES)
    row[0] = 1.0
    at = day % _WEEK
    if at < _WEEK - 1:
        row[2 + at] = 1.0
    else:
        row[2:] = -1.0
    return row


def _filter(
    values: Floats, variances: Floats, levels: Floats, slopes: Floats, priors: Floats, extra: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the log-evidence of each model, and the mean and variance of each day's value given all days.

    `extra` is added to the variance of the level's step to each day.
    """
    models, days = levels.size, values.size
    move = np.eye(_STATES)
    move[0, 1] = 1.0
    steps = np.zeros((models, _STATES, _STATES))
    steps[:, 0, 0], steps[:, 1, 1] = levels, slopes
    state, spread = np.zeros((models, _STATES)), priors.copy()
    start = float(np.average(values[np.isfinite(variances)]))
    state[:, 0] = start
    evidence = np.zeros(models)
    kept = []
    for day in range(days):
        row = _observation(day)
        gain, surprise, precision = np.zeros((models, _STATES)), np.zeros(models), np.zeros(models)
        if np.isfinite(variances[day]):
            across = spread @ row
            total = across @ row + variances[day]
            surprise, precision, gain = values[day] - state @ row, 1.0 / total, across / total[:, None]
            evidence -= (np.log(total) + surprise**2 * precision) / 2.0
        kept.append((state, spread, row, surprise, precision, gain))
        state = (state + gain * surprise[:, None]) @ move.T
        spread = move @ (spread - gain[:, :, None] * (spread @ row)[:, None, :]) @ move.T + steps
        if day + 1 < days:
            spread[:, 0, 0] += extra[day + 1]
    # Backwards, r and N collect the information of later days about a day's state, without its own value.
    reported, weight = np.zeros((models, _STATES)), np.zeros((models, _STATES, _STATES))
    means, spreads = np.zeros((2, models, days))
    for day in range(days - 1, -1, -1):
        state, spread, row, surprise, precision, gain = kept[day]
        rest = move @ (np.eye(_STATES) - gain[:, :, None] * row)
        reported = row * (surprise * precision)[:, None] + (reported[:, None, :] @ rest)[:, 0]
        weight = np.outer(row, row) * precision[:, None, None] + np.swapaxes(rest, 1, 2) @ weight @ rest
        across = spread @ row
        means[:, day] = state @ row + (across * reported).sum(axis=1)
        spreads[:, day] = across @ row - (across * (weight @ across[:, :, None])[:, :, 0]).sum(axis=1)
    return evidence, means, np.maximum(spreads, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDays(Tabular):
    """An estimate for each day, or None where no estimate is possible, such as on a day without reports.

    `smoothing` is the number of pooled days, or "auto". With "auto" an interval covers the value of the day
    itself, and `weekly` is the probability of a weekly pattern. Otherwise an interval covers the average of
    the pooled days, weighted by their reports. `drift` is the largest change of the value from one day to the
    next. It widens the interval so that it covers the value of the day itself.
    """

    days: tuple[Estimate | None, ...]
    smoothing: int | Literal["auto"]
    drift: float | None
    distances: Floats  # the mean distance, in days, of the pooled reports from each day
    guarantee: Guarantee
    n: int
    weekly: float = 0.0
    jumps: tuple[int, ...] = ()
    firsts: tuple[int, ...] = ()  # the first day of each estimate, if it is of several days
    begins: date | None = None  # the date of day 0

    @property
    def value(self) -> Array:
        """The value of each day, a row of frequencies for categories; NaN where no estimate is possible."""
        return self._stack(lambda day: day.value)

    @property
    def standard_error(self) -> Array:
        """The standard error of each day, of the same shape; NaN where no estimate is possible."""
        return self._stack(lambda day: day.standard_error)

    @property
    def condition(self) -> str:
        """The condition under which the intervals of days cover, or an empty text."""
        return next((day.condition for day in self.days if day is not None), "")

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends of the intervals, each with probability `level`; NaN where none is known."""
        low = self._stack(lambda day: day.interval(level)[0])
        high = self._stack(lambda day: day.interval(level)[1])
        reach = (self.drift or 0.0) * self.distances.reshape(-1, *(1,) * (low.ndim - 1))
        return low - reach, high + reach

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest possible value."""
        return next((day.limits for day in self.days if day is not None), (-math.inf, math.inf))

    @property
    def unit(self) -> str:
        """The unit of the values."""
        return next((day.unit for day in self.days if day is not None), "")

    def records(self) -> list[Row]:
        """Return a row for each day, or for each answer of it; NaN where no estimate is possible.

        Values that are dates or times are texts, and None where no estimate is possible.
        """
        rows = self.numbers()
        if self.begins is not None:
            rows = [{**row, "day": (self.begins + timedelta(row["day"])).isoformat()} for row in rows]
        return self.unit.rows(rows) if isinstance(self.unit, Calendar) else rows

    def numbers(self) -> list[Row]:
        """Return the rows with numbers in place of dates and times, and of days."""
        firsts = self.firsts or range(len(self))
        names = next((day._names() for day in self.days if day is not None), [{}])
        parts = [part.reshape(len(self), -1).tolist() for part in (self.value, *self.interval())]
        return [
            {
                "day": day,
                **name,
                **dict(zip(("value", "low", "high"), numbers, strict=True)),
                "n": n,
            }
            for day, n, *cells in zip(
                firsts, (0 if found is None else found.n for found in self.days), *parts, strict=True
            )
            for name, *numbers in zip(names, *cells, strict=True)
        ]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the days as a line with a band, one for each answer; needs the extra `plot`."""
        from dither.estimation.plotting import draw_days

        return draw_days(self, title=title, ax=ax)

    def __getitem__(self, day: int) -> Estimate | None:
        return self.days[day]

    def __len__(self) -> int:
        return len(self.days)

    def __iter__(self) -> Iterator[Estimate | None]:
        return iter(self.days)

    def __repr__(self) -> str:
        pooled = "" if self.smoothing == 1 else f", {self.smoothing} days pooled"
        if self.smoothing == "auto":
            pooled = ", smoothed" + (" with a weekly pattern" if self.weekly > 0.5 else "")
            pooled += f", a jump before day {', '.join(map(str, self.jumps))}" if self.jumps else ""
        more = f";{self.condition}" if self.smoothing == "auto" else ""
        widest = np.nanmedian((np.subtract(*self.interval()[::-1])) / 2.0) if any(self.days) else np.nan
        parts = f"{len(self)} {'periods' if self.firsts else 'days'}"
        return f"EstimatedDays({parts}, about ± {widest:.2g}, n = {thousands(self.n)}{pooled}{more})"

    def _stack(self, part: Callable[[Estimate], Any]) -> Array:
        known = [None if day is None else np.asarray(part(day), dtype=np.float64) for day in self.days]
        shape = next((array.shape for array in known if array is not None), ())
        return np.stack([np.full(shape, np.nan) if array is None else array for array in known])


def by_day(
    reports: DatedReports | ChangeReports | ChangeCounts,
    *,
    smoothing: int | Literal["auto"] = 1,
    drift: float | None = None,
    every: int | Literal["day", "week", "month"] = 1,
    begins: date | str | None = None,
) -> EstimatedDays:
    """Estimate the mean, or the frequencies, of each day from reports of `dt.Once` or `dt.KeptChange`.

    `every=7` estimates periods of seven days, counted from the first day, from reports of `dt.Once`. With
    `begins`, the date of the first day, rows have dates, and `every` may be "week" (from Monday on) or
    "month" of the calendar; the first and the last of them may be incomplete.

    `smoothing` is an odd number of days, centred on the day, whose reports are pooled. It reduces noise and
    hides sudden changes: a shock is spread over these days. `drift` is the largest change of the value
    in a day, if that can be assumed; then intervals cover the value of the day and not only the average.

    `smoothing="auto"` models the values as a level that moves by random steps, with a weekly pattern if the
    reports show one. The size of the steps is estimated. Its intervals cover the value of the day itself,
    except next to a jump of the level that is too small to be detected; the estimates print this condition.
    It needs `dt.Once`, where different people report on each day.

    Reports of `dt.KeptChange`, or their counts by interval (`ChangeCounts`, which collectors publish), are
    estimated by least squares over all lengths of intervals. The shares are unbiased if nobody's value
    changes more than `changes` times. Later changes are ignored.

    >>> import dither as dt
    >>> smokes = dt.Once(dt.KRR(dt.Categories(["yes", "no"]), epsilon=1), days=4)
    >>> reports = smokes.perturb([["no"] * 2 + ["yes"] * 2] * 40_000, source=dt.Seeded(3))
    >>> dt.by_day(reports)
    EstimatedDays(4 days, about ± 0.019, n = 40 000)
    >>> dt.by_day(reports)[3]["yes"]
    0.983 (0.964 – 1›) (95 %, n = 10 134)
    """
    if not isinstance(reports, DatedReports | ChangeReports | ChangeCounts):
        raise InvalidParameter(
            f"expected the reports of dt.Once or dt.KeptChange for dt.by_day, got {found(reports)}"
        )
    days = reports.once.days if isinstance(reports, DatedReports) else reports.change.days
    first = _as_date(reports.begins if begins is None and isinstance(reports, ChangeCounts) else begins)
    firsts = _first_days(every, days, first)
    if len(firsts) < days:
        if not isinstance(reports, DatedReports) or smoothing != 1 or drift is not None:
            raise InvalidParameter(
                "expected no `smoothing` and no `drift` with every, because it pools the reports of dt.Once "
                "by several days; leave them out"
            )
        return replace(_by_several_days(reports, firsts), begins=first)
    return replace(_by_single_days(reports, days, smoothing, drift), begins=first)


def _as_date(begins: date | str | None) -> date | None:
    """Return the date of the first day; texts are ISO dates."""
    if begins is None or isinstance(begins, date):
        return begins
    try:
        return date.fromisoformat(begins)
    except (ValueError, TypeError):
        raise InvalidParameter(
            f'expected begins to be the date of the first day, such as "2026-05-04", got {found(begins)}'
        ) from None


def _first_days(every: int | str, days: int, begins: date | None) -> tuple[int, ...]:
    """Return the first day of each period, from day 0 on."""
    if isinstance(every, str):
        if every not in ("day", "week", "month"):
            raise unknown_name("period", every, ["day", "week", "month"])
        if begins is None and every != "day":
            raise InvalidParameter(
                f'expected the date of the first day for every="{every}", such as begins="2026-05-04", got '
                "none"
            )
        dates = [(begins or date.min) + timedelta(day) for day in range(days)]
        starts = [period_start(every, day) for day in dates]
        return (0, *(day for day in range(1, days) if starts[day] != starts[day - 1]))
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= days:
        raise InvalidParameter(
            f'expected every to be a number of days from 1 to {days}, "week" or "month", got {found(every)}'
        )
    return tuple(range(0, days, every))


def _by_single_days(
    reports: DatedReports | ChangeReports | ChangeCounts,
    days: int,
    smoothing: int | Literal["auto"],
    drift: float | None,
) -> EstimatedDays:
    """Return an estimate for each day, with optional smoothing."""
    if smoothing == "auto":
        if drift is not None or not isinstance(reports, DatedReports):
            raise InvalidParameter(
                'expected no `drift` with smoothing="auto", because it estimates the drift from reports of '
                "dt.Once; leave `drift` out, or give an odd number of days"
            )
        return _by_evidence(reports)
    integral = isinstance(smoothing, int) and not isinstance(smoothing, bool)
    if not integral or smoothing % 2 == 0 or not 1 <= smoothing <= 2 * days - 1:
        raise InvalidParameter(
            f'expected smoothing to be "auto" or an odd number of days from 1 to {2 * days - 1}, '
            f"got {found(smoothing)}"
        )
    if drift is not None and not finite("drift", drift) >= 0.0:
        raise InvalidParameter(f"expected drift to be a number from 0 upwards, got {found(drift)}")
    if not isinstance(reports, DatedReports):
        shares, people = shares_by_day(reports, smoothing)
        distances = pooled_distances(days, smoothing)
        return EstimatedDays(tuple(shares), smoothing, drift, distances, reports.change.guarantee, people)
    half = smoothing // 2
    counts = reports_by_day(reports)
    known: list[Estimate | None] = []
    distances = np.zeros(days)
    for day in range(days):
        first, end = max(0, day - half), min(days, day + half + 1)
        near = counts[first:end]
        if near.sum():
            distances[day] = np.average(np.abs(np.arange(first, end) - day), weights=near)
        try:
            known.append(estimate(reports.between(first, end)))
        except NotIdentifiable:
            known.append(None)
    return EstimatedDays(tuple(known), smoothing, drift, distances, reports.once.guarantee, len(reports))


def _by_several_days(reports: DatedReports, firsts: tuple[int, ...]) -> EstimatedDays:
    """Return an estimate for each period, from its first day to the day before the next period."""
    known: list[Estimate | None] = []
    for first, end in pairwise([*firsts, reports.once.days]):
        try:
            known.append(estimate(reports.between(first, end)))
        except NotIdentifiable:
            known.append(None)
    distances = np.zeros(len(firsts))
    guarantee = reports.once.guarantee
    return EstimatedDays(tuple(known), 1, None, distances, guarantee, len(reports), firsts=firsts)


def reports_by_day(reports: DatedReports) -> Integers:
    """Return the number of reports of each day."""
    return np.bincount(reports.days, minlength=reports.once.days)


def _by_evidence(reports: DatedReports) -> EstimatedDays:
    """Return the estimates of days, with a smoothness that is estimated from the reports."""
    counts = reports_by_day(reports)
    if np.count_nonzero(counts) < 3:
        raise NotIdentifiable(
            'expected reports of at least three days for smoothing="auto"; collect more days, or give a '
            "number of days"
        )
    complete = estimate(reports.between(0, counts.size))
    domain = reports.once.question.domain
    if domain.circular or (np.ndim(complete.value) and not complete.labels):
        raise InvalidParameter('expected means or frequencies for smoothing="auto"; give a number of days')
    size = max(np.size(complete.value), 1)
    values, variances = np.zeros((2, counts.size, size))
    for day in np.flatnonzero(counts).tolist():
        try:
            found = estimate(reports.between(day, day + 1))
        except NotIdentifiable:
            counts[day] = 0
            continue
        values[day], variances[day] = found.value, np.square(found.standard_error)
    # One person's variance hardly changes between days, so for few reports it is estimated from all days.
    known = counts > 0
    each = np.average(variances[known] * counts[known, None], axis=0, weights=counts[known])
    few = (counts < _FEW)[:, None]
    variances = np.where(few, each / np.maximum(counts, 1)[:, None], variances)
    variances[~known] = np.inf
    scale = float(domain.length) if isinstance(domain, Line) else 1.0
    columns = [smooth_days(values[:, part], variances[:, part], scale) for part in range(size)]
    days: list[Estimate | None] = []
    for day in range(counts.size):
        both = np.array([(column.values[day], column.errors[day]) for column in columns]).T
        value, error = both if complete.labels else both[:, 0].tolist()
        interval = StudentInterval(value, error, complete.n, condition=_SMALL_JUMP)
        facts: Any = {"labels": complete.labels, "unit": complete.unit, "limits": complete.limits}
        facts["origin"] = reports  # a smoothed day has reports of other days, too
        kind: type[Estimate] = LabelledEstimate if complete.labels else Estimate
        days.append(kind(value, error, complete.n, complete.guarantee, confidence=interval, **facts))
    weekly = max(column.weekly for column in columns)
    nothing = np.zeros(counts.size)
    jumps = tuple(sorted({day for column in columns for day in column.jumps}))
    found_days = tuple(days)
    return EstimatedDays(
        found_days, "auto", None, nothing, reports.once.guarantee, len(reports), weekly, jumps
    )
