"""`dt.bounds`: an interval that contains the values of most people, as the domain of a second campaign.

A range that is ten times too wide needs a hundred times as many people. So a few people first report on a
wide scale. Two quantiles of their values, slightly widened, bound the interval for the others. A person takes
part in only one of the two campaigns, so the confidence intervals of the second campaign hold for every
choice that is based on the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from dither.core.counts import Counts, name_result
from dither.core.domains import Interval
from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import Clipping, show_range
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.curve import DensityCurve, QuantileInterval
from dither.estimation.distribution_methods import empirical_bayes, is_too_coarse
from dither.estimation.estimate import LabelledEstimate
from dither.estimation.intervals import PartIntervals, level_of_one
from dither.estimation.method import number_question
from dither.estimation.rounding import thousands
from dither.estimation.verbs import count_numbers
from dither.foundation.numerics.distributions import student_t_quantile

LEVEL: Final = 0.95
LOOKS: Final = 100  # number of looks at which the intervals hold together
MOST_RATIO: Final = 2.0  # largest ratio of the widest to the narrowest range within the intervals
_MARGIN: Final = 1.0 / 32.0  # relative to the scale: margin beyond each quantile
_MOST_FACTOR: Final = 1e6
_FAR: Final = 4.0  # widths; an interval farther from 0 is rounded relative to its width


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(LabelledEstimate):
    """Two quantiles of people's values, and the interval [`low`, `high`] for the reports of others.

    The estimate's value is the two quantiles, in the units of the values. `low` and `high` are a 32nd of the
    scale beyond the quantiles, rounded outwards to two digits. `ready` is True if the quantiles are known
    well enough: the widest range that their intervals allow is at most twice the narrowest. If not, `missing`
    is about the number of further people needed. The intervals hold at 100 looks together, each at 1.2 times
    as many reports as the look before. A group at an end of the scale is left out of a quantile if it may be
    smaller than the share beyond the quantile. The share outside counts this group.
    """

    curve: DensityCurve = field(kw_only=True)  # the posterior, including possible unseen people at the ends
    parts: tuple[QuantileInterval, ...] = field(kw_only=True)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self._range(*self._quantiles(0.0, 0.0))[0]

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self._range(*self._quantiles(0.0, 0.0))[1]

    @cached_property
    def widest(self) -> tuple[float, float]:
        """The widest interval that is compatible with the reports, at 100 looks."""
        return self._range(*self._quantiles(1.0, -1.0))

    @cached_property
    def narrowest(self) -> tuple[float, float]:
        """The narrowest interval that is compatible with the reports; empty if its ends are not in order."""
        return self._range(*self._quantiles(-1.0, 1.0))

    @property
    def ready(self) -> bool:
        """Whether the quantiles are known well enough for a second campaign."""
        return self._ratio(1.0) <= MOST_RATIO

    @property
    def missing(self) -> int:
        """The approximate number of further people needed; 0 if the quantiles are known well enough."""
        if self.ready:
            return 0
        low, high = 1.0, _MOST_FACTOR
        for _ in range(50):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._ratio(1.0 / math.sqrt(middle)) > MOST_RATIO else (low, middle)
        more = self.n * (high - 1.0)
        digits = math.floor(math.log10(max(more, 1.0))) - 1
        return int(math.ceil(more / 10.0**digits) * 10**digits) if digits > 0 else math.ceil(more)

    @property
    def outside(self) -> tuple[float, float, float]:
        """The share of people outside [`low`, `high`], and the ends of its interval for 100 looks."""
        return self.share_outside(self.low, self.high)

    def share_outside(self, low: float, high: float) -> tuple[float, float, float]:
        """Return the share of people below `low` or above `high`, and the ends of its 95 % interval.

        The interval allows for people at the ends of the scale who are too few to be found.
        """
        line = self.curve.line
        if low <= line.low and high >= line.high:
            return 0.0, 0.0, 0.0
        ends = line.to_unit(np.array([max(low, line.low), min(high, line.high)]))
        inside = self.curve.share_between(ends[:1], ends[1:])
        least, most = inside.interval(level_of_one(LEVEL, LOOKS))
        share, below, above = (min(max(1.0 - float(part), 0.0), 1.0) for part in (inside, most, least))
        return share, min(below, share), max(above, share)

    def interval_domain(self) -> Interval:
        """Return the interval for other people's reports; raise NotIdentifiable unless `ready`."""
        self.check()
        return Interval(self.low, self.high, unit=self.unit, clipped_from=self)

    def check(self) -> None:
        """Raise NotIdentifiable, with the number of further people needed, unless `ready`."""
        if not self.ready:
            low, high = self.narrowest
            least = show_range(low, high, self.unit) if low < high else "a single value"
            raise NotIdentifiable(
                f"the bounds are not known well enough: {least} to {show_range(*self.widest, self.unit)} are "
                f"possible, and the widest may be at most {MOST_RATIO:g} times as long as the narrowest; "
                f"about {thousands(self.missing)} more people have to answer"
            )

    def _quantiles(self, *signs: float, shrink: float = 1.0) -> tuple[float, float]:
        """Return both quantiles, moved inwards by `shrink` times the half-widths of their intervals."""
        reach = student_t_quantile(level_of_one(LEVEL, LOOKS)) * shrink
        low, high = (part.crossing(sign * reach) for part, sign in zip(self.parts, signs, strict=True))
        return low, high

    def _ratio(self, shrink: float) -> float:
        (low, high), (least, most) = (
            self._range(*self._quantiles(*signs, shrink=shrink)) for signs in ((1.0, -1.0), (-1.0, 1.0))
        )
        return (high - low) / (most - least) if most > least else math.inf

    def _range(self, low: float, high: float) -> tuple[float, float]:
        """Return an interval a little wider than the one between two quantiles, with two digits."""
        line = self.curve.line
        unit = line.to_unit(np.array([low, high])) + np.array([-_MARGIN, _MARGIN])
        wide = line.from_unit(np.clip(unit, 0.0, 1.0))
        if isinstance(self.unit, Calendar):
            return max(float(np.floor(wide[0])), line.low), min(float(np.ceil(wide[1])), line.high)
        ends = [
            _round_outwards(float(end), abs(float(wide[1] - wide[0])), up=up)
            for end, up in zip(wide, (False, True), strict=True)
        ]
        return max(ends[0], line.low), min(ends[1], line.high)

    @property
    def words(self) -> str:
        """A text: the interval for others, the share outside it and the number of further people needed."""
        share, least, most = self.outside
        where = f"{show_range(self.low, self.high, self.unit)}{self._in_unit()}"
        beyond = Clipping(self.low, self.high, (share, least, most)).beyond
        more = f"; not known well enough: about {thousands(self.missing)} more people have to answer"
        return f"{where}, {beyond}{'' if self.ready else more}"

    def __repr__(self) -> str:
        return f"{super().__repr__()}: {self.words}"


def _without_doubtful_ends(curve: DensityCurve, tails: tuple[float, float]) -> DensityCurve:
    """Return the curve without a group at an end of the scale that may be smaller than the share it hides.

    Otherwise a few people at an end, or an estimate of none, would move a quantile to the end of a scale that
    is wide on purpose. The share outside counts these people.
    """
    gone = []
    for number, atom in enumerate(curve.atoms):
        if atom.place in (0.0, 1.0):
            share = curve.share(np.eye(curve.shares.size)[[curve.bins + number]])
            least, _ = share.interval(level_of_one(LEVEL, LOOKS))
            if least < tails[int(atom.place)]:
                gone.append(number)
    return curve.without_atoms(gone) if gone else curve


def _round_outwards(end: float, width: float, *, up: bool) -> float:
    """Return a number rounded outwards to two digits; far from 0, to two digits of the width."""
    if end == 0.0 or not width > 0.0:
        return end
    sizes = (abs(end), width) if width < abs(end) / _FAR else (abs(end),)
    step = min(10.0 ** (math.floor(math.log10(size)) - 1) for size in sizes)
    count = end / step
    near = round(count)
    steps = near if math.isclose(count, near, rel_tol=1e-9) else math.ceil(count) if up else math.floor(count)
    return float(f"{steps * step:.12g}")


@name_result
def bounds(reports: Reports | Counts, q: Sequence[float] = (0.02, 0.98)) -> Bounds:
    """Estimate two quantiles of people's values, and an interval that contains the values of most people.

    The reports are of a wide domain, such as the reports of `SW` on `dt.Interval(0, 1440).on_scale("log")`.
    The result prints both quantiles with their intervals. `found.interval_domain()` is the domain for other
    people, or raises NotIdentifiable if the quantiles are not known well enough. `dt.Interval(found.low,
    found.high, clipped_from=found)` is the same domain without this check. The method is empirical Bayes.

    >>> import dither as dt
    >>> wide = dt.Interval(0, 1440, unit="minutes").on_scale("log")
    >>> first = dt.SW(wide, epsilon=2)
    >>> told = first.perturb(wide.positions([30, 40, 50, 60] * 10_000), source=dt.Seeded(1))
    >>> bounds(told).interval_domain().clipping.values
    'values clipped to [23, 77]'
    """
    shares = tuple(q) if isinstance(q, list | tuple) else ()
    numbers = all(isinstance(share, int | float) and not isinstance(share, bool) for share in shares)
    if len(shares) != 2 or not numbers or not 0.0 < shares[0] < shares[1] < 1.0:
        raise InvalidParameter(
            f"expected q to be two shares between 0 and 1, the lower one first, got {found(q)}"
        )
    summary = count_numbers(reports)
    line = number_question(summary).line.shown
    if line.circular or is_too_coarse(summary):
        raise NotIdentifiable(
            "expected reports of numbers on an interval by a mechanism for distributions, such "
            'as SW: dt.SW(dt.Interval(0, 1440).on_scale("log"), epsilon=1)'
        )
    seen, complete = empirical_bayes.curves(summary)
    seen = _without_doubtful_ends(seen, (shares[0], 1.0 - shares[1]))
    made = [seen.quantile(share) for share in shares]
    parts = tuple(part.confidence for part in made if isinstance(part.confidence, QuantileInterval))
    interval = PartIntervals(parts, parts[0].condition)
    return Bounds(
        np.array([float(part) for part in made]),
        np.array([float(part.standard_error) for part in made]),
        summary.n,
        complete.guarantee,
        confidence=interval,
        labels=tuple(f"quantile {share:g}" for share in shares),
        unit=line.unit,
        limits=(line.low, line.high),
        curve=complete,
        parts=parts,
    )
