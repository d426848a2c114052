"""Bounds of a ReLU network over many boxes: interval bounds forwards, linear bounds backwards.

The output of a ReLU whose input may have either sign lies between two lines: below the chord, and above 0 or
above its input [Zhang18, CROWN]. A lower bound of the score that is linear in the last layer becomes, layer
by layer, one that is linear in the box's coordinates, where its minimum is at a corner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.errors import InvalidParameter

Range = tuple[Floats, Floats]


class Layer(ABC):
    """One layer of a network."""

    is_affine: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, values: Floats) -> Floats:
        """Return the layer's output for each row of values."""

    @abstractmethod
    def interval(self, low: Floats, high: Floats) -> Range:
        """Return bounds of the layer's output from bounds of its input."""

    @abstractmethod
    def pulled_back(self, slopes: Floats, low: Floats, high: Floats) -> Range:
        """Return slopes′ and constants: slopes·layer(v) ≥ slopes′·v + constant for v between low and high.

        `slopes` has axes boxes × bounds × outputs.
        """


@final
@dataclass(frozen=True, eq=False)
class AffineLayer(Layer):
    """weights·v + bias."""

    is_affine: ClassVar[bool] = True

    weights: Floats
    bias: Floats

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.bias.shape != self.weights.shape[:1]:
            raise InvalidParameter(
                "an affine layer needs a matrix of weights and one bias for each of its rows"
            )

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return int(self.weights.shape[1])

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return int(self.weights.shape[0])

    def __call__(self, values: Floats) -> Floats:
        return np.asarray(values @ self.weights.T + self.bias)

    def interval(self, low: Floats, high: Floats) -> Range:
        middle, half = self((low + high) / 2.0), ((high - low) / 2.0) @ np.abs(self.weights).T
        return middle - half, middle + half

    def pulled_back(self, slopes: Floats, low: Floats, high: Floats) -> Range:
        return slopes @ self.weights, slopes @ self.bias


@final
@dataclass(frozen=True, eq=False)
class ReluLayer(Layer):
    """max(v, 0) of each number."""

    def __call__(self, values: Floats) -> Floats:
        return np.maximum(values, 0.0)

    def interval(self, low: Floats, high: Floats) -> Range:
        return np.maximum(low, 0.0), np.maximum(high, 0.0)

    def pulled_back(self, slopes: Floats, low: Floats, high: Floats) -> Range:
        either = (low < 0.0) & (high > 0.0)
        chord = np.where(either, high / np.where(either, high - low, 1.0), low >= 0.0)
        under = np.where(either, high > -low, low >= 0.0)
        up, down = np.maximum(slopes, 0.0), np.minimum(slopes, 0.0)
        lift = np.where(either, -chord * low, 0.0)
        return up * under[:, None] + down * chord[:, None], (down * lift[:, None]).sum(axis=-1)


@final
@dataclass(frozen=True, eq=False)
class MaxPoolLayer(Layer):
    """The largest of each group of numbers; each row of `groups` has the places of one group."""

    groups: Integers

    def __call__(self, values: Floats) -> Floats:
        return np.asarray(values[:, self.groups].max(axis=-1))

    def interval(self, low: Floats, high: Floats) -> Range:
        return self(low), self(high)

    def pulled_back(self, slopes: Floats, low: Floats, high: Floats) -> Range:
        lows, highs = low[:, self.groups], high[:, self.groups]
        best = lows.argmax(axis=-1)
        others = highs.copy()
        np.put_along_axis(others, best[..., None], -np.inf, axis=-1)
        certain = np.take_along_axis(lows, best[..., None], -1)[..., 0] >= others.max(axis=-1)
        up, down = np.maximum(slopes, 0.0), np.minimum(slopes, 0.0)
        own = up + down * certain[:, None]
        place = np.take_along_axis(np.broadcast_to(self.groups, lows.shape), best[..., None], -1)[..., 0]
        back = np.zeros((*slopes.shape[:2], low.shape[1]))
        boxes, rows = np.ogrid[: len(low), : slopes.shape[1]]
        np.add.at(back, (boxes[..., None], rows[..., None], place[:, None]), own)
        constant = (down * np.where(certain, 0.0, highs.max(axis=-1))[:, None]).sum(axis=-1)
        return back, constant


def least_leads(
    layers: tuple[Layer, ...], own: int, low: Floats, high: Floats, rounding: float
) -> tuple[Floats, Floats]:
    """Return for each box lower bounds of the class's lead over every other, and their rounding error."""
    entering = []
    bounds: Range = (low, high)
    for count, layer in enumerate(layers):
        entering.append(bounds)
        bounds = layer.interval(*bounds)
        if layer.is_affine and not all(one.is_affine for one in layers[:count]):
            bounds = _tightened(layers[: count + 1], entering, bounds)
    outputs = bounds[0].shape[1]
    identity = np.eye(outputs)
    if outputs == 1:
        wanted = identity if own else -identity
    else:
        wanted = np.delete(identity[[own]] - identity, own, axis=0)
    leads = _lowest(layers, entering, wanted)
    size = np.maximum(np.abs(bounds[0]), np.abs(bounds[1])).max(axis=1)
    return leads, rounding * (1.0 + size)


def _tightened(layers: tuple[Layer, ...], entering: list[Range], bounds: Range) -> Range:
    """Return interval bounds of the last layer's output, improved by linear bounds."""
    identity = np.eye(bounds[0].shape[1])
    low = _lowest(layers, entering, identity)
    high = -_lowest(layers, entering, -identity)
    return np.maximum(low, bounds[0]), np.minimum(high, bounds[1])


def _lowest(layers: tuple[Layer, ...], entering: list[Range], wanted: Floats) -> Floats:
    """Return a lower bound of wanted·(last layer's output) for each box."""
    boxes = len(entering[0][0])
    slopes = np.broadcast_to(wanted, (boxes, *wanted.shape))
    constant = np.zeros(slopes.shape[:2])
    for layer, (low, high) in zip(reversed(layers), reversed(entering), strict=True):
        slopes, more = layer.pulled_back(slopes, low, high)
        constant = constant + more
    low, high = entering[0]
    least = np.maximum(slopes, 0.0) * low[:, None] + np.minimum(slopes, 0.0) * high[:, None]
    return np.asarray(least.sum(axis=-1) + constant)
