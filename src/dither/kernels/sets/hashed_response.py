"""Local hashing: a public random hash function, and the input's bucket reported by randomized response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import from_hexadecimal, hexadecimal, whole
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.blocks import BLOCK
from dither.kernels.codes import BucketReports, CodeKernel
from dither.kernels.sets.hashing import BUCKET_BITS, SEED_BITS, Hashing, seeds
from dither.kernels.window.integers import Blocks
from dither.kernels.window.kernel import WindowKernel
from dither.randomness import Source

FAMILY: Final = "affine 1"  # the name of the hash family of `Hashing`; the family must not change


@final
@dataclass(frozen=True)
class HashedResponse(BucketReports, WindowKernel, CodeKernel):
    """A report is seed·2^16 + bucket. The seed of the hash function is independent of the input."""

    window: Blocks

    kind: ClassVar[str] = "hashed"

    def __post_init__(self) -> None:
        if self.window.width != 1:
            raise InvalidParameter("a bucket is one cell of the window")

    @cached_property
    def hashing(self) -> Hashing:  # type: ignore[override]
        """The public family of hash functions."""
        return Hashing(self.window.cells)

    @property
    def outcomes(self) -> int:
        return self.window.cells << SEED_BITS

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        # Under a random hash function the bucket of another category is uniform.
        return Fraction(self.window.inside, self.window.total), Fraction(1, self.window.cells)

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        for begin in range(0, codes.size, BLOCK):
            code = codes[begin : begin + BLOCK]
            drawn = seeds(code.size, source)
            told = self.window.draw(self.hashing.bucket(drawn, code), source)
            reports[begin : begin + BLOCK] = self.hashing.pack(drawn, told)

    def draw_one(self, value: int, source: Source) -> int:
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
        told, codes = np.broadcast_arrays(reports, inputs)
        drawn, bucket = self.hashing.unpack(told)
        inside = self.hashing.bucket(drawn, codes.reshape(-1)) == bucket
        window = self.window
        chances = np.where(inside, window.inside / window.total, window.outside / window.total)
        return chances.reshape(told.shape)

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with g = {window.cells}, L = {window.step} of 2^{window.bits}; the seed cancels"

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "hash": FAMILY,
            "buckets": self.window.cells,
            "step": hexadecimal(self.window.step),
            "bits": self.window.bits,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if device["hash"] != FAMILY:
            raise MalformedReport(f"the hash family must be {FAMILY!r}, not {found(device['hash'])}")
        step = from_hexadecimal(device["step"])
        return cls(Blocks(whole(device["buckets"]), 1, step, whole(device["bits"])))
