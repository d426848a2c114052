"""Torch modules as networks in numpy: chains of affine layers, convolutions, ReLUs and max pooling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.models.network import Network, convolution, pooling
from dither.classifiers.proofs.relaxation import AffineLayer, Layer, ReluLayer

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
