"""A source that says what it is told to, to walk through the rare branches of a draw."""

from __future__ import annotations

from dither.randomness import Source


class Scripted(Source):
    def __init__(self, script: bytes) -> None:
        self.script = script

    def take(self, size: int) -> bytes:
        assert len(self.script) >= size, "the draw asked for more than was scripted"
        taken, self.script = self.script[:size], self.script[size:]
        return taken

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False
