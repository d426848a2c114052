"""Polar: a place as a distance and a direction, with the budget divided between them at its best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle, Disk, Domain, Interval, finite
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.counting import EachColumn
from dither.kernels.places.pair import PairKernel
from dither.kernels.window.decoder import read_decoder
from dither.losses import Power, squared
from dither.mechanisms.base import LEAST_EPSILON, Mechanism, Travelled, check_epsilon
from dither.mechanisms.numeric.ogpm import OGPM, best_width
from dither.numerics.grid_search import integer_argmin
from dither.privacy import Unit
from dither.privacy.split import rest
from dither.randomness import Source

_PARTS: Final = 1 << 22  # the budget is divided into so many: the optimum is flat, and both sides must agree


@final
@dataclass(frozen=True)
class Polar(Mechanism[Disk]):
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
        _ = self.kernel

    @property
    def disk(self) -> Disk:
        """The domain of the inputs."""
        return self.domain

    @cached_property
    def split(self) -> tuple[float, float]:
        """The budgets of the distance and of the direction."""
        if self.travelled is not None:
            first, second = (check_epsilon(budget) for budget in self.travelled.codebook["split"])
            if Fraction(first) + Fraction(second) > Fraction(self.epsilon):
                raise MalformedReport("the split spends more than the mechanism's budget")
            return first, second
        made_for = self.loss if self.widths is None else self.widths
        farthest = math.pi * self.radian  # a direction is off by at most half a turn
        return best_split(self.epsilon, self.loss, made_for, (self.disk.radius, farthest))

    @cached_property
    def parts(self) -> tuple[OGPM, OGPM]:
        """The mechanism of the distance and the mechanism of the direction."""
        made_for = self.loss if self.widths is None else self.widths
        first, second = self.split
        parts = (
            OGPM(Interval(0.0, self.disk.radius), epsilon=first, loss=made_for, cells=self.cells),
            OGPM(Circle(), epsilon=second, loss=made_for, cells=self.cells),
        )
        if self.travelled is None:
            return parts
        kernel, books = self.travelled.kernel, self.travelled.codebook["parts"]
        if not isinstance(kernel, PairKernel):
            raise MalformedReport("Polar runs two windows")
        return (
            replace(parts[0], travelled=Travelled(kernel.first, read_decoder(books[0]))),
            replace(parts[1], travelled=Travelled(kernel.second, read_decoder(books[1]))),
        )

    @cached_property
    def kernel(self) -> PairKernel:
        """The windows of the distance and of the direction: what devices run."""
        distance, direction = self.parts
        return PairKernel(distance.kernel, direction.kernel)

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
        # The disk lets a place on its rim be off by rounding; the distance's interval does not.
        radius = np.minimum(np.hypot(offset[..., 0], offset[..., 1]), self.disk.radius)
        angle = Circle().wrap(np.arctan2(offset[..., 1], offset[..., 0]))
        return self.kernel.draw(np.stack([radius, angle], axis=-1), source, threads=threads)

    def decode(self, cells: Array) -> Floats:
        """Give the places that reports stand for."""
        distance, direction = (part.decode(cells[..., i]) for i, part in enumerate(self.parts))
        turned = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
        return np.asarray(self.disk.centre + distance[..., None] * turned, dtype=np.float64)

    def device(self) -> dict[str, Any]:
        # A place becomes a distance and a direction from the centre.
        return {**super().device(), "draw": "polar"}

    @classmethod
    def rebuilt(
        cls, domain: Domain, parameters: Mapping[str, Any], device: Mapping[str, Any], codebook: Any
    ) -> Self:
        if device["draw"] != "polar":
            raise MalformedReport("Polar runs two windows")
        return super().rebuilt(domain, parameters, {**device, "draw": PairKernel.kind}, codebook)

    def codebook(self) -> Any:
        return {"split": list(self.split), "parts": [part.codebook() for part in self.parts]}

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not all(len(data[name]) == 2 for name in ("split", "parts")):
            raise MalformedReport("Polar has a split and two codebooks")
        return data

    @property
    def counting(self) -> EachColumn:
        """How often each distance and each direction was told: pairs would be too many to count."""
        return EachColumn((self.cells, self.cells))

    def version_1(self, sampled: Mapping[str, Any]) -> Self:
        data, books = sampled["kernel"], sampled["codebook"]
        book = {"split": data["split"], "parts": books}
        apart = replace(self, travelled=Travelled(self.kernel, book))  # parts with the budgets that travelled
        kernels = (
            replace(part, travelled=None).version_1({"kernel": data[name], "codebook": one}).kernel
            for part, name, one in zip(apart.parts, ("distance", "direction"), books, strict=True)
        )
        return replace(self, travelled=Travelled(PairKernel(*kernels), book))


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
    part = integer_argmin(total, least, max(_PARTS - least, least))  # the sum need not be convex
    first = epsilon * part / _PARTS
    return first, rest(epsilon, first)


def worst_of_two_levels(epsilon: float, loss: Power, width: float) -> float:
    """Give the worst error of a window of a width on [0, 1], at an end; of a half circle, at any angle."""
    k, lift = loss.exponent, math.expm1(epsilon)
    return float((1.0 + lift * width ** (k + 1.0)) / ((k + 1.0) * (1.0 + lift * width)))
