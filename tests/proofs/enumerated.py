"""A source that reads its bytes from a list, so that a test can go through all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

from dither.randomness import Source


class Exhausted(Exception):
    """The draw asks for a byte that was not given yet."""


class Given(Source):
    def __init__(self, given: tuple[int, ...]) -> None:
        self.left = list(given)

    def take(self, size: int) -> bytes:
        if len(self.left) < size:
            raise Exhausted
        taken, self.left = self.left[:size], self.left[size:]
        return bytes(taken)

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False


def law(draw: Callable[[Source], Hashable]) -> dict[Hashable, Fraction]:
    """Return the exact law of a draw, by trying every byte that it may read."""
    chances: dict[Hashable, Fraction] = {}
    left: list[tuple[int, ...]] = [()]
    while left:
        given = left.pop()
        try:
            outcome = draw(Given(given))
        except Exhausted:
            left += [(*given, byte) for byte in range(256)]
            continue
        chances[outcome] = chances.get(outcome, Fraction(0)) + Fraction(1, 256 ** len(given))
    return chances
