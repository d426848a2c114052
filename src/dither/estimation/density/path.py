"""All strengths of the prior, weighted by their evidence: the posterior mean and covariance of the shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from dither.arrays import Floats
from dither.estimation.density.mode import DensityMode, climb_to_mode
from dither.estimation.density.model import DensityModel, Strength

_FIRST_STEPS, _STEPS, _LAST_STEPS = 12, 5, 3
_DROP: Final = 4.0  # nats of evidence below the best at which the path ends
_LEAST: Final = 1e-14  # the smallest λ, relative to the first
_LIGHT: Final = 1e-3  # modes with a smaller weight are left out of the average
_BETWEEN: Final = math.sqrt(10.0)
_STRAIGHTEST: Final = 1.5e4  # the largest λ, relative to the first; beyond it nothing changes
_ROUGHER: Final = 10.0  # by this factor at least, λ is smaller where the bias of a mode is judged

Seen = Callable[[DensityMode], None]


@dataclass(frozen=True, eq=False)
class Path:
    """Modes for a falling λ, each a tenth of the one before."""

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
                if seen is not None and len(modes) > 1:  # the first is far too smooth
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
        """Return the path with two more modes beside the best, and smoother ones if they are as likely."""
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
        """Return the mode at which the bias of another is judged: the roughest that is not refuted.

        λ is smaller at least by a factor of ten if there is such a mode.
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

    `covariance` is that of the errors: what reports vary by, the square of the bias that smoothing has, and
    how much the strengths of the prior differ. The posterior's `own` covariance has the bias as its average
    over all curves of the prior. That is too much for straight shapes and too little beside a corner.
    """

    shares: Floats
    covariance: Floats
    own: Floats
    biases: Floats  # a row for each mode, times the root of its weight: their products are in `covariance`
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
        covariance += biases.T @ biases
        best = max((mode for _, mode in modes), key=lambda mode: mode.evidence)
        precision, _ = model.prior.precision(best.strength)
        root = np.linalg.solve(best.factor, np.eye(mean.size)[:, : model.bins])
        freedom = mean.size - float(np.sum((root.T @ root) * precision))
        return cls(mean, covariance, own, biases, best, freedom)


def errors_of(model: DensityModel, mode: DensityMode, truth: DensityMode) -> tuple[Floats, Floats]:
    """Return by what a mode varies, and its bias if the log-density is that of another, rougher mode.

    With V the inverse curvature, H that of the likelihood alone, P the prior's precision and J the change of
    the shares with their logarithms, the estimate varies by JVHVJ = JVJ − JVPVJ and is off by −JVPf
    [Nychka88].
    """
    precision, _ = model.prior.precision(mode.strength)
    moved = np.linalg.solve(mode.factor.T, mode.root)[: model.bins]
    bias = moved.T @ (precision @ truth.logs[: model.bins])
    return np.asarray(mode.covariance - moved.T @ precision @ moved), np.asarray(bias)
