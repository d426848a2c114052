"""An independent reference: edwards25519 in plain integers, after RFC 8032. Slow, and not constant time."""

from __future__ import annotations

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # a square root of −1

Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def recover(y: int, sign: int) -> Point | None:
    """Return the point with this y whose x has this lowest bit, or None if there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P:
        return None
    return (P - x if x % 2 != sign else x, y)


def add(one: Point, other: Point) -> Point:
    product = D * one[0] * other[0] * one[1] * other[1]
    x = (one[0] * other[1] + other[0] * one[1]) * pow(1 + product, -1, P) % P
    y = (one[1] * other[1] + one[0] * other[0]) * pow(1 - product, -1, P) % P
    return x, y


def negate(point: Point) -> Point:
    return -point[0] % P, point[1]


def multiply(scalar: int, point: Point) -> Point:
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def encode(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode(raw: bytes) -> Point:
    number = int.from_bytes(raw, "little")
    point = recover(number % 2**255, number >> 255)
    assert point is not None
    return point


_BASE = recover(4 * pow(5, -1, P) % P, 0)
assert _BASE is not None
BASE: Point = _BASE


def _small() -> list[Point]:
    """Return the eight points whose order divides 8: multiples of L times a point outside the group."""
    y = 2
    while True:
        point = recover(y, 0)
        found = [] if point is None else [multiply(times * L, point) for times in range(8)]
        if len(set(found)) == 8:
            return found
        y += 1


SMALL = _small()
