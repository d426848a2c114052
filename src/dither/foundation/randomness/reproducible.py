"""Reproducible sources: from a seed, for tests; from a secret key, for permanent answers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from itertools import count
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from dither.errors import InvalidParameter, found
from dither.foundation.randomness.ciphers import CHUNK, ZEROS
from dither.foundation.randomness.source import Source

_BUFFER: Final = 1 << 12  # bytes of the buffer for small draws; changing it changes the stream


class Keystream:
    """The keystream of one cipher with a small buffer, used by one call at a time."""

    def __init__(self, encryptor: CipherContext) -> None:
        self._encryptor = encryptor
        self._buffer = memoryview(bytearray(_BUFFER))
        self._next = _BUFFER

    def fill(self, buffer: memoryview | bytearray) -> None:
        """Overwrite a buffer with the next bytes."""
        view = memoryview(buffer).cast("B")
        for begin in range(0, len(view), CHUNK):
            part = view[begin : begin + CHUNK]
            self._encryptor.update_into(ZEROS[: len(part)], part)

    def take(self, size: int) -> bytes:
        """Return the next bytes of the buffer, or of the keystream if `size` exceeds the buffer."""
        if size > _BUFFER:
            large = bytearray(size)
            self.fill(large)
            return bytes(large)
        begin = self._next
        if begin + size > _BUFFER:
            self.fill(self._buffer)
            begin = 0
        self._next = begin + size
        taken = bytes(self._buffer[begin : self._next])
        self._buffer[begin : self._next] = bytes(size)  # used bytes are overwritten
        return taken


class SharedKeystream:
    """A keystream for successive calls. A call that is made during another call has its own keystream.

    `new(0)` returns the cipher of the stream, and `new(n)`, n ≥ 1, the cipher of the n-th call made during
    another one: by a signal handler, a finaliser or another thread. The bytes of such a call depend on when
    it is made, and are never bytes of another call.
    """

    def __init__(self, new: Callable[[int], CipherContext]) -> None:
        self._new = new
        self._overlapping = count(1)
        self._idle = [Keystream(new(0))]  # pop and append are atomic, so one call owns the stream at a time

    def fill(self, buffer: memoryview | bytearray) -> None:
        """Overwrite a buffer with the next bytes."""
        try:
            stream = self._idle.pop()
        except IndexError:
            Keystream(self._new(next(self._overlapping))).fill(buffer)
            return
        try:
            stream.fill(buffer)
        finally:
            self._idle.append(stream)

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        try:
            stream = self._idle.pop()
        except IndexError:
            return Keystream(self._new(next(self._overlapping))).take(size)
        try:
            return stream.take(size)
        finally:
            self._idle.append(stream)


class Seeded(Source):
    """A reproducible source, for tests and simulations only: anyone who knows the seed can undo the noise.

    >>> Seeded(7)
    Seeded(7) [not private: for tests only]
    """

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidParameter(f"a seed must be an integer, not {found(seed)}")
        self._seed = seed
        self._spawned = 0
        self._reset(str(seed))

    def _reset(self, name: str) -> None:
        self._name = name

        def new(call: int) -> CipherContext:
            label = f"{name}/{call}" if call else name
            key = hashlib.sha256(f"dither seeded source {label}".encode()).digest()
            return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

        self._stream = SharedKeystream(new)

    def fill(self, buffer: memoryview | bytearray) -> None:
        self._stream.fill(buffer)

    def take(self, size: int) -> bytes:
        return self._stream.take(size)

    def spawn(self) -> Seeded:
        self._spawned += 1
        child = Seeded(self._seed)
        child._reset(f"{self._name}.{self._spawned}")
        return child

    @property
    def private(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Seeded({self._name}) [not private: for tests only]"


class Keyed(Source):
    """The same bytes for the same secret key and context: for answers that must not change.

    Without the key the bytes are pseudorandom (HMAC-SHA-256, then ChaCha20). The key stays in memory. An
    attacker who reads it there can undo the noise of every answer that used it.
    """

    def __init__(self, key: bytes, context: bytes) -> None:
        self._key, self._context, self._spawned = key, context, 0

        def new(call: int) -> CipherContext:
            label = b"dither keyed source, call %d\0" % call if call else b"dither keyed source\0"
            derived = hmac.digest(key, label + context, "sha256")
            return Cipher(algorithms.ChaCha20(derived, bytes(16)), None).encryptor()

        self._stream = SharedKeystream(new)

    def fill(self, buffer: memoryview | bytearray) -> None:
        self._stream.fill(buffer)

    def take(self, size: int) -> bytes:
        return self._stream.take(size)

    def spawn(self) -> Keyed:
        self._spawned += 1
        return Keyed(self._key, self._context + f"\0{self._spawned}".encode())

    @property
    def private(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Keyed()"
