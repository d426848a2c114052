"""Random words from a cryptographic generator, and exact draws made of them.

Everything random in dither is made of bytes from a `Source`. The default source is a stream cipher keyed by
the operating system: AES-256-GCM's keystream where the machine has AES instructions, ChaCha20 elsewhere. Each
thread has its own stream, and a forked process starts a new one, so no two ever share a byte.

No float decides anything here: an integer below n, a coin with probability p/q and a choice by integer
weights are exact.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from dither.arrays import Integers, Mask, Words
from dither.errors import InvalidParameter

__all__ = ["SYSTEM", "Keyed", "Seeded", "Source", "System"]


_BUFFER: Final = 1 << 12  # bytes kept ready for small draws
_CHUNK: Final = 1 << 18  # bytes encrypted at once
_REKEY: Final = 1 << 32  # GCM's counter ends at 2^36 bytes: stop well before
_ZEROS: Final = bytes(_CHUNK)


class Source(ABC):
    """Where random bytes come from. An argument of `perturb`, never a field of a mechanism."""

    @abstractmethod
    def fill(self, buffer: memoryview | bytearray) -> None:
        """Overwrite a writable, contiguous buffer of bytes with random bytes."""

    @abstractmethod
    def take(self, size: int) -> bytes:
        """Give a few random bytes, cheaply."""

    @abstractmethod
    def spawn(self) -> Source:
        """Give a source for another thread, independent of this one."""

    @property
    @abstractmethod
    def private(self) -> bool:
        """Whether reports made with this source are private: false for a seeded one."""

    @final
    def words(self, size: int) -> Words:
        """Give `size` uniform 64-bit words."""
        words: Words = np.empty(size, dtype="<u8")
        if size:
            self.fill(words.data)
        return words

    @final
    def bits(self, size: int) -> int:
        """Give a uniform integer below 2^size."""
        length = (size + 7) >> 3
        return int.from_bytes(self.take(length), "little") >> (8 * length - size)

    @final
    def below(self, bound: int) -> int:
        """Give a uniform integer in 0 … bound − 1, of any size, by rejection."""
        if bound < 1:
            raise InvalidParameter("a uniform integer needs a bound of at least 1")
        size = (bound - 1).bit_length()
        while True:
            draw = self.bits(size)
            if draw < bound:
                return draw

    @final
    def coin(self, heads: int, of: int) -> bool:
        """Give True with probability exactly heads/of."""
        if not 0 <= heads <= of or of < 1:
            raise InvalidParameter("a coin needs integers 0 <= heads <= of and of >= 1")
        return self.below(of) < heads

    @final
    def integers(self, bound: int, size: int) -> Integers:
        """Give `size` uniform integers in 0 … bound − 1 (bound ≤ 2^63), by rejection on 64-bit words."""
        if not 1 <= bound <= 1 << 63:
            raise InvalidParameter("uniform integers need a bound between 1 and 2^63")
        ceiling = (1 << 64) - (1 << 64) % bound  # the largest multiple of bound that a word can reach
        words = self.words(size)
        if ceiling < 1 << 64:
            rejected = np.flatnonzero(words >= np.uint64(ceiling))
            while rejected.size:
                words[rejected] = self.words(rejected.size)
                rejected = rejected[words[rejected] >= np.uint64(ceiling)]
        return (words % np.uint64(bound)).astype(np.int64)

    @final
    def coins(self, heads: int, of: int, size: int) -> Mask:
        """Give `size` independent coins, each True with probability exactly heads/of (of ≤ 2^63)."""
        if not 0 <= heads <= of:
            raise InvalidParameter("coins need integers 0 <= heads <= of")
        return self.integers(of, size) < heads

    @final
    def choices(self, weights: Sequence[int], size: int) -> Integers:
        """Give `size` indices, index i with probability exactly weights[i] / sum(weights)."""
        if not len(weights) or min(weights) < 0 or sum(weights) < 1:
            raise InvalidParameter("a choice needs non-negative integer weights with a positive sum")
        ends = list(accumulate(map(int, weights)))
        total = ends.pop()
        if total <= 1 << 63:
            draws = self.integers(total, size)
            return np.searchsorted(np.array(ends, dtype=np.int64), draws, side="right").astype(np.int64)
        # A word is a cell of the unit interval; only a cell in which a weight ends needs a finer draw.
        edges = [divmod(end << 64, total) for end in ends if end < total]
        cells = np.array([cell for cell, _ in edges], dtype=np.uint64)
        words = self.words(size)
        picked = np.searchsorted(cells, words, side="left").astype(np.int64)
        for index in np.flatnonzero(np.isin(words, cells)):
            draw = self.below(total)
            picked[index] += sum(cell == words[index] and rest <= draw for cell, rest in edges)
        return picked

    @final
    def permutation(self, size: int) -> Integers:
        """Give the numbers 0 … size − 1 in an exactly uniform order: that of random words, all different."""
        while True:
            words = self.words(size)
            order = np.argsort(words)
            ordered = words[order]
            if not (ordered[1:] == ordered[:-1]).any():
                return order.astype(np.int64, copy=False)


class _Keystream:
    """The keystream of one cipher under one key, with a small buffer in front of it."""

    def __init__(self, encryptor: Callable[[], CipherContext], rekey: bool) -> None:
        self._new = encryptor
        self._rekey = rekey
        self._encryptor = encryptor()
        self._spent = 0
        self._buffer = memoryview(bytearray(_BUFFER))
        self._next = _BUFFER

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        for begin in range(0, len(view), _CHUNK):
            part = view[begin : begin + _CHUNK]
            if self._rekey and self._spent + len(part) > _REKEY:
                self._encryptor, self._spent = self._new(), 0
            self._encryptor.update_into(memoryview(_ZEROS)[: len(part)], part)
            self._spent += len(part)

    def take(self, size: int) -> bytes:
        if size > _BUFFER:
            big = bytearray(size)
            self.fill(big)
            return bytes(big)
        begin = self._next
        if begin + size > _BUFFER:
            self.fill(self._buffer)
            begin = 0
        self._next = begin + size
        taken = bytes(self._buffer[begin : self._next])
        self._buffer[begin : self._next] = bytes(size)  # what was used is not kept
        return taken


def _gcm() -> CipherContext:
    # Encrypting zeros gives the keystream; the tag is never asked for.
    return Cipher(algorithms.AES(os.urandom(32)), modes.GCM(os.urandom(12))).encryptor()


def _chacha() -> CipherContext:
    # The first four bytes are the block counter: from zero it lasts for 2^38 bytes.
    return Cipher(algorithms.ChaCha20(os.urandom(32), bytes(4) + os.urandom(12)), None).encryptor()


def _faster() -> Callable[[], CipherContext]:
    """Choose the cipher that this machine runs faster: AES without AES instructions is slow."""

    def seconds(new: Callable[[], CipherContext]) -> float:
        out = bytearray(1 << 16)
        zeros = memoryview(_ZEROS)[: 1 << 16]
        encryptor = new()
        encryptor.update_into(zeros, out)
        times = []
        for _ in range(5):  # the best of five: a busy machine must not choose for us
            begin = time.perf_counter()
            encryptor.update_into(zeros, out)
            times.append(time.perf_counter() - begin)
        return min(times)

    return min((_gcm, _chacha), key=seconds)


_generation = 0


def _forked() -> None:
    global _generation  # noqa: PLW0603  (a new process must drop every stream it inherited)
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@final
class System(Source):
    """The default source: a stream cipher keyed by the operating system, one stream a thread and process."""

    def __init__(self) -> None:
        self._local = threading.local()

    def _stream(self) -> _Keystream:
        state: tuple[int, int, _Keystream] | None = getattr(self._local, "state", None)
        if state is not None and state[0] == _generation and state[1] == os.getpid():
            return state[2]
        stream = _Keystream(_faster(), rekey=True)
        self._local.state = (_generation, os.getpid(), stream)
        return stream

    def fill(self, buffer: memoryview | bytearray) -> None:
        self._stream().fill(buffer)

    def take(self, size: int) -> bytes:
        return self._stream().take(size)

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "System()"

    def __reduce__(self) -> tuple[type[System], tuple[()]]:
        return System, ()  # a copy in another process makes its own streams


@final
class Seeded(Source):
    """A reproducible source, for tests and studies only: whoever knows the seed can undo the noise.

    >>> Seeded(7)
    Seeded(7) [not private: for tests only]
    """

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidParameter("a seed is an integer")
        self._seed = seed
        self._spawned = 0
        self._reset(str(seed))

    def _reset(self, name: str) -> None:
        key = hashlib.sha256(f"dither seeded source {name}".encode()).digest()
        self._name = name
        self._stream = _Keystream(
            lambda: Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor(), rekey=False
        )

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


@final
class Keyed(Source):
    """The same bytes whenever the same secret key and context are given: for answers that must not change.

    Without the key the bytes are as good as random (HMAC-SHA-256 as a random function, then ChaCha20).
    """

    def __init__(self, key: bytes, context: bytes) -> None:
        self._key, self._context, self._spawned = key, context, 0
        derived = hmac.digest(key, b"dither keyed source\0" + context, "sha256")
        self._stream = _Keystream(
            lambda: Cipher(algorithms.ChaCha20(derived, bytes(16)), None).encryptor(), rekey=False
        )

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


SYSTEM: Final = System()
