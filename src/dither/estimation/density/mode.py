"""The most probable distribution under one prior, by Fisher scoring, and its evidence [MacKay92]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.estimation.density.model import ATOM_CENTRE, ATOM_SPREAD, DensityModel, Strength

_LONGEST: Final = 4.0  # by how much a step may change a log-probability
_ENOUGH: Final = 2e-2  # nats that a further step would gain
_HALVINGS: Final = 10
_SHAKES: Final = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # of the diagonal, if rounding left it indefinite


@dataclass(frozen=True, eq=False)
class DensityMode:
    """The top of the posterior: log-probabilities, probabilities, and the curvature there."""

    strength: Strength
    logs: Floats
    shares: Floats
    expected: Floats  # of the rows
    curvature: Floats  # minus the Hessian, with a fixed one along the constant
    factor: Floats  # its Cholesky factor
    evidence: float

    @cached_property
    def root(self) -> Floats:
        """A root R of the covariance R'R: the change of shares with their logarithms, by the factor."""
        change = np.diag(self.shares) - np.outer(self.shares, self.shares)
        return np.asarray(np.linalg.solve(self.factor, change), dtype=np.float64)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the probabilities: that of their logarithms, linearised."""
        return np.asarray(self.root.T @ self.root)


def climb_to_mode(model: DensityModel, strength: Strength, start: Floats, steps: int) -> DensityMode:
    """Return the mode, from a start that is usually that of a neighbouring strength."""
    precision, level = model.prior.precision(strength)
    logs = start
    height, shares, expected = _look(model, precision, logs)
    for step in range(steps + 1):
        slope, curvature = _derivatives(model, precision, logs, shares, expected)
        if step == steps:
            break
        move = np.linalg.solve(curvature, slope)
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
        logs = ahead - ahead.mean()  # a constant changes nothing
        height, shares, expected = found
    curvature, factor = _factor(curvature)
    atoms = model.atoms.shape[1]
    evidence = height + level / 2.0 - float(np.log(np.diagonal(factor)).sum()) - atoms * math.log(ATOM_SPREAD)
    return DensityMode(strength, logs, shares, expected, curvature, factor, evidence)


def _look(model: DensityModel, precision: Floats, logs: Floats) -> tuple[float, Floats, Floats]:
    """Return the log-posterior, the probabilities and the expected shares of the rows."""
    top = float(logs.max())
    powers = np.exp(logs - top)
    shares = powers / powers.sum()
    expected = model.expected_shares(shares)
    bins = model.bins
    height = float(model.counts @ np.log(expected)) - float(logs[:bins] @ precision @ logs[:bins]) / 2.0
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
    # The constant changes nothing: exactly, also where products are approximate.
    whole = curvature.sum(axis=1)
    curvature -= np.outer(whole, whole / whole.sum())
    slope[:bins] -= precision @ logs[:bins]
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
            return shaken, np.asarray(np.linalg.cholesky(shaken), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
    identity = np.diag(2.0 * diagonal + 1.0)  # not reached with finite numbers
    return identity, np.sqrt(identity)
