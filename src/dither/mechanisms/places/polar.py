"""Polar: a place as a distance and a direction from a centre, with the optimal division of the budget."""

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
from dither.errors import InvalidParameter, MalformedReport, found
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

_PARTS: Final = 1 << 22  # the split is a multiple of ε/_PARTS, so that devices and collector agree on it


@final
@dataclass(frozen=True)
class Polar(Mechanism[Disk]):
    """A place near the truth, reported as a distance from the centre and a direction.

    Promise:   pure ε for one location; the budgets of the two parts add up to ε.
    Reports:   two cells for each place: one of the distance and one of the direction.
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
            raise InvalidParameter("loss and widths must be dt.absolute, dt.squared or dt.power(k)")
        if not finite("radian", self.radian) > 0:
            raise InvalidParameter(
                f"radian must be a positive number of units of distance, not {self.radian:g}"
            )
        if self.epsilon < 2.0 * LEAST_EPSILON:
            raise InvalidParameter(
                f"two parts need ε ≥ {2.0 * LEAST_EPSILON:g} together, not {self.epsilon:g}"
            )
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
                raise MalformedReport(f"the parts of the split add up to more than ε = {self.epsilon:g}")
            return first, second
        made_for = self.loss if self.widths is None else self.widths
        farthest = math.pi * self.radian  # the largest error of a direction is half a turn
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
            raise MalformedReport("Polar needs a pair of window kernels")
        return (
            replace(parts[0], travelled=Travelled(kernel.first, read_decoder(books[0]))),
            replace(parts[1], travelled=Travelled(kernel.second, read_decoder(books[1]))),
        )

    @cached_property
    def kernel(self) -> PairKernel:
        """What devices run: the windows of the distance and of the direction."""
        distance, direction = self.parts
        return PairKernel(distance.kernel, direction.kernel)

    @property
    def unit(self) -> Unit:
        """The unit of the guarantee: one location."""
        return Unit.LOCATION

    def worst_error(self, loss: Power) -> float:
        """Return the largest expected loss(distance) + loss(direction), directions in units of `radian`."""
        distance, direction = self.parts
        return distance.worst_error(loss) + float(self.radian**loss.exponent) * direction.worst_error(loss)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        offset = self.disk.check(values) - np.asarray(self.disk.centre)
        # The disk accepts places that rounding puts just outside; the interval of distances does not.
        radius = np.minimum(np.hypot(offset[..., 0], offset[..., 1]), self.disk.radius)
        angle = Circle().wrap(np.arctan2(offset[..., 1], offset[..., 0]))
        return self.kernel.draw(np.stack([radius, angle], axis=-1), source, threads=threads)

    def decode(self, cells: Array) -> Floats:
        """Return the decoded places of reports."""
        distance, direction = (part.decode(cells[..., i]) for i, part in enumerate(self.parts))
        turned = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
        return np.asarray(self.disk.centre + distance[..., None] * turned, dtype=np.float64)

    def device(self) -> dict[str, Any]:
        # The device computes the distance and the direction from the centre.
        return {**super().device(), "draw": "polar"}

    @classmethod
    def rebuilt(
        cls, domain: Domain, parameters: Mapping[str, Any], device: Mapping[str, Any], codebook: Any
    ) -> Self:
        if device["draw"] != "polar":
            raise MalformedReport(f"the draw of Polar must be 'polar', not {found(device['draw'])}")
        return super().rebuilt(domain, parameters, {**device, "draw": PairKernel.kind}, codebook)

    def codebook(self) -> Any:
        return {"split": list(self.split), "parts": [part.codebook() for part in self.parts]}

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not all(len(data[name]) == 2 for name in ("split", "parts")):
            raise MalformedReport("the codebook of Polar needs a split and two parts")
        return data

    @property
    def counting(self) -> EachColumn:
        """Counts of the distances and of the directions separately: there are too many pairs to count."""
        return EachColumn((self.cells, self.cells))


def best_split(
    epsilon: float, loss: Power, widths: Power, farthest: tuple[float, float]
) -> tuple[float, float]:
    """Return two budgets for which the sum of the worst-case errors of two window mechanisms is smallest.

    `farthest` is the largest possible error of each: the length of an interval, half of a circle.
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
    """Return the worst-case error of a window on [0, 1], at an end, or on a half circle, at any angle."""
    k, lift = loss.exponent, math.expm1(epsilon)
    return float((1.0 + lift * width ** (k + 1.0)) / ((k + 1.0) * (1.0 + lift * width)))
