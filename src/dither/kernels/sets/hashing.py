"""A public family of hash functions, one for each seed: an affine map modulo 2^32, cut into equal buckets.

A seed is a number below 2^47. It is stretched to a multiplier a and an offset b of 32 bits each (SplitMix64's
finaliser, a bijection of 64-bit words), and an item x, a number below 2^32, falls into the bucket

    ⌊((a·x + b) mod 2^32) · g / 2^32⌋

For uniform a and b, two items whose difference is an odd multiple of 2^s fall into the same of g buckets with
probability 1/g, up to g·2^(2s−65): the places a·x + b of the two are independent but for their last s bits.
The function is part of the report format and never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Array, Halves, Integers, Words
from dither.errors import InvalidParameter, MalformedReport
from dither.randomness import Source

SEED_BITS: Final = 47  # with a bucket of 16 bits a report stays below 2^63
BUCKET_BITS: Final = 16  # the lowest bits of a report; the seed stands above them
MOST_BUCKETS: Final = 1 << BUCKET_BITS
MOST_ITEMS: Final = 1 << 32

_BLOCK: Final = 1 << 16  # seeds counted together


@final
@dataclass(frozen=True)
class Hashing:
    """A hash function to `buckets` buckets for each seed."""

    buckets: int

    def __post_init__(self) -> None:
        if not 2 <= self.buckets <= MOST_BUCKETS:
            raise InvalidParameter(f"there are between 2 and {MOST_BUCKETS} buckets")

    @cached_property
    def _edges(self) -> Words:
        """Where each bucket begins, and the end of the last: ⌈y·2^32/g⌉."""
        return -(-(np.arange(self.buckets + 1, dtype=np.int64) << 32) // self.buckets).view(np.uint64)

    def bucket(self, seeds: Words, items: Array) -> Integers:
        """Give the bucket of each item under the seed beside it."""
        multiplier, offset = stretched(seeds)
        place = multiplier * items.astype(np.uint32) + offset
        return (place * np.uint64(self.buckets) >> np.uint64(32)).view(np.int64)

    @staticmethod
    def pack(seeds: Words, buckets: Array) -> Words:
        """Return reports made of seeds and buckets: seed·2^16 + bucket."""
        return (seeds << np.uint64(BUCKET_BITS)) | buckets.astype(np.uint64)

    @staticmethod
    def unpack(reports: Array) -> tuple[Words, Integers]:
        """Return the seeds and the buckets of reports, along one axis."""
        flat = reports.reshape(-1).astype(np.uint64, copy=False)
        bucket = flat & np.uint64(MOST_BUCKETS - 1)
        return flat >> np.uint64(BUCKET_BITS), bucket.view(np.int64)

    def check(self, raw: Array) -> Words:
        """Return raw whole numbers as reports; raise MalformedReport if one has no such bucket."""
        if raw.size and (int(raw.min()) < 0 or int(raw.max()) >> (SEED_BITS + BUCKET_BITS)):
            raise MalformedReport("a report is a whole number from 0 to 2^63 − 1; one is not")
        reports: Words = raw.astype(np.uint64, copy=False)
        if reports.size and int(self.unpack(reports)[1].max()) >= self.buckets:
            raise MalformedReport(f"a report names one of {self.buckets} buckets; one names another")
        return reports

    def count(self, seeds: Words, buckets: Array, items: range | Halves) -> Integers:
        """Give for each item how many of the seeds send it to the bucket beside them.

        An item is in its bucket iff a·x + b − (the bucket's beginning) is below the bucket's size. Along a
        range of items that number grows by a, one addition; nothing of size seeds × items is made.
        """
        counts = np.zeros(len(items), dtype=np.int64)
        begins, sizes = self._edges[:-1].astype(np.uint32), np.diff(self._edges).astype(np.uint32)
        for size in np.unique(sizes):  # one or two: comparing with one number is faster than with many
            chosen = slice(None) if sizes.min() == sizes.max() else sizes[buckets] == size
            drawn, told = seeds[chosen], buckets[chosen]
            for begin in range(0, drawn.size, _BLOCK):
                multiplier, offset = stretched(drawn[begin : begin + _BLOCK])
                offset -= begins[told[begin : begin + _BLOCK]]
                _count(multiplier, offset, size, items, counts)
        return counts


def _count(
    multiplier: Halves, offset: Halves, size: np.uint32, items: range | Halves, counts: Integers
) -> None:
    """Add for each item how many of the numbers multiplier·item + offset are below the size."""
    inside = np.empty(multiplier.size, dtype=np.bool_)
    if isinstance(items, range):
        place = multiplier * np.uint32(items.start) + offset
        step = multiplier * np.uint32(items.step)
        for index in range(len(items)):
            np.less(place, size, out=inside)
            counts[index] += np.count_nonzero(inside)
            place += step
        return
    place = np.empty_like(multiplier)
    for index, item in enumerate(items):
        np.multiply(multiplier, item, out=place)
        place += offset
        np.less(place, size, out=inside)
        counts[index] += np.count_nonzero(inside)


def seeds(size: int, source: Source) -> Words:
    """Draw seeds: public, and independent of everything."""
    return source.words(size) >> np.uint64(64 - SEED_BITS)


def stretched(seeds: Words) -> tuple[Halves, Halves]:
    """Give the multiplier and the offset of each seed: SplitMix64's finaliser, cut in two."""
    word = mixed(seeds)
    return (word >> np.uint64(32)).astype(np.uint32), word.astype(np.uint32)


def mixed(numbers: Words) -> Words:
    """Give a 64-bit word for each number, every bit of which depends on every bit [SplitMix14]."""
    word = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
