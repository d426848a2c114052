"""`EstimatedDistribution`: probabilities of equal bins, with means, shares and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Line
from dither.errors import InvalidParameter, found
from dither.estimation.estimate import Estimate, thousands
from dither.estimation.likelihood.binned import Histogram, Inference, Likeliest, edges
from dither.estimation.likelihood.em import Fit
from dither.estimation.method import Method, numerical
from dither.estimation.summary import Summary
from dither.mechanisms.plotting import axes_or_new
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_BINS: Final = 1 << 16


@final
@dataclass(frozen=True, eq=False)
class EstimatedDistribution:
    """The probabilities of equal bins of an interval or a circle, and further estimates with their errors.

    `fit` holds the likelihood that was reached; it is None for a histogram of the reports themselves. Means,
    shares and quantiles are estimated from the counts again: they do not depend on the number of bins or on
    smoothing.
    """

    probabilities: Floats
    summary: Summary
    method: Method
    fit: Fit | None = None

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.probabilities.size

    @property
    def n(self) -> int:
        """How many reports there are."""
        return self.summary.n

    @property
    def line(self) -> Line:
        """The domain that the bins divide."""
        return numerical(self.summary).line

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that made the reports."""
        return self.summary.mechanism.guarantee

    @cached_property
    def edges(self) -> Floats:
        """The ends of the bins: one more than there are bins."""
        return edges(self.line, self.bins)

    def pdf(self, x: object) -> Any:
        """Return the density at places x: constant within a bin, 0 outside the domain."""
        try:
            place = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter("x is a number or an array of numbers") from None
        if np.isnan(place).any():
            raise InvalidParameter("x contains NaN")
        cell = np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, self.bins - 1)
        inside = (place >= self.edges[0]) & (place <= self.edges[-1])
        density = np.where(inside, self.probabilities[cell] * self.bins / self.line.length, 0.0)
        return float(density) if density.ndim == 0 else density

    def cdf(self, x: float) -> Estimate:
        """Estimate the share of people whose values are at most x."""
        self._ordered("a cdf")
        if isinstance(x, bool) or not isinstance(x, int | float | np.integer | np.floating):
            raise InvalidParameter(f"x is one number, not {type(x).__name__}")
        if np.isnan(x):
            raise InvalidParameter("x is NaN")
        if not self.line.low < x < self.line.high:
            return Estimate(float(x >= self.line.high), 0.0, self.n, self.guarantee)  # 0 or 1 for certain
        return self._inference.share(float(x))

    def quantile(self, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        self._ordered("a quantile")
        if not (isinstance(share, int | float | np.floating) and 0.0 < share < 1.0):
            raise InvalidParameter(
                f"the share of a quantile is a number strictly between 0 and 1, not {found(share)}"
            )
        return self._inference.quantile(float(share))

    def mean(self) -> Estimate:
        """Estimate the mean."""
        self._ordered("a mean")
        return self._inference.mean()

    def variance(self) -> Estimate:
        """Estimate the variance."""
        self._ordered("a variance")
        return self._inference.variance()

    def bands(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of an interval for each bin's probability; every bin needs several fits."""
        ends = [answer.interval(level) for answer in self._of(self.bins).each(self.bins)]
        low, high = np.clip(np.array(ends).T, 0.0, 1.0)
        return low, high

    def plot(self, *, level: float | None = None, ax: Axes | None = None) -> Axes:
        """Draw the density on `ax`, and return the axes; with a level, also the bands of its bins."""
        ax = axes_or_new(ax)
        scale = self.bins / self.line.length
        if level is not None:
            low, high = self.bands(level)
            band = f"{100 * level:g} % band of a bin"
            ax.stairs(high * scale, self.edges, baseline=low * scale, fill=True, alpha=0.25, label=band)
        ax.stairs(self.probabilities * scale, self.edges, label=f"estimate ({self.method!r})")
        ax.set_xlim(float(self.edges[0]), float(self.edges[-1]))
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel(str(self.line))
        ax.set_ylabel("density")
        return ax

    def __repr__(self) -> str:
        what = f"{self.bins} bins of {self.line}, {self.method!r}, n = {thousands(self.n)}"
        return f"EstimatedDistribution({what})"

    @cached_property
    def _inference(self) -> Inference:
        return self._of(1)

    def _of(self, parts: int) -> Inference:
        if self.fit is None:
            return Histogram(self.probabilities, self.edges, self.n, self.guarantee)
        return Likeliest.of(self.summary, parts)

    def _ordered(self, what: str) -> None:
        if isinstance(self.line, Circle):
            raise InvalidParameter(f"{what} is not defined on a circle; dt.mean is the mean direction")


def check_bins(bins: object) -> int:
    """Return the number of bins; raise InvalidParameter unless it is a whole number from 1 to 2^16."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 1 <= bins <= MOST_BINS:
        raise InvalidParameter(f"the number of bins is a whole number from 1 to 2^16, not {found(bins)}")
    return int(bins)
