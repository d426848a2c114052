"""Sources of randomness, exact draws from their bytes, and the ciphers of the default source.

A key is used for one context, so the nonce is zero.

The default source: a stream cipher with fast key erasure, keyed by the operating system.

**One owner.** A call takes a stream out of the list of idle streams, or makes a new one, and puts it back
when it is done. `list.pop` and `list.append` are atomic, so a call made during another one, by a signal
handler, a finaliser or another thread, never uses the same stream. If an exception interrupts a call, its
stream is discarded.

**One process.** A stream belongs to the process that made it. This is checked after the bytes were drawn:
bytes of an inherited stream, or of a fork during the draw, are discarded and drawn again.

**Fast key erasure** (D. J. Bernstein, "Fast-key-erasure random-number generators", 2017). The next key is the
encryption, under the present key, of 32 fresh bytes from the operating system. The present key is then
overwritten and its context freed, which OpenSSL wipes. Small draws come from a buffer whose key was already
erased, and used bytes of the buffer are overwritten at once. Large fills change the key every 8 MiB and in
`erase`.

Reproducible sources: from a seed, for tests; from a secret key, for permanent answers.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, count
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Integers, Mask, Words


class Source(ABC):
    """A source of random bytes. It is an argument of `perturb`, never a field of a mechanism."""

    @abstractmethod
    def fill(self, buffer: memoryview | bytearray) -> None:
        """Overwrite a writable, contiguous buffer of bytes with random bytes."""

    @abstractmethod
    def take(self, size: int) -> bytes:
        """Return random bytes; efficient for small sizes."""

    @abstractmethod
    def spawn(self) -> Source:
        """Return a source for another thread, independent of this one."""

    def erase(self) -> None:  # noqa: B027  (a reproducible source has nothing to erase)
        """Make it impossible to compute bytes that were already drawn from the source's memory.

        `Mechanism.perturb` calls this after its reports are drawn. Reproducible sources do nothing.
        """

    @property
    @abstractmethod
    def private(self) -> bool:
        """Whether reports drawn with this source are private: False for a seeded one."""

    def words(self, size: int) -> Words:
        """Return `size` uniform 64-bit words."""
        words: Words = np.empty(size, dtype="<u8")
        if size:
            self.fill(words.data)
        return words

    def bits(self, size: int) -> int:
        """Return a uniform integer below 2^size."""
        length = (size + 7) >> 3
        return int.from_bytes(self.take(length), "little") >> (8 * length - size)

    def below(self, bound: int) -> int:
        """Return a uniform integer in 0 … bound − 1, of any size, by rejection.

        Proved: below_exactly (proofs/Window.v).
        """
        if bound < 1:
            raise InvalidParameter(f"a uniform integer needs a bound of at least 1, not {found(bound)}")
        size = (bound - 1).bit_length()
        while True:
            draw = self.bits(size)
            if draw < bound:
                return draw

    def coin(self, heads: int, of: int) -> bool:
        """Return True with probability exactly heads/of."""
        if not 0 <= heads <= of or of < 1:
            raise InvalidParameter("a coin needs integers 0 <= heads <= of and of >= 1")
        return self.below(of) < heads

    def integers(self, bound: int, size: int) -> Integers:
        """Return `size` uniform integers in 0 … bound − 1 (bound ≤ 2^63), by rejection on 64-bit words."""
        if not 1 <= bound <= 1 << 63:
            raise InvalidParameter(f"uniform integers need a bound from 1 to 2^63, not {found(bound)}")
        ceiling = (1 << 64) - (1 << 64) % bound  # the largest multiple of bound up to 2^64
        words = self.words(size)
        if ceiling < 1 << 64:
            rejected = np.flatnonzero(words >= np.uint64(ceiling))
            while rejected.size:
                words[rejected] = self.words(rejected.size)
                rejected = rejected[words[rejected] >= np.uint64(ceiling)]
        words -= words // np.uint64(bound) * np.uint64(bound)  # the rest, in a third of the time of %
        return words.astype(np.int64)

    def coins(self, heads: int, of: int, size: int) -> Mask:
        """Return `size` independent coins, each True with probability exactly heads/of (of ≤ 2^63)."""
        if not 0 <= heads <= of:
            raise InvalidParameter("coins need integers 0 <= heads <= of")
        return self.integers(of, size) < heads

    def choices(self, weights: Sequence[int], size: int) -> Integers:
        """Return `size` indices, index i with probability exactly weights[i] / sum(weights)."""
        if not len(weights) or min(weights) < 0 or sum(weights) < 1:
            raise InvalidParameter("a choice needs non-negative integer weights with a positive sum")
        ends = list(accumulate(map(int, weights)))
        total = ends.pop()
        if total <= 1 << 63:
            draws = self.integers(total, size)
            return np.searchsorted(np.array(ends, dtype=np.int64), draws, side="right").astype(np.int64)
        # A word selects one of 2^64 cells of [0, 1]; only a cell in which a weight ends needs a second draw.
        edges = [divmod(end << 64, total) for end in ends if end < total]
        cells = np.array([cell for cell, _ in edges], dtype=np.uint64)
        words = self.words(size)
        picked = np.searchsorted(cells, words, side="left").astype(np.int64)
        for index in np.flatnonzero(np.isin(words, cells)):
            draw = self.below(total)
            picked[index] += sum(cell == words[index] and rest <= draw for cell, rest in edges)
        return picked

    def permutation(self, size: int) -> Integers:
        """Return a uniform permutation of 0 … size − 1: the order of different random words."""
        while True:
            words = self.words(size)
            order = np.argsort(words)
            ordered = words[order]
            if not (ordered[1:] == ordered[:-1]).any():
                return order.astype(np.int64, copy=False)


CHUNK: Final = 1 << 18  # bytes encrypted at once
KEY: Final = 32  # bytes of a key
ZEROS: Final = memoryview(bytes(CHUNK))  # encrypting zeros returns the keystream

NewCipher = Callable[[bytes | bytearray], CipherContext]


def gcm(key: bytes | bytearray) -> CipherContext:
    """Return AES-256-GCM under a key: 2^36 bytes of keystream. The authentication tag is not used."""
    return Cipher(algorithms.AES(key), modes.GCM(bytes(12))).encryptor()


def chacha(key: bytes | bytearray) -> CipherContext:
    """Return ChaCha20 under a key: the block counter starts at zero and lasts for 2^38 bytes."""
    return Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor()


@cache
def faster() -> NewCipher:
    """Return the cipher that is faster on this machine: AES is slow without AES instructions."""

    def seconds(new: NewCipher) -> float:
        out = bytearray(1 << 16)
        zeros = ZEROS[: 1 << 16]
        encryptor = new(bytes(KEY))  # a zero key, for the measurement only; its keystream is discarded
        encryptor.update_into(zeros, out)
        times = []
        for _ in range(5):  # the best of five, so that other load on the machine does not decide
            begin = time.perf_counter()
            encryptor.update_into(zeros, out)
            times.append(time.perf_counter() - begin)
        return min(times)

    return min((gcm, chacha), key=seconds)


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
        """Return whether there was no fork or restart since the stream was made."""
        return self._generation == _generation and self._process == os.getpid()

    def _change_key(self) -> None:
        # Keystream XOR fresh bytes: unpredictable if either is, so copies of a virtual machine diverge here.
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
        those of another copy until 128 KiB are used, and large ones until 8 MiB are used.
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
    """A keystream for successive calls. A call made during another one has its own keystream.

    `new(0)` returns the cipher of the stream, and `new(n)`, n ≥ 1, that of the n-th call made during another
    one: by a signal handler, a finaliser or another thread. The bytes of such a call depend on when it is
    made, and are never bytes of another call.
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
    """A reproducible source, for tests and simulations only: anybody who knows the seed can undo the noise.

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
