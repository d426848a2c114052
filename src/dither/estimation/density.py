"""Smooth densities with point masses: the model of `"empirical bayes"`, its modes, and their posterior.

The model is p = softmax(θ) over bins and point masses ("atoms"). Bins come first. Their log-probabilities
have a smooth prior: second differences are normal with precision λ. Atoms come last. The log-odds of each
atom against all bins has the prior N(−3, 2²).

The most probable distribution under one prior is found by Fisher scoring, with its evidence [MacKay92]. All
strengths of the prior, weighted by their evidence, give the posterior mean and covariance of the shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, Self

import numpy as np

from dither.core.kernels.transition import Dense, Operator
from dither.foundation.arrays import Array, Floats
from dither.foundation.numerics.matrices import (
    cholesky,
    dot,
    log_determinant,
    product,
    solve,
    solve_lower,
    solve_upper,
)

ATOM_CENTRE: Final = -3.0  # prior mean of an atom's log-odds: 5 % of the people
ATOM_SPREAD: Final = 2.0  # prior standard deviation of an atom's log-odds
_SLOPE: Final = 3.0  # prior standard deviation of the log-density's slope, from the middle to an end
_TINY: Final = 1e-300


class Strength(NamedTuple):
    """The precision λ of second differences, and the standard deviation τ of single bins about the curve."""

    smoothness: float
    scatter: float = 0.0


@dataclass(frozen=True, eq=False)
class Prior:
    """The normal prior of the bins' log-probabilities, up to a constant that does not matter."""

    differences: Floats  # D, with D'D the penalty
    slope: Floats | None  # None on a circle, where only constants have no second differences
    bins: int
    ends: float = 0.0  # standard deviation of the first and last bin about the curve

    @staticmethod
    @lru_cache(maxsize=8)
    def of(bins: int, *, circular: bool, ends: float = 0.0) -> Prior:
        """Return the prior of `bins` bins of an interval or a circle."""
        unit = np.eye(bins)
        if circular:
            return Prior(np.roll(unit, 1, axis=0) - 2.0 * unit + np.roll(unit, -1, axis=0), None, bins)
        slope = np.linspace(-1.0, 1.0, bins) if bins > 1 else np.zeros(1)
        return Prior(np.diff(unit, 2, axis=0), slope, bins, ends)

    @property
    def rank(self) -> int:
        """The number of directions that the smoothness prior penalises."""
        return self.bins - 1 if self.slope is None else max(self.bins - 2, 0)

    @property
    def first(self) -> float:
        """The largest λ of interest: the log-density is straight but for about a third."""
        return 10.0 * self.bins**3 / math.pi**4

    @cached_property
    def _squares(self) -> Floats:
        return product(self.differences.T, self.differences)

    @cached_property
    def _level(self) -> float:
        """The logarithm of the product of the penalties that are not zero.

        On a circle they are (2 − 2·cos(2πk/n))², with the product n⁴; on a line det DD' = n²(n² − 1)/12.
        """
        if not self.rank:
            return 0.0
        n = float(self.bins)
        return 4.0 * math.log(n) if self.slope is None else math.log(n**2 * (n**2 - 1.0) / 12.0)

    def precision(self, strength: Strength) -> tuple[Floats, float]:
        """Return the prior precision, and its log-determinant over all directions except the constant one."""
        smoothness, scatter = strength
        steep = 0.0 if self.slope is None else float(self.slope @ self.slope)
        level = self.rank * math.log(smoothness) + self._level
        if scatter == 0.0 and self.ends == 0.0:
            matrix = smoothness * self._squares
        else:  # ((λD'D)⁺ + T)⁻¹ = λD'(1 + λDTD')⁻¹D, with T the variances of single bins about the curve
            rows, variances = self.differences, np.full(self.bins, scatter**2)
            variances[[0, -1]] += self.ends**2
            inner = cholesky(np.eye(len(rows)) + smoothness * product(rows * variances, rows.T))
            root = solve_lower(inner, rows)
            matrix = smoothness * product(root.T, root)
            level -= log_determinant(inner)
        if steep > 0.0 and self.slope is not None:
            along = 1.0 / (_SLOPE**2 * steep + scatter**2)
            matrix = matrix + np.outer(self.slope, self.slope) * (along / steep)
            level += math.log(along)
        return matrix, level


@dataclass(frozen=True, eq=False)
class DensityModel:
    """Counts of reports, and the distributions of reports for values in each bin and at each atom."""

    operator: Operator  # a column for each bin
    atoms: Floats  # a column for each atom
    counts: Floats
    prior: Prior

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self.operator.shape[1]

    @cached_property
    def n(self) -> float:
        """The number of reports."""
        return float(self.counts.sum())

    def expected_shares(self, shares: Floats) -> Floats:
        """Return the probability of each row."""
        found = self.operator.forward(shares[: self.bins])
        if self.atoms.shape[1]:
            found = found + product(self.atoms, shares[self.bins :])
        return np.maximum(found, _TINY)

    def backward(self, rows: Floats) -> Floats:
        """Return the mean of a number per row, for each column."""
        return np.concatenate([self.operator.backward(rows), product(rows, self.atoms)])

    def products(self, weights: Floats) -> Floats:
        """Return Σ weight·column·column over the rows, for each pair of columns."""
        bins, all_columns = self.bins, self.bins + self.atoms.shape[1]
        found = np.empty((all_columns, all_columns))
        found[:bins, :bins] = self.operator.products(weights, self.operator)
        if all_columns > bins:
            weighted = self.atoms * weights[:, None]
            found[bins:, bins:] = product(weighted.T, self.atoms)
            for number, column in enumerate(weighted.T):
                found[bins + number, :bins] = found[:bins, bins + number] = self.operator.backward(column)
        return found

    def with_atoms(self, atoms: Floats) -> DensityModel:
        """Return the same model with other atoms."""
        return DensityModel(self.operator, atoms, self.counts, self.prior)


_LONGEST: Final = 4.0  # largest change of a log-probability in one step
_ENOUGH: Final = 2e-2  # nats that a further step would gain
_HALVINGS: Final = 10
_SHAKES: Final = (
    0.0,
    1e-4,
    1e-3,
    1e-2,
    1e-1,
    1.0,
)  # tried relative additions to the diagonal if rounding made the matrix indefinite


@dataclass(frozen=True, eq=False)
class DensityMode:
    """The top of the posterior: log-probabilities, probabilities, and the curvature there."""

    strength: Strength
    logs: Floats
    shares: Floats
    expected: Floats  # expected counts of the rows
    curvature: Floats  # minus the Hessian, with a fixed value along the constant direction
    factor: Floats  # its Cholesky factor
    evidence: float

    @cached_property
    def root(self) -> Floats:
        """A root R of the covariance R'R: the change of shares with their logarithms, by the factor."""
        change = np.diag(self.shares) - np.outer(self.shares, self.shares)
        return solve_lower(self.factor, change)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the probabilities, linearised from their logarithms."""
        return product(self.root.T, self.root)


def climb_to_mode(model: DensityModel, strength: Strength, start: Floats, steps: int) -> DensityMode:
    """Return the mode by Fisher scoring; usually `start` is the mode at a neighbouring strength."""
    precision, level = model.prior.precision(strength)
    logs = start
    height, shares, expected = _look(model, precision, logs)
    for step in range(steps + 1):
        slope, curvature = _derivatives(model, precision, logs, shares, expected)
        if step == steps:
            break
        move = solve(curvature, slope)
        if not slope @ move > _ENOUGH:
            break
        move *= min(1.0, _LONGEST / float(np.abs(move).max()))
        for _ in range(_HALVINGS):
            ahead = logs + move
            found = _look(model, precision, ahead)
            if found[0] > height:
                break
            move /= 2.0
        else:
            break
        logs = ahead - ahead.mean()  # adding a constant does not change the model
        height, shares, expected = found
    curvature, factor = _factor(curvature)
    atoms = model.atoms.shape[1]
    evidence = height + level / 2.0 - log_determinant(factor) / 2.0 - atoms * math.log(ATOM_SPREAD)
    return DensityMode(strength, logs, shares, expected, curvature, factor, evidence)


def _look(model: DensityModel, precision: Floats, logs: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-posterior, the probabilities and the expected shares of the rows."""
    top = float(logs.max())
    powers = np.exp(logs - top)
    shares = powers / powers.sum()
    expected = model.expected_shares(shares)
    bins = model.bins
    height = dot(model.counts, np.log(expected)) - dot(logs[:bins], product(precision, logs[:bins])) / 2.0
    if logs.size > bins:
        odds = logs[bins:] - top - math.log(float(powers[:bins].sum()))
        height -= float(np.square((odds - ATOM_CENTRE) / ATOM_SPREAD).sum()) / 2.0
    return height, shares, expected


def _derivatives(
    model: DensityModel, precision: Floats, logs: Floats, shares: Floats, expected: Floats
) -> tuple[Floats, Floats]:
    """Return the gradient of the log-posterior, and its expected curvature."""
    bins, n = model.bins, model.n
    slope = shares * (model.backward(model.counts / expected) - n)
    curvature = model.products(n / expected)
    curvature *= shares
    curvature *= shares[:, None]
    # The derivative along the constant direction is exactly 0, even where products are approximate.
    total = curvature.sum(axis=1)
    curvature -= np.outer(total, total / total.sum())
    slope[:bins] -= product(precision, logs[:bins])
    curvature[:bins, :bins] += precision
    if logs.size > bins:
        inner = float(shares[:bins].sum())
        for number in range(bins, logs.size):
            odds = math.log(max(shares[number], 1e-300) / max(inner, 1e-300))
            direction = np.zeros(logs.size)
            direction[:bins] = -shares[:bins] / max(inner, 1e-300)
            direction[number] = 1.0
            slope -= direction * ((odds - ATOM_CENTRE) / ATOM_SPREAD**2)
            curvature += np.outer(direction, direction / ATOM_SPREAD**2)
    return slope, curvature + 1.0 / logs.size


def _factor(curvature: Floats) -> tuple[Floats, Floats]:
    """Return a positive definite curvature and its Cholesky factor."""
    diagonal = np.abs(np.diagonal(curvature))
    for shake in _SHAKES:
        shaken = curvature + np.diag(shake * (diagonal + 1e-3)) if shake else curvature
        try:
            return shaken, cholesky(shaken)
        except np.linalg.LinAlgError:
            continue
    identity = np.diag(2.0 * diagonal + 1.0)  # not reached with finite numbers
    return identity, np.sqrt(identity)


_FIRST_STEPS, _STEPS, _LAST_STEPS = 12, 5, 3
_DROP: Final = 4.0  # nats; the path ends when the evidence is this much below the best
_LEAST: Final = 1e-14  # the smallest λ, relative to the first
_LIGHT: Final = 1e-3  # modes with a smaller weight are left out of the average
_BETWEEN: Final = math.sqrt(10.0)
_STRAIGHTEST: Final = 1.5e4  # the largest λ, relative to the first; a larger λ changes nothing
_ROUGHER: Final = 10.0  # least factor by which λ is reduced to estimate the bias of a mode

Seen = Callable[[DensityMode], None]


@dataclass(frozen=True, eq=False)
class Path:
    """Modes for a decreasing λ, each a tenth of the previous one."""

    modes: tuple[DensityMode, ...]

    @classmethod
    def down(cls, model: DensityModel, scatter: float = 0.0, seen: Seen | None = None) -> Self:
        """Follow the modes from a nearly straight log-density until the evidence has clearly fallen.

        `seen` is called with each mode whose evidence is the best so far.
        """
        atoms = model.atoms.shape[1]
        logs = np.concatenate([np.zeros(model.bins), np.full(atoms, math.log(model.bins) - 3.0)])
        smoothness, best = model.prior.first, -math.inf
        modes: list[DensityMode] = []
        while smoothness > _LEAST * model.prior.first:
            steps = _STEPS if modes else _FIRST_STEPS
            modes.append(climb_to_mode(model, Strength(smoothness, scatter), logs, steps))
            logs = modes[-1].logs
            if modes[-1].evidence > best:
                best = modes[-1].evidence
                if seen is not None and len(modes) > 1:  # the first mode is far too smooth
                    seen(modes[-1])
            elif modes[-1].evidence < best - _DROP:
                break
            if not model.prior.rank:
                break
            smoothness /= 10.0
        return cls(tuple(modes))

    @property
    def best(self) -> DensityMode:
        """The mode with the largest evidence."""
        return max(self.modes, key=lambda mode: mode.evidence)

    def refine(self, model: DensityModel) -> Path:
        """Return the path with two more modes next to the best, and smoother ones if they are as likely."""
        best = self.best
        smoothness, scatter = best.strength
        beside = [
            climb_to_mode(model, Strength(smoothness * factor, scatter), best.logs, _LAST_STEPS)
            for factor in (_BETWEEN, 1.0 / _BETWEEN)
            if model.prior.rank
        ]
        smoother = [max(self.modes, key=lambda mode: mode.strength.smoothness)]
        while model.prior.rank and smoother[-1].evidence > best.evidence - _DROP:
            strength = Strength(100.0 * smoother[-1].strength.smoothness, scatter)
            if strength.smoothness > _STRAIGHTEST * model.prior.first:
                break
            smoother.append(climb_to_mode(model, strength, smoother[-1].logs, _LAST_STEPS))
        return Path((*self.modes, *beside, *smoother[1:]))

    def rougher(self, mode: DensityMode) -> DensityMode:
        """Return the mode that is used to estimate the bias of another: the roughest that is not refuted.

        Its λ is smaller by at least a factor of ten if such a mode exists.
        """
        best = self.best
        likely = [mode for mode in self.modes if mode.evidence >= best.evidence - _DROP]
        found = min(likely, key=lambda mode: mode.strength.smoothness)
        enough = mode.strength.smoothness / (_ROUGHER * 0.999)
        if found.strength.smoothness <= enough:
            return found
        below = [mode for mode in self.modes if mode.strength.smoothness <= enough]
        if below:
            return max(below, key=lambda mode: mode.strength.smoothness)
        return min(self.modes, key=lambda mode: mode.strength.smoothness)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The mean of the probabilities of bins and atoms, their mean square errors, and the modes behind them.

    `covariance` is the covariance of the errors: the variance of reports, the squared bias of smoothing, and
    the spread over strengths of the prior. The posterior's `own` covariance contains the bias averaged over
    all curves of the prior. This average is too large for straight shapes and too small near a corner.
    """

    shares: Floats
    covariance: Floats
    own: Floats
    biases: Floats  # a row for each mode, times the root of its weight; `covariance` contains their products
    best: DensityMode
    freedom: float  # the effective number of free parameters at the best mode

    @classmethod
    def over(cls, model: DensityModel, paths: list[Path]) -> Self:
        """Average the modes of paths with weights evidence·Δ ln λ."""
        modes: list[tuple[Path, DensityMode]] = []
        weights: list[float] = []
        for path in paths:
            ordered = sorted(path.modes, key=lambda mode: mode.strength.smoothness)
            logs = np.log([mode.strength.smoothness for mode in ordered])
            steps = np.gradient(logs) if len(ordered) > 1 else np.ones(1)
            modes.extend((path, mode) for mode in ordered)
            weights.extend(np.log(steps) + [mode.evidence for mode in ordered])
        shares = np.exp(np.array(weights) - max(weights))
        shares[shares < _LIGHT * shares.max()] = 0.0
        shares /= shares.sum()
        used = [(weight, *pair) for weight, pair in zip(shares, modes, strict=True) if weight > 0.0]
        mean = np.asarray(sum(weight * mode.shares for weight, _, mode in used))
        covariance, own = np.zeros((2, mean.size, mean.size))
        biases = np.zeros((len(used), mean.size))
        for row, (weight, path, mode) in zip(biases, used, strict=True):
            gap = mode.shares - mean
            between = np.outer(gap, gap)
            variance, bias = errors_of(model, mode, path.rougher(mode))
            row[:] = math.sqrt(weight) * bias
            covariance += weight * (variance + between)
            own += weight * (mode.covariance + between)
        covariance += product(biases.T, biases)
        best = max((mode for _, mode in modes), key=lambda mode: mode.evidence)
        precision, _ = model.prior.precision(best.strength)
        root = solve_lower(best.factor, np.eye(mean.size)[:, : model.bins])
        freedom = mean.size - float(np.sum(product(root.T, root) * precision))
        return cls(mean, covariance, own, biases, best, freedom)

    def towards_even(self, unsure: float, atoms: int = 0) -> Posterior:
        """Return the posterior with `unsure` as the standard error of a mixture with equal shares."""
        if not unsure:
            return self
        even = np.zeros_like(self.shares)
        even[: even.size - atoms] = 1.0 / (even.size - atoms)
        change = unsure * (self.shares - even)
        more = np.outer(change, change)
        return replace(self, covariance=self.covariance + more, own=self.own + more)

    def with_thin_masses(self, masses: Sequence[tuple[Floats, Floats]]) -> Posterior:
        """Return the posterior with thin masses added to the shares, and their uncertainty to the errors."""
        shares, more = self.shares, np.zeros_like(self.own)
        for added, possible in masses:
            shares = np.maximum(shares + added, 0.0)
            more += np.outer(possible, possible)
        return replace(
            self, shares=shares / shares.sum(), covariance=self.covariance + more, own=self.own + more
        )

    def with_unseen(self, change: Floats) -> Posterior:
        """Return the posterior with one more atom of share 0, and its uncertainty added to the errors."""
        return replace(
            self,
            shares=np.append(self.shares, 0.0),
            covariance=np.asarray(np.pad(self.covariance, (0, 1)) + np.outer(change, change)),
            own=np.pad(self.own, (0, 1)),
            biases=np.pad(self.biases, ((0, 0), (0, 1))),
        )


def errors_of(model: DensityModel, mode: DensityMode, truth: DensityMode) -> tuple[Floats, Floats]:
    """Return the covariance of a mode, and its bias if a rougher mode is the true log-density.

    V is the inverse curvature, H the curvature of the likelihood, P the prior's precision and J the
    derivative of the shares by their logarithms. The covariance of the estimate is JVHVJ = JVJ − JVPVJ, and
    its bias is −JVPf [Nychka88].
    """
    precision, _ = model.prior.precision(mode.strength)
    moved = solve_upper(mode.factor, mode.root)[: model.bins]
    pulled = product(moved.T, precision)
    return mode.covariance - product(pulled, moved), product(pulled, truth.logs[: model.bins])


_SCATTERS: Final = (0.0, 0.5, 2.0)  # scatter of declared points about a smooth curve


_END_CELLS: Final = 1.0  # standard deviation of the first and last log-share about the curve: a factor of e


def posterior_of_cells(laws: Floats, counts: Array) -> Posterior:
    """Return the posterior of the shares of ordered cells, from the distribution of reports of each cell.

    As for declared points, the shares scatter about a smooth curve, by a factor that is also estimated. The
    first and last cell may differ from the curve, because it has neighbours on one side only there: a
    density that rises to an end would be extrapolated with a bias.
    """
    operator = Dense(np.ascontiguousarray(laws.T), np.arange(laws.shape[1]))
    model = DensityModel(
        operator,
        np.zeros((laws.shape[1], 0)),
        np.asarray(counts, dtype=np.float64),
        Prior.of(laws.shape[0], circular=False, ends=_END_CELLS),
    )
    return about_a_curve(model)


def about_a_curve(model: DensityModel) -> Posterior:
    """Return the posterior of shares that lie about a smooth curve."""
    return Posterior.over(model, [Path.down(model, scatter).refine(model) for scatter in _SCATTERS])
