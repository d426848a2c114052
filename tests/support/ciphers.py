"""Ciphers whose keys are written down, so that a test knows what a thief of the keys could compute."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers import CipherContext

from dither.foundation.randomness import system
from dither.foundation.randomness.ciphers import chacha
from dither.foundation.randomness.system import ErasingStream


class Recorder:
    """Makes contexts, and writes down the key of each."""

    def __init__(self, new: Callable[[bytes], CipherContext]) -> None:
        self.new, self.keys = new, list[bytes]()

    def stream(self) -> ErasingStream:
        return ErasingStream(self.maker())

    def maker(self) -> Callable[[bytes | bytearray], CipherContext]:
        def make(
            key: bytes | bytearray,
        ) -> CipherContext:  # a function: an image of memory does not follow it
            self.keys.append(bytes(key))
            return self.new(bytes(key) if isinstance(key, bytes) else key)

        return make

    def keystream(self, index: int, size: int) -> bytes:
        """Return what whoever has this key can compute."""
        return self.new(self.keys[index]).update(bytes(size))


def recorded_streams(monkeypatch: pytest.MonkeyPatch) -> list[Recorder]:
    """Return a list to which every later stream of the default source adds its recorder."""
    recorders: list[Recorder] = []

    def faster() -> Callable[[bytes | bytearray], CipherContext]:
        recorders.append(Recorder(chacha))
        return recorders[-1].maker()

    monkeypatch.setattr(system, "faster", faster)
    return recorders
