"""Sources of randomness that a test controls: what they say is chosen, repeated or written down."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np

from dither.foundation.randomness import Source


class ChosenBytes(Source):
    """One stream of bytes for arrays, single draws and all threads. It keeps nothing secret."""

    @abstractmethod
    def take(self, size: int) -> bytes: ...

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False


class Exhausted(AssertionError):
    """The draw asks for more bytes than were prepared."""


class Scripted(ChosenBytes):
    """Prepared bytes in their order: bytes, arrays, or integers as 64-bit words. Then another source."""

    def __init__(self, *script: bytes | np.ndarray | int, then: Source | None = None) -> None:
        parts = (part.to_bytes(8, "little") if isinstance(part, int) else part for part in script)
        self.left = b"".join(part.tobytes() if isinstance(part, np.ndarray) else part for part in parts)
        self._then = then

    def take(self, size: int) -> bytes:
        taken = self.left[:size]
        lacking = size - len(taken)
        if lacking and self._then is None:
            raise Exhausted(f"{size} bytes are asked for and {len(taken)} are left")
        self.left = self.left[size:]
        return taken + (self._then.take(lacking) if lacking and self._then else b"")


class Repeated(ChosenBytes):
    """The same pattern again and again, from its beginning at every draw."""

    def __init__(self, pattern: bytes) -> None:
        self._pattern = pattern

    def take(self, size: int) -> bytes:
        return (self._pattern * (size // len(self._pattern) + 1))[:size]


class Shake(ChosenBytes):
    """Fixed bytes that look random: SHAKE-128 of a seed and of how many draws there were before."""

    def __init__(self, seed: str) -> None:
        self._seed, self._taken = seed, 0

    def take(self, size: int) -> bytes:
        self._taken += 1
        return hashlib.shake_128(f"{self._seed} {self._taken}".encode()).digest(size)


class Separate(ChosenBytes):
    """Arrays are filled from one source, single draws are taken from another."""

    def __init__(self, fills: Source, takes: Source) -> None:
        self._fills, self._takes = fills, takes

    def fill(self, buffer: memoryview | bytearray) -> None:
        self._fills.fill(buffer)

    def take(self, size: int) -> bytes:
        return self._takes.take(size)


class Recorded(ChosenBytes):
    """Another source, and what was asked of it: `asked` holds the verbs and sizes, `given` the bytes."""

    def __init__(self, inner: Source) -> None:
        self._inner, self.asked, self.given = inner, list[tuple[str, int]](), list[bytes]()

    def take(self, size: int) -> bytes:
        taken = self._inner.take(size)
        self.asked.append(("take", size))
        self.given.append(taken)
        return taken

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        self._inner.fill(view)
        self.asked.append(("fill", len(view)))
        self.given.append(bytes(view))

    def erase(self) -> None:
        self.asked.append(("erase", 0))

    def during(self, draw: Callable[[], object]) -> tuple[tuple[str, int], ...]:
        """Return what one draw asks."""
        self.asked.clear()
        draw()
        return tuple(self.asked)


def law(draw: Callable[[Source], Hashable]) -> dict[Hashable, Fraction]:
    """Return the exact law of a draw, by trying every byte that it may read."""
    chances: dict[Hashable, Fraction] = {}
    left: list[bytes] = [b""]
    while left:
        given = left.pop()
        try:
            outcome = draw(Scripted(given))
        except Exhausted:
            left += [given + bytes([byte]) for byte in range(256)]
            continue
        chances[outcome] = chances.get(outcome, Fraction(0)) + Fraction(1, 256 ** len(given))
    return chances
