"""Shares of each day from reports of `KeptChange`: the first day's share, and the changes since."""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.over_time.tree import UNKNOWN, NoisySums, running_sums
from dither.repetition.change_reports import ChangeReports
from dither.repetition.kept_change import KeptChange

_MOST_VARIANCE: Final = UNKNOWN / 1e6  # above it, a part of the days has no reports at all


def shares_by_day(reports: ChangeReports, smoothing: int) -> tuple[list[Estimate | None], int]:
    """Return the shares of each day, None where a part of its reports is missing, and the number of people.

    The share is that of values which stay as they are after `changes` changes. Variances are upper bounds: a
    report is one of two, so its variance is at most ¼, and the reports of a person in two intervals are
    never positively correlated.
    """
    change = reports.change
    counts = [reports.counted(group) for group in range(change.groups)]
    people = sum(int(total.max(initial=0)) for total, _ in counts)
    other, gap = _response(change)
    (total,), (ones,) = counts[0]
    begin, spread = 0.0, UNKNOWN
    if total:
        begin = float(ones / total - other) / gap
        near = (ones + 2.0) / (total + 4.0)  # never 0 or 1 [Agresti98]
        spread = float(near * (1.0 - near) / total) / gap**2
    levels = []
    for total, ones in counts[1:]:
        seen = np.maximum(total, 1)
        # A report is about "yes" with probability (1 + d)/2; d, the mean kept change, is 1/changes of all.
        values = np.where(total > 0, (2.0 * (ones / seen - other) / gap - 1.0) * change.changes, 0.0)
        levels.append(NoisySums(values, np.where(total > 0, _noise(change, gap) / seen, UNKNOWN)))
    sums, variances = running_sums(levels, change.days, smoothing)
    found: list[Estimate | None] = []
    for share, variance in zip(begin + sums, spread + variances, strict=True):
        if variance > _MOST_VARIANCE:
            found.append(None)
            continue
        value, error = np.array([1.0 - share, share]), np.full(2, np.sqrt(variance))
        found.append(LabelledEstimate(value, error, people, change.guarantee, labels=change.domain.labels))
    return found, people


def predicted_error(change: KeptChange, n: int) -> float:
    """Return the root mean square, over all days, of the standard error of a day's share with n people."""
    _, gap = _response(change)
    each = n / change.groups
    levels = [
        NoisySums(np.zeros(size), np.full(size, _noise(change, gap) / each))
        for size in (change.intervals(group) for group in range(1, change.groups))
    ]
    _, variances = running_sums(levels, change.days)
    return float(np.sqrt(np.mean(variances) + 0.25 / each / gap**2))


def _response(change: KeptChange) -> tuple[float, float]:
    """Return the probability of the second report under the first answer, and by how much the second adds."""
    first, second = (change.question.kernel.probabilities(code)[1] for code in (0, 1))
    return float(first), float(second - first)


def _noise(change: KeptChange, gap: float) -> float:
    """Return the variance of one person's estimate of the changes in an interval, at most."""
    return change.changes**2 / gap**2


def pooled_distances(days: int, smoothing: int) -> Floats:
    """Return the mean distance, in days, of the days that are averaged around each day."""
    half = smoothing // 2
    each = np.arange(days)
    below, above = np.minimum(each, half), np.minimum(days - 1 - each, half)
    total = below * (below + 1) / 2.0 + above * (above + 1) / 2.0
    return np.asarray(total / (below + above + 1.0))
