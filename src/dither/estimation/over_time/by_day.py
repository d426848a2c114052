"""`dt.by_day`: estimates for each day from dated reports, pooled over neighbouring days on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import finite
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.api import estimate
from dither.estimation.estimate import Estimate, thousands
from dither.estimation.over_time.changes import pooled_distances, shares_by_day
from dither.privacy import Guarantee
from dither.repetition.change_reports import ChangeReports
from dither.repetition.dated import DatedReports


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDays:
    """An estimate for each day, or None where no estimate is possible, such as on a day without reports.

    `smoothing` is the number of days that are pooled. An interval covers the average of the pooled days,
    weighted by their reports. With `drift`, the most by which the value changes from one day to the next, it
    is widened so that it covers the value of the day itself.
    """

    days: tuple[Estimate | None, ...]
    smoothing: int
    drift: float | None
    distances: Floats  # the mean distance, in days, of the pooled reports from each day
    guarantee: Guarantee
    n: int

    @property
    def value(self) -> Array:
        """The value of each day, a row of frequencies for categories; NaN where no estimate is possible."""
        return self._stack(lambda day: day.value)

    @property
    def standard_error(self) -> Array:
        """The standard error of each day, of the same shape; NaN where no estimate is possible."""
        return self._stack(lambda day: day.standard_error)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends of the intervals, each with probability `level`; NaN where none is known."""
        low = self._stack(lambda day: day.interval(level)[0])
        high = self._stack(lambda day: day.interval(level)[1])
        reach = (self.drift or 0.0) * self.distances.reshape(-1, *(1,) * (low.ndim - 1))
        return low - reach, high + reach

    def __getitem__(self, day: int) -> Estimate | None:
        return self.days[day]

    def __len__(self) -> int:
        return len(self.days)

    def __iter__(self) -> Iterator[Estimate | None]:
        return iter(self.days)

    def __repr__(self) -> str:
        pooled = "" if self.smoothing == 1 else f", {self.smoothing} days pooled"
        widest = np.nanmedian((np.subtract(*self.interval()[::-1])) / 2.0) if any(self.days) else np.nan
        return f"EstimatedDays({len(self)} days, about ± {widest:.2g}, n = {thousands(self.n)}{pooled})"

    def _stack(self, part: Callable[[Estimate], Any]) -> Array:
        known = [None if day is None else np.asarray(part(day), dtype=np.float64) for day in self.days]
        shape = next((array.shape for array in known if array is not None), ())
        return np.stack([np.full(shape, np.nan) if array is None else array for array in known])


def by_day(
    reports: DatedReports | ChangeReports, *, smoothing: int = 1, drift: float | None = None
) -> EstimatedDays:
    """Estimate the mean, or the frequencies, of each day from reports of `dt.Once` or `dt.KeptChange`.

    `smoothing` is an odd number of days, centred on the day, whose reports are pooled. It reduces noise and
    hides sudden changes: a shock is spread over so many days. `drift` is the most by which the value changes
    in a day, if that can be assumed; then intervals cover the value of the day and not only the average.

    Reports of `dt.KeptChange` are estimated by least squares over all lengths of intervals. Its shares are
    unbiased if nobody's value changes more often than `changes` says; further changes are not seen.

    >>> import dither as dt
    >>> smokes = dt.Once(dt.RR(dt.Categories(["yes", "no"]), epsilon=1), days=4)
    >>> reports = smokes.perturb([["no"] * 2 + ["yes"] * 2] * 40_000, source=dt.Seeded(3))
    >>> dt.by_day(reports)
    EstimatedDays(4 days, about ± 0.019, n = 40 000)
    >>> dt.by_day(reports)[3]["yes"]
    0.983 ± 0.019 (95 %, n = 10 134)
    """
    if not isinstance(reports, DatedReports | ChangeReports):
        raise InvalidParameter(
            f"dt.by_day needs the reports of dt.Once or dt.KeptChange, not {found(reports)}"
        )
    days = reports.once.days if isinstance(reports, DatedReports) else reports.change.days
    whole = isinstance(smoothing, int) and not isinstance(smoothing, bool)
    if not whole or smoothing % 2 == 0 or not 1 <= smoothing <= 2 * days - 1:
        raise InvalidParameter(
            f"smoothing is an odd number of days from 1 to {2 * days - 1}, not {found(smoothing)}"
        )
    if drift is not None and not finite("drift", drift) >= 0.0:
        raise InvalidParameter(f"drift is a number from 0 upwards, not {found(drift)}")
    if isinstance(reports, ChangeReports):
        shares, people = shares_by_day(reports, smoothing)
        distances = pooled_distances(days, smoothing)
        return EstimatedDays(tuple(shares), smoothing, drift, distances, reports.change.guarantee, people)
    half = smoothing // 2
    counts = np.bincount(reports.days, minlength=days)
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
