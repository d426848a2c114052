"""Maximum likelihood of the distribution of inputs by EM, accelerated; the likelihood never falls.

One step multiplies each probability by the mean ratio of observed to expected reports. Steps are extrapolated
[Varadhan08, scheme S3]; an extrapolation that lowers the likelihood is shortened and in the end replaced by
the plain steps, which cannot lower it. Duality bounds how far the likelihood is below the maximum at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.kernels.transition import Operator
from dither.numerics.newton import bracketed_newton

Finish = Callable[[Floats], Floats]  # the last part of a step: restores a constraint on the probabilities

_LOOK_BACK: Final = 5  # cycles over which the gain is measured
_LEAST: Final = 1e-3  # the least probability after an extrapolation, relative to that of the plain step
_PLAIN: Final = 1.25  # shorter extrapolations are not tried
_TINY: Final = 1e-300


@dataclass(frozen=True, eq=False)
class Fit:
    """Probabilities of the inputs, the likelihood they reach, and how many steps it took."""

    operator: Operator
    counts: Floats
    probabilities: Floats
    log_likelihood: float
    steps: int

    @property
    def shortfall(self) -> float:
        """An upper bound on how far the log-likelihood is below its maximum over all distributions.

        By concavity ln L(best) − ln L(p) ≤ n·ln(max over inputs of the mean of 1/n·counts/expected).
        """
        ratio = self.counts / np.maximum(self.operator.forward(self.probabilities), _TINY)
        n = float(self.counts.sum())
        return n * math.log(max(float(self.operator.backward(ratio).max()) / n, 1.0))


def step(operator: Operator, shares: Floats, probabilities: Floats, expected: Floats) -> Floats:
    """Return the probabilities after one plain step of EM, from the shares of reports seen and expected."""
    after = operator.backward(shares / expected)
    after *= probabilities
    return after


def climb(
    operator: Operator,
    counts: Floats,
    start: Floats,
    *,
    finish: Finish | None = None,
    tolerance: float = 1e-2,
    most: int = 20_000,
) -> Fit:
    """Return the maximum-likelihood probabilities; stop when the last cycles gain less than `tolerance` nats.

    `finish` restores a linear constraint at the end of each step.
    """
    complete: Finish = _same if finish is None else finish
    shares = counts / counts.sum()
    now = complete(start)
    expected, level = _look(operator, counts, now)
    history = [level]
    steps = 0
    while steps < most:
        first = complete(step(operator, shares, now, expected))
        middle = np.maximum(operator.forward(first), _TINY)
        second = complete(step(operator, shares, first, middle))
        steps += 2
        rise = first - now
        bend = second - first - rise
        curvature = math.sqrt(float(bend @ bend))
        length = math.sqrt(float(rise @ rise)) / curvature if curvature > 0.0 else 1.0
        while length > _PLAIN:
            ahead = now + 2.0 * length * rise + length**2 * bend
            ahead = np.maximum(ahead, _LEAST * second)
            ahead = complete(ahead / ahead.sum())
            seen, height = _look(operator, counts, ahead)
            if height >= level:
                break
            length = (length + 1.0) / 2.0
        else:
            ahead = second
            seen, height = _look(operator, counts, ahead)
            if height < level:  # only by rounding: the maximum is reached
                break
        now, expected, level = ahead, seen, height
        history.append(level)
        if len(history) > _LOOK_BACK and level - history[-1 - _LOOK_BACK] < tolerance:
            break
    return Fit(operator, counts, now, level, steps)


def smooth(operator: Operator, counts: Floats, start: Floats, kernel: Finish, *, tolerance: float) -> Fit:
    """Return the fixed point of EM with smoothing [SW20, Alg. 1, EMS]; its likelihood is not maximal."""
    now, shares = start, counts / counts.sum()
    expected, level = _look(operator, counts, now)
    steps = 0
    for steps in range(1, 10_001):  # noqa: B007
        now = kernel(step(operator, shares, now, expected))
        before = level
        expected, level = _look(operator, counts, now)
        if abs(level - before) < tolerance / 10.0:
            break
    return Fit(operator, counts, now, level, steps)


def average_on_line(probabilities: Floats) -> Floats:
    """Return averages with the neighbours, weights 1, 2, 1; at the ends 2, 1 [SW20, Sec. 5.5]."""
    out = 2.0 * probabilities
    out[1:] += probabilities[:-1]
    out[:-1] += probabilities[1:]
    out[[0, -1]] *= 4.0 / 3.0
    return np.asarray(out / out.sum())


def average_on_circle(probabilities: Floats) -> Floats:
    """Return averages with the neighbours on the circle, weights 1, 2, 1."""
    out = 2.0 * probabilities + np.roll(probabilities, 1) + np.roll(probabilities, -1)
    return np.asarray(out / out.sum())


def tilt(weights: Floats, gaps: Floats) -> Floats:
    """Return the p with Σ p·gap = 0 that maximises Σ weight·ln p: weight/(1 + λ·gap), scaled to sum to one.

    λ is the root of the decreasing function Σ weight·gap/(1 + λ·gap) [Owen01].
    """

    def excess(multiplier: float) -> tuple[float, float]:
        scale = 1.0 + multiplier * gaps
        shares = weights / scale
        return float(shares @ gaps), -max(float((shares * gaps / scale) @ gaps), _TINY)

    low, high = -1.0 / float(gaps.max()), -1.0 / float(gaps.min())
    multiplier = bracketed_newton(excess, low, high, 0.0, tolerance=1e-9, absolute=1e-15)
    shares = weights / (1.0 + multiplier * gaps)
    return np.asarray(shares / shares.sum())


def _look(operator: Operator, counts: Floats, probabilities: Floats) -> tuple[Floats, float]:
    expected = np.maximum(operator.forward(probabilities), _TINY)
    return expected, float(counts @ np.log(expected))


def _same(probabilities: Floats) -> Floats:
    return probabilities
