"""ReLU networks in plain numpy: layers, and where their answer certainly stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.classifiers.feature_law import Marginal
from dither.classifiers.models.slices import Enclosure, Slice
from dither.classifiers.proofs.box import Box
from dither.classifiers.proofs.relaxation import Affine, Layer, Pool, Relu, least_leads
from dither.errors import InvalidParameter

_BOXES: Final = 1 << 13  # the most parts that a box is divided into before the answer counts as unknown
_SMALL: Final = 8  # features up to which a box is divided at all


@final
@dataclass(frozen=True, eq=False)
class Network:
    """A classifier of affine layers, ReLUs and maxima: the class with the largest last number.

    `rounding` is how far a score may be off, as a share of the largest: more for single precision.

    >>> hidden = ([[1.0, 0.0], [0.0, 1.0]], [-0.5, -0.5])
    >>> last = ([[-1.0, -1.0], [0.0, 0.0]], [0.2, 0.0])
    >>> Network.dense([hidden, last])(np.array([[0.1, 0.1], [0.9, 0.9]]))
    array([0, 1])
    """

    layers: tuple[Layer, ...]
    rounding: float = 1e-9

    @staticmethod
    def dense(layers: Sequence[tuple[Any, Any]], rounding: float = 1e-9) -> Network:
        """Give the network of pairs (weights, bias), with a ReLU after each but the last."""
        affine = [Affine(np.asarray(weights, float), np.asarray(bias, float)) for weights, bias in layers]
        if not affine or any(one.outputs != two.inputs for one, two in pairwise(affine)):
            raise InvalidParameter("each layer takes as many numbers as the one before it gives")
        alternating = [step for layer in affine for step in (layer, Relu())]
        return Network(tuple(alternating[:-1]), rounding)

    def scores(self, rows: Floats) -> Floats:
        """Give the last layer's numbers for each row; a row may have any shape."""
        values = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
        for layer in self.layers:
            values = layer(values)
        return values

    def __call__(self, rows: Floats) -> Integers:
        """Give the class of each row."""
        scores = self.scores(rows)
        return (scores[:, 0] > 0.0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def sliced(self, row: Floats, columns: Sequence[int]) -> Activations:
        """Give where the answer for a row stays, as a function of some of its features."""
        flat = row.reshape(-1)
        chosen = list(columns)
        rest = np.delete(np.arange(flat.size), chosen)
        base = np.zeros(flat.size)
        base[rest] = flat[rest]
        own = int(self(flat[None])[0])
        # The randomised features enter at their places; the fixed ones are a constant.
        entry = Affine(np.eye(flat.size)[:, chosen], base)
        return Activations(own, (entry, *self.layers), self.rounding)


@final
@dataclass(frozen=True, eq=False)
class Activations(Slice):
    """Where a ReLU network gives one class."""

    own: int
    layers: tuple[Layer, ...]
    rounding: float

    @property
    def features(self) -> int:
        first = self.layers[0]
        assert isinstance(first, Affine)
        return first.inputs

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        return None

    def leads(self, points: Floats) -> Floats:
        """Give how far the class leads each other one at points."""
        values = points
        for layer in self.layers:
            values = layer(values)
        if values.shape[1] == 1:
            return values if self.own else -values
        return np.delete(values[:, [self.own]] - values, self.own, axis=1)

    def proves(self, box: Box) -> bool:
        """Say whether linear bounds leave the class ahead; a small box of few features is divided further."""
        low, high = (corner[None] for corner in box.corners)
        budget = _BOXES if self.features <= _SMALL else 1
        while low.size:
            leads, doubt = least_leads(self.layers, self.own, low, high, self.rounding)
            unsure = ~(leads > doubt[:, None]).all(axis=1)
            low, high = low[unsure], high[unsure]
            if not low.size:
                return True
            budget -= len(low)
            if budget <= 0 or not (self.leads((low + high) / 2.0) > 0.0).all():
                return False
            low, high = _halved(low, high)
        return True


def _halved(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Divide boxes in two across their longest side."""
    index, side = np.arange(len(low)), (high - low).argmax(axis=1)
    middle = (low[index, side] + high[index, side]) / 2.0
    lower_high, upper_low = high.copy(), low.copy()
    lower_high[index, side] = upper_low[index, side] = middle
    return np.concatenate([low, upper_low]), np.concatenate([lower_high, high])


def perceptron(estimator: Any, scale: Floats, shift: Floats) -> Network | None:
    """Give scikit-learn's multi-layer perceptron as a network of x·scale + shift, if its units are ReLUs."""
    if estimator.activation != "relu" or estimator.out_activation_ not in ("logistic", "softmax"):
        return None
    layers = [
        (weights.T, bias) for weights, bias in zip(estimator.coefs_, estimator.intercepts_, strict=True)
    ]
    weights, bias = layers[0]
    layers[0] = (weights * scale, bias + weights @ shift)
    return Network.dense(layers)


def convolution(weights: Any, bias: Any, shape: tuple[int, int, int], padding: int = 0) -> Affine:
    """Give a two-dimensional convolution (stride 1) of channels × rows × columns as one affine layer."""
    kernel = np.asarray(weights, dtype=np.float64)
    channels, rows, columns = shape
    outputs, height, width = kernel.shape[0], kernel.shape[2], kernel.shape[3]
    tall, wide = rows + 2 * padding - height + 1, columns + 2 * padding - width + 1
    if kernel.shape[1] != channels or tall < 1 or wide < 1:
        raise InvalidParameter("the kernel does not fit the image it is moved over")
    matrix = np.zeros((outputs, tall, wide, channels, rows + 2 * padding, columns + 2 * padding))
    for down in range(tall):
        for along in range(wide):
            matrix[:, down, along, :, down : down + height, along : along + width] = kernel
    inner = matrix[..., padding : padding + rows, padding : padding + columns]
    return Affine(inner.reshape(outputs * tall * wide, -1), np.repeat(np.asarray(bias, float), tall * wide))


def pooling(shape: tuple[int, int, int], size: int) -> Pool:
    """Give the maxima over squares of a side of `size` (stride the same) of channels × rows × columns."""
    channels, rows, columns = shape
    cells = np.arange(channels * rows * columns).reshape(shape)
    kept = cells[:, : rows // size * size, : columns // size * size]
    squares = kept.reshape(channels, rows // size, size, columns // size, size).transpose(0, 1, 3, 2, 4)
    return Pool(squares.reshape(-1, size * size))
