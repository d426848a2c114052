"""A mechanism for the mean of vectors, with one report per vector: `dt.Optimal` on `dt.Vectors`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import ClassVar, Final, NamedTuple, cast

import numpy as np

from dither.core.domains import Vectors
from dither.core.kernels.directions import EQUAL, DirectionsKernel
from dither.core.kernels.window.integers import Nearest
from dither.core.question import PlainQuestion
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.tables import percent
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal.design import relative_gap

_FEW: Final = 1 << 10  # number of directions; more at a larger ε, so that the nearest are near
_MANY: Final = 1 << 12
_LARGE: Final = 4.0  # ε above which there are many directions
_STEPS: Final = 20_000  # angles at which the distribution of a product is tabulated
_SHARES: Final = 400  # number of shares K/N that are tried first
_NORMAL: Final = NormalDist()


class Caps(NamedTuple):
    """The product of a fixed and a random unit vector above a threshold, tabulated from the pole down."""

    share: Floats  # share of the sphere above the threshold
    first: Floats  # the integral of the product above the threshold
    second: Floats  # the integral of its square


@lru_cache(maxsize=16)
def caps(axes: int) -> Caps:
    """Return the distribution on the sphere of `axes` dimensions, in increasing shares.

    The density of the angle is proportional to sin^(D − 2); the first integral is sin^(D − 1)/(D − 1).
    """
    # Angles with products within ±12 standard deviations: all of the mass in double precision.
    reach = min(math.pi / 2.0, math.asin(min(1.0, 12.0 / math.sqrt(axes))))
    angles = np.linspace(math.pi / 2.0 - reach, math.pi / 2.0 + reach, _STEPS + 1)
    middles = (angles[1:] + angles[:-1]) / 2.0
    logs = (axes - 2) * np.log(np.sin(middles))
    density = np.exp(logs - logs.max())
    density /= density.sum()
    products = np.cos(middles)
    return Caps(np.cumsum(density), np.cumsum(density * products), np.cumsum(density * products**2))


def _tail_means(axes: int, shares: Floats) -> tuple[Floats, Floats]:
    """Return the means of the product and of its square above the threshold that a share exceeds."""
    if axes > EQUAL:  # normal distribution, in units of the average length of a direction
        least = np.array([_NORMAL.inv_cdf(1.0 - share) for share in shares.tolist()])
        first = np.exp(-least * least / 2.0) / math.sqrt(2.0 * math.pi) / shares
        return first / math.sqrt(axes), (1.0 + least * first) / axes
    law = caps(axes)
    first, second = (np.interp(shares, law.share, part) / shares for part in (law.first, law.second))
    return first, second


class Gain(NamedTuple):
    """The mean product of a vector and its reported direction, and the mean square."""

    mean: float
    square: float


def _over_nearest(axes: int, cells: int, width: int) -> Gain:
    """Return the mean product over the K largest of N, and the mean square.

    The share of the sphere above the (K + 1)-th largest of N products has the distribution Beta(K + 1, N −
    K). Given this share, the K largest products are independent.
    """
    a, b = width + 1, cells - width
    middle = a / (a + b)
    spread = math.sqrt(middle * (1.0 - middle) / (a + b + 1))
    low, high = max(middle - 9.0 * spread, 1e-9), min(middle + 12.0 * spread, 1.0 - 1e-9)
    shares = np.linspace(low, high, 2001)
    logs = (a - 1) * np.log(shares) + (b - 1) * np.log1p(-shares)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    first, second = (float(weights @ part) for part in _tail_means(axes, shares))
    return Gain(first, second)


def gain_of(axes: int, window: Nearest) -> Gain:
    """Return the gain of a window: the means over the K largest of N products and over all, mixed."""
    near = _over_nearest(axes, window.cells, window.width)
    kept = window.width * window.step / 2.0**window.bits  # the probability of a direction of the window
    return Gain(kept * near.mean, kept * near.square + (1.0 - kept) / axes)


@lru_cache(maxsize=64)
def best_gain(axes: int, epsilon: float) -> float:
    """Return the largest mean product that ε allows, for a report that is likelier on one cap of the sphere.

    Every unbiased estimate Z of a unit vector has E|Z|² ≥ 1/m² with this m: a report is likelier by at most
    e^ε for a share of the sphere, and E⟨Z, x⟩ is largest if that share is a cap about Z.
    """
    law = caps(axes)
    odds = math.expm1(epsilon)
    return float((odds * law.first / (1.0 + odds * law.share)).max())


@dataclass(frozen=True)
class InBall(Mechanism[PlainQuestion]):
    """A vector, reported as one of many public directions; the directions nearest to it are likelier.

    Promise:   pure ε for the complete vector, for any dimension.
    Reports:   a public seed of 32 bits and the number of a direction; E[decoded report] is the vector.
    Use when:  the mean of vectors of a known length is wanted: embeddings, gradients, class means. Not for
               many numbers that are large at the same time: `Sampled` needs fewer people there.
    Reference: derived in docs/vectors.md; the bound is the best cap of [Bhowmick18], see [Asi22]; a rotated
               codebook as in [Isik23].

    >>> design = InBall(Vectors(384, exact=True), epsilon=2)
    >>> round(design.error, 1), round(design.gap, 4) < 0.006
    (621.3, True)
    """

    domain: Vectors

    _called: ClassVar[str] = "Optimal"
    _takes = (Vectors,)

    @property
    def axes(self) -> int:
        """The dimension of the space of the sphere on which vectors are mapped: one more for a ball."""
        return self.domain.dimension + (not self.domain.exact)

    def _kernel(self) -> DirectionsKernel:
        cells = _MANY if self.epsilon > _LARGE else _FEW
        shares = np.arange(1, cells // 2 + 1) / cells
        odds = math.expm1(min(self.epsilon, 50.0))
        first = _tail_means(self.axes, shares)[0]
        guess = int(np.argmax(odds * shares * first / (1.0 + odds * shares))) + 1
        tried = sorted({max(1, guess + step) for step in range(-3, 4)})
        windows = [Nearest.largest(self.epsilon, cells, width) for width in tried]
        best = max(windows, key=lambda window: gain_of(self.axes, window).mean)
        return DirectionsKernel(best, self.domain)

    def _codebook(self, kernel: DirectionsKernel) -> float:
        # The last bits of a quadrature depend on the processor, but a signed campaign must not.
        return float(f"{gain_of(self.axes, kernel.window).mean:.12g}")

    @property
    def _directions(self) -> DirectionsKernel:
        return cast(DirectionsKernel, self.question.kernel)

    @cached_property
    def gain(self) -> Gain:
        """The mean product of a vector and the reported direction, and its mean square."""
        return gain_of(self.axes, self._directions.window)

    @cached_property
    def error(self) -> float:
        """The largest mean squared error of one decoded report, over all vectors, in squares of the unit."""
        gain = self.gain
        every = 1.0  # E|direction|²
        if self.axes > EQUAL:  # all P coordinates of a direction have a constant sum of squares
            along, columns = gain.square * self.axes, self._directions.directions.columns
            every = (along + (self.axes - 1) * (columns - along) / (columns - 1)) / self.axes
        if self.domain.exact:
            return self.domain.length**2 * (every / gain.mean**2 - 1.0)
        across = (every - gain.square) / (self.axes - 1)  # in a direction across the vector
        border, centre = (every - across) / gain.mean**2 - 1.0, (every - gain.square) / gain.mean**2
        return self.domain.length**2 * max(border, centre)

    @cached_property
    def liar(self) -> float:
        """The shift of the sum by one forged report in a direction of the liar's choice, in people's vectors.

        It is the mean product of the nearest of N directions, divided by the gain. A liar who also chooses
        the seed shifts the sum more.
        """
        return _over_nearest(self.axes, self._directions.window.cells, 1).mean / self.gain.mean

    @property
    def bound(self) -> float:
        """The least error of any unbiased mechanism with this ε, in squares of the unit."""
        if self.domain.dimension < 2:
            raise InvalidParameter(
                "expected vectors of two numbers or more, because the bound is known only for these; use "
                "dt.Interval for one number"
            )
        return self.domain.length**2 * (1.0 / best_gain(self.domain.dimension, self.epsilon) ** 2 - 1.0)

    @property
    def gap(self) -> float:
        """The relative excess of the error over the bound."""
        return relative_gap(self.error, self.bound)

    def __str__(self) -> str:
        return f"Optimal on {self.domain}: error {self.error:.4g}, {percent(self.gap)} above the bound"
