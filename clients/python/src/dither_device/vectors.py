"""The draw of a vector: the nearest of public directions, by a public seed. See docs/wire.md."""

from __future__ import annotations

import math
from struct import pack

from dither_device.draws import Draw, Outside, bits, mix
from dither_device.places import read_near
from dither_device.text import Fields, integer, listed, need, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Domain, Take

_EQUAL = 128  # axes up to which directions have equal lengths


def _transform(row: list[float]) -> list[float]:
    """Return the product with the Hadamard matrix, by butterflies of 1, 2, 4, …: the order is specified."""
    half = 1
    while half < len(row):
        for begin in range(0, len(row), 2 * half):
            left, right = row[begin : begin + half], row[begin + half : begin + 2 * half]
            row[begin : begin + half] = [a + b for a, b in zip(left, right, strict=True)]
            row[begin + half : begin + 2 * half] = [a - b for a, b in zip(left, right, strict=True)]
        half *= 2
    return row


def _signs(first: int, count: int) -> list[float]:
    """Return signs from the bits of the words that begin with a number."""
    words = [mix(first + at) for at in range(-(-count // 64))]
    return [-1.0 if words[at >> 6] >> (at & 63) & 1 else 1.0 for at in range(count)]


def _nearest(vector: list[float], seed: int, cells: int, width: int) -> list[int]:
    """Return the numbers of the K directions with the largest products, ascending."""
    axes = len(vector)
    size = cells if axes <= _EQUAL else 1 << (axes - 1).bit_length()
    own, first = _signs(seed << 16, size), _signs((1 << 48) + (seed % 256 << 16), axes)
    columns = [1 + 619 * k % (cells - 1) for k in range(size)]

    def spread(row: list[float]) -> list[float]:
        folded = [0.0] * cells
        for k, number in enumerate(row):
            folded[columns[k]] += number * own[k]
        return _transform(folded)

    if axes > _EQUAL:
        start = [x * s for x, s in zip(vector, first, strict=True)] + [0.0] * (size - axes)
        products = spread(_transform(start))
    else:
        products, squares = [0.0] * cells, [0.0] * cells
        for axis, (x, sign) in enumerate(zip(vector, first, strict=True)):
            row = spread([-1.0 if (axis & k).bit_count() & 1 else 1.0 for k in range(size)])
            for i, g in enumerate(row):
                products[i] += g * sign * x
                squares[i] += g * g
        products = [p / math.sqrt(max(q, 1.0)) for p, q in zip(products, squares, strict=True)]
    order = sorted(range(cells), key=lambda i: -products[i])  # stable: of equal ones the first
    return sorted(order[:width])


def _read_domain(domain: Any) -> tuple[Domain, Callable[[tuple[float, ...]], list[float]]]:
    """Return how values are checked and marked, and the vector on the sphere of one of them."""
    need(isinstance(domain, Fields) and domain["kind"] == "vectors", "domain")
    exact = domain["exact"]
    need(isinstance(exact, bool), "domain")
    size, length = integer(domain["dimension"], 1 + exact, 1 << 16), real(domain["length"])
    need(1e-30 <= length <= 1e30, "domain")
    middle = [0.0] * size
    if domain["centre"] is not None:
        middle = [real(x) for x in listed(domain["centre"], "domain", size)]
        need(any(middle) and all(abs(x) <= 1e30 for x in middle), "domain")

    def relative(vector: tuple[float, ...]) -> list[float]:
        return [(x - c) / length for x, c in zip(vector, middle, strict=True)]

    def place(value: Any) -> tuple[float, ...]:
        try:
            if isinstance(value, str | bytes) or any(isinstance(x, bool | str | bytes) for x in value):
                raise Outside("a list of numbers was expected")
            given = tuple(float(x) for x in value)
        except (TypeError, ValueError, OverflowError):
            raise Outside("a list of numbers was expected") from None
        if len(given) != size or not all(map(math.isfinite, given)):
            raise Outside(f"a list of {size} finite numbers was expected")
        own = relative(given)
        most = max(map(abs, own))
        if not math.isfinite(most) or (exact and not most):
            raise Outside("a vector with a direction was expected")
        if most > 2.0 or exact:
            scaled = [x / most for x in own]
            far = math.sqrt(sum(x * x for x in scaled)) * most if most else 0.0
        else:
            scaled, far = own, math.sqrt(sum(x * x for x in own))
        if exact and abs(far - 1.0) > 1e-2:
            unit = math.sqrt(sum(x * x for x in scaled))
            own = [x / unit for x in scaled]
        elif not exact and far > 1.0 + 1e-5:
            own = [x / far for x in own]
        else:
            return tuple(x + 0.0 for x in given)
        return tuple(c + length * x + 0.0 for x, c in zip(own, middle, strict=True))

    def lift(vector: tuple[float, ...]) -> list[float]:
        own = relative(vector)
        if exact:
            return own
        squares = 0.0
        for x in own:
            squares += x * x
        return [*own, math.sqrt(max(1.0 - squares, 0.0))]

    return (place, lambda vector: pack(f"<{len(vector)}d", *vector)), lift


def directions(device: Fields) -> Draw:
    cells, width, draw, ratio = read_near(device)
    need(cells & (cells - 1) == 0 and 64 <= cells <= 1 << 12, "cells")
    need(device["outside"] == "clip", "domain")
    domain, lift = _read_domain(device["domain"])

    def tell(vector: tuple[float, ...], take: Take) -> bytes:
        seed = bits(take, 32)  # before the vector is looked at
        number = draw(_nearest(lift(vector), seed, cells, width), take)
        return (seed << 16 | number).to_bytes(8, "little")

    return Draw("Optimal", ratio, domain, tell)


READERS = {"directions": directions}
