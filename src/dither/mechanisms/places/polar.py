"""Polar: a place as a distance and a direction, with the budget divided between them at its best."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Circle, Disk, Interval, finite
from dither.errors import InvalidParameter, MalformedReport
from dither.losses import Power, squared
from dither.mechanisms.base import LEAST_EPSILON, Mechanism, check_epsilon
from dither.mechanisms.numeric.ogpm import OGPM, best_width
from dither.mechanisms.window import within
from dither.privacy import Bound, Pure, Unit
from dither.privacy.exact import log_above
from dither.privacy.split import rest
from dither.randomness import Source

_PARTS: Final = 1 << 22  # the budget is divided into so many: the optimum is flat, and both sides must agree


@final
@dataclass(frozen=True)
class Polar(Mechanism):
    """A place near the truth, told as a distance from the centre and a direction.

    Promise:   pure ε for one location; the two parts' budgets add up to it.
    Reports:   two cells a place, the distance's and the direction's.
    Use when:  directions from a public centre matter. The budget is divided so that the largest expected
               loss(distance) + loss(direction) is smallest; a radian counts as `radian` units of distance.
    Reference: [OGPM25, Sec. 6, B.6], whose split does not add up to its ε: see deviations. `widths` is the
               loss that the two windows are made for, by default `loss`; the paper's are dt.absolute's.

    >>> [round(part, 5) for part in Polar(Disk(1), epsilon=1 + 2 * math.pi, loss=squared).split]
    [1.52977, 5.75341]
    """

    _: KW_ONLY
    loss: Power = squared
    widths: Power | None = None
    radian: float = 1.0
    cells: int = 1 << 16

    takes = (Disk,)

    def _build(self) -> None:
        if not (isinstance(self.loss, Power) and isinstance(self.widths, Power | None)):
            raise InvalidParameter("a loss is dt.absolute, dt.squared or dt.power(k)")
        if not finite("what a radian counts", self.radian) > 0:
            raise InvalidParameter("a radian counts as a positive number of units of distance")
        if self.epsilon < 2.0 * LEAST_EPSILON:
            raise InvalidParameter(f"two parts need a budget of at least {2.0 * LEAST_EPSILON:g}")
        _ = self.parts

    @property
    def disk(self) -> Disk:
        """The domain of the inputs."""
        assert isinstance(self.domain, Disk)
        return self.domain

    @cached_property
    def split(self) -> tuple[float, float]:
        """The budgets of the distance and of the direction."""
        made_for = self.loss if self.widths is None else self.widths
        farthest = math.pi * self.radian  # a direction is off by at most half a turn
        return best_split(self.epsilon, self.loss, made_for, (self.disk.radius, farthest))

    @cached_property
    def parts(self) -> tuple[OGPM, OGPM]:
        """The mechanism of the distance and the mechanism of the direction."""
        return self._parts(*self.split)

    def _parts(self, first: float, second: float) -> tuple[OGPM, OGPM]:
        made_for = self.loss if self.widths is None else self.widths
        return (
            OGPM(Interval(0.0, self.disk.radius), epsilon=first, loss=made_for, cells=self.cells),
            OGPM(Circle(), epsilon=second, loss=made_for, cells=self.cells),
        )

    @property
    def unit(self) -> Unit:
        """What the guarantee protects: one location."""
        return Unit.LOCATION

    def worst_error(self, loss: Power) -> float:
        """Give the largest expected loss(distance) + loss(direction), a direction's in units of `radian`."""
        distance, direction = self.parts
        return distance.worst_error(loss) + float(self.radian**loss.exponent) * direction.worst_error(loss)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        offset = self.disk.check(values) - np.asarray(self.disk.centre)
        distance, direction = self.parts
        # The disk lets a place on its rim be off by rounding; the distance's interval does not.
        radius = np.minimum(np.hypot(offset[..., 0], offset[..., 1]), self.disk.radius)
        angle = Circle().wrap(np.arctan2(offset[..., 1], offset[..., 0]))
        return np.stack(
            [distance._draw(radius, source, threads), direction._draw(angle, source, threads)], axis=-1
        )

    def decode(self, cells: Array) -> Floats:
        """Give the places that reports stand for."""
        distance, direction = (part.decode(cells[..., i]) for i, part in enumerate(self.parts))
        turned = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
        return np.asarray(self.disk.centre + distance[..., None] * turned, dtype=np.float64)

    def _valid(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=self.parts[0].kernel.dtype)
        if raw.ndim == 0 or raw.shape[-1] != 2:
            raise MalformedReport("a report is two cells: an array whose last axis has length 2")
        return within(raw, self.cells, self.parts[0].kernel.dtype)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε: the product of the two ratios, for the two parts are drawn independently."""
        distance, direction = self.parts
        how = f"distance: {distance.realised()[1]}; direction: {direction.realised()[1]}; the two add"
        return Pure(log_above(distance.kernel.ratio * direction.kernel.ratio)), how

    def wire(self) -> dict[str, Any]:
        """Give the split, both windows and both codebooks."""
        distance, direction = (part.wire() for part in self.parts)
        kernel = {"distance": distance["kernel"], "direction": direction["kernel"]}
        return {
            "kernel": {"split": list(self.split), **kernel},
            "codebook": [distance["codebook"], direction["codebook"]],
        }

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the split, the integers and the codebooks that travelled."""
        try:
            first, second = (check_epsilon(budget) for budget in wire["kernel"]["split"])
            kernels = wire["kernel"]["distance"], wire["kernel"]["direction"]
            books = tuple(wire["codebook"])
            parts = tuple(
                part.restored({"kernel": kernel, "codebook": book})
                for part, kernel, book in zip(self._parts(first, second), kernels, books, strict=True)
            )
        except (TypeError, KeyError, ValueError):
            raise MalformedReport("a polar kernel is a split, two windows and two codebooks") from None
        if Fraction(first) + Fraction(second) > Fraction(self.epsilon):
            raise MalformedReport("the split spends more than the mechanism's budget")
        copy = replace(self)
        copy.__dict__.update(split=(first, second), parts=parts, _travelled=wire)
        return copy

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.cells**2

    def adds_up(self, counts: Integers, n: int) -> bool:
        """Say whether n reports can have been counted like this: each has a distance and a direction."""
        return int(counts[: self.cells].sum()) == int(counts[self.cells :].sum()) == n

    def tally(self, cells: Array) -> Integers:
        """Count the distances' cells, then the directions': pairs would be too many to count."""
        return np.concatenate([np.bincount(cells[..., i].reshape(-1), minlength=self.cells) for i in (0, 1)])

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is."""
        return 2 * self.cells

    def answers(self, cells: Array) -> int:
        """Say how many places an array of reports holds."""
        return int(cells.size) // 2

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return sum(part.report_bytes for part in self.parts)


def best_split(
    epsilon: float, loss: Power, widths: Power, farthest: tuple[float, float]
) -> tuple[float, float]:
    """Divide a budget between two two-level mechanisms so that the sum of their worst errors is smallest.

    `farthest` says how far off each of the two can be: an interval's length, half a circle's.
    """
    weights = [distance**loss.exponent for distance in farthest]

    def total(part: int) -> float:
        budgets = epsilon * part / _PARTS, epsilon * (_PARTS - part) / _PARTS
        return math.fsum(
            weight * worst_of_two_levels(budget, loss, best_width(budget, widths))
            for weight, budget in zip(weights, budgets, strict=True)
        )

    least = max(1, math.ceil(LEAST_EPSILON / epsilon * _PARTS))
    low, high = least, max(_PARTS - least, least)
    for points in (64, 64, 64, 64, 64):  # each round narrows the range 32-fold; the sum need not be convex
        grid = sorted({low + (high - low) * i // points for i in range(points + 1)})
        best = min(range(len(grid)), key=lambda i: total(grid[i]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    part = min(range(low, high + 1), key=total)
    first = epsilon * part / _PARTS
    return first, rest(epsilon, first)


def worst_of_two_levels(epsilon: float, loss: Power, width: float) -> float:
    """Give the worst error of a window of a width on [0, 1], at an end; of a half circle, at any angle."""
    k, lift = loss.exponent, math.expm1(epsilon)
    return float((1.0 + lift * width ** (k + 1.0)) / ((k + 1.0) * (1.0 + lift * width)))
