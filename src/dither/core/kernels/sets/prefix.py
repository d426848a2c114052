"""Randomized response on a bucket of a hash function, and on prefixes of texts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Text
from dither.core.kernels.blocks import BLOCK, in_threads
from dither.core.kernels.codes import BucketReports, CodeKernel
from dither.core.kernels.counting import NotCounted
from dither.core.kernels.kernel import (
    Kernel,
    on,
    pure_certify,
    pure_promise,
    read_no_codebook,
    write_no_codebook,
)
from dither.core.kernels.sets.hashing import BUCKET_BITS, SEED_BITS, Hashing, mix, seeds
from dither.core.kernels.window.integers import ONE, Blocks
from dither.core.kernels.window.kernel import window_blanket
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Floats, Halves, Integers, Words
from dither.foundation.canonical import (
    HEXADECIMAL,
    WHOLE,
    Data,
    Fields,
    Member,
    constant,
    inline,
    list_of,
    whole,
)
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket

_MOST_SHARE: Final = 1 << 16  # the largest share of a level
FAMILY: Final = "affine 1"  # the name of the hash family of `Hashing`; the family must not change
HASH: Final = constant(FAMILY, "the hash family")


@dataclass(frozen=True)
class HashedResponse(BucketReports, CodeKernel):
    """A report is seed·2^16 + bucket. The seed of the hash function is independent of the input."""

    window: Blocks

    kind: ClassVar[str] = "hashed"
    fields = Fields(
        hash=HASH,
        window=inline(Blocks, Fields(step=HEXADECIMAL, cells=WHOLE.member("buckets"), width=ONE, bits=WHOLE)),
    )

    def __post_init__(self) -> None:
        if self.window.width != 1:
            raise InvalidParameter("expected buckets of one cell of the window")

    @cached_property
    def hashing(self) -> Hashing:  # type: ignore[override]
        """The public family of hash functions."""
        return Hashing(self.window.cells)

    @property
    def outcomes(self) -> int:
        return self.window.cells << SEED_BITS

    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The blanket of the window of buckets."""
        return window_blanket(self.window)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        # Under a random hash function the bucket of another category is uniform.
        return Fraction(self.window.inside, self.window.total), Fraction(1, self.window.cells)

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        for begin in range(0, codes.size, BLOCK):
            code = codes[begin : begin + BLOCK]
            drawn = seeds(code.size, source)
            outputs = self.window.draw(self.hashing.bucket(drawn, code), source)
            reports[begin : begin + BLOCK] = self.hashing.pack(drawn, outputs)

    def draw_one(self, value: int, source: Source) -> int:
        # A public map in front, and a public seed: public_map and one_of_several (proofs/Combine.v).
        seed = source.bits(SEED_BITS)
        return seed << BUCKET_BITS | self.window.draw_one(self.bucket(value, seed), source)

    def bucket(self, value: int, seed: int) -> int:
        """Return the bucket of one input under one seed."""
        return self.hashing.bucket_one(seed, value)

    def probabilities(self, value: int, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket, given the report's public seed."""
        return self.window.probabilities(self.bucket(value, seed))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(bucket | seed, input), without the factor 2^−47, the probability of the seed."""
        outputs, codes = np.broadcast_arrays(reports, inputs)
        drawn, bucket = self.hashing.unpack(outputs)
        inside = self.hashing.bucket(drawn, codes.reshape(-1)) == bucket
        window = self.window
        chances = np.where(inside, window.inside / window.total, window.outside / window.total)
        return chances.reshape(outputs.shape)

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with g = {window.cells}, L = {window.step} of 2^{window.bits}; the seed cancels"


def _write_shares(name: str, kernel: PrefixKernel) -> Data:
    return {name: list(kernel.shares)} if kernel.shares else {}


def _read_shares(name: str, data: Data, known: Data) -> Data:
    if name in data and not data[name]:
        raise MalformedReport("expected at least one share of levels, or no field for them")
    return {name: tuple(map(whole, data.get(name, ())))}


@dataclass(frozen=True)
class PrefixKernel(Kernel):
    """One prefix of a text, reported by local hashing; the public seed determines its length.

    `ends` are the lengths of the prefixes, one for each level. `shares` are integers in proportion to the
    people of each level; without them all levels are equally likely. The level is the first one up to which
    the shares add up to more than the seed modulo their sum. The hashed item is the upper half of the
    prefix's key, a chain of hashes of its symbols.
    """

    promise, certify = pure_promise, pure_certify
    read_codebook, write_codebook = read_no_codebook, write_no_codebook

    text: Text
    oracle: HashedResponse
    ends: tuple[int, ...]
    shares: tuple[int, ...] = ()

    kind: ClassVar[str] = "prefix"
    fields = Fields(
        text=on(Text, "expected a domain of texts for prefixes, got {}"),
        ends=list_of(WHOLE),
        shares=Member(_write_shares, _read_shares),
        oracle=inline(HashedResponse),
    )

    def __post_init__(self) -> None:
        increasing = all(end < following for end, following in zip(self.ends, self.ends[1:], strict=False))
        if not self.ends or self.ends[0] < 1 or self.ends[-1] != self.text.length or not increasing:
            raise InvalidParameter(
                f"the lengths of prefixes must increase up to the length of the text, {self.text.length}"
            )
        if self.shares and len(self.shares) != len(self.ends):
            raise InvalidParameter("expected one share of the people for each length of a prefix")
        if not all(1 <= share <= _MOST_SHARE for share in self.shares):
            raise InvalidParameter(f"expected the shares of levels to be integers from 1 to {_MOST_SHARE}")

    @property
    def layout(self) -> np.dtype[Any]:
        return self.oracle.layout

    @property
    def outcomes(self) -> int:
        return self.oracle.outcomes

    def level(self, seeds: Words) -> Integers:
        """Return the level of each seed; it is public and independent of the text."""
        if not self.shares:
            return (seeds % np.uint64(len(self.ends))).astype(np.int64)
        at = (seeds % np.uint64(sum(self.shares))).astype(np.int64)
        return np.searchsorted(np.cumsum(self.shares), at, side="right").astype(np.int64)

    @staticmethod
    def follow(keys: Words, symbols: Array) -> Words:
        """Return the keys of prefixes that are one symbol longer; the empty prefix has the key 0."""
        return mix(keys ^ symbols.astype(np.uint64))

    @staticmethod
    def items(keys: Words) -> Halves:
        """Return the item that is hashed for each prefix: the upper half of its key."""
        return (keys >> np.uint64(32)).astype(np.uint32)

    def prefix_item(self, rows: Array, drawn: Words) -> Halves:
        """Return the item of the prefix whose length each seed determines."""
        level = self.level(drawn)
        keys, request = np.zeros(len(rows), dtype=np.uint64), np.zeros(len(rows), dtype=np.uint64)
        begin = 0
        for here, end in enumerate(self.ends):
            for index in range(begin, end):
                keys = self.follow(keys, rows[:, index])
            np.copyto(request, keys, where=level == here)
            begin = end
        return self.items(request)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        length = self.text.length
        flat = inputs.reshape(-1, length)
        if len(flat) == 1:  # a device's draw; draws of several texts must not change
            return self.draw_singly(flat, source).reshape(inputs.shape[:-1])
        # Each row becomes one item of `length` bytes, so that threads split between rows.
        packed = np.ascontiguousarray(flat, dtype=np.uint8).view(np.dtype((np.void, length))).reshape(-1)
        reports = in_threads(lambda size: self._write, packed, self.layout, source, threads)
        return reports.reshape(inputs.shape[:-1])

    def _write(self, packed: Array, reports: Array, source: Source) -> None:
        rows = np.ascontiguousarray(packed).view(np.uint8).reshape(packed.size, self.text.length)
        drawn = seeds(packed.size, source)
        bucket = self.oracle.hashing.bucket(drawn, self.prefix_item(rows, drawn))
        reports[...] = self.oracle.hashing.pack(drawn, self.oracle.window.draw(bucket, source))

    def draw_one(self, value: Array, source: Source) -> int:
        seed = source.bits(SEED_BITS)
        item = self.prefix_item(value.reshape(1, -1), np.array([seed], dtype=np.uint64))
        return seed << BUCKET_BITS | self.oracle.window.draw_one(
            self.oracle.bucket(int(item[0]), seed), source
        )

    def probabilities(self, value: Array, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket, given the report's public seed."""
        drawn = np.array([seed], dtype=np.uint64)
        item = self.prefix_item(value.reshape(1, -1), drawn)
        return self.oracle.probabilities(int(item[0]), seed)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(bucket | seed, text) for pairs of a report and a text."""
        drawn, _ = self.oracle.hashing.unpack(reports)
        return self.oracle.likelihoods(reports.reshape(-1), self.prefix_item(inputs, drawn))

    @property
    def ratio(self) -> Fraction:
        return self.oracle.ratio

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The blanket of the hashed prefix, because the level is public."""
        return self.oracle.blanket

    @property
    def evidence(self) -> str:
        return f"{self.oracle.evidence} and the level with it"

    def fits(self, domain: Domain) -> bool:
        return domain == self.text

    def counting(self, domain: Domain) -> NotCounted:
        return NotCounted(
            InvalidParameter("expected reports to find common texts, got a summary; keep the reports")
        )

    def levels(self, reports: Array) -> Integers:
        """Return the level of each report."""
        return self.level(self.oracle.hashing.unpack(reports)[0])

    def decode(self, reports: Array, domain: Domain, book: Any) -> Array:
        """Return the level and the bucket of each report, along the last axis."""
        _, bucket = self.oracle.hashing.unpack(reports)
        return np.stack([self.levels(reports), bucket], axis=-1).reshape(*reports.shape, 2)

    def check(self, raw: Array) -> Array:
        return self.oracle.check(raw)
