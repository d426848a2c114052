"""Polar: a location as a distance and a direction from a centre, with the optimal division of the budget."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Final

from dither.core.domains import Circle, Disk, Interval, finite
from dither.core.kernels.places.pair import PairDecoder, PolarKernel
from dither.core.question import LEAST_EPSILON, PlainQuestion
from dither.errors import InvalidParameter
from dither.foundation.losses import Loss, Power, as_power
from dither.foundation.numerics.roots import integer_argmin
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.numeric.ogpm import OGPM, best_width
from dither.privacy.exact import rest

_PARTS: Final = 1 << 22  # the split is a multiple of ε/_PARTS, so that devices and collector agree on it


@dataclass(frozen=True)
class Polar(Mechanism[PlainQuestion]):
    """A location near the true one, reported as a distance from the centre and a direction.

    Promise:   pure ε for one location; the budgets of the two parts add up to ε.
    Reports:   two cells for each location: one for the distance and one for the direction.
    Use when:  directions from a public centre matter. The budget is divided so that the largest expected
               loss(distance) + loss(direction) is smallest; a radian counts as `radian` units of distance.
    Reference: [OGPM25, Sec. 6, B.6], whose split does not add up to its ε: see deviations. `widths` is the
               loss that the two windows are optimal for, by default `loss`; in the paper it is "absolute".

    >>> [round(part, 5) for part in Polar(Disk(1), epsilon=1 + 2 * math.pi, loss="squared").split]
    [1.52977, 5.75341]
    """

    domain: Disk

    _draws = ("polar",)

    _: KW_ONLY
    loss: Loss = "squared"
    widths: Loss | None = None
    radian: float = 1.0
    cells: int = 1 << 16

    _takes = (Disk,)

    def _check(self) -> None:
        as_power(self.loss)
        as_power(self._made_for)
        if not finite("radian", self.radian) > 0:
            raise InvalidParameter(
                f"radian must be a positive number of units of distance, not {self.radian:g}"
            )
        if self.epsilon < 2.0 * LEAST_EPSILON:
            raise InvalidParameter(
                f"expected ε ≥ {2.0 * LEAST_EPSILON:g} for two parts together, got {self.epsilon:g}"
            )

    @property
    def disk(self) -> Disk:
        """The domain of the inputs."""
        return self.domain

    @cached_property
    def split(self) -> tuple[float, float]:
        """The budgets of the distance and the direction."""
        farthest = math.pi * self.radian  # the largest error of a direction is half a turn
        loss, widths = as_power(self.loss), as_power(self._made_for)
        return best_split(self.epsilon, loss, widths, (self.disk.radius, farthest))

    @property
    def _made_for(self) -> Loss:
        return self.loss if self.widths is None else self.widths

    @cached_property
    def parts(self) -> tuple[OGPM, OGPM]:
        """The mechanism of the distance and the mechanism of the direction."""
        made_for, (first, second) = self._made_for, self.split
        return (
            OGPM(Interval(0.0, self.disk.radius), epsilon=first, loss=made_for, cells=self.cells),
            OGPM(Circle(), epsilon=second, loss=made_for, cells=self.cells),
        )

    def _kernel(self) -> PolarKernel:
        distance, direction = self.parts
        return PolarKernel(distance.question.kernel, direction.question.kernel, self.disk)

    def _codebook(self, kernel: PolarKernel) -> PairDecoder:
        distance, direction = self.parts
        return PairDecoder((distance.question.decoder, direction.question.decoder), self.split)

    def worst_error(self, loss: Loss) -> float:
        """Return the largest expected loss(distance) + loss(direction), directions in units of `radian`."""
        distance, direction = self.parts
        radian = float(self.radian ** as_power(loss).exponent)
        return distance.worst_error(loss) + radian * direction.worst_error(loss)


def best_split(
    epsilon: float, loss: Power, widths: Power, farthest: tuple[float, float]
) -> tuple[float, float]:
    """Return the two budgets that minimise the sum of the worst-case errors of two window mechanisms.

    `farthest` is the largest possible error of each: the length of an interval, or half of a circle.
    """
    weights = [distance**loss.exponent for distance in farthest]

    def total(part: int) -> float:
        budgets = epsilon * part / _PARTS, epsilon * (_PARTS - part) / _PARTS
        return math.fsum(
            weight * worst_of_two_levels(budget, loss, best_width(budget, widths))
            for weight, budget in zip(weights, budgets, strict=True)
        )

    least = max(1, math.ceil(LEAST_EPSILON / epsilon * _PARTS))
    part = integer_argmin(total, least, max(_PARTS - least, least))  # the sum need not be convex
    first = epsilon * part / _PARTS
    return first, rest(epsilon, first)


def worst_of_two_levels(epsilon: float, loss: Power, width: float) -> float:
    """Return the worst-case error of a window: at an end of [0, 1], or at any angle of a half circle."""
    k, lift = loss.exponent, math.expm1(epsilon)
    return float((1.0 + lift * width ** (k + 1.0)) / ((k + 1.0) * (1.0 + lift * width)))
