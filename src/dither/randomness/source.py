"""Sources of randomness, exact draws from their bytes, and the ciphers of the default source.

A key is used for one context, so the nonce is zero.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from dither.arrays import Integers, Mask, Words
from dither.errors import InvalidParameter, found


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
        """Return a uniform integer in 0 … bound − 1, of any size, by rejection."""
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
        return (words % np.uint64(bound)).astype(np.int64)

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
