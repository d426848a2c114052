"""Values of every kind of domain as vectors hold them, and the report of one of them as bytes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from dither.core.domains import (
    Box,
    Categories,
    Circle,
    Line,
    Nullable,
    Routes,
    Several,
    Sphere,
    Text,
    Vectors,
)
from dither.core.domains.plane import Plane
from dither.core.domains.records import Profile
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.joint import JointKernel
from dither.core.kernels.kernel import LineKernel
from dither.core.kernels.places.place import PlaceKernel
from dither.core.kernels.places.planar import PlanarNoiseKernel
from dither.core.question import as_question
from dither.errors import OutsideDomain
from dither.foundation.randomness import Source
from dither.mechanisms.joint.joint import Coin, Joint
from dither.mechanisms.mechanism import Mechanism

_SYMBOLS = "abcé"


def report(mechanism: Mechanism[Any], value: Any, source: Source) -> bytes:
    """Return what a device sends for a value: numbers of the report, lowest byte first."""
    if isinstance(mechanism.domain, Line | Categories) and isinstance(
        as_question(mechanism).kernel, LineKernel | CodeKernel
    ):
        # As `perturb` does for one value, and faster: vectors of the slow suite have 10^5 draws a question.
        checked = mechanism.domain.check([_moved(mechanism.domain, value)])[0]
        return _bytes(as_question(mechanism).kernel.draw_singly([checked.item()], source))
    return sent(mechanism, value, source)


def sent(mechanism: Mechanism[Any], value: Any, source: Source) -> bytes:
    """Return what `perturb` makes of one value, as bytes."""
    if isinstance(as_question(mechanism).kernel, JointKernel):
        label, coins = value
        joint: Any = mechanism if isinstance(mechanism, Joint) else as_question(mechanism).design()
        return _bytes(Coin(joint, tuple(coins)).apply(label, source=source).cells)
    return _bytes(mechanism.perturb(_as_given(mechanism, value), source=source).cells)


def _bytes(cells: Any) -> bytes:
    return np.ascontiguousarray(cells).astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()


def _as_given(mechanism: Mechanism[Any], value: Any) -> Any:
    """Return a value of a vector as `perturb` takes it."""
    if isinstance(as_question(mechanism).kernel, PlaceKernel):
        return np.array([_moved(mechanism.domain, place) for place in value], dtype=np.float64)
    value = _moved(mechanism.domain, value)
    if isinstance(mechanism.domain, Profile):
        return {name: [one] for name, one in value.items()}
    return [value]


def _moved(domain: Any, value: Any) -> Any:
    """Return a number, a place or a record that is not in the domain as a device moves it there."""
    if isinstance(domain, Nullable) and value is not None:
        return _moved(domain.of, value)
    if isinstance(domain, Several):
        if isinstance(domain.labels, range):  # a set of a million numbers would be made for each value
            return [item for item in value if isinstance(item, int) and item in domain.labels]
        known = set(domain.labels)
        told = (item if item in known else "other" for item in value)
        return [item for item in told if item in known]
    if isinstance(domain, Routes):
        return [_moved(domain.area, place) for place in value]
    if not isinstance(domain, Line | Plane | Box | Vectors):
        return value
    try:
        domain.check([value])
    except OutsideDomain:
        return domain.clip([value])[0].tolist()
    return value


def outside(domain: Any) -> list[Any]:
    """Return values that a device moves into its domain first: clips, or turns."""
    if isinstance(domain, Nullable):
        return outside(domain.of)
    if isinstance(domain, Circle):
        return [-domain.period / 4, 2.625 * domain.period, -1e-20]
    if isinstance(domain, Line):
        length = domain.high - domain.low
        return [domain.low - 1.5 * length, domain.high + length / 4, -1e300]
    if isinstance(domain, Several) and not isinstance(domain.labels, range):
        some = list(domain.labels)[:1]
        return [["no such item"], [*some, "no such item"], ["x", *some, "y", "x"], [None, 7]]
    if isinstance(domain, Box):
        return [[low - 1 for low, _ in domain.ends], [2 * high for _, high in domain.ends]]
    if isinstance(domain, Vectors):
        return [[3.0 * domain.length + place for place in range(domain.dimension)]]
    if isinstance(domain, Routes):
        return [path * 2 for path in outside(domain.area)]
    if isinstance(domain, Sphere):
        return [[[190.0, 12.5]], [[-530.0, 95.0], [10.0, -91.0]]]
    if isinstance(domain, Plane):
        x, y = domain.box.x, domain.box.y
        wide, high = x.high - x.low, y.high - y.low
        return [
            [[x.high + wide / 3, y.low + high / 5]],
            [[x.low - wide, y.high + high], [x.low, y.low - high]],
        ]
    return []


def values(mechanism: Mechanism[Any], picked: random.Random, locations: int = 0) -> Iterator[Any]:
    """Yield values of a domain: its ends first, then any. Paths have so many locations, or 1, 2 or 5."""
    domain = mechanism.domain
    if isinstance(as_question(mechanism).kernel, JointKernel):
        for label in _of(domain, picked):
            yield [label, [picked.random() < 0.5 for _ in range(as_question(mechanism).kernel.each)]]
    elif isinstance(as_question(mechanism).kernel, PlaceKernel):
        while True:
            alone = isinstance(
                as_question(mechanism).kernel, PlanarNoiseKernel
            )  # which takes many bytes for a location
            count = 1 if alone else locations or picked.choice((1, 1, 2, 5))
            yield [_place(domain, picked) for _ in range(count)]
    else:
        yield from _of(domain, picked)


def _of(domain: Any, picked: random.Random) -> Iterator[Any]:
    if isinstance(domain, Categories):
        labels = list(domain.labels)
        yield labels[0]
        yield labels[-1]
        while True:
            yield picked.choice(labels)
    elif isinstance(domain, Several):
        items = list(domain.labels)
        yield []
        yield items[: domain.most + 1]
        while True:
            yield picked.choices(items, k=picked.randrange(domain.most + 4))  # repeated ones count once
    elif isinstance(domain, Nullable):
        inner = _of(domain.of, picked)
        while True:
            yield None
            yield next(inner)
            yield next(inner)
    elif isinstance(domain, Line):
        yield domain.low
        yield domain.high
        while True:
            yield picked.uniform(domain.low, domain.high)
    elif isinstance(domain, Text):
        while True:
            yield "".join(picked.choices(_SYMBOLS, k=picked.randrange(4)))
    elif isinstance(domain, Box):
        while True:
            ends = picked.random() < 0.2
            yield [picked.choice(side) if ends else picked.uniform(*side) for side in domain.ends]
    elif isinstance(domain, Vectors):
        yield domain.examples()[0].tolist()
        while True:
            drawn = [picked.gauss(0.0, 1.0) for _ in range(domain.dimension)]
            long = math.sqrt(sum(x * x for x in drawn)) * (1.0 if domain.exact else 1.0 + picked.random())
            middle = domain.centre or [0.0] * domain.dimension
            yield [c + domain.length * x / long for x, c in zip(drawn, middle, strict=True)]
    elif isinstance(domain, Routes):
        start = _place(domain.area, picked)
        yield [start]
        yield [start, start]
        while True:
            count = picked.choice((2, 3, 4, 9, 30))
            path = [_place(domain.area, picked) for _ in range(count)]
            yield path if picked.random() < 0.7 else [place for place in path for _ in range(2)]
    elif isinstance(domain, Profile):
        while True:
            yield {
                name: picked.choice(list(part.labels))
                for name, part in zip(domain.names, domain.parts, strict=True)
            }
    else:
        while True:
            yield _place(domain, picked)


def _place(domain: Plane, picked: random.Random) -> list[float]:
    """Return a place: mostly inside, sometimes on a corner of the bounding box, moved into the domain."""
    box = domain.box
    ends = picked.random() < 0.2
    x, y = (
        picked.choice((side.low, side.high)) if ends else picked.uniform(side.low, side.high)
        for side in (box.x, box.y)
    )
    if isinstance(domain, Sphere):
        return [x, y]
    a, b = domain.clip([[x, y]])[0].tolist()
    return [a, b]
