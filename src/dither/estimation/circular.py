"""Estimates on a circle: the mean direction and the mean resultant length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.errors import InvalidParameter
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.method import numerical, on_circle
from dither.estimation.summary import Summary
from dither.numerics.quantiles import rice_interval, student_t_quantile
from dither.question import NumberQuestion


@dataclass(frozen=True, eq=False)
class DirectionInterval(ConfidenceInterval):
    """The interval of a mean direction: all directions across which the mean vector may be zero [Fieller54].

    `wobble` is the standard error of the mean vector across the direction, divided by its length.
    """

    value: float
    wobble: float
    n: int
    period: float

    def interval(self, level: float) -> tuple[float, float]:
        sine = student_t_quantile(level, self.n - 1) * self.wobble
        if sine >= 1.0:  # every direction is possible
            return 0.0, self.period
        half = math.asin(sine) * self.period / (2.0 * math.pi)
        return (self.value - half) % self.period, (self.value + half) % self.period


@dataclass(frozen=True, eq=False)
class LengthInterval(ConfidenceInterval):
    """The interval of a mean resultant length: 1 if all directions are the same, 0 if they cancel.

    `seen` is the length of the mean report and `noise` its standard error; `kept` is the factor ρ by which
    the mechanism shortens it. With `complement` the interval is of the circular variance, 1 − length.
    """

    seen: float
    noise: float
    kept: float
    n: int
    complement: bool

    def interval(self, level: float) -> tuple[float, float]:
        if self.n < 2:
            return (-math.inf, 1.0) if self.complement else (0.0, math.inf)
        low, high = (end * self.noise / self.kept for end in rice_interval(self.seen / self.noise, level))
        return (1.0 - high, 1.0 - low) if self.complement else (low, high)


class _MeanVector(NamedTuple):
    angle: float  # of the mean direction, in radians
    length: float
    along: float  # standard errors of the mean vector: along it, and across
    across: float


def direction(summary: Summary) -> Estimate:
    """Estimate the mean direction by that of the mean report: the noise is symmetric, so there is no bias."""
    line = numerical(summary).line
    mean = _mean(summary)
    turn = line.length / (2.0 * math.pi)
    wobble = mean.across / mean.length if mean.length > 0.0 else math.inf
    value = mean.angle * turn % line.length
    interval = DirectionInterval(value, wobble, summary.n, line.length)
    return Estimate(value, wobble * turn, summary.n, summary.question.guarantee, confidence=interval)


def length(summary: Summary, *, variance: bool = False, as_reported: bool = False) -> Estimate:
    """Estimate the resultant length: the mean report's, corrected for the variance and divided by ρ."""
    mechanism = numerical(summary)
    if not on_circle(mechanism):
        raise InvalidParameter(
            f"a resultant length is estimated from reports on a dt.Circle, not on {mechanism.domain}"
        )
    mean = _mean(summary)
    kept = 1.0 if as_reported else length_factor(mechanism)
    # E|mean vector|² is the squared true length plus the variance: the variance across it adds length.
    value = math.sqrt(max(mean.length**2 - mean.across**2, 0.0)) / kept
    interval = LengthInterval(mean.length, mean.along, kept, summary.n, variance)
    shown = 1.0 - value if variance else value
    return Estimate(shown, mean.along / kept, summary.n, mechanism.guarantee, confidence=interval)


def length_factor(mechanism: NumberQuestion) -> float:
    """Return ρ = |E[e^(iY) | x]|, the same for every x, from the integers that are sampled."""
    vectors = _unit_vectors(mechanism)
    operator = mechanism.likelihood(np.array([mechanism.line.low]), vectors.size)
    return math.hypot(float(operator.backward(vectors.real)[0]), float(operator.backward(vectors.imag)[0]))


def _unit_vectors(mechanism: NumberQuestion) -> NDArray[np.complex128]:
    return np.asarray(np.exp(2j * np.pi * mechanism.line.to_unit(mechanism.decoded())))


def _mean(summary: Summary) -> _MeanVector:
    vectors = _unit_vectors(numerical(summary))
    shares = summary.counts[: vectors.size] / summary.n
    mean = complex((shares * vectors).sum())
    angle, size = math.atan2(mean.imag, mean.real), abs(mean)
    turned = vectors * complex(math.cos(angle), -math.sin(angle))
    along = float((shares * (turned.real - size) ** 2).sum())
    across = float((shares * turned.imag**2).sum())
    rest = max(summary.n - 1, 1)
    return _MeanVector(angle, size, math.sqrt(along / rest), math.sqrt(across / rest))
