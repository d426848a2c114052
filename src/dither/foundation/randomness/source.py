"""The interface of sources of randomness, and exact draws from their bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

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
            raise InvalidParameter(f"expected a uniform integer's bound to be at least 1, got {found(bound)}")
        size = (bound - 1).bit_length()
        while True:
            draw = self.bits(size)
            if draw < bound:
                return draw

    def coin(self, heads: int, of: int) -> bool:
        """Return True with probability exactly heads/of."""
        if not 0 <= heads <= of or of < 1:
            raise InvalidParameter(
                "expected a coin with integers 0 <= heads <= of and of >= 1; correct heads or of"
            )
        return self.below(of) < heads

    def integers(self, bound: int, size: int) -> Integers:
        """Return `size` uniform integers in 0 … bound − 1 (bound ≤ 2^63), by rejection on 64-bit words."""
        if not 1 <= bound <= 1 << 63:
            raise InvalidParameter(
                f"expected a bound from 1 to 2^63 for uniform integers, got {found(bound)}"
            )
        ceiling = (1 << 64) - (1 << 64) % bound  # the largest multiple of bound up to 2^64
        words = self.words(size)
        if ceiling < 1 << 64:
            rejected = np.flatnonzero(words >= np.uint64(ceiling))
            while rejected.size:
                words[rejected] = self.words(rejected.size)
                rejected = rejected[words[rejected] >= np.uint64(ceiling)]
        words -= words // np.uint64(bound) * np.uint64(bound)  # the remainder, in a third of the time of %
        return words.astype(np.int64)

    def coins(self, heads: int, of: int, size: int) -> Mask:
        """Return `size` independent coins, each True with probability exactly heads/of (of ≤ 2^63)."""
        if not 0 <= heads <= of:
            raise InvalidParameter("expected coins with integers 0 <= heads <= of; correct heads or of")
        return self.integers(of, size) < heads

    def choices(self, weights: Sequence[int], size: int) -> Integers:
        """Return `size` indices, index i with probability exactly weights[i] / sum(weights)."""
        if not len(weights) or min(weights) < 0 or sum(weights) < 1:
            raise InvalidParameter(
                "expected non-negative integer weights with a positive sum; scale weights to integers"
            )
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
