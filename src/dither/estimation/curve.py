"""Shares, quantiles and the mode of a posterior density, with intervals, and bands for bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from dither.core.domains import Line
from dither.core.domains.calendar import Calendar
from dither.core.kernels.transition import Operator
from dither.estimation.atoms import CLOSE, Atom
from dither.estimation.density import Posterior
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ClippedInterval, ConfidenceInterval
from dither.estimation.rounding import SHARE
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import check_level, erf, student_t_quantile
from dither.foundation.numerics.matrices import cholesky, dot, product
from dither.privacy import Guarantee

_FINE: Final = 1024  # points of the grid in the search for a quantile
_DRAWS: Final = 4000  # draws of the largest deviation, for simultaneous bands
_SAME: Final = 1e-12
_SINGULAR: Final = 1e-9  # added to variances, so that a singular matrix has a Cholesky factor


@dataclass(frozen=True, eq=False)
class QuantileInterval(ConfidenceInterval):
    """The interval of a quantile: all points below which the share of people may be `share`.

    `places` are points on [0, 1], `sums` the shares up to each of them, and `errors` their standard errors.
    """

    line: Line
    share: float
    places: Floats
    sums: Floats
    errors: Floats
    condition: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        reach = student_t_quantile(level)
        return self.crossing(reach), self.crossing(-reach)

    def crossing(self, reach: float) -> float:
        """Return the value at which the sums, raised by `reach` standard errors, reach the share."""
        sums = np.maximum.accumulate(self.sums + reach * self.errors)
        return _user(self.line, _crossing(self.places, sums, self.share))


@dataclass(frozen=True, eq=False)
class ModeInterval(ConfidenceInterval):
    """The interval of the likeliest value: each point mass or bin that may have the largest share.

    `gaps` are the differences between the largest share and each share, and `errors` their standard errors.
    The interval extends beyond the `offsets` from the peak by `reach` (half a bin) and the `spreads` of point
    masses.
    """

    line: Line
    peak: float
    gaps: Floats
    errors: Floats
    offsets: Floats
    reach: Floats
    spreads: Floats
    period: float = 0.0
    condition: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        times = student_t_quantile(level)
        possible, around = self.gaps <= times * self.errors, self.reach + times * self.spreads
        low = self.peak + float((self.offsets - around)[possible].min())
        high = self.peak + float((self.offsets + around)[possible].max())
        if self.period and high - low >= 1.0:
            return 0.0, self.period
        if self.period:
            low, high = low % 1.0, high % 1.0
        return _user(self.line, low), _user(self.line, high)


@dataclass(frozen=True, eq=False)
class DensityCurve:
    """A density on equal bins of [0, 1] with atoms: the mean and covariance of their probabilities.

    With `points` the mass is on these points instead of bins, without atoms.
    """

    line: Line
    posterior: Posterior
    atoms: tuple[Atom, ...]
    n: int
    guarantee: Guarantee
    points: Floats | None = None

    @property
    def shares(self) -> Floats:
        """The probabilities of the bins or points, then of the atoms."""
        return self.posterior.shares

    @property
    def bins(self) -> int:
        """The number of bins or points."""
        return self.shares.size - len(self.atoms)

    @property
    def resolution(self) -> float:
        """The width, in lengths of the domain, of the smallest detail that the reports show; 0 for points.

        It is the domain over the number of free parameters that the reports support.
        """
        if self.points is not None:
            return 0.0
        seen = int(np.count_nonzero(self.shares[self.bins :]))
        return 1.0 / max(self.posterior.freedom - seen, 1.0)

    @property
    def condition(self) -> str:
        """The condition under which intervals cover, as a printed text."""
        width = self.resolution * self.line.length
        if self.line.parts > 1 and width:
            return f" if smooth at {float(f'{self.resolution * self.line.parts:.1g}'):g} parts of the scale"
        unit = self.line.unit
        of = f" {unit.span}" if isinstance(unit, Calendar) else ""
        return f" if smooth at {float(f'{width:.1g}'):g}{of}" if width else ""

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the shares' errors, including the uncertain locations of close atoms."""
        return self.posterior.covariance + self._place_covariance

    @cached_property
    def _place_covariance(self) -> Floats:
        """The covariance of the shares that comes from the uncertain locations of close atoms.

        If one of two close atoms is moved, their shares change so that their centre of mass stays.
        """
        found = np.zeros_like(self.posterior.covariance)
        seen = [number for number in range(len(self.atoms)) if self.shares[self.bins + number] > 0.0]
        order = sorted(seen, key=lambda number: self.atoms[number].place)
        for first, second in pairwise(order):
            gap = self.atoms[second].place - self.atoms[first].place
            if _SAME < gap < CLOSE:
                moved = [self.shares[self.bins + k] * self.atoms[k].spread / gap for k in (first, second)]
                direction = np.zeros(found.shape[0])
                direction[self.bins + first], direction[self.bins + second] = 1.0, -1.0
                found += math.hypot(*moved) ** 2 * np.outer(direction, direction)
        return found

    def without_atoms(self, gone: Sequence[int]) -> DensityCurve:
        """Return the curve of the people who are not at one of the given atoms."""
        kept = np.ones(self.shares.size)
        kept[[self.bins + number for number in gone]] = 0.0
        mass = float(self.shares @ kept)
        shares = self.shares * kept / mass
        # The error of a share s = m/Σm is (error of m − s · error of Σm)/Σm.
        moved = (np.diag(kept) - np.outer(shares, kept)) / mass
        before = self.posterior
        covariance, own = (product(product(moved, part), moved.T) for part in (before.covariance, before.own))
        biases = product(before.biases, moved.T)
        posterior = replace(before, shares=shares, covariance=covariance, own=own, biases=biases)
        return replace(self, posterior=posterior)

    def below(self, places: Floats, *, wide: bool = False) -> Floats:
        """Return the part of each bin and atom at or below points on [0, 1]: a row for each point.

        With `wide`, an atom is spread over its possible locations.
        """
        at = np.asarray(places, dtype=np.float64).reshape(-1, 1)
        if self.points is not None:
            return np.asarray(at >= self.points - _SAME, dtype=np.float64)
        inner = np.clip(at * self.bins - np.arange(self.bins), 0.0, 1.0)
        return np.column_stack([inner, *(_atom_below(atom, at, wide=wide) for atom in self.atoms)])

    def between(self, first: Floats, last: Floats, *, wide: bool = False) -> Floats:
        """Return the parts above `first` and at most at `last`; on a circle from first forward to last."""
        found = self.below(last, wide=wide) - self.below(first, wide=wide)
        bottom = np.asarray(first).reshape(-1) <= 0.0
        found[bottom] = self.below(
            np.asarray(last).reshape(-1)[bottom], wide=wide
        )  # the lowest point is included
        return found + (np.asarray(last) < np.asarray(first)).reshape(-1, 1)

    def influence(self, parts: Floats, operator: Operator, size: int) -> Floats:
        """Return how much each of `size` different reports moves a share of people, up to a factor.

        A report moves the log-likelihood by the ratio of its distribution to the expected one. It moves the
        shares by their covariance times the same ratio. Atoms have the distribution of their bins.
        """
        moved = product(self.posterior.own, parts)
        inputs = moved[: self.bins].copy()
        for atom, more in zip(self.atoms, moved[self.bins :], strict=True):
            inputs[min(int(atom.place * self.bins), self.bins - 1)] += more
        rows = operator.forward(inputs) / np.maximum(self.posterior.best.expected, _SAME)
        centres = operator.counts(np.arange(size)) / np.maximum(operator.counts(np.ones(size)), 1.0)
        return np.interp(np.arange(size), centres, rows)

    def share_below(self, places: Floats) -> Estimate:
        """Estimate the share of people at or below points on [0, 1]."""
        return self.share(self.below(places), self.below(places, wide=True))

    def share_between(self, first: Floats, last: Floats) -> Estimate:
        """Estimate the share of people above `first` and at most at `last`; on a circle, forward."""
        return self.share(self.between(first, last), self.between(first, last, wide=True))

    def share(self, parts: Floats, wide: Floats | None = None) -> Estimate:
        """Estimate the share of people in parts of bins and atoms; `wide` are the parts with wide atoms."""
        spread = (product(parts, self.covariance) * parts).sum(axis=1)
        # Whether an atom lies in a part is uncertain: add the mean squared error of this indicator.
        for number, atom in enumerate(self.atoms):
            if wide is not None and (atom.spread > _SAME or atom.divided):
                chance, inside = wide[:, self.bins + number], parts[:, self.bins + number]
                coin = np.maximum(chance * (1.0 - chance), 0.0) + (chance - inside) ** 2
                spread = spread + self.shares[self.bins + number] ** 2 * coin
        value: float | Floats = np.clip(product(parts, self.shares), 0.0, 1.0)
        error: float | Floats = np.sqrt(np.maximum(spread, 0.0))
        if parts.shape[0] == 1:
            value, error = float(value[0]), float(error[0])  # type: ignore[index]
        interval = ClippedInterval(value, error, self.condition)
        return Estimate(value, error, self.n, self.guarantee, confidence=interval, limits=SHARE)

    @cached_property
    def _ladder(self) -> tuple[Floats, Floats, Floats]:
        """Points on [0, 1], the share up to each, and its standard error."""
        points = np.linspace(0.0, 1.0, _FINE + 1)
        beside = [[atom.place - 1e-9, atom.place] for atom in self.atoms]
        if self.points is not None:
            points = np.sort(np.concatenate([points, self.points, self.points - 1e-9]))
        points = np.unique(np.clip(np.concatenate([points, *beside]), 0.0, 1.0))
        found = self.share_below(points)
        return points, np.asarray(found.value), np.asarray(found.standard_error)

    def quantile(self, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        interval = QuantileInterval(self.line, q, *self._ladder, self.condition)
        return Estimate(interval.crossing(0.0), None, self.n, self.guarantee, confidence=interval)

    def mean(self) -> Estimate:
        """Estimate the mean; its error includes the bias of smoothing and the locations of point masses."""
        centres = (np.arange(self.bins) + 0.5) / self.bins if self.points is None else self.points
        points = np.append(centres, [atom.place for atom in self.atoms])
        spread = dot(points, product(self.covariance, points))
        for number, atom in enumerate(self.atoms):
            spread += float(self.shares[self.bins + number] * atom.spread) ** 2
        line = self.line
        value, error = _user(line, dot(points, self.shares)), line.length * math.sqrt(max(spread, 0.0))
        interval = ClippedInterval(value, error, self.condition, line.low, line.high)
        return Estimate(value, error, self.n, self.guarantee, confidence=interval)

    def mode(self) -> Estimate:
        """Estimate the likeliest value: the point mass or the bin of the fit with the largest share.

        The interval contains every point mass or bin whose share is not significantly below the largest.
        """
        if self.points is not None:
            centres, reach = self.points, np.zeros(self.bins)
        else:
            centres = np.array(
                [*(np.arange(self.bins) + 0.5) / self.bins, *(atom.place for atom in self.atoms)]
            )
            reach = np.full(centres.size, 0.5 / self.bins)
            reach[self.bins :] = 0.0
        spreads = np.zeros(centres.size)
        spreads[self.bins :] = [atom.spread for atom in self.atoms]
        top = int(np.argmax(self.shares))
        covariance = self.posterior.own + self._place_covariance
        own = np.diagonal(covariance)
        gaps = self.shares[top] - self.shares
        errors = np.sqrt(np.maximum(own + own[top] - 2.0 * covariance[top], 0.0))
        peak, circular = float(centres[top]), self.line.circular
        offsets = centres - peak
        offsets = (offsets + 0.5) % 1.0 - 0.5 if circular else offsets
        period = self.line.length if circular else 0.0
        interval = ModeInterval(
            self.line, peak, gaps, errors, offsets, reach, spreads, period, self.condition
        )
        return Estimate(_user(self.line, peak), None, self.n, self.guarantee, confidence=interval)

    def bands(
        self, parts: Floats, level: float, *, simultaneous: bool, wide: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the ends of intervals for the shares in parts, one by one or all at once."""
        found = self.share(parts, wide)
        reach = student_t_quantile(level)
        error = np.sqrt(
            np.maximum(np.atleast_1d(found.standard_error) ** 2 + self._bias_correction(parts), 0.0)
        )
        if simultaneous:  # one missed bin breaks the band: use the larger error
            own = product(product(parts, self.posterior.own + self._place_covariance), parts.T)
            error = np.maximum(error, np.sqrt(np.maximum(np.diagonal(own), 0.0)))
            reach = _largest(own, level)
        value = np.atleast_1d(found.value)
        return np.clip(value - reach * error, 0.0, 1.0), np.clip(value + reach * error, 0.0, 1.0)

    def _bias_correction(self, parts: Floats) -> Floats:
        """Return an addition to the squared errors of parts: the average bias of neighbouring parts.

        The bias of smoothing changes its sign about as often as the fit has free parameters. Near a sign
        change an interval would be too short. So the bias, relative to the share, is averaged over
        neighbouring parts of the same shape, up to the typical distance of sign changes. Parts with small
        shares have small weights, because their relative bias in a tail is large and would dominate the
        average.
        """
        if self.points is not None or not self.posterior.biases.any():
            return np.zeros(parts.shape[0])
        inner, biases, shares = parts[:, : self.bins], self.posterior.biases, self.shares[: self.bins]
        here = np.sum(product(parts, biases.T) ** 2, axis=1)
        length = max(1, round(self.bins / max(self.posterior.freedom, 1.0)))
        own = product(inner, shares)
        total, count = np.zeros((2, parts.shape[0]))
        for shift in range(-length, length + 1):
            moved = np.roll(inner, shift, axis=1)
            if not self.line.circular:  # ignore parts that the shift would move beyond an end
                moved[np.any(inner[:, self.bins - shift :] if shift > 0 else inner[:, :-shift], axis=1)] = 0.0
            share = product(moved, shares)
            there = np.sqrt(np.sum(product(moved, biases[:, : self.bins].T) ** 2, axis=1))
            known = share > 0.0
            fuller = np.maximum(share, own)[known]
            total[known] += there[known] / fuller
            count[known] += share[known] / fuller
        added = np.asarray((total / np.maximum(count, _SAME) * own) ** 2 - here)
        # The neighbours of a part with an atom lack the atom's bias, so they may only increase the error.
        return np.where(parts[:, self.bins :].any(axis=1), np.maximum(added, 0.0), added)

    def density(self, places: Floats) -> Floats:
        """Return the density of the bins at points on [0, 1], in units of [0, 1], without the atoms."""
        if self.points is not None:
            return np.zeros(np.shape(places))
        heights = self.shares[: self.bins] * self.bins
        centres = (np.arange(self.bins) + 0.5) / self.bins
        if self.line.circular:
            around = np.concatenate([[heights[-1]], heights, [heights[0]]])
            centres = np.concatenate([[centres[-1] - 1.0], centres, [centres[0] + 1.0]])
            return np.asarray(np.interp(places, centres, around))
        return np.asarray(np.interp(places, centres, heights))


def _user(line: Line, point: float) -> float:
    """Return the value at a point on [0, 1]."""
    return float(line.from_unit(np.asarray(min(max(point, 0.0), 1.0))))


def _atom_below(atom: Atom, at: Floats, *, wide: bool) -> Floats:
    """Return the share of an atom's people at or below points, averaged over its possible divisions."""
    if not (wide and atom.divided):
        return _before(atom.place, atom.spread, at)
    parts = [chance * _before(atom.place + offset, atom.spread, at) for offset, chance in atom.divided]
    return np.asarray(np.sum(parts, axis=0))


def _before(point: float, spread: float, at: Floats) -> Floats:
    """Return the probability that an atom with an uncertain location is at or below the given points."""
    if spread <= _SAME:
        return np.asarray(at >= point - _SAME, dtype=np.float64)
    return np.asarray((1.0 + erf((at - point) / (math.sqrt(2.0) * spread))) / 2.0)


def _crossing(points: Floats, sums: Floats, share: float) -> float:
    """Return the first point at which increasing sums reach a share, by linear interpolation."""
    at = int(np.searchsorted(sums, share, side="left"))
    if at == 0:
        return float(points[0])
    if at == points.size:
        return float(points[-1])
    rise, step = sums[at] - sums[at - 1], points[at] - points[at - 1]
    if step < 1e-8:  # a point mass
        return float(points[at])
    return float(points[at - 1] + step * (share - sums[at - 1]) / rise)


def _largest(covariance: Floats, level: float) -> float:
    """Return the quantile of the largest standardised deviation of normal variables, by seeded draws."""
    check_level(level)
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    used = errors > 0.0
    if not used.any():
        return student_t_quantile(level)
    correlation = covariance[np.ix_(used, used)] / np.outer(errors[used], errors[used])
    root = cholesky(correlation + _SINGULAR * np.eye(len(correlation)))  # shares sum to one
    draws = product(np.random.default_rng(1).standard_normal((_DRAWS, len(root))), root.T)
    return float(np.quantile(np.abs(draws).max(axis=1), level))
