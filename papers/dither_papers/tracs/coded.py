"""The authors' programs where they differ from the dissertation; each bug is a switch.

Nothing here is private; nothing here is used anywhere else.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any, Final, NoReturn, cast

import numpy as np

from dither.core.domains import Circle, Domain, Interval, Line, Paths, Rectangle
from dither.core.kernels.blocks import Sampler
from dither.core.kernels.kernel import LineKernel, Promise
from dither.core.kernels.places.walk import WalkKernel
from dither.core.kernels.window.codebook import AffineDecoder
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats
from dither.foundation.randomness import Source
from dither.mechanisms.numeric.base import NumberMechanism
from dither.mechanisms.numeric.sw import SW, wave_share
from dither.mechanisms.places.noise import PlanarLaplace
from dither.mechanisms.places.tracs import TraCSD
from dither.privacy import Nothing

TURN: Final = 2.0 * math.pi
CORNER: Final = (0.0, 0.0)
SQUARE: Final = Rectangle(Interval(0.0, 1.0), Interval(0.0, 1.0))


@dataclass(frozen=True)
class Flaws:
    """The bugs of the programs; the numbers follow the list of deviations, T4 to T23."""

    seldom_lies: bool = True  # k-RR lies k − 1 times too seldom, and among k others (T7)
    lost_pi: bool = True  # the redesigned SW's likelier sector has 1/π of its probability (T8)
    raw_beyond_ten: bool = True  # a direction with a budget above 10 is reported unperturbed (T6)
    wrong_metric: bool = True  # directions are compared by min(|a − b|, |2π − a − b|) (T9)
    borrowed: bool = True  # the strawman walks along TraCS-D's references (T10)
    free_start: bool = True  # walks are averaged over n + 1 places, the first without error (T10)
    squared_first: bool = True  # planar Laplace is drawn on the unit square, then stretched (T23)
    floored: bool = True  # places are rounded down to the grid, not to the nearest (T18)

    @staticmethod
    def none() -> Flaws:
        """Return the flaws with every switch off."""
        return Flaws(**{field.name: False for field in fields(Flaws)})


@dataclass(frozen=True)
class _FloatKernel(LineKernel):
    """A direction drawn in floats, as the programs do: nothing about it is exact."""

    line: Line
    directions: Callable[[Floats, Floats], Floats]

    @property
    def outcomes(self) -> int:
        return 1 << 16

    def sampler(self, size: int) -> Sampler:
        return self._write

    def _write(self, block: Array, cells: Array, source: Source) -> None:
        angles = np.asarray(block, dtype=np.float64)
        uniform = (source.words(2 * angles.size) >> np.uint64(11)).reshape(2, -1) / 2.0**53
        drawn = self.directions(angles, uniform) % TURN
        cells[:] = np.minimum(drawn / TURN * self.outcomes, self.outcomes - 1).astype(np.uint16)

    def draw_one(self, value: float, source: Source) -> int:
        cells = np.empty(1, dtype=np.uint16)
        self._write(np.array([value]), cells, source)
        return int(cells[0])

    def _probabilities(self, value: float) -> NoReturn:
        raise InvalidParameter("a program in floats has no exact probabilities")

    def likelihoods(self, reports: Array, inputs: Array) -> NoReturn:
        raise InvalidParameter("a program in floats has no exact probabilities")

    @property
    def ratio(self) -> Fraction:
        raise InvalidParameter(
            "expected a mechanism with integers to bound its loss, got a program of a paper in floats"
        )

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        """Accept it: nothing is promised."""

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> NoReturn:
        raise MalformedReport("a program of a paper has no specification")

    def likelihood(self, inputs: Array, rows: int) -> NoReturn:
        raise InvalidParameter("a program in floats has no exact probabilities")

    def unbiased_reading(self, book: Any) -> None:
        """Return None: the mean of a program's reports is measured, not computed."""

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        return Promise(Nothing("a program is repeated here, with its bugs"), self.evidence, kept=False)

    @property
    def evidence(self) -> str:
        return "not computed"

    def device(self) -> dict[str, Any]:
        return {"draw": "program"}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> NoReturn:
        raise MalformedReport("a program of a paper has no specification")


class _FloatDirection(NumberMechanism):
    """A direction drawn in floats, as the programs do."""

    _takes = (Circle,)

    @abstractmethod
    def directions(self, angles: Floats, uniform: Floats) -> Floats:
        """Return a direction for each angle, from two uniform numbers each."""

    def _kernel(self) -> _FloatKernel:
        return _FloatKernel(self.line, self.directions)

    def _codebook(self, kernel: _FloatKernel) -> AffineDecoder:
        step = TURN / kernel.outcomes
        return AffineDecoder(step / 2.0, step)

    @property
    def law(self) -> NoReturn:
        """Raise InvalidParameter: the programs are simulated, and have no formula here."""
        raise InvalidParameter(
            "expected a mechanism with a formula of its error, got a program of a paper in floats"
        )


@dataclass(frozen=True)
class SeldomLies(_FloatDirection):
    """k-RR and a uniform direction in the sector, as coded."""

    _: KW_ONLY
    sectors: int = 6
    cells: int = 1 << 16

    def directions(self, angles: Floats, uniform: Floats) -> Floats:
        k = self.sectors
        sector = np.minimum((angles / TURN * k).astype(np.int64), k - 1)
        lie = 1.0 / (k - 1.0 + math.exp(self.epsilon))  # (k − 1)/(…) would be right
        other = (uniform[0] / lie * k).astype(np.int64)  # among k others: 0 … k without the truth
        reported = np.where(uniform[0] < lie, other + (other >= sector), sector)
        return np.asarray((reported + uniform[1]) * TURN / k)


@dataclass(frozen=True)
class LostPi(_FloatDirection):
    """The redesigned SW on the circle, as coded: a factor π is missing in the probability of the sector."""

    _: KW_ONLY
    cells: int = 1 << 16

    def directions(self, angles: Floats, uniform: Floats) -> Floats:
        share = wave_share(self.epsilon)
        inside = share * math.expm1(self.epsilon) / self.epsilon / math.pi
        near = uniform[0] < inside
        turn = np.where(near, (uniform[1] - 0.5) * share, share / 2.0 + uniform[1] * (1.0 - share))
        return np.asarray(angles + turn * TURN)


@dataclass(frozen=True)
class RawBeyondTen(_FloatDirection):
    """The direction of TraCS-D as coded: reported unperturbed if its budget is above 10."""

    _: KW_ONLY
    cells: int = 1 << 16

    def directions(self, angles: Floats, uniform: Floats) -> Floats:
        if self.epsilon > 10.0:
            return angles
        half = math.exp(self.epsilon / 2.0)
        share = 1.0 / (half + 1.0)
        near = uniform[0] < half / (half + 1.0)
        turn = np.where(near, (uniform[1] - 0.5) * share, share / 2.0 + uniform[1] * (1.0 - share))
        return np.asarray(angles + turn * TURN)


def strawman(
    area: Rectangle, paths: Paths, epsilon: float, flaws: Flaws, source: Source, sectors: int = 6
) -> Paths:
    """Return the strawman's locations as the program returns them."""
    direction = partial(SeldomLies, sectors=sectors)
    own = TraCSD(area, epsilon=epsilon, start=CORNER, direction=direction)
    if not flaws.borrowed:
        return paths.like(own.perturb(paths, source=source).values)
    walked = TraCSD(area, epsilon=epsilon, start=CORNER).perturb(paths, source=source).values
    here = np.roll(walked, 1, axis=0)
    here[paths.offsets[:-1]] = CORNER
    kernel = cast(WalkKernel, own.question.kernel)
    angle, share = kernel.polar_of(here, paths.points)
    first, second = own.parts
    kernel.advance(
        here, first.perturb(angle, source=source).cells, second.perturb(share, source=source).cells
    )
    return paths.like(here)


def redesigned(area: Rectangle, paths: Paths, epsilon: float, flaws: Flaws, source: Source) -> Paths:
    """Return the locations of TraCS-D with the redesigned SW inside, as the program returns them."""
    wave = partial(SW, redesign=True)
    direction = LostPi if flaws.lost_pi else wave
    walk = TraCSD(area, epsilon=epsilon, start=CORNER, direction=direction, distance=wave)
    return paths.like(walk.perturb(paths, source=source).values)


def laplace(area: Rectangle, paths: Paths, epsilon: float, flaws: Flaws, source: Source) -> Paths:
    """Return planar Laplace's locations, drawn on the unit square first as the program does."""
    if not flaws.squared_first:
        return paths.like(PlanarLaplace(area, epsilon=epsilon).perturb(paths, source=source).values)
    low, sides = np.array([area.x.low, area.y.low]), np.array([area.x.length, area.y.length])
    unit = PlanarLaplace(SQUARE, epsilon=epsilon)
    noisy = unit.perturb(paths.like((paths.points - low) / sides), source=source).values
    return paths.like(low + noisy * sides)


def walk_error(error: Floats, paths: Paths, flaws: Flaws) -> float:
    """Return the average error of a walk; the program also counts the start, although it has no error."""
    lengths = paths.lengths + (1 if flaws.free_start else 0)
    return float(np.mean(np.add.reduceat(error, paths.offsets[:-1]) / lengths))


def direction_error(true: Floats, noisy: Floats, flaws: Flaws) -> float:
    """Return the mean distance of directions, by the program's metric."""
    if flaws.wrong_metric:
        return float(np.minimum(np.abs(true - noisy), np.abs(TURN - true - noisy)).mean())
    return float(Circle().distance(true, noisy).mean())
