"""Unary encoding: independent bits; the input's own bit is likelier to be 1.

A report is a packed row of k bits. The bit of the input is 1 with probability `own`, every other bit with a
smaller probability `other`, so the ratio of two report probabilities is at most own·(1 − other) / ((1 −
own)·other).

Many bits with the same probability are drawn at once. Sixty-four comparisons of random numbers with the
probability run in one word, one binary digit at a time. More digits are drawn only if the first 12 are all
equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from dither.core.kernels.codes import BitReports, CodeKernel, check_listed
from dither.core.kernels.coin import COIN, FINE, BiasedCoin
from dither.core.kernels.packing import bit_places, check_rows, row_width, unpack_rows
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Bytes, Floats, Words
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket

MOST: Final = 1 << 24  # bits of a report: two million bytes
DIGITS: Final = 12  # binary digits that are compared for all bits; the others only if these are all equal
_WORDS: Final = 1 << 14  # words processed together, so that they stay in the cache
_SINGLE: Final = 128  # tosses that take as long as the smallest array of words
_ALL: Final = np.uint64((1 << 64) - 1)


@dataclass(frozen=True)
class Bits(BitReports, CodeKernel):
    """Rows of `size` bits: the input's bit is 1 with probability `own`, every other with `other`.

    Proved: bits_private (proofs/Combine.v).
    """

    size: int
    own: BiasedCoin
    other: BiasedCoin

    kind: ClassVar[str] = "bits"
    fields = Fields(size=WHOLE, own=COIN, other=COIN)

    def __post_init__(self) -> None:
        if not 2 <= self.size <= MOST:
            raise InvalidParameter(
                f"expected 2 to 2^24 bits in a report, got {found(self.size)}; hash more categories "
                "first (dt.OLH)"
            )
        if not 0 < self.other.heads < self.own.heads:
            raise InvalidParameter("the probabilities of bits must satisfy 0 < other < own")
        if self.own.bits != FINE or self.other.bits != FINE:
            raise InvalidParameter(f"expected coins of {FINE} bits for the bits of a report")

    @staticmethod
    def fair(epsilon: float, size: int) -> Bits:
        """Return bits with own = 1/2 and the smallest `other` that certainly spends at most ε.

        With own = 1/2 the ratio is (1 − other)/other ≤ E⁻ iff other ≥ 1/(E⁻ + 1).
        """
        bound = exp_below(Fraction(epsilon))
        bits = Bits(size, BiasedCoin(1 << (FINE - 1)), BiasedCoin.above(1 / (bound + 1)))
        return _certify(bits, bound)

    @staticmethod
    def symmetric(epsilon: float, size: int) -> Bits:
        """Return bits that are all flipped with the same probability; two bits spend at most ε/2 each."""
        half = exp_below(Fraction(epsilon) / 2)
        flip = BiasedCoin.above(1 / (half + 1))
        return _certify(Bits(size, BiasedCoin((1 << FINE) - flip.heads), flip), half**2)

    @property
    def outcomes(self) -> int:
        return 1 << self.size

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.own.probability, self.other.probability

    @property
    def ratio(self) -> Fraction:
        return self.own.odds / self.other.odds

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The rows drawn as if every bit were another input's, scaled; an input's set has its bit at 1."""
        share = self.other.probability
        return Blanket.of_sets(self.ratio, share, share**2)

    @property
    def evidence(self) -> str:
        own, other = self.own, self.other
        return f"ln p(1−q)/((1−p)q) with p = {own.heads}, q = {other.heads} of 2^{own.bits}"

    @property
    def width(self) -> int:
        """The number of bytes of a report."""
        return row_width(self.size)

    def check(self, raw: Array) -> Bytes:
        return check_rows(raw, self.size)

    def probabilities(self, value: int) -> list[Fraction]:
        """Return the exact probability of every row; row number r has the bits of the binary number r."""
        check_listed(self.size)
        law = [Fraction(1)]
        for bit in range(self.size):
            chance = (self.own if bit == value else self.other).probability
            law = [mass * (1 - chance) for mass in law] + [mass * chance for mass in law]
        return law

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own, other = (float(rate) for rate in self.rates)
        held = unpack_rows(reports, self.size)
        ones = held.sum(axis=-1)
        outputs = np.take_along_axis(held, np.asarray(inputs)[..., None], axis=-1)[..., 0]
        every = other**ones * (1.0 - other) ** (self.size - ones)
        return np.asarray(every * np.where(outputs, own / other, (1.0 - own) / (1.0 - other)))

    @property
    def few(self) -> int:  # type: ignore[override]
        """For fewer inputs than this, tosses one by one are faster than arrays."""
        return 1 + _SINGLE // self.size  # one toss for each bit

    def draw_one(self, value: int, source: Source) -> bytes:
        bits = sum(
            (self.own if bit == value else self.other).toss_one(source) << bit for bit in range(self.size)
        )
        return bits.to_bytes(self.width, "little")

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        each = max(8 * _WORDS // self.width, 1)
        lanes = np.empty((4, min(each, codes.size) * self.width + 7 >> 3), dtype=np.uint64)
        for begin in range(0, codes.size, each):
            block = reports[begin : begin + each]
            size = block.size + 7 >> 3
            self._others(lanes[:, :size], source)
            block[:] = lanes[0, :size].view(np.uint8)[: block.size].reshape(block.shape)
            self._own(codes[begin : begin + each], block, source)
            if self.size & 7:
                block[:, -1] &= np.uint8((1 << (self.size & 7)) - 1)

    def _own(self, codes: Array, rows: Bytes, source: Source) -> None:
        """Replace the bit of each input by a draw with the probability `own`."""
        flat, index, bit = bit_places(codes, rows)
        kept = flat[index] & ~bit
        bit *= self.own.toss(codes.size, source)
        flat[index] = kept | bit

    def _others(self, lanes: Words, source: Source) -> None:
        """Set every bit of the first lane with the probability `other`; the other lanes are buffers."""
        less, any_one, all_zero, random = lanes
        less[:], any_one[:], all_zero[:] = 0, 0, _ALL
        first = self.other.heads >> (FINE - DIGITS)
        for index in range(DIGITS):  # from the last digit: less = digit ? less | random : less & random
            source.fill(random.data)
            if first >> index & 1:
                less |= random
                any_one |= random
            else:
                less &= random
                all_zero &= random
        np.invert(any_one, out=any_one)
        all_zero &= any_one  # rows in which every digit is equal
        tied = np.flatnonzero(all_zero)
        if tied.size:
            less[tied] |= self._ties(all_zero[tied], source)

    @cached_property
    def _rest(self) -> BiasedCoin:
        return BiasedCoin(self.other.heads & ((1 << (FINE - DIGITS)) - 1), FINE - DIGITS)

    def _ties(self, tied: Words, source: Source) -> Words:
        """Return the bits whose first digits are all equal, decided by the remaining digits."""
        bits = np.unpackbits(tied.view(np.uint8), bitorder="little")
        where = np.flatnonzero(bits)
        bits[where] = self._rest.toss(where.size, source)
        return np.packbits(bits, bitorder="little").view(np.uint64)


def _certify(bits: Bits, bound: Fraction) -> Bits:
    """Return the bits if their ratio is at most the bound, the proof of privacy; raise otherwise."""
    if bits.ratio > bound:
        raise InvalidParameter(
            f"expected an ε that coins of {FINE} bits can represent; choose an ε nearer to 1"
        )
    return bits
