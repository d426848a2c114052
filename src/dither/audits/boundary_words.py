"""A random source whose first bytes are chosen, in order to reach the rare branches of a draw."""

from __future__ import annotations

from typing import Final, final

from dither.randomness import Seeded, Source

SCRIPTS: Final = tuple(  # words at the ends of their range, and about the middle of it
    pattern * (size // 4)
    for size in (4, 8, 16, 64)
    for pattern in (bytes(4), b"\xff" * 4, b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\xfe" + b"\xff" * 3)
)


class ScriptEnded(Exception):
    """The draw wants more bytes than the script has; `missing` says how many more."""

    def __init__(self, missing: int) -> None:
        super().__init__("the script has no more bytes")
        self.missing = missing


@final
class BoundaryWords(Source):
    """The given bytes first, then those of a seeded source, so that every rejection loop ends.

    With `strict`, ScriptEnded is raised instead of going on. `taken` counts the bytes that were drawn.
    """

    def __init__(self, script: bytes, *, strict: bool = False) -> None:
        self._script, self._rest, self._strict, self.taken = script, Seeded(1), strict, 0

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def take(self, size: int) -> bytes:
        if self._strict and size > len(self._script):
            raise ScriptEnded(size - len(self._script))
        self.taken += size
        chosen, self._script = self._script[:size], self._script[size:]
        return chosen + self._rest.take(size - len(chosen))

    def spawn(self) -> Source:
        return self._rest.spawn()

    @property
    def private(self) -> bool:
        return False
