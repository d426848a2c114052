"""Networks of linear layers, from scikit-learn and PyTorch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import (
    AffineLayer,
    FeatureBox,
    Layer,
    MaxPoolLayer,
    ReluLayer,
    least_leads,
)
from dither.extensions.classifiers.feature_law import Marginal
from dither.extensions.classifiers.models.slice import Enclosure, Keeps, Slice, SliceableClassifier
from dither.foundation.arrays import Floats, Integers

_BOXES: Final = 1 << 13  # the most boxes examined before the answer counts as unknown
_SMALL: Final = 8  # with more features than this a box is not divided


@dataclass(frozen=True, eq=False)
class Network(SliceableClassifier):
    """A classifier of affine layers, ReLUs and max pooling: the class with the largest score.

    `rounding` is the error of a score relative to the largest one; it is larger in single precision.

    >>> hidden = ([[1.0, 0.0], [0.0, 1.0]], [-0.5, -0.5])
    >>> last = ([[-1.0, -1.0], [0.0, 0.0]], [0.2, 0.0])
    >>> Network.dense([hidden, last])(np.array([[0.1, 0.1], [0.9, 0.9]]))
    array([0, 1])
    """

    layers: tuple[Layer, ...]
    rounding: float = 1e-9

    @staticmethod
    def dense(layers: Sequence[tuple[Any, Any]], rounding: float = 1e-9) -> Network:
        """Return the network of pairs (weights, bias), with a ReLU after each but the last."""
        affine = [
            AffineLayer(np.asarray(weights, float), np.asarray(bias, float)) for weights, bias in layers
        ]
        if not affine or any(layer.outputs != following.inputs for layer, following in pairwise(affine)):
            raise InvalidParameter("expected each layer to take the number of outputs of the layer before it")
        alternating = [step for layer in affine for step in (layer, ReluLayer())]
        return Network(tuple(alternating[:-1]), rounding)

    def scores(self, rows: Floats) -> Floats:
        """Return the numbers of the last layer for each row; a row may have any shape."""
        return forward(self.layers, np.asarray(rows, dtype=np.float64).reshape(len(rows), -1))

    def __call__(self, rows: Floats) -> Integers:
        """Return the class of each row."""
        scores = self.scores(rows)
        return (scores[:, 0] > 0.0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def slice(self, row: Floats, columns: Sequence[int], keeps: Keeps) -> NetworkSlice:
        flat = row.reshape(-1)
        chosen = list(columns)
        rest = np.delete(np.arange(flat.size), chosen)
        base = np.zeros(flat.size)
        base[rest] = flat[rest]
        own = int(self(flat[None])[0])
        # The randomised features enter at their indices; the fixed features are a constant.
        entry = AffineLayer(np.eye(flat.size)[:, chosen], base)
        return NetworkSlice(own, len(chosen), (entry, *self.layers), self.rounding)


@dataclass(frozen=True, eq=False)
class NetworkSlice(Slice):
    """The region in which a ReLU network predicts one class; `inputs` features enter the first layer."""

    own: int
    inputs: int
    layers: tuple[Layer, ...]
    rounding: float

    @property
    def features(self) -> int:
        return self.inputs

    def encloses(self, marginals: Sequence[Marginal]) -> Enclosure | None:
        return None

    def leads(self, points: Floats) -> Floats:
        """Return the lead of the class's score over each other class's score at points."""
        scores = forward(self.layers, points)
        if scores.shape[1] == 1:
            return scores if self.own else -scores
        return np.delete(scores[:, [self.own]] - scores, self.own, axis=1)

    def proves(self, box: FeatureBox) -> bool:
        """Return whether linear bounds prove the class; with few features by branch and bound."""
        low, high = (corner[None] for corner in box.corners)
        budget = _BOXES if self.features <= _SMALL else 1
        while low.size:
            leads, error = least_leads(self.layers, self.own, low, high, self.rounding)
            unsure = ~(leads > error[:, None]).all(axis=1)
            low, high = low[unsure], high[unsure]
            if not low.size:
                return True
            budget -= len(low)
            if budget <= 0 or not (self.leads((low + high) / 2.0) > 0.0).all():
                return False
            low, high = _halves(low, high)
        return True


def forward(layers: Sequence[Layer], values: Floats) -> Floats:
    """Return the numbers after the last layer for each row of values."""
    for layer in layers:
        values = layer(values)
    return values


def _halves(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the two halves of each box, divided across its longest side."""
    index, side = np.arange(len(low)), (high - low).argmax(axis=1)
    middle = (low[index, side] + high[index, side]) / 2.0
    lower_high, upper_low = high.copy(), low.copy()
    lower_high[index, side] = upper_low[index, side] = middle
    return np.concatenate([low, upper_low]), np.concatenate([lower_high, high])


def perceptron(estimator: Any, scale: Floats, shift: Floats) -> Network | None:
    """Return scikit-learn's perceptron as a network of x·scale + shift; None if its units are not ReLUs."""
    if estimator.activation != "relu" or estimator.out_activation_ not in ("logistic", "softmax"):
        return None
    layers = [
        (weights.T, bias) for weights, bias in zip(estimator.coefs_, estimator.intercepts_, strict=True)
    ]
    weights, bias = layers[0]
    layers[0] = (weights * scale, bias + weights @ shift)
    return Network.dense(layers)


def convolution(weights: Any, bias: Any, shape: tuple[int, int, int], padding: int = 0) -> AffineLayer:
    """Return a two-dimensional convolution (stride 1) of channels × rows × columns as an affine layer."""
    kernel = np.asarray(weights, dtype=np.float64)
    channels, rows, columns = shape
    outputs, height, width = kernel.shape[0], kernel.shape[2], kernel.shape[3]
    tall, wide = rows + 2 * padding - height + 1, columns + 2 * padding - width + 1
    if kernel.shape[1] != channels or tall < 1 or wide < 1:
        raise InvalidParameter(
            "expected a kernel with the channels of the image and at most its size; correct the layer"
        )
    matrix = np.zeros((outputs, tall, wide, channels, rows + 2 * padding, columns + 2 * padding))
    for down in range(tall):
        for along in range(wide):
            matrix[:, down, along, :, down : down + height, along : along + width] = kernel
    inner = matrix[..., padding : padding + rows, padding : padding + columns]
    biases = np.repeat(np.asarray(bias, float), tall * wide)
    return AffineLayer(inner.reshape(outputs * tall * wide, -1), biases)


def pooling(shape: tuple[int, int, int], size: int) -> MaxPoolLayer:
    """Return max pooling over squares with sides and strides of `size`, of channels × rows × columns."""
    channels, rows, columns = shape
    cells = np.arange(channels * rows * columns).reshape(shape)
    kept = cells[:, : rows // size * size, : columns // size * size]
    squares = kept.reshape(channels, rows // size, size, columns // size, size).transpose(0, 1, 3, 2, 4)
    return MaxPoolLayer(squares.reshape(-1, size * size))


_IDENTITIES: Final = frozenset({"Dropout", "Dropout2d", "Identity"})  # in eval mode
_DOUBLE: Final = 1e-9  # the error of scores in double precision, relative to the largest
_SINGLE: Final = 1e-4  # the same in single precision


def network(module: Any, shape: tuple[int, ...]) -> Network | None:
    """Return a chain of layers as a network for records of a shape, or None if a layer is not supported."""
    layers: list[Layer] = []
    size = tuple(shape)
    for part in _chain(module):
        found = _layer(part, size)
        if found is None:
            return None
        layer, size = found
        if layer is not None:
            layers.append(layer)
    if not layers or len(size) != 1:
        return None
    double = all(str(parameter.dtype) == "torch.float64" for parameter in module.parameters())
    return Network(tuple(layers), _DOUBLE if double else _SINGLE)


def _chain(module: Any) -> Iterator[Any]:
    """Yield the layers of nested `Sequential` modules in order."""
    if type(module).__name__ == "Sequential":
        for part in module:
            yield from _chain(part)
    else:
        yield module


def _layer(part: Any, size: tuple[int, ...]) -> tuple[Layer | None, tuple[int, ...]] | None:
    """Return a layer (None if it changes no number) and the shape after it; None if it is not supported."""
    kind = type(part).__name__
    if not type(part).__module__.startswith("torch.nn."):
        return None
    if kind == "Flatten":
        return None, (math.prod(size),)
    if kind in _IDENTITIES:
        return None, size
    if kind == "ReLU":
        return ReluLayer(), size
    if kind == "Linear" and size == (part.in_features,):
        return AffineLayer(_array(part.weight), _bias(part, part.out_features)), (part.out_features,)
    if kind == "Conv2d" and len(size) == 3 and _is_plain_convolution(part):
        affine = convolution(_array(part.weight), _bias(part, part.out_channels), size, part.padding[0])
        side = 2 * part.padding[0] - part.kernel_size[0] + 1
        wide = 2 * part.padding[0] - part.kernel_size[1] + 1
        return affine, (part.out_channels, size[1] + side, size[2] + wide)
    if kind == "MaxPool2d" and len(size) == 3 and _is_square_pooling(part):
        step = part.kernel_size
        return pooling(size, step), (size[0], size[1] // step, size[2] // step)
    return None


def _is_plain_convolution(part: Any) -> bool:
    padded = isinstance(part.padding, tuple) and len(set(part.padding)) == 1
    return (
        padded
        and part.padding_mode == "zeros"
        and tuple(part.stride) == (1, 1)
        and tuple(part.dilation) == (1, 1)
        and part.groups == 1
    )


def _is_square_pooling(part: Any) -> bool:
    return (
        isinstance(part.kernel_size, int)
        and part.stride == part.kernel_size
        and part.padding == 0
        and part.dilation == 1
        and not part.ceil_mode
    )


def _array(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def _bias(part: Any, size: int) -> Floats:
    return np.zeros(size) if part.bias is None else _array(part.bias)
