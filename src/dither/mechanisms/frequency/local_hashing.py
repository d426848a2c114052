"""Reports that are a hash function and a bucket: what the local-hashing protocols have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Integers, Words
from dither.errors import MalformedReport
from dither.kernels.sets.hashing import SEED_BITS, Hashing, seeds
from dither.kernels.window.integers import BLOCK, Blocks
from dither.mechanisms.frequency.pure_protocol import PureProtocol
from dither.privacy import Bound, Pure
from dither.randomness import Source

BUCKET_BITS: Final = 16  # the lowest bits of a report; the seed stands above them


@dataclass(frozen=True)
class Bucketed(PureProtocol):
    """A report is a public random hash function and a bucket: seed·2^16 + bucket.

    It supports every category that its hash function sends to its bucket. The seed is drawn before the answer
    is looked at, so it tells nothing.
    """

    @property
    @abstractmethod
    def buckets(self) -> int:
        """How many buckets there are: g."""

    @final
    @cached_property
    def hashing(self) -> Hashing:
        """The public family of hash functions."""
        return Hashing(self.buckets)

    @final
    @property
    def layout(self) -> np.dtype[Any]:
        """Eight bytes: 47 bits of seed above 16 bits of bucket."""
        return np.dtype(np.uint64)

    @final
    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.buckets << SEED_BITS

    @final
    def pack(self, seeds: Words, buckets: Array) -> Words:
        """Give reports made of seeds and buckets."""
        return (seeds << np.uint64(BUCKET_BITS)) | buckets.astype(np.uint64)

    @final
    def unpack(self, cells: Array) -> tuple[Words, Integers]:
        """Give the seeds and the buckets of reports, along one axis."""
        flat = cells.reshape(-1).astype(np.uint64, copy=False)
        bucket = flat & np.uint64((1 << BUCKET_BITS) - 1)
        return flat >> np.uint64(BUCKET_BITS), bucket.view(np.int64)

    @final
    def tally(self, cells: Array) -> Integers:
        """Count how many reports support each category, without an array of reports × categories."""
        return self.hashing.count(*self.unpack(cells), range(len(self.categories)))

    @final
    def adds_up(self, counts: Integers, n: int) -> bool:
        """Say whether n reports can have been counted like this: none supports a category twice."""
        return int(counts.max()) <= n

    @final
    def decode(self, cells: Array) -> Array:
        """Give which categories each report supports, along the last axis."""
        drawn, told = self.unpack(cells)
        codes = np.arange(len(self.categories))
        supported = self.hashing.bucket(drawn[:, None], codes[None, :]) == told[:, None]
        return np.reshape(supported, (*cells.shape, codes.size))

    def _valid(self, raw: Array) -> Array:
        if raw.size and (int(raw.min()) < 0 or int(raw.max()) >> (SEED_BITS + BUCKET_BITS)):
            raise MalformedReport("a report is a whole number from 0 to 2^63 − 1; one is not")
        cells = raw.astype(np.uint64, copy=False)
        if cells.size and int(self.unpack(cells)[1].max()) >= self.buckets:
            raise MalformedReport(f"a report names one of {self.buckets} buckets; one names another")
        return cells


@dataclass(frozen=True)
class Hashed(Bucketed):
    """The answer's bucket under a public random hash function, told by randomized response."""

    def _build(self) -> None:
        _ = self.kernel, self.hashing

    @final
    @cached_property
    def kernel(self) -> Blocks:
        """Randomized response on the buckets."""
        return Blocks.largest(self.epsilon, self.buckets)

    @final
    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """E/(E + g − 1), and 1/g: under a random hash another category is in any bucket alike."""
        return Fraction(self.kernel.inside, self.kernel.total), Fraction(1, self.buckets)

    @final
    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        for begin in range(0, codes.size, BLOCK):
            code = codes[begin : begin + BLOCK]
            drawn = seeds(code.size, source)
            told = self.kernel.draw(self.hashing.bucket(drawn, code), source)
            cells[begin : begin + BLOCK] = self.pack(drawn, told)

    @final
    def probabilities(self, x: Hashable, *, seed: int = 0) -> list[Fraction]:
        """Give the exact probability of every bucket for the category x, given the report's public seed."""
        bucket = self.hashing.bucket(np.array([seed], dtype=np.uint64), np.array([self._code(x)]))
        return self.kernel.probabilities(int(bucket[0]))

    @final
    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the two integer weights on the buckets; the seed is the same for every answer."""
        kernel = self.kernel
        how = f"ln(H/L) with g = {kernel.cells}, L = {kernel.step} of 2^{kernel.bits}; the seed cancels"
        return Pure(kernel.epsilon), how

    @final
    def wire(self) -> dict[str, Any]:
        """Give the number of buckets, the integer weight of a lie, and the name of the hash family."""
        kernel = self.kernel
        integers = {"cells": kernel.cells, "step": kernel.step, "bits": kernel.bits}
        return {"kernel": integers, "hash": "affine 1"}
