"""Exponential: one of a few public points, by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, cast

import numpy as np

from dither.core.domains import Circle, Interval, Region, finite
from dither.core.kernels.alias import fullest_rate
from dither.core.kernels.channel import MOST_INPUTS, Channel, ChannelKernel, NearestPoint
from dither.core.kernels.lattice.noise import fixed_exponential
from dither.core.kernels.window.codebook import TableDecoder
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.law import TableLaw
from dither.mechanisms.mechanism import ADDED
from dither.mechanisms.numeric.base import NumberMechanism
from dither.mechanisms.places.exponential import ScoredPoints
from dither.mechanisms.scores import Score, score_gaps, score_table
from dither.privacy.exact import exp_below

_PARTS: Final = 1 << 32  # distances are rounded to 1/_PARTS, so that equal distances stay equal
_SPENT: Final = 1 - Fraction(1, 1 << 28)  # the fraction of ε that is spent; the rest covers the rounding


@dataclass(frozen=True)
class Exponential(NumberMechanism):
    """One of a few public points; points nearer to the value, or with a better score, are likelier.

    Promise:   pure ε, all of which is spent; with `as_published` or a `sensitivity` it may be less.
    Reports:   the index of a point. A value is first rounded to its nearest point.
    Use when:  reports must be one of given points.
    Reference: [McSherry07, Thm 6] with the score −|value − point|, or any `score(value, point)`; on a
               rectangle, a disk or a parallelogram points are pairs. A table of scores has a row for each
               point as the value. The scale is ours: the largest that keeps ε for these points.
               `as_published` divides by twice the sensitivity, the largest distance in the domain or the
               largest range of a row of scores, and spends about ε/2. A smaller sensitivity may be given; it
               is refused if it spends more than ε.

    >>> import dither as dt
    >>> Exponential(dt.Interval(0, 1), [0, 0.5, 1], epsilon=2).guarantee
    Guarantee: ε ≤ 2 for one value
    >>> Exponential(dt.Interval(0, 24), [6, 12, 18], epsilon=2, score=lambda x, point: -x * point).guarantee
    Guarantee: ε ≤ 2 for one value
    """

    _draws = ("channel", "points")

    points: Sequence[float]
    _: KW_ONLY
    sensitivity: float | None = None
    as_published: bool = False
    score: Score | None = field(default=None, metadata=ADDED)

    _takes = (Interval, Circle)

    # The class of the designs that draw by another kernel, for code that has only the question.
    for_kernels: ClassVar[Mapping[str, str]] = {"points": "dither.mechanisms.places.exponential.ScoredPoints"}

    def __new__(cls, *given: Any, **more: Any) -> Any:
        """Return the mechanism for a domain: `ScoredPoints` for places."""
        on_places = isinstance(given[0] if given else more.get("domain"), Region)
        return ScoredPoints(*given, **more) if on_places else super().__new__(cls, *given)

    def _check(self) -> None:
        given = self.points
        object.__setattr__(self, "points", self._check_points())
        if self.score is not None:
            object.__setattr__(self, "score", self._check_score(self.score, given))
        if self.sensitivity is not None:
            object.__setattr__(self, "sensitivity", finite("the sensitivity", self.sensitivity))
            least = 0.0 if self.score is not None else 1e-12 * self.line.length  # weights have 63 bits
            if not self.sensitivity > 0.0 or not self.sensitivity >= least:
                raise InvalidParameter(
                    f"sensitivity must be at least 1e-12 of the domain's length, not {self.sensitivity:g}"
                )

    def _check_points(self) -> tuple[float, ...]:
        try:
            array = np.unique(self.line.check(self.points).astype(np.float64))
        except OutsideDomain:
            raise InvalidParameter(f"points must be numbers in {self.domain}") from None
        if np.ndim(self.points) != 1 or array.size != np.size(self.points):
            raise InvalidParameter("points must be a list of different numbers")
        if isinstance(self.domain, Circle) and array.size and array[-1] - array[0] >= self.domain.period:
            raise InvalidParameter(
                "expected different points on the circle, but 0 and the period are the same point; list "
                "only one of them"
            )
        if not 2 <= array.size <= MOST_INPUTS:
            raise InvalidParameter(f"expected 2 to {MOST_INPUTS} points, got {array.size}")
        return tuple(array.tolist())

    def _check_score(self, score: Score, given: Sequence[float]) -> tuple[tuple[float, ...], ...]:
        """Return the scores as a table whose rows and columns are in the order of the sorted points."""
        scores = score_table(score, self.points)
        if not callable(score):
            order = np.argsort(np.asarray(given, dtype=np.float64))
            scores = scores[np.ix_(order, order)]
        return tuple(map(tuple, scores.tolist()))

    @cached_property
    def _gaps(self) -> Floats:
        """The gap of each score below the best score of its row, relative to the largest gap."""
        return score_gaps(np.array(self.score))

    @property
    def _steepness(self) -> Floats:
        """The exponent of every pair of points over ε: distance / (2·sensitivity) for a given sensitivity."""
        if self.score is not None:
            if self.as_published or self.sensitivity is not None:
                widest = float(np.ptp(np.array(self.score), axis=1).max())
                return np.asarray(self._gaps * (widest / (2.0 * (self.sensitivity or widest))))
            # Up to twice ε: the weights of larger rates do not fit into 64 bits.
            return np.asarray(self._gaps * (_largest_rate(self._gaps, self.epsilon, 2.0) / self.epsilon))
        positions, period = np.array(self.points), getattr(self.domain, "period", None)
        apart = _distances(positions, period)
        if self.sensitivity is None and not self.as_published:
            return np.asarray(apart * (_fullest(self.points, period, self.epsilon) / self.epsilon))
        widest = self.line.length if period is None else period / 2.0
        return np.asarray(apart / (2.0 * (widest if self.sensitivity is None else self.sensitivity)))

    def _kernel(self) -> ChannelKernel:
        # One of the two points that are farthest apart spends at least ε·steepness. A steepness of 2 is too
        # much, and the weights of a larger one do not fit into 64 bits.
        if self._steepness.max() <= 2.0:
            channel = self._channel()
            if channel.ratio <= exp_below(Fraction(self.epsilon)):
                return ChannelKernel(self.line, channel, self._nearest())
        raise InvalidParameter(
            f"expected a sensitivity with which the points spend at most ε = {self.epsilon:g}, got "
            f"{found(self.sensitivity)}; state a larger one"
        )

    def _codebook(self, kernel: ChannelKernel) -> TableDecoder:
        return TableDecoder(np.array(self.points))

    def _channel(self) -> Channel:
        parts = np.floor(self._steepness * _PARTS).astype(np.int64)
        budget = Fraction(self.epsilon) * _SPENT / _PARTS
        weight = {part: fixed_exponential(budget * part) for part in np.unique(parts).tolist()}
        return Channel.of([[weight[part] for part in row] for row in parts.tolist()])

    def _nearest(self) -> NearestPoint:
        if isinstance(self.domain, Circle):
            return NearestPoint.on_circle(self.points, self.domain.period)
        return NearestPoint.on_interval(self.points)

    @cached_property
    def law(self) -> TableLaw:
        """The distribution with real weights e^(−rate·distance), which the integers approximate."""
        weights = np.exp(-self.epsilon * self._steepness)
        chances = weights / weights.sum(axis=1, keepdims=True)

        start = cast(NearestPoint, cast(ChannelKernel, self.question.kernel).start)

        def at(unit: float) -> Floats:
            value = float(self.line.from_unit(np.asarray(unit)))
            return np.asarray(chances[start.aim_one(value)])

        return TableLaw(
            at,
            self.line.to_unit(np.array(self.points)),
            circular=isinstance(self.domain, Circle),
            kinks=tuple(self.line.to_unit(np.array(start.edges)).tolist()),
        )


def _distances(points: Floats, period: float | None) -> Floats:
    """Return the distance of every pair of points, on a line or on a circle."""
    apart = np.abs(points[:, None] - points)
    return apart if period is None else np.minimum(apart, period - apart)


@lru_cache(maxsize=64)
def _fullest(points: tuple[float, ...], period: float | None, epsilon: float) -> float:
    """Return the largest rate r for which weights e^(−r·distance) spend at most ε.

    One of two points at distance d has a ratio of at least e^(r·d): the product of both ratios is e^(2·r·d)
    for any sums of the rows. So r is at most ε over the largest distance.
    """
    apart = _distances(np.array(points), period)
    widest = float(apart.max())
    return _largest_rate(apart / widest, epsilon, 1.0) / widest


def _largest_rate(gaps: Floats, epsilon: float, most: float) -> float:
    """Return the largest rate r ≤ most·ε for which weights e^(−r·gap) spend at most ε; gaps are up to 1."""

    def spent(rate: float) -> float:
        chances = -rate * gaps
        chances = chances - np.log(np.exp(chances).sum(axis=1, keepdims=True))
        return float((chances.max(axis=0) - chances.min(axis=0)).max())

    return fullest_rate(spent, epsilon, most * epsilon)
