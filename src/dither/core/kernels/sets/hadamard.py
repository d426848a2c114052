"""Hadamard response: a column of a Hadamard matrix, drawn with a biased coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dither.core.kernels.blocks import BLOCK
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.coin import COIN, BiasedCoin, truth
from dither.core.kernels.kernel import CellKernel
from dither.core.kernels.window.integers import MOST_CELLS
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import WHOLE, Fields
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket


@dataclass(frozen=True)
class Columns(CodeKernel, CellKernel):
    """A uniform column with +1 in the input's row if the coin shows heads, else a uniform column with −1.

    The input x has row x + 1, because all entries of row 0 are +1.
    """

    order: int
    coin: BiasedCoin

    kind: ClassVar[str] = "hadamard"
    fields = Fields(order=WHOLE, coin=COIN.member("heads"))

    def __post_init__(self) -> None:
        if not 2 <= self.order <= MOST_CELLS or self.order & (self.order - 1):
            raise InvalidParameter(
                f"the order of the matrix must be a power of two from 2 to 2^32, not {found(self.order)}"
            )
        if not self.coin.odds > 1:
            raise InvalidParameter("the probability of +1 must be above 1/2")

    @staticmethod
    def largest(epsilon: float, rows: int) -> Columns:
        """Return the smallest matrix with more than `rows` rows; the coin has the largest odds up to e^ε."""
        return Columns(1 << rows.bit_length(), truth(epsilon))

    @property
    def outcomes(self) -> int:
        return self.order

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.coin.probability, Fraction(1, 2)  # any two rows agree in half of the columns

    @property
    def ratio(self) -> Fraction:
        return self.coin.odds

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The probability of −1 for every column; any two rows are both +1 in a quarter of the columns."""
        return Blanket.of_sets(self.ratio, Fraction(1, 2), Fraction(1, 4))

    @property
    def evidence(self) -> str:
        return f"ln p/(1−p) with K = {self.order}, p = {self.coin.heads} of 2^{self.coin.bits}"

    def holds(self, categories: int) -> bool:
        return self.order == 1 << categories.bit_length()

    def support(self, reports: Array, categories: int) -> Array:
        minus: Array = np.bitwise_count(reports[..., None] & np.arange(1, categories + 1)) & np.uint8(1)
        return np.asarray(minus == 0)

    def supports(self, counts: Integers, categories: int) -> Integers:
        """Return the number of reports that support each category, by one fast Walsh–Hadamard transform."""
        return self.pluses(counts)[1 : categories + 1]

    def probabilities(self, value: int) -> list[Fraction]:
        plus = 2 * self.coin.probability / self.order
        minus = Fraction(2, self.order) - plus
        row = value + 1
        return [minus if (row & column).bit_count() & 1 else plus for column in range(self.order)]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        plus = float(2 * self.coin.probability / self.order)
        minus = np.bitwise_count(reports.astype(np.int64) & (np.asarray(inputs) + 1)) & np.uint8(1)
        return np.where(minus, 2.0 / self.order - plus, plus)

    def draw_one(self, value: int, source: Source) -> int:
        row, column = value + 1, source.bits(self.order.bit_length() - 1)
        wrong = bool((row & column).bit_count() & 1) == self.coin.toss_one(source)
        return column ^ (row & -row) if wrong else column

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        random = np.empty(min(codes.size, BLOCK), dtype=reports.dtype)
        for begin in range(0, codes.size, BLOCK):
            row = (codes[begin : begin + BLOCK] + 1).astype(reports.dtype)
            column = random[: row.size]
            source.fill(column.data)
            column &= reports.dtype.type(self.order - 1)
            # A uniform column with the wrong sign is replaced by a partner with the right one: flipping the
            # lowest bit of the row in the column flips the sign.
            wrong = np.bitwise_count(row & column) & np.uint8(1)
            wrong ^= ~self.coin.toss(row.size, source)
            np.bitwise_xor(column, (row & -row) * wrong, out=reports[begin : begin + BLOCK])

    @staticmethod
    def pluses(counts: Integers) -> Integers:
        """Return for each row the number of counted columns with +1, by one fast Walsh–Hadamard transform."""
        doubled: Integers = walsh_hadamard(counts) + counts.sum()
        return doubled >> 1


def walsh_hadamard(counts: Integers) -> Integers:
    """Return the product of the Hadamard matrix and a vector, in integers."""
    out = counts.astype(np.int64)
    half = 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return out
