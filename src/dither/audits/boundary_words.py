"""A random source whose first bytes are chosen, in order to reach the rare branches of a draw."""

from __future__ import annotations

from typing import Final, final

from dither.randomness import Seeded, Source

SCRIPTS: Final = tuple(  # words at the ends of their range, and about the middle of it
    pattern * (size // 4)
    for size in (4, 8, 16, 64)
    for pattern in (bytes(4), b"\xff" * 4, b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\xfe" + b"\xff" * 3)
)


@final
class BoundaryWords(Source):
    """The given bytes first, then those of a seeded source, so that every rejection loop ends."""

    def __init__(self, script: bytes) -> None:
        self._script, self._rest = script, Seeded(1)

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def take(self, size: int) -> bytes:
        chosen, self._script = self._script[:size], self._script[size:]
        return chosen + self._rest.take(size - len(chosen))

    def spawn(self) -> Source:
        return self._rest.spawn()

    @property
    def private(self) -> bool:
        return False
