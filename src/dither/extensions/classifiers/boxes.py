"""Boxes of records on which a prediction provably stays the same, and the search for a large one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.feature_law import Marginal
from dither.foundation.arrays import Floats, Integers, Mask
from dither.foundation.numerics.roots import largest_float


@dataclass(frozen=True, init=False, repr=False)
class FeatureBox:
    """The records from a low corner to a high one, both included: one side for each randomised feature.

    >>> FeatureBox([0.2, 0], [0.8, 1])
    [0.2, 0.8] × [0, 1]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __init__(self, low: object, high: object) -> None:
        first, last = _corner(low), _corner(high)
        if first.shape != last.shape or not first.size:
            raise InvalidParameter(
                "expected two corners of a box with one number for each feature; give both the same length"
            )
        if not (first <= last).all():
            raise InvalidParameter(
                "expected the low corner of a box below its high corner, without NaN; exchange or correct "
                "them"
            )
        object.__setattr__(self, "low", tuple(first.tolist()))
        object.__setattr__(self, "high", tuple(last.tolist()))

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """The low and the high corner as arrays."""
        return np.array(self.low), np.array(self.high)

    def contains(self, points: object) -> Mask:
        """Return for each point (last axis: features) whether it lies in the box."""
        positions = np.asarray(points, dtype=np.float64)
        low, high = self.corners
        return np.asarray(((positions >= low) & (positions <= high)).all(axis=-1))

    def __len__(self) -> int:
        return len(self.low)

    def __repr__(self) -> str:
        sides = zip(self.low, self.high, strict=True)
        return " × ".join(f"[{low:.4g}, {high:.4g}]" for low, high in sides)


def _corner(values: object) -> Floats:
    try:
        return np.atleast_1d(np.asarray(values, dtype=np.float64)).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidParameter("expected a corner of a box to be a list of numbers; correct it") from None


Test = Callable[[FeatureBox], bool]
Shape = Callable[[Floats], FeatureBox]  # the box whose 2d sides have moved by these shares, 0 to 1

STEPS: Final = 12  # halvings of each bisection
_ORDERS: Final = 2  # up to this many features, every side is tried as the first to move
_MANY, _COARSE = 8, 4  # with more features than _MANY, a single side is bisected only _COARSE times


def box_mass(marginals: Sequence[Marginal], box: FeatureBox) -> float:
    """Return the probability that all reports lie in a box, for independent reports."""
    sides = zip(marginals, *box.corners, strict=True)
    return float(np.prod([marginal.between(low, high) for marginal, low, high in sides]))


def sides_by_mass(centre: Floats, marginals: Sequence[Marginal]) -> Shape:
    """Return boxes around a centre; a side moved by t has passed a share t of the reports beyond it."""
    own = [np.searchsorted(marginal.places, value) for marginal, value in zip(marginals, centre, strict=True)]

    def box(moved: Floats) -> FeatureBox:
        low, high = centre.copy(), centre.copy()
        for feature, (marginal, index) in enumerate(zip(marginals, own, strict=True)):
            under, over = moved[2 * feature : 2 * feature + 2]
            before, complete = marginal.sums[index], marginal.sums[-1]
            first = int(np.searchsorted(marginal.sums, before * (1.0 - under), side="left"))
            if first < index:
                low[feature] = marginal.places[first]
            wanted = before + (complete - before) * over
            last = (
                marginal.places.size
                if over == 1.0
                else int(np.searchsorted(marginal.sums, wanted, side="right")) - 1
            )
            if last > index:
                high[feature] = marginal.places[last - 1]
        return FeatureBox(low, high)

    return box


def sides_by_length(centre: Floats, low: Floats, high: Floats) -> Shape:
    """Return boxes around a centre; a side moved by t is a share t of the way to its domain's end."""

    def box(moved: Floats) -> FeatureBox:
        return FeatureBox(centre - moved[0::2] * (centre - low), centre + moved[1::2] * (high - centre))

    return box


def boxes_by_radius(centre: Floats, low: Floats, high: Floats) -> Callable[[float], FeatureBox]:
    """Return boxes about a centre: each side t lengths of its domain away, but not outside the domain."""
    length = high - low

    def box(radius: float) -> FeatureBox:
        return FeatureBox(
            np.maximum(centre - radius * length, low), np.minimum(centre + radius * length, high)
        )

    return box


def grow_box(
    shape: Shape,
    features: int,
    passes: Test,
    worth: Callable[[FeatureBox], float],
    *,
    first_only: bool = False,
) -> FeatureBox:
    """Return the most valuable box found by moving all sides together, then each side separately.

    Only boxes that passed are returned: if the test is a proof, the result is proven. (The box that contains
    only the centre counts as passed.) `first_only` tries one order of the sides, for tests that cost queries.
    """
    starts: list[int | None] = [None]
    if features <= _ORDERS and not first_only:
        starts += list(range(2 * features))
    return max((_grow(shape, features, passes, first) for first in starts), key=worth)


def _grow(shape: Shape, features: int, passes: Test, first: int | None) -> FeatureBox:
    moved = np.zeros(2 * features)
    order = list(range(2 * features))
    if first is None:
        moved += farthest(lambda t: passes(shape(np.full(2 * features, t))))
    else:
        order = order[first:] + order[:first]
    for side in order:
        moved[side] = _move_side(shape, passes, moved, side, STEPS if features <= _MANY else _COARSE)
    return shape(moved)


def _move_side(shape: Shape, passes: Test, moved: Floats, side: int, steps: int) -> float:
    begin = moved[side]

    def passes_at(t: float) -> bool:
        further = moved.copy()
        further[side] = begin + (1.0 - begin) * t
        return passes(shape(further))

    return float(begin + (1.0 - begin) * farthest(passes_at, steps))


def farthest(passes: Callable[[float], bool], steps: int = STEPS) -> float:
    """Return the largest share from 0 to 1 that is found to pass, or 0."""
    return 1.0 if passes(1.0) else largest_float(passes, 0.0, 1.0, steps=steps)


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


@dataclass(frozen=True, eq=False)
class AffineLayer(Layer):
    """weights·v + bias."""

    is_affine: ClassVar[bool] = True

    weights: Floats
    bias: Floats

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.bias.shape != self.weights.shape[:1]:
            raise InvalidParameter(
                "expected an affine layer to have a matrix of weights and one bias for each of its rows; "
                "correct it"
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


@dataclass(frozen=True, eq=False)
class MaxPoolLayer(Layer):
    """The largest of each group of numbers; each row of `groups` has the indices of one group."""

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
        position = np.take_along_axis(np.broadcast_to(self.groups, lows.shape), best[..., None], -1)[..., 0]
        back = np.zeros((*slopes.shape[:2], low.shape[1]))
        boxes, rows = np.ogrid[: len(low), : slopes.shape[1]]
        np.add.at(back, (boxes[..., None], rows[..., None], position[:, None]), own)
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
        if layer.is_affine and not all(earlier.is_affine for earlier in layers[:count]):
            bounds = _tighten(layers[: count + 1], entering, bounds)
    outputs = bounds[0].shape[1]
    identity = np.eye(outputs)
    if outputs == 1:
        wanted = identity if own else -identity
    else:
        wanted = np.delete(identity[[own]] - identity, own, axis=0)
    leads = _lowest(layers, entering, wanted)
    size = np.maximum(np.abs(bounds[0]), np.abs(bounds[1])).max(axis=1)
    return leads, rounding * (1.0 + size)


def _tighten(layers: tuple[Layer, ...], entering: list[Range], bounds: Range) -> Range:
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
