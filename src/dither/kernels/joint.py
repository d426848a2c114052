"""Joint randomized response: the coins of two people are correlated."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, final

import numpy as np

from dither.arrays import Array, Bytes, Floats, Mask, Words
from dither.device_text import from_hexadecimal, hexadecimal, whole
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.kernel import CellKernel, Kernel
from dither.kernels.sets import bit_rows
from dither.kernels.sets.hashed_response import FAMILY
from dither.kernels.sets.hashing import SEED_BITS, Hashing, seeds
from dither.randomness import Source


@dataclass(frozen=True)
class JointKernel(Kernel):
    """A person reports the truth if their coin shows heads, else another symbol; paired coins are correlated.

    A symbol is one of `symbols` categories, values of a bit, or buckets of a hash function.
    """

    coins: PairedCoins
    people: int
    size: int  # the number of symbols, or of bits

    def __post_init__(self) -> None:
        if self.people < 2 or self.size < 2:
            raise InvalidParameter(
                f"at least 2 people and 2 symbols are needed, not {found(self.people)} and {found(self.size)}"
            )

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols of one coin."""

    @property
    def each(self) -> int:
        """The number of coins of one report."""
        return 1

    @abstractmethod
    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        """Return the reports of codes: the truth where `truthful`, else a uniform other symbol."""

    @final
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw the reports of all people, who are paired at random."""
        if inputs.size != self.people:
            raise InvalidParameter(f"one value for each of {self.people} people is needed, not {inputs.size}")
        if threads != 1:
            raise InvalidParameter(f"correlated coins are tossed in one thread; omit threads={threads}")
        reports = np.empty(inputs.size, dtype=self.layout)
        reports[:] = self.tell(inputs.reshape(-1), self.coins.scatter(self.people, self.each, source), source)
        return reports.reshape(inputs.shape + self.layout.shape)

    @final
    def draw_one(self, value: int, source: Source) -> NoReturn:
        raise InvalidParameter(
            "one report cannot be drawn alone: the coins of two people are correlated; deal coins first"
        )

    @final
    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report, for an adversary who knows no coin."""
        lies = self.symbols - 1
        truth = self.coins.chance * lies / (1 - self.coins.chance)
        return max(truth, 1 / truth)

    @final
    @property
    def evidence(self) -> str:
        table = self.coins
        return f"two coins with weights {table.both}, {table.one}, {table.one}, {table.neither}"

    @final
    def device(self) -> dict[str, Any]:
        table = self.coins
        return {
            "draw": self.kind,
            "both": hexadecimal(table.both),
            "one": hexadecimal(table.one),
            "neither": hexadecimal(table.neither),
            "people": self.people,
            "size": self.size,
            **self._more(),
        }

    def _more(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        weights = (from_hexadecimal(device[name]) for name in ("both", "one", "neither"))
        return cls(PairedCoins(*weights), whole(device["people"]), whole(device["size"]))


@final
@dataclass(frozen=True)
class JointResponse(JointKernel, CellKernel):
    """A report is a category: the truth, or a uniform other category."""

    kind: ClassVar[str] = "joint response"

    @property
    def symbols(self) -> int:
        return self.size

    @property
    def outcomes(self) -> int:
        return self.size

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        return lie(codes, truthful[:, 0], self.size, source)

    def probabilities(self, value: int) -> list[Fraction]:
        return _one_of(self.size, value, self.coins.chance)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own = float(self.coins.chance)
        return np.where(reports == inputs, own, (1.0 - own) / (self.size - 1))


@final
@dataclass(frozen=True)
class JointBits(JointKernel):
    """A report is one bit for each category; each bit has its own coin and is kept or flipped."""

    kind: ClassVar[str] = "joint bits"

    @property
    def symbols(self) -> int:
        return 2

    @property
    def each(self) -> int:
        return self.size

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.uint8, (bit_rows.width(self.size),)))

    @property
    def outcomes(self) -> int:
        return 1 << self.size

    def check(self, raw: Array) -> Bytes:
        return bit_rows.check(raw, self.size)

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        truth = codes[:, None] == np.arange(self.size)
        return np.packbits(truth == truthful, axis=1, bitorder="little")

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every row of bits; row r has the bits of the binary number r."""
        law, own = [Fraction(1)], self.coins.chance
        for bit in range(self.size):
            chance = own if bit == value else 1 - own
            law = [mass * (1 - chance) for mass in law] + [mass * chance for mass in law]
        return law

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own = float(self.coins.chance)
        held = bit_rows.unpack(reports, self.size)
        kept = (held == (np.arange(self.size) == np.asarray(inputs)[..., None])).sum(axis=-1)
        return np.asarray(own**kept * (1.0 - own) ** (self.size - kept))


@final
@dataclass(frozen=True)
class JointHashed(JointKernel):
    """A report is a public hash function and a bucket: that of the truth, or a uniform other one."""

    kind: ClassVar[str] = "joint hashed"

    @property
    def symbols(self) -> int:
        return self.size

    @cached_property
    def hashing(self) -> Hashing:
        """The public family of hash functions."""
        return Hashing(self.size)

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype(np.uint64)

    @property
    def outcomes(self) -> int:
        return self.size << SEED_BITS

    def check(self, raw: Array) -> Words:
        return self.hashing.check(raw)

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        drawn = seeds(codes.size, source)
        told = lie(self.hashing.bucket(drawn, codes), truthful[:, 0], self.size, source)
        return self.hashing.pack(drawn, told)

    def probabilities(self, value: int, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket, given the report's public seed."""
        bucket = self.hashing.bucket(np.array([seed], dtype=np.uint64), np.array([value]))
        return _one_of(self.size, int(bucket[0]), self.coins.chance)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(bucket | seed, input), without the factor 2^−47, the probability of the seed."""
        told, codes = np.broadcast_arrays(reports, inputs)
        drawn, bucket = self.hashing.unpack(told)
        own = float(self.coins.chance)
        inside = self.hashing.bucket(drawn, codes.reshape(-1)) == bucket
        return np.where(inside, own, (1.0 - own) / (self.size - 1)).reshape(told.shape)

    def _more(self) -> dict[str, Any]:
        return {"hash": FAMILY}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if device["hash"] != FAMILY:
            raise MalformedReport(f"the hash family must be {FAMILY!r}, not {found(device['hash'])}")
        return super().from_device(device, domain)


def lie(codes: Array, truthful: Mask, symbols: int, source: Source) -> Array:
    """Return the reported symbols: the truth where `truthful`, else a uniform other symbol."""
    told = codes.copy()
    liars = np.flatnonzero(~truthful)
    told[liars] = (told[liars] + 1 + source.integers(symbols - 1, liars.size)) % symbols
    return told


def _one_of(size: int, place: int, own: Fraction) -> list[Fraction]:
    other = (1 - own) / (size - 1)
    return [own if symbol == place else other for symbol in range(size)]
