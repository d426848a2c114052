"""The default source: a stream cipher with fast key erasure, keyed by the operating system.

**One owner.** A call takes a stream out of the list of idle streams, or makes a new one, and puts it back
when it is done. `list.pop` and `list.append` are atomic, so a call made during another one, by a signal
handler, a finaliser or another thread, never uses the same stream. If an exception interrupts a call, its
stream is discarded.

**One process.** A stream belongs to the process that made it. This is checked after the bytes are drawn.
Bytes of an inherited stream, or of a fork during the draw, are discarded and drawn again.

**Fast key erasure** (D. J. Bernstein, "Fast-key-erasure random-number generators", 2017). The next key is the
encryption, under the present key, of 32 fresh bytes from the operating system. The present key is then
overwritten; OpenSSL wipes its context when it is freed. Small draws come from a buffer whose key was already
erased, and used bytes of the buffer are overwritten at once. Large fills change the key every 8 MiB and in
`erase`.
"""

from __future__ import annotations

import os
from typing import Final

from dither.foundation.randomness.ciphers import CHUNK, KEY, ZEROS, NewCipher, faster
from dither.foundation.randomness.source import Source

BUFFER: Final = 1 << 16  # bytes of the buffer for small draws
SMALL: Final = 1 << 14  # a draw of at most this many bytes comes from the buffer
CADENCE: Final = 1 << 23  # bytes of large fills under one key

_generation = 0


def _start_generation() -> None:
    global _generation  # noqa: PLW0603  (a new process must drop every stream it inherited)
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_generation)


class ErasingStream:
    """A keystream whose past bytes cannot be computed from its present state; used by one call at a time."""

    def __init__(self, new: NewCipher) -> None:
        self._generation, self._process = _generation, os.getpid()
        self._new = new
        self._key = bytearray(KEY)  # zero except while a context is made
        self._cipher = new(os.urandom(KEY))
        self.spent = 0  # bytes already returned that the present key determines
        self._buffer = memoryview(bytearray(BUFFER))
        self._next = BUFFER
        self._change_key()

    def of_this_process(self) -> bool:
        """Return whether this is still the process that made the stream, without fork or restart."""
        return self._generation == _generation and self._process == os.getpid()

    def _change_key(self) -> None:
        # Keystream XOR fresh bytes is unpredictable if either is, so copies of a virtual machine diverge.
        self._cipher.update_into(os.urandom(KEY), self._key)
        self._cipher = self._new(self._key)  # OpenSSL copies the key, and wipes the previous one
        self._key[:] = bytes(KEY)
        self.spent = 0

    def erase(self) -> None:
        """Change the key if bytes that were already returned can be computed from it."""
        if self.spent:
            self._change_key()

    def fill(self, buffer: memoryview | bytearray) -> None:
        """Overwrite a buffer with random bytes."""
        view = memoryview(buffer).cast("B")
        size = len(view)
        if size <= SMALL:
            ready = self._reserve(size)
            view[:] = ready
            ready[:] = ZEROS[:size]
            return
        for begin in range(0, size, CHUNK):
            part = view[begin : begin + CHUNK]
            self._cipher.update_into(ZEROS[: len(part)], part)
            self.spent += len(part)
            if self.spent >= CADENCE:
                self._change_key()

    def take(self, size: int) -> bytes:
        """Return random bytes; no copy of them is kept."""
        if size > SMALL:
            large = bytearray(size)
            self.fill(large)
            self.erase()
            return bytes(large)
        ready = self._reserve(size)
        taken = bytes(ready)
        ready[:] = bytes(size)
        return taken

    def _reserve(self, size: int) -> memoryview:
        begin = self._next
        end = begin + size
        if end > BUFFER:
            self._cipher.update_into(ZEROS[:BUFFER], self._buffer)
            self._change_key()
            begin, end = 0, size
        self._next = end
        return self._buffer[begin:end]


class System(Source):
    """The default source: a stream cipher keyed by the operating system. No two calls share a byte.

    After a small draw (up to 16 KiB), and after `erase`, the source's memory does not determine any byte that
    was returned. A larger fill can be computed from it until 8 MiB more are drawn or `erase` is called;
    `perturb` calls it. Python cannot guarantee that freed memory, swapped pages or registers contain no copy.
    """

    def __init__(self) -> None:
        self._idle: list[ErasingStream] = []

    def _stream(self) -> ErasingStream:
        try:
            return self._idle.pop()
        except IndexError:
            return ErasingStream(faster())

    def fill(self, buffer: memoryview | bytearray) -> None:
        while True:
            stream = self._stream()
            stream.fill(buffer)
            if stream.of_this_process():
                self._idle.append(stream)
                return

    def take(self, size: int) -> bytes:
        while True:
            stream = self._stream()
            taken = stream.take(size)
            if stream.of_this_process():
                self._idle.append(stream)
                return taken

    def erase(self) -> None:
        if not any(stream.spent for stream in tuple(self._idle)):
            return
        for _ in range(len(self._idle)):
            stream = self._stream()
            stream.erase()
            if stream.of_this_process():
                self._idle.insert(0, stream)

    def restart(self) -> None:
        """Discard all streams of the process, so that the next draw uses a new key from the operating system.

        Call this in a process that continues from a snapshot of its memory. Otherwise small draws repeat
        the draws of another copy until 128 KiB are used, and large ones until 8 MiB are used.
        """
        _start_generation()
        self._idle.clear()

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "System()"

    def __reduce__(self) -> tuple[type[System], tuple[()]]:
        return System, ()  # a copy in another process makes its own streams


SYSTEM: Final = System()
