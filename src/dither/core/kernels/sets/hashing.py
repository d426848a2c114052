"""A public family of hash functions, one for each seed: affine maps modulo 2^32, reduced to equal buckets.

A seed is an integer below 2^47. The finaliser of SplitMix64, a bijection of 64-bit words, expands it to a
multiplier a and an offset b of 32 bits each. An item x, an integer below 2^32, has the bucket

    ⌊((a·x + b) mod 2^32) · g / 2^32⌋

For uniform a and b, two items whose difference is an odd multiple of 2^s fall into the same of g buckets with
probability 1/g, up to g·2^(2s−65), because the values a·x + b of the two are independent except for their
last s bits. The function is part of the report format and must not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Halves, Integers, Words
from dither.foundation.randomness import Source

SEED_BITS: Final = 47  # together with a bucket of 16 bits a report is below 2^63
BUCKET_BITS: Final = 16  # the lowest bits of a report; the seed is in the higher bits
MOST_BUCKETS: Final = 1 << BUCKET_BITS
MOST_ITEMS: Final = 1 << 32

GOLDEN: Final = 0x9E3779B97F4A7C15  # the constants of SplitMix64
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB

_BLOCK: Final = 1 << 16  # seeds counted together
_WORD: Final = (1 << 64) - 1


@dataclass(frozen=True)
class Hashing:
    """A hash function to `buckets` buckets for each seed."""

    buckets: int

    def __post_init__(self) -> None:
        if not 2 <= self.buckets <= MOST_BUCKETS:
            raise InvalidParameter(
                f"the number of buckets must be from 2 to {MOST_BUCKETS}, not {found(self.buckets)}"
            )

    @cached_property
    def _edges(self) -> Words:
        """The beginning of each bucket, and the end of the last: ⌈y·2^32/g⌉."""
        return -(-(np.arange(self.buckets + 1, dtype=np.int64) << 32) // self.buckets).view(np.uint64)

    def bucket(self, seeds: Words, items: Array) -> Integers:
        """Return the bucket of each item under the seed of the same index."""
        multiplier, offset = stretch(seeds)
        position = multiplier * items.astype(np.uint32) + offset
        return (position * np.uint64(self.buckets) >> np.uint64(32)).view(np.int64)

    def bucket_one(self, seed: int, item: int) -> int:
        """Return the bucket of one item, in Python integers."""
        word = (int(seed) + 1) * GOLDEN & _WORD
        word = (word ^ (word >> 30)) * FIRST & _WORD
        word = (word ^ (word >> 27)) * SECOND & _WORD
        word ^= word >> 31
        return (((word >> 32) * int(item) + word & 0xFFFFFFFF) * self.buckets) >> 32

    @staticmethod
    def pack(seeds: Words, buckets: Array) -> Words:
        """Return the reports seed·2^16 + bucket."""
        return (seeds << np.uint64(BUCKET_BITS)) | buckets.astype(np.uint64)

    @staticmethod
    def unpack(reports: Array) -> tuple[Words, Integers]:
        """Return the seeds and the buckets of reports, as flat arrays."""
        flat = reports.reshape(-1).astype(np.uint64, copy=False)
        bucket = flat & np.uint64(MOST_BUCKETS - 1)
        return flat >> np.uint64(BUCKET_BITS), bucket.view(np.int64)

    def check(self, raw: Array) -> Words:
        """Return raw integers as reports; raise MalformedReport if a bucket does not exist."""
        if raw.size and (int(raw.min()) < 0 or int(raw.max()) >> (SEED_BITS + BUCKET_BITS)):
            raise MalformedReport(
                "expected reports to be integers from 0 to 2^63 − 1, got another number; pass the "
                "reports of this question"
            )
        reports: Words = raw.astype(np.uint64, copy=False)
        if reports.size and int(self.unpack(reports)[1].max()) >= self.buckets:
            raise MalformedReport(
                f"expected reports in one of {self.buckets} buckets, got another one; pass the reports "
                "of this question"
            )
        return reports

    def supports(self, reports: Array, items: int) -> Array:
        """Return which of the first `items` items, eight at most, each report supports: a bit each."""
        begins, sizes = self._edges[:-1].astype(np.uint32), np.diff(self._edges).astype(np.uint32)
        drawn, outputs = self.unpack(reports)
        found = np.zeros(drawn.size, dtype=np.uint8)
        for begin in range(0, drawn.size, _BLOCK):
            own = slice(begin, begin + _BLOCK)
            step, position = stretch(drawn[own])
            position -= begins[outputs[own]]
            ends, bits = sizes[outputs[own]], found[own]
            for item in range(items):
                bits |= (position < ends).view(np.uint8) << np.uint8(item)
                position += step
        return found

    def count(self, seeds: Words, buckets: Array, items: range | Halves) -> Integers:
        """Return for each item the number of seeds under which it has the reported bucket.

        An item is in a bucket iff a·x + b − (the beginning of the bucket) is below the size of the bucket.
        From one item of a range to the next this number grows by a, so one addition suffices. No array of
        size seeds × items is made.
        """
        counts = np.zeros(len(items), dtype=np.int64)
        begins, sizes = self._edges[:-1].astype(np.uint32), np.diff(self._edges).astype(np.uint32)
        for size in np.unique(sizes):  # one or two sizes: comparing with a scalar is faster
            chosen = slice(None) if sizes.min() == sizes.max() else sizes[buckets] == size
            drawn, outputs = seeds[chosen], buckets[chosen]
            for begin in range(0, drawn.size, _BLOCK):
                multiplier, offset = stretch(drawn[begin : begin + _BLOCK])
                offset -= begins[outputs[begin : begin + _BLOCK]]
                _count(multiplier, offset, size, items, counts)
        return counts


def _count(
    multiplier: Halves, offset: Halves, size: np.uint32, items: range | Halves, counts: Integers
) -> None:
    """Add to `counts`, for each item, the number of values multiplier·item + offset below the size."""
    inside = np.empty(multiplier.size, dtype=np.bool_)
    if isinstance(items, range):
        position = multiplier * np.uint32(items.start) + offset
        step = multiplier * np.uint32(items.step)
        for index in range(len(items)):
            np.less(position, size, out=inside)
            counts[index] += np.count_nonzero(inside)
            position += step
        return
    position = np.empty_like(multiplier)
    for index, item in enumerate(items):
        np.multiply(multiplier, item, out=position)
        position += offset
        np.less(position, size, out=inside)
        counts[index] += np.count_nonzero(inside)


def seeds(size: int, source: Source) -> Words:
    """Draw public seeds, independent of the inputs."""
    return source.words(size) >> np.uint64(64 - SEED_BITS)


def stretch(seeds: Words) -> tuple[Halves, Halves]:
    """Return the multiplier and the offset of each seed: the two halves of SplitMix64's finaliser."""
    word = mix(seeds)
    return (word >> np.uint64(32)).astype(np.uint32), word.astype(np.uint32)


def mix(numbers: Words) -> Words:
    """Return a 64-bit word for each number, every bit of which depends on every input bit [SplitMix14]."""
    word = (numbers + np.uint64(1)) * np.uint64(GOLDEN)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(FIRST)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(SECOND)
    return word ^ (word >> np.uint64(31))
