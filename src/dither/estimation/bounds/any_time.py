"""Confidence sequences: intervals that hold at all numbers of reports at once, so that looking is free.

Let Y be numbers from `low` to `high` with mean μ, c = high − low, and let
ψ(λ) = −ln(1 − λ) − λ. For every m and 0 ≤ λ < 1,

    exp(λ·Σ(Y − m)/c − ψ(λ)·Σ(Y − m)²/c²)

is at most a product of 1 + λ(Y − m)/c [Fan15, eq. 4.11], whose mean is 1 at m = μ after every report. So a
mixture over λ ever reaches 1/α with probability at most α [Ville39]. It depends on n, the average and the
squares alone: a summary is enough, and no order or normality is assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final, Self, cast

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, found
from dither.estimation.intervals import ConfidenceInterval, Divisible
from dither.numerics.quantiles import check_level

# The mixture: 20 bets, each half the one before, weighted by 1/(j + 2). At λ ≤ 0.5 the exponent rises with
# the distance of m from the average over the whole range, so that the m that are left are an interval.
_BETS: Final = 0.5 * 0.5 ** np.arange(20.0)
_WEIGHTS: Final = (1.0 / (np.arange(20.0) + 2.0)) / np.sum(1.0 / (np.arange(20.0) + 2.0))
_COSTS: Final = -np.log1p(-_BETS) - _BETS
_LOG_WEIGHTS: Final = np.log(_WEIGHTS)
_STEPS: Final = 80  # at most; eight are usual
_CLOSE: Final = 1e-9
MOST_LOOKS: Final = 10**6


@dataclass(frozen=True, eq=False)
class BoundedNumbers:
    """Numbers of reports from `low` to `high`: their average, and the sum of squared deviations from it."""

    mean: float | Floats
    squares: float | Floats
    n: int
    low: float | Floats
    high: float | Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of an interval that holds the mean at all n at once, with probability `level`."""
        outside = (1.0 - check_level(level)) / 2.0
        mean, squares = np.asarray(self.mean, dtype=np.float64), np.asarray(self.squares, dtype=np.float64)
        # A mean of bounded numbers lies between the bounds; rounding, or too few reports, may not say so.
        most = np.maximum([mean - self.low, self.high - mean], 0.0)
        down, up = self._reach(most, squares, -math.log(outside))
        return np.maximum(mean - down, self.low), np.minimum(mean + up, self.high)

    def _reach(self, most: Floats, squares: Floats, reached: float) -> Floats:
        """Return the smallest distance from the average, at most `most`, with a log-capital of `reached`.

        Newton's steps, or halving where a step would leave the bracket.
        """
        unit = np.asarray(self.high, dtype=np.float64) - self.low
        unit = np.where(unit > 0.0, unit, 1.0)  # of numbers that are all the same
        near, far = np.zeros_like(most), most / unit
        spread = np.broadcast_to(squares / unit**2, most.shape)
        never = _log_capital(self.n, far, spread)[0] < reached  # then nothing is excluded on this side
        place = np.minimum(4.0 * np.sqrt(np.maximum(spread, 1.0)) / self.n, far / 2.0)
        for _ in range(_STEPS):
            capital, slope = _log_capital(self.n, place, spread)
            newton = place - (capital - reached) / slope
            done = never | (np.abs(newton - place) <= _CLOSE * place)
            if done.all():
                break
            short = capital < reached
            near, far = np.where(short, place, near), np.where(short, far, place)
            inside = (newton > near) & (newton < far)
            place = np.where(done, place, np.where(inside, newton, (near + far) / 2.0))
        # Outwards by more than the last step may be off.
        return np.where(never, most, np.minimum(place * (1.0 + 4.0 * _CLOSE) * unit, most))


def _log_capital(n: int, gap: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of the mixture at a distance from the average, and its slope."""
    costs = _COSTS * n
    at = gap[..., None]
    exponents = _BETS * n * at - _COSTS * spread[..., None] - costs * at**2 + _LOG_WEIGHTS
    top = exponents.max(axis=-1, keepdims=True)
    parts = np.exp(exponents - top)
    whole = parts.sum(axis=-1)
    slope = (parts * (_BETS * n - 2.0 * costs * at)).sum(axis=-1) / whole
    return top[..., 0] + np.log(whole), slope


@dataclass(frozen=True, eq=False)
class AnyTimeInterval(ConfidenceInterval):
    """The interval that holds at all numbers of reports at once, of the mean of bounded numbers.

    The estimate is (mean − scale[0])/scale[1]; `possible` says whether intervals are clipped to 0 and 1.
    """

    numbers: BoundedNumbers
    scale: tuple[float, float] = (0.0, 1.0)
    possible: bool = False

    def interval(self, level: float) -> tuple[Any, Any]:
        ends = [((end - self.scale[0]) / self.scale[1])[()] for end in self.numbers.interval(level)]
        if self.possible:
            ends = [np.clip(end, 0.0, 1.0) for end in ends]
        return ends[0], ends[1]

    def pick(self, at: Any) -> AnyTimeInterval:
        """Return the interval of one of several means."""
        mean, squares = (float(np.asarray(part)[at]) for part in (self.numbers.mean, self.numbers.squares))
        return replace(self, numbers=replace(self.numbers, mean=mean, squares=squares))


@dataclass(frozen=True, eq=False)
class LooksInterval(ConfidenceInterval):
    """The interval that holds at a fixed number of looks together: each at 1 − (1 − level)/looks."""

    plain: ConfidenceInterval
    looks: int
    period: float = 0.0
    resolution: float = 0.0

    @classmethod
    def of(cls, plain: ConfidenceInterval, looks: int) -> Self:
        """Return the interval over so many looks; raise InvalidParameter unless it is a whole number."""
        level_of_one(0.95, looks)
        return cls(plain, int(looks), plain.period, plain.resolution)

    def interval(self, level: float) -> tuple[Any, Any]:
        return self.plain.interval(level_of_one(level, self.looks))

    def pick(self, at: Any) -> LooksInterval:
        """Return the interval of one of several numbers."""
        return replace(self, plain=cast("Divisible", self.plain).pick(at))


def level_of_one(level: float, looks: int) -> float:
    """Return the level that each of several intervals needs so that all hold together (Bonferroni)."""
    whole = isinstance(looks, int | np.integer) and not isinstance(looks, bool)
    if not whole or not 1 <= looks <= MOST_LOOKS:
        raise InvalidParameter(
            f"the number of looks is a whole number from 1 to {MOST_LOOKS}, not {found(looks)}"
        )
    return 1.0 - (1.0 - check_level(level)) / int(looks)
