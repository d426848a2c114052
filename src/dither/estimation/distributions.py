"""`EstimatedDistribution`: shares of bins, quantiles and the mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from dither.core.counts import Counts
from dither.core.domains import Line
from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import Clipping
from dither.core.people import People
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.curve import DensityCurve
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood import Bins, Fit, Histogram, Inference, Likeliest, edges_of
from dither.estimation.linear import linear
from dither.estimation.method import in_unit, number_question
from dither.estimation.rounding import OF_ANSWERS, thousands
from dither.estimation.same_people import with_people
from dither.foundation.arrays import Floats
from dither.foundation.numerics.matrices import product
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


_CHOICES: Final = (8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 100, 128)


def chosen_bins(curve: DensityCurve) -> Floats:
    """Return the ends of the fewest equal bins that cost less accuracy than the estimate has.

    The density is shown as constant within a bin. The mean squared error of this, over the domain, is less
    than the mean variance of the density. Each declared point has its own bin.
    """
    if curve.points is not None:
        if curve.points.size == 1:
            return edges_of(curve.line, 1)
        middles = (curve.points[1:] + curve.points[:-1]) / 2.0
        return curve.line.from_unit(np.concatenate([[0.0], middles, [1.0]]))
    heights = curve.shares[: curve.bins]
    noise = float(np.diagonal(curve.posterior.covariance)[: curve.bins].sum())
    centres = (np.arange(curve.bins) + 0.5) / curve.bins
    for count in _CHOICES:
        cell = np.minimum((centres * count).astype(np.int64), count - 1)
        means = np.bincount(cell, heights, count) / np.maximum(np.bincount(cell, minlength=count), 1)
        if float(np.square(heights - means[cell]).sum()) <= noise:
            break
    return edges_of(curve.line, count)


@dataclass(frozen=True, eq=False)
class PointMass:
    """A value that many people share, and the share of people who have it."""

    place: float
    share: Estimate
    unit: str = ""  # the unit of the value

    @property
    def shown(self) -> str:
        """The value as it is printed: a number, a date or a time."""
        return self.unit.text(self.place) if isinstance(self.unit, Calendar) else f"{self.place:.4g}"

    def __repr__(self) -> str:
        return f"{self.share} at {self.shown}"


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDistribution(Tabular):
    """The probabilities of bins of an interval or a circle, with shares, quantiles and the mode.

    `edges` are the ends of the bins. `curve` is the posterior of `"empirical bayes"`, and determines all
    shares and quantiles. `fit` is the fit of `"likelihood"`. Its shares and quantiles have profile likelihood
    intervals that do not depend on bins or smoothing. Both are None for a histogram of reports.
    """

    probabilities: Floats
    edges: Floats
    summary: Counts
    method: str
    fit: Fit | None = None
    curve: DensityCurve | None = None
    people: People = field(default=(), kw_only=True)  # who sent the reports, if known

    @classmethod
    def of_curve(cls, curve: DensityCurve, summary: Counts, method: str, bins: Bins) -> Self:
        """Return the distribution of a posterior over bins, by default as many as its error allows."""
        ends = chosen_bins(curve) if bins is None else edges_of(curve.line, bins)
        unit = curve.line.to_unit(ends)
        shares = product(curve.between(unit[:-1], unit[1:]), curve.shares)
        return cls(shares, ends, summary, method, curve=curve)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self.probabilities.size

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.summary.n

    @property
    def line(self) -> Line:
        """The domain that the bins divide."""
        return number_question(self.summary).line.shown

    @property
    def resolution(self) -> float:
        """The width below which detail is assumed to be smooth and is not seen; 0 without this assumption.

        The reports do not show a narrower wave or gap. Intervals of a curve hold if the density is smooth at
        this width between its point masses, and print this condition. `bands(strict=True)` and
        `method="likelihood"` do not assume smoothness.
        """
        return 0.0 if self.curve is None else self.curve.resolution * self.line.length

    @property
    def clipping(self) -> Clipping | None:
        """The interval to which the values were clipped, or None."""
        return self.line.clipping

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that made the reports."""
        return self.summary.question.guarantee

    @cached_property
    def atoms(self) -> tuple[PointMass, ...]:
        """The point masses that were found, the largest first; empty for methods without such a search."""
        if self.curve is None:
            return ()
        curve = self.curve
        rows = np.eye(curve.shares.size)[curve.bins :]
        masses = [
            PointMass(
                float(self.line.from_unit(np.asarray(atom.place))),
                replace(curve.share(row[None, :]), people=self.people),
                self.line.unit,
            )
            for atom, row in zip(curve.atoms, rows, strict=True)
            if curve.shares @ row > 0.0  # possible but unseen atoms at the ends have share 0
        ]
        return tuple(sorted(masses, key=lambda mass: -float(mass.share)))

    def pdf(self, x: object) -> Any:
        """Return the density at the values x, without point masses; 0 outside the domain."""
        try:
            point = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter("expected x to be a number or an array of numbers") from None
        if np.isnan(point).any():
            raise InvalidParameter("expected x without NaN; drop the missing values")
        inside = (point >= self.edges[0]) & (point <= self.edges[-1])
        if self.curve is not None:
            heights = self.curve.density(self.line.to_unit(point)) / self._lengths(point)
        else:
            cell = np.clip(np.searchsorted(self.edges, point, side="right") - 1, 0, self.bins - 1)
            heights = self.probabilities[cell] / np.diff(self.edges)[cell]
        density = np.where(inside, heights, 0.0)
        return float(density) if density.ndim == 0 else density

    @with_people
    def cdf(self, x: object) -> Estimate:
        """Estimate the share of people whose values are at most x."""
        self._check_ordered("a cdf")
        x = _place(x, self.line)
        if not self.line.low <= x < self.line.high:
            # The share is 0 or 1 with certainty.
            return Estimate(float(x >= self.line.high), 0.0, self.n, self.guarantee)
        if self.curve is not None:
            return self.curve.share_below(self.line.to_unit(np.array([x])))
        return self._inference.share(float(x))

    @with_people
    def tail(self, x: object) -> Estimate:
        """Estimate the share of people whose values are above x."""
        self._check_ordered("a tail")
        x = _place(x, self.line)
        if not self.line.low <= x < self.line.high:
            return Estimate(float(x < self.line.low), 0.0, self.n, self.guarantee)
        return self.share(x, self.line.high)

    @with_people
    def share(self, first: object, last: object) -> Estimate:
        """Estimate the share of people above `first` and at most at `last`; the lowest value is included.

        On a circle it is the share from `first` forward to `last`.
        """
        low, high = (min(max(_place(x, self.line), self.line.low), self.line.high) for x in (first, last))
        if high < low and not self.line.circular:
            raise InvalidParameter("expected first ≤ last, got the first above the last; exchange them")
        if self.curve is not None:
            unit = self.line.to_unit(np.array([low, high]))
            return self.curve.share_between(unit[:1], unit[1:])
        return self._inference.between(low, high)

    @with_people
    def quantile(self, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        self._check_ordered("a quantile")
        if not (isinstance(q, int | float | np.floating) and 0.0 < q < 1.0):
            raise InvalidParameter(
                f"expected the q of a quantile to be a number strictly between 0 and 1, got {found(q)}"
            )
        answer = self._inference.quantile(float(q)) if self.curve is None else self.curve.quantile(q)
        return in_unit(answer, self.summary)

    def _lengths(self, points: Floats) -> Floats | float:
        """Return the length of the line in the values' unit; on a scale, from the slope at a point."""
        if self.line.parts == 1:
            return self.line.length
        edges = self.line.from_unit(np.linspace(0.0, 1.0, self.line.parts + 1))
        part = np.clip(np.searchsorted(edges, points, side="right") - 1, 0, self.line.parts - 1)
        return np.asarray(np.diff(edges)[part] * self.line.parts)

    def _check_plain(self, what: str) -> None:
        if self.line.parts > 1:
            raise NotIdentifiable(
                f"expected numbers in their unit for {what}, got positions on a scale; use the interval of "
                "dt.bounds(reports) for further reports"
            )

    @with_people
    def mode(self) -> Estimate:
        """Estimate the likeliest value: a point mass, or where the density is highest.

        A point mass counts if more people are at it than in the fullest of 128 equal bins.
        """
        self._check_plain("a mode")
        if self.curve is None:
            raise InvalidParameter(
                "expected a smooth curve, because the mode is its highest point; use method='empirical bayes'"
            )
        return in_unit(self.curve.mode(), self.summary)

    @with_people
    def mean(self) -> Estimate:
        """Estimate the mean, by `dt.mean` where it is available."""
        self._check_ordered("a mean")
        self._check_plain("a mean")
        # Otherwise an average would count people without an answer.
        everybody = not hasattr(self.summary, "unsure")
        straight = everybody and number_question(self.summary).unbiased_reading() is not None
        if self.curve is not None and straight:
            return in_unit(linear.mean(self.summary), self.summary)
        return in_unit(self._inference.mean(), self.summary)

    @with_people
    def variance(self) -> Estimate:
        """Estimate the variance, by likelihood."""
        self._check_ordered("a variance")
        self._check_plain("a variance")
        return self._inference.variance()

    def bands(
        self, level: float = 0.95, *, simultaneous: bool = False, strict: bool = False
    ) -> tuple[Floats, Floats]:
        """Return the ends of an interval for each bin's probability.

        The intervals of a curve cover the truth in a share `level` of the bins on average, if the density is
        smooth between its point masses. With `simultaneous` they hold in all bins at once with that
        probability. With `strict` they are profile likelihood intervals. They assume no smoothness and are
        wider.
        """
        if self.curve is not None and not strict:
            unit = self.line.to_unit(self.edges)
            parts, wide = (self.curve.between(unit[:-1], unit[1:], wide=wide) for wide in (False, True))
            return self.curve.bands(parts, level, simultaneous=simultaneous, wide=wide)
        if simultaneous:
            level = 1.0 - (1.0 - level) / self.bins  # Bonferroni
        ends = [answer.interval(level) for answer in self._of(self.bins).each(self.edges)]
        low, high = np.clip(np.array(ends).T, 0.0, 1.0)
        return low, high

    def plot(
        self,
        *,
        level: float | None = None,
        bands: bool = True,
        strict: bool = False,
        title: str = "",
        truth: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the density with its bands on `ax`, and return the axes.

        A curve has 95 % bands unless another level is given, and point masses are vertical lines. Bands of a
        fit by likelihood are drawn if a level is given. `truth` are the true values of people in a
        simulation, drawn as a grey histogram; the distribution must not be on a circle.
        """
        from dither.estimation.plotting import draw_bands, draw_distribution

        usual = 0.95 if level is None else level
        by_curve = self.curve is not None and not strict and bands
        axes = draw_distribution(self, level=usual if by_curve else None, title=title, ax=ax)
        if bands and not by_curve and (strict or level is not None):
            draw_bands(self, usual, axes, strict=strict)
        if truth is not None:
            if self.line.circular:
                raise InvalidParameter(
                    "expected a distribution on an interval; leave out `truth` on a circle"
                )
            axes.hist(np.asarray(truth), 60, density=True, color="lightgrey", zorder=0, label="truth")
            axes.legend(frameon=False, fontsize="small")
        return axes

    def items(self) -> Iterator[tuple[tuple[float, float], Estimate]]:
        """Return the ends of the bins with the shares of people in them."""
        ends = self.edges.tolist()
        return ((pair, self.share(*pair)) for pair in pairwise(ends))

    def records(self, level: float | None = None) -> list[Row]:
        """Return a row for each bin: its ends, its share, and the ends of its interval at a level.

        Without a level only a curve has intervals (95 %), because intervals of a likelihood fit take longer.
        Ends that are dates or times are texts.
        """
        rows, unit = self.numbers(level), self.line.unit
        if not isinstance(unit, Calendar):
            return rows
        sides = unit.bins(self.edges.tolist())
        return [{**row, "from": a, "to": b} for row, (a, b) in zip(rows, sides, strict=True)]

    def numbers(self, level: float | None = None) -> list[Row]:
        """Return the rows with numbers in place of dates and times."""
        of = {"of": self.of_whom.removeprefix(", of ")} if self.of_whom else {}
        rows: list[Row] = [
            {"from": first, "to": last, "value": value, **of}
            for (first, last), value in zip(
                pairwise(self.edges.tolist()), self.probabilities.tolist(), strict=True
            )
        ]
        points = self.line.points
        if points is not None and len(points) == self.bins:  # one bin about each possible answer
            rows = [{"point": point, **row} for point, row in zip(points.tolist(), rows, strict=True)]
        if self.curve is None and level is None:
            return rows
        low, high = (end.tolist() for end in self.bands(0.95 if level is None else level))
        return [{**row, "low": least, "high": most} for row, least, most in zip(rows, low, high, strict=True)]

    def __repr__(self) -> str:
        what = f"{self.bins} bins of {self.line}, {self.method}, n = {thousands(self.n)}"
        if self.atoms:
            shown = ", ".join(f"{mass.shown} ({100 * float(mass.share):.2g} %)" for mass in self.atoms[:5])
            what += f", point masses at {shown}{', …' if len(self.atoms) > 5 else ''}"
        if self.curve is not None:
            what += self.curve.condition.replace(" if", ",")
        what += self.of_whom
        if self.clipping is not None:
            what += f"; {self.clipping}"
        return f"EstimatedDistribution({what})"

    @property
    def of_whom(self) -> str:
        """A remark that the shares are of people who answered an optional number; empty if all did."""
        return OF_ANSWERS if hasattr(self.summary, "unsure") else ""

    @cached_property
    def _inference(self) -> Inference:
        return self._of(1)

    def _of(self, parts: int) -> Inference:
        if self.fit is None and self.curve is None:
            return Histogram(self.probabilities, self.edges, self.n, self.guarantee)
        return Likeliest.of(self.summary, parts)

    def _check_ordered(self, what: str) -> None:
        if self.line.circular:
            raise InvalidParameter(
                f"expected an interval, because {what} is not defined on a circle; use dt.mean, the mean "
                "direction"
            )


def _place(x: object, line: Line) -> float:
    if isinstance(line.unit, Calendar):
        return line.unit.number(x)
    if isinstance(x, bool) or not isinstance(x, int | float | np.integer | np.floating):
        raise InvalidParameter(f"expected x to be one number, got {type(x).__name__}")
    if np.isnan(x):
        raise InvalidParameter("expected x to be a number, got NaN")
    return float(x)
