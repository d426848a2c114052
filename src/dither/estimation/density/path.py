"""All strengths of the prior, weighted by their evidence: the posterior mean and covariance of the shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np

from dither.arrays import Floats
from dither.estimation.density.mode import DensityMode, climb_to_mode
from dither.estimation.density.model import DensityModel, Strength

_FIRST_STEPS, _STEPS, _LAST_STEPS = 12, 5, 3
_DROP: Final = 4.0  # nats of evidence below the best at which the path ends
_LEAST: Final = 1e-14  # the smallest λ, relative to the first
_LIGHT: Final = 1e-3  # modes with a smaller weight are left out of the average
_BETWEEN: Final = math.sqrt(10.0)

Seen = Callable[[DensityMode], None]


@final
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

    def refined(self, model: DensityModel) -> Path:
        """Return the path with two more modes, beside the best."""
        best = self.best
        smoothness, scatter = best.strength
        beside = [
            climb_to_mode(model, Strength(smoothness * factor, scatter), best.logs, _LAST_STEPS)
            for factor in (_BETWEEN, 1.0 / _BETWEEN)
            if model.prior.rank
        ]
        return Path((*self.modes, *beside))


@final
@dataclass(frozen=True, eq=False)
class Posterior:
    """The mean and the covariance of the probabilities of bins and atoms, and the modes behind them."""

    shares: Floats
    covariance: Floats
    best: DensityMode
    freedom: float  # the effective number of free parameters at the best mode

    @classmethod
    def over(cls, model: DensityModel, paths: list[Path]) -> Self:
        """Average the modes of paths with weights evidence·Δ ln λ."""
        modes, weights = [], []
        for path in paths:
            ordered = sorted(path.modes, key=lambda mode: mode.strength.smoothness)
            logs = np.log([mode.strength.smoothness for mode in ordered])
            steps = np.gradient(logs) if len(ordered) > 1 else np.ones(1)
            modes.extend(ordered)
            weights.extend(np.log(steps) + [mode.evidence for mode in ordered])
        shares = np.exp(np.array(weights) - max(weights))
        shares[shares < _LIGHT * shares.max()] = 0.0
        shares /= shares.sum()
        used = [(weight, mode) for weight, mode in zip(shares, modes, strict=True) if weight > 0.0]
        mean = np.asarray(sum(weight * mode.shares for weight, mode in used))
        covariance = np.zeros((mean.size, mean.size))
        for weight, mode in used:
            gap = mode.shares - mean
            covariance += weight * (mode.covariance + np.outer(gap, gap))
        best = max(modes, key=lambda mode: mode.evidence)
        precision, _ = model.prior.precision(best.strength)
        root = np.linalg.solve(best.factor, np.eye(mean.size)[:, : model.bins])
        freedom = mean.size - float(np.sum((root.T @ root) * precision))
        return cls(mean, covariance, best, freedom)
