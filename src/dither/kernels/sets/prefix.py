"""Prefixes of texts, reported by local hashing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats, Halves, Integers, Words
from dither.device_text import whole
from dither.domains import Domain, Text
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.blocks import in_threads
from dither.kernels.counting import NotCounted
from dither.kernels.kernel import NoCodebook, PureKernel
from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.sets.hashing import BUCKET_BITS, SEED_BITS, mixed, seeds
from dither.randomness import Source


@final
@dataclass(frozen=True)
class PrefixKernel(PureKernel, NoCodebook):
    """One prefix of a text, reported by local hashing; the public seed determines its length.

    `ends` are the lengths of the prefixes, one for each level. The level is the seed modulo the number of
    levels. What is hashed is the upper half of the prefix's key, a chain of hashes of its symbols.
    """

    text: Text
    oracle: HashedResponse
    ends: tuple[int, ...]

    kind: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        increasing = all(one < two for one, two in zip(self.ends, self.ends[1:], strict=False))
        if not self.ends or self.ends[0] < 1 or self.ends[-1] != self.text.length or not increasing:
            raise InvalidParameter(
                f"the lengths of prefixes must increase up to the length of the text, {self.text.length}"
            )

    @property
    def layout(self) -> np.dtype[Any]:
        return self.oracle.layout

    @property
    def outcomes(self) -> int:
        return self.oracle.outcomes

    def level(self, seeds: Words) -> Integers:
        """Return the level of each seed; it is public and independent of the text."""
        return (seeds % np.uint64(len(self.ends))).astype(np.int64)

    @staticmethod
    def follow(keys: Words, symbols: Array) -> Words:
        """Return the keys of prefixes that are one symbol longer; the empty prefix has the key 0."""
        return mixed(keys ^ symbols.astype(np.uint64))

    @staticmethod
    def items(keys: Words) -> Halves:
        """Return the item that is hashed for each prefix: the upper half of its key."""
        return (keys >> np.uint64(32)).astype(np.uint32)

    def asked(self, rows: Array, drawn: Words) -> Halves:
        """Return the item of the prefix whose length each seed determines."""
        level = self.level(drawn)
        keys, asked = np.zeros(len(rows), dtype=np.uint64), np.zeros(len(rows), dtype=np.uint64)
        begin = 0
        for here, end in enumerate(self.ends):
            for place in range(begin, end):
                keys = self.follow(keys, rows[:, place])
            np.copyto(asked, keys, where=level == here)
            begin = end
        return self.items(asked)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        length = self.text.length
        flat = inputs.reshape(-1, length)
        if len(flat) == 1:  # as a device draws; reports of several texts are pinned
            return self.draw_singly(flat, source).reshape(inputs.shape[:-1])
        # Each row becomes one item of `length` bytes, so that threads split between rows.
        packed = np.ascontiguousarray(flat, dtype=np.uint8).view(np.dtype((np.void, length))).reshape(-1)
        reports = in_threads(lambda size: self._write, packed, self.layout, source, threads)
        return reports.reshape(inputs.shape[:-1])

    def _write(self, packed: Array, reports: Array, source: Source) -> None:
        rows = np.ascontiguousarray(packed).view(np.uint8).reshape(packed.size, self.text.length)
        drawn = seeds(packed.size, source)
        bucket = self.oracle.hashing.bucket(drawn, self.asked(rows, drawn))
        reports[...] = self.oracle.hashing.pack(drawn, self.oracle.window.draw(bucket, source))

    def draw_one(self, value: Array, source: Source) -> int:
        seed = source.bits(SEED_BITS)
        item = self.asked(value.reshape(1, -1), np.array([seed], dtype=np.uint64))
        return seed << BUCKET_BITS | self.oracle.window.draw_one(
            self.oracle.bucket(int(item[0]), seed), source
        )

    def probabilities(self, value: Array, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket, given the report's public seed."""
        drawn = np.array([seed], dtype=np.uint64)
        item = self.asked(value.reshape(1, -1), drawn)
        return self.oracle.probabilities(int(item[0]), seed)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(bucket | seed, text) for reports and as many texts."""
        drawn, _ = self.oracle.hashing.unpack(reports)
        return self.oracle.likelihoods(reports.reshape(-1), self.asked(inputs, drawn))

    @property
    def ratio(self) -> Fraction:
        return self.oracle.ratio

    @property
    def evidence(self) -> str:
        return f"{self.oracle.evidence} and the level with it"

    def fits(self, domain: Domain) -> bool:
        return domain == self.text

    def counting(self, domain: Domain) -> NotCounted:
        return NotCounted(
            InvalidParameter("common texts are found from the reports, not from a summary; keep the reports")
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

    def device(self) -> dict[str, Any]:
        return {**self.oracle.device(), "draw": self.kind, "ends": list(self.ends)}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if not isinstance(domain, Text):
            raise MalformedReport(f"prefixes need a domain of texts, not {type(domain).__name__}")
        return cls(domain, HashedResponse.from_device(device, domain), tuple(map(whole, device["ends"])))
