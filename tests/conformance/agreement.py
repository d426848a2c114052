"""Specifications on which readers once disagreed: a part of texts.json."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any, Final

import dither as dt
from tests.support.travel import changed

READ, REFUSED = "read", "refused"
LINE: Final = dt.Interval(-3, 7.5)
POINTS: Final = ((0.0, 0.0), (0.5, 1.0), (1.0, 0.25))


OTHERS: Final = (
    ("another primitive polynomial, x^6 + x^5 + 1", [1, 0, 0, 0, 0, 1]),
    ("another primitive polynomial, x^6 + x^4 + x^3 + x + 1", [1, 1, 0, 1, 1, 0]),
    ("an irreducible polynomial that is not primitive, x^6 + x^3 + 1", [1, 0, 0, 1, 0, 0]),
)


def difference_set(prime: int, power: int, points: int, polynomial: list[int]) -> list[int]:
    """Return the set D of a polynomial, by the formula of docs/wire.md."""
    size = len(polynomial)
    values = [0] * (size - 1) + [1]
    while len(values) < power * points:
        values.append(-sum(c * values[j - size] for j, c in enumerate(polynomial)) % prime)
    return [at for at in range(points) if not any(values[at::points])]


def _projective(coefficients: list[int] | None = None) -> str:
    """Return a question on 21 points over F_4 with another polynomial, and the digest of its set."""

    def change(device: dict[str, Any]) -> None:
        assert (device["order"], device["dimension"]) == (4, 3)
        used = coefficients or device["polynomial"]
        places = difference_set(2, 2, 21, used)
        named = hashlib.sha256(b"".join(at.to_bytes(4, "little") for at in places)).hexdigest()
        assert (named[:32] == device["set"]) == (used == device["polynomial"])
        device.update(polynomial=used, set=named[:32])

    return changed(dt.ProjectiveResponse(dt.Categories(21), epsilon=1), change)


def specifications() -> Iterator[tuple[str, str, str, str]]:
    """Yield the verdict, the name of a case, the reason, and the text."""
    bounded = dt.BoundedLaplace(LINE, epsilon=1, cells=256)

    def scaled(factor: float) -> str:
        def change(device: dict[str, Any]) -> None:
            device["start"].update(scale=math.nextafter(device["start"]["scale"] * factor, math.inf))

        return changed(bounded, change)

    yield READ, "scale", "R over the length of the domain", bounded.to_json()
    yield REFUSED, "scale", "the next double above R over the length of the domain", scaled(1.0)
    yield REFUSED, "scale", "twice R over the length of the domain", scaled(2.0)
    yield READ, "polynomial", "the first primitive one, x^6 + x + 1", _projective()
    for reason, coefficients in OTHERS:
        yield REFUSED, "polynomial", f"{reason}, with the digest of its set", _projective(coefficients)
    copies = dt.rivals.ATP(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), POINTS, epsilon=2)
    for far in ([1e31, 0.0], [0.0, -1e31], [1e200, 1e200], [-1.7e308, 1.7e308]):
        text = changed(copies, lambda device, far=far: device["points"].append(far))  # type: ignore[misc]
        yield REFUSED, "two copies", f"a point at {far}, beyond 10^30", text
