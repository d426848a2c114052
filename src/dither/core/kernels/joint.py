"""Joint randomized response: the coins of two people are correlated."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from dither.core.kernels.codes import BitReports, BucketReports, SupportKernel, check_listed
from dither.core.kernels.coin import PairedCoins, partners
from dither.core.kernels.kernel import CellKernel, Promise
from dither.core.kernels.packing import check_rows, unpack_rows
from dither.core.kernels.sets.hashing import SEED_BITS, Hashing, seeds
from dither.core.kernels.sets.prefix import HASH
from dither.errors import InvalidParameter, Mismatch, found
from dither.foundation.arrays import Array, Bytes, Floats, Mask
from dither.foundation.canonical import WHOLE, Fields, inline
from dither.foundation.randomness import Source
from dither.privacy import Guarantee, Nothing, Pure

DEALER: Final = "whoever deals the coins keeps them from the collector"
GIVEN_AWAY: Final = "other people's coins can give this one away, and with it the answer"


@dataclass(frozen=True)
class JointKernel(SupportKernel):
    """A person reports the truth if their coin shows heads, else another symbol; paired coins are correlated.

    A symbol is one of `symbols` categories, values of a bit, or buckets of a hash function.
    """

    coins: PairedCoins
    people: int
    size: int  # the number of symbols, or of bits

    alone: ClassVar[bool] = False
    each = 1  # the number of coins of one report
    coins_of_two_answers: ClassVar[int] = 1  # how many coins the reports of two answers depend on
    fields = Fields(coins=inline(PairedCoins), people=WHOLE, size=WHOLE)

    def __post_init__(self) -> None:
        if self.people < 2 or self.size < 2:
            raise InvalidParameter(
                f"expected at least 2 people and 2 symbols, got {found(self.people)} and {found(self.size)}"
            )

    @property
    @abstractmethod
    def symbols(self) -> int:
        """The number of symbols of one coin."""

    @property
    @abstractmethod
    def pull(self) -> Fraction:
        """The covariance weight of a non-holder of a category, relative to a holder's."""

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the bound against an adversary who knows the partner's coin and everything else."""
        table = self.coins
        how = f"two coins with weights {table.both}, {table.one}, {table.one}, {table.neither}, one known"
        loss = table.loss_if_known(self.symbols - 1)
        if loss == math.inf:
            return Promise(Nothing(GIVEN_AWAY), how, kept=False)
        whole = Guarantee(Pure(loss), assumes=(DEALER,)).repeated(self.coins_of_two_answers)
        return Promise(whole.bound, how, whole.assumes, kept=False)  # ε follows from the coins

    def count_variance(self, holders: float, both: float | None = None) -> float:
        """Return the variance of the estimated number of people who hold a category, if `holders` do.

        [Thesis, Thm 4] with k symbols, and for odd n with 1/n instead of 1/(n−1), since one person has no
        partner. `both` is for fixed pairs: the number of them in which both people hold the category.
        """
        own, other = self.rates
        rest, pull = self.people - holders, float(self.pull)
        noise = holders * float(own * (1 - own)) + rest * float(other * (1 - other))
        if both is None:
            overlap = (holders + rest * pull) ** 2 - holders - rest * pull**2
            noise += float(self.coins.covariance) * overlap / (partners(self.people) - 1)
        else:
            mixed = holders - 2.0 * both
            neither = self.people / 2.0 - both - mixed
            noise += 2.0 * float(self.coins.covariance) * (both + mixed * pull + neither * pull**2)
        return noise / float(own - other) ** 2

    def variance(self, frequency: float) -> float:
        return self.count_variance(frequency * self.people) / self.people

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        """Accept any coins: ε follows from them and is not stated."""

    def shared_variance(self, n: int) -> tuple[float, float, float]:
        """Return a, b, c of a + b·m + c·m², the contribution of pairs to n times the variance of a share.

        m is the mean of the share. For two people drawn from a population the mean product of their weights
        is (f + (1−f)·pull)². Two of n reports are of partners with probability 1/(N−1). If the contribution
        is positive, its largest value is used.
        """
        if n > self.people:
            raise Mismatch(
                f"expected {self.people} reports, one for each of the coins, got {n}; pass the reports "
                "of all people"
            )
        weight = float(self.coins.covariance) * (n - 1) / (partners(self.people) - 1)
        if weight >= 0.0:
            return weight, 0.0, 0.0
        own, other = self.rates
        slope = float(1 - self.pull) / float(own - other)
        start = float(self.pull) - float(other) * slope
        return weight * start**2, 2.0 * weight * start * slope, weight * slope**2

    @abstractmethod
    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        """Return the reports of codes: the truth where `truthful`, else a uniform other symbol."""

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw the reports of all people, who are paired at random."""
        if inputs.size != self.people:
            raise InvalidParameter(
                f"expected one value for each of {self.people} people, got {inputs.size}; pass the "
                "values of all people"
            )
        if threads != 1:
            raise InvalidParameter(
                f"expected one thread for correlated coins, got threads={threads}; leave threads out"
            )
        reports = np.empty(inputs.size, dtype=self.layout)
        reports[:] = self.tell(inputs.reshape(-1), self.coins.scatter(self.people, self.each, source), source)
        return reports.reshape(inputs.shape + self.layout.shape)

    def draw_one(self, value: int, source: Source) -> NoReturn:
        raise InvalidParameter(
            "expected dealt coins to draw one report, because the coins of two people are "
            "correlated; call mechanism.deal() first"
        )

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report, for an adversary who knows no coin."""
        lies = self.symbols - 1
        truth = self.coins.chance * lies / (1 - self.coins.chance)
        return max(truth, 1 / truth)

    @property
    def evidence(self) -> str:
        table = self.coins
        return f"two coins with weights {table.both}, {table.one}, {table.one}, {table.neither}"


@dataclass(frozen=True)
class JointResponse(JointKernel, CellKernel):
    """A report is a category: the truth, or a uniform other category."""

    kind: ClassVar[str] = "joint response"
    one_category: ClassVar[bool] = True

    @property
    def symbols(self) -> int:
        return self.size

    @property
    def pull(self) -> Fraction:
        return Fraction(-1, self.size - 1)  # a lie is a given other category with probability 1/(k − 1)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.coins.chance, (1 - self.coins.chance) / (self.size - 1)

    def holds(self, categories: int) -> bool:
        return self.size == categories

    def support(self, reports: Array, categories: int) -> Array:
        return np.asarray(reports[..., None] == np.arange(categories))

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


@dataclass(frozen=True)
class JointBits(BitReports, JointKernel):
    """A report is one bit for each category; each bit has its own coin and is kept or flipped."""

    kind: ClassVar[str] = "joint bits"
    coins_of_two_answers: ClassVar[int] = 2

    @property
    def pull(self) -> Fraction:
        return Fraction(-1)  # a flipped 0 becomes 1 and changes the count in the opposite direction

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.coins.chance, 1 - self.coins.chance

    @property
    def symbols(self) -> int:
        return 2

    @property
    def each(self) -> int:  # type: ignore[override]
        """The number of coins of one report: one for each bit."""
        return self.size

    @property
    def outcomes(self) -> int:
        return 1 << self.size

    def check(self, raw: Array) -> Bytes:
        return check_rows(raw, self.size)

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        truth = codes[:, None] == np.arange(self.size)
        return np.packbits(truth == truthful, axis=1, bitorder="little")

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every row of bits; row r has the bits of the binary number r."""
        check_listed(self.size)
        law, own = [Fraction(1)], self.coins.chance
        for bit in range(self.size):
            chance = own if bit == value else 1 - own
            law = [mass * (1 - chance) for mass in law] + [mass * chance for mass in law]
        return law

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own = float(self.coins.chance)
        held = unpack_rows(reports, self.size)
        kept = (held == (np.arange(self.size) == np.asarray(inputs)[..., None])).sum(axis=-1)
        return np.asarray(own**kept * (1.0 - own) ** (self.size - kept))


@dataclass(frozen=True)
class JointHashed(BucketReports, JointKernel):
    """A report is a public hash function and a bucket: the bucket of the truth, or a uniform other one."""

    kind: ClassVar[str] = "joint hashed"
    fields = Fields(hash=HASH, **JointKernel.fields.parts)

    @property
    def pull(self) -> Fraction:
        return Fraction(0)  # on average over all hash functions, a non-holder's coin does not change a count

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.coins.chance, Fraction(1, self.size)  # the bucket of another category is uniform

    @property
    def symbols(self) -> int:
        return self.size

    @cached_property
    def hashing(self) -> Hashing:  # type: ignore[override]
        """The public family of hash functions."""
        return Hashing(self.size)

    @property
    def outcomes(self) -> int:
        return self.size << SEED_BITS

    def tell(self, codes: Array, truthful: Mask, source: Source) -> Array:
        drawn = seeds(codes.size, source)
        outputs = lie(self.hashing.bucket(drawn, codes), truthful[:, 0], self.size, source)
        return self.hashing.pack(drawn, outputs)

    def probabilities(self, value: int, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket, given the report's public seed."""
        bucket = self.hashing.bucket(np.array([seed], dtype=np.uint64), np.array([value]))
        return _one_of(self.size, int(bucket[0]), self.coins.chance)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(bucket | seed, input), without the factor 2^−47, the probability of the seed."""
        outputs, codes = np.broadcast_arrays(reports, inputs)
        drawn, bucket = self.hashing.unpack(outputs)
        own = float(self.coins.chance)
        inside = self.hashing.bucket(drawn, codes.reshape(-1)) == bucket
        return np.where(inside, own, (1.0 - own) / (self.size - 1)).reshape(outputs.shape)


def lie(codes: Array, truthful: Mask, symbols: int, source: Source) -> Array:
    """Return the reported symbols: the truth where `truthful`, else a uniform other symbol."""
    outputs = codes.copy()
    liars = np.flatnonzero(~truthful)
    outputs[liars] = (outputs[liars] + 1 + source.integers(symbols - 1, liars.size)) % symbols
    return outputs


def _one_of(size: int, index: int, own: Fraction) -> list[Fraction]:
    other = (1 - own) / (size - 1)
    return [own if symbol == index else other for symbol in range(size)]
