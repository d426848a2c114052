"""Reading torch modules: stand-ins with the attributes of torch's layers, so that it runs without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.classifiers.models.torch_modules import network


class Tensor:
    def __init__(self, values: Any, dtype: str = "torch.float32") -> None:
        self.values, self.dtype = np.asarray(values), dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.values


def layer(kind: str, **attributes: Any) -> Any:
    return type(kind, (), {"__module__": "torch.nn.modules", **attributes})()


def sequential(*parts: Any, dtype: str = "torch.float32") -> Any:
    chain = {"__iter__": lambda self: iter(parts), "parameters": lambda self: [Tensor(0, dtype)]}
    return type("Sequential", (), {"__module__": "torch.nn.modules", **chain})()


GENERATOR = np.random.default_rng(1)
FIRST, SECOND = GENERATOR.normal(size=(8, 2)), GENERATOR.normal(size=(3, 8))
BIAS = GENERATOR.normal(size=8)
HIDDEN = layer("Linear", in_features=2, out_features=8, weight=Tensor(FIRST), bias=Tensor(BIAS))
LAST = layer("Linear", in_features=8, out_features=3, weight=Tensor(SECOND), bias=None)
POOL: dict[str, Any] = {"kernel_size": 2, "stride": 2, "padding": 0, "dilation": 1, "ceil_mode": False}
KERNEL = GENERATOR.normal(size=(3, 1, 3, 3))
CONVOLUTION: dict[str, Any] = {
    "weight": Tensor(KERNEL),
    "bias": None,
    "out_channels": 3,
    "kernel_size": (3, 3),
    "padding": (1, 1),
    "padding_mode": "zeros",
    "stride": (1, 1),
    "dilation": (1, 1),
    "groups": 1,
}


@pytest.mark.parametrize(("dtype", "rounding"), [("torch.float32", 1e-4), ("torch.float64", 1e-9)])
def test_a_chain_of_affine_layers(dtype: str, rounding: float) -> None:
    inner = sequential(HIDDEN, layer("ReLU"), layer("Dropout"))
    found = network(sequential(inner, layer("Identity"), LAST, dtype=dtype), (2,))
    rows = GENERATOR.normal(size=(50, 2))
    assert found.scores(rows) == pytest.approx(np.maximum(rows @ FIRST.T + BIAS, 0.0) @ SECOND.T)
    assert found.rounding == rounding


def test_a_convolution_and_its_pooling() -> None:
    parts = layer("Conv2d", **CONVOLUTION), layer("ReLU"), layer("MaxPool2d", **POOL), layer("Flatten")
    found = network(sequential(*parts), (1, 4, 4))
    image = GENERATOR.random((1, 4, 4))
    padded = np.pad(image[0], 1)
    maps = np.empty((3, 4, 4))
    for channel, down, along in np.ndindex(maps.shape):
        maps[channel, down, along] = (padded[down : down + 3, along : along + 3] * KERNEL[channel, 0]).sum()
    pooled = np.maximum(maps, 0.0).reshape(3, 2, 2, 2, 2).max(axis=(2, 4))
    assert found.scores(image[None])[0] == pytest.approx(pooled.reshape(-1))


@pytest.mark.parametrize(
    "part",
    [
        layer("Softplus"),
        layer("Conv2d", **{**CONVOLUTION, "stride": (2, 2)}),
        layer("Conv2d", **{**CONVOLUTION, "padding_mode": "reflect"}),
        layer("MaxPool2d", **{**POOL, "ceil_mode": True}),
        layer("MaxPool2d", **{**POOL, "stride": 1}),
        type("ReLU", (), {"__module__": "somewhere.else"})(),
    ],
)
def test_layers_that_are_not_supported_are_not_guessed(part: Any) -> None:
    assert network(sequential(layer("ReLU"), layer("Flatten")), (1, 4, 4)) is not None
    assert network(sequential(layer("ReLU"), part, layer("Flatten")), (1, 4, 4)) is None
