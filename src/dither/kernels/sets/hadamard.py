"""Columns of a Hadamard matrix: a report is a column, likelier where the input's row has a plus.

The matrix of order K = 2^m has the entry (−1)^popcount(row & column). Every row but the first has K/2 pluses,
and any two rows agree in half of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from dither.arrays import Array, Integers
from dither.errors import InvalidParameter
from dither.kernels.coin import Coin, truth
from dither.kernels.window.integers import BLOCK, MOST_CELLS
from dither.privacy.exact import log_above
from dither.randomness import Source


@final
@dataclass(frozen=True)
class Columns:
    """A uniform column among those with a plus in the input's row if the coin says so, else with a minus."""

    order: int
    coin: Coin

    def __post_init__(self) -> None:
        if not 2 <= self.order <= MOST_CELLS or self.order & (self.order - 1):
            raise InvalidParameter("the order of the matrix is a power of two from 2 to 2^32")
        if not self.coin.odds > 1:
            raise InvalidParameter("a plus is likelier than a minus")

    @staticmethod
    def largest(epsilon: float, rows: int) -> Columns:
        """Give the smallest matrix with `rows` rows beside the first, and the coin with odds up to e^ε."""
        return Columns(1 << rows.bit_length(), truth(epsilon))

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one column: the privacy loss is its logarithm."""
        return self.coin.odds

    @property
    def epsilon(self) -> float:
        """The realised ε, rounded up."""
        return log_above(self.ratio)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold a column."""
        return np.dtype(np.min_scalar_type(self.order - 1))

    def probabilities(self, row: int) -> list[Fraction]:
        """Give the exact probability of every column for a row other than the first."""
        plus = 2 * self.coin.probability / self.order
        minus = Fraction(2, self.order) - plus
        return [minus if (row & column).bit_count() & 1 else plus for column in range(self.order)]

    def draw(self, rows: Array, columns: Array, source: Source) -> None:
        """Write a column for each row; rows are counted from 1."""
        random = np.empty(min(rows.size, BLOCK), dtype=columns.dtype)
        for begin in range(0, rows.size, BLOCK):
            row = rows[begin : begin + BLOCK].astype(columns.dtype)
            column = random[: row.size]
            source.fill(column.data)
            column &= columns.dtype.type(self.order - 1)
            # A uniform column with the wrong sign is moved to its partner with the right one: flipping the
            # row's lowest bit in the column flips the sign.
            wrong = np.bitwise_count(row & column) & np.uint8(1)
            wrong ^= ~self.coin.toss(row.size, source)
            np.bitwise_xor(column, (row & -row) * wrong, out=columns[begin : begin + BLOCK])

    @staticmethod
    def pluses(counts: Integers) -> Integers:
        """Give for each row how many of the counted columns have a plus in it: one fast transform."""
        doubled: Integers = walsh_hadamard(counts) + counts.sum()
        return doubled >> 1


def walsh_hadamard(counts: Integers) -> Integers:
    """Give the product of the Hadamard matrix and a vector, in whole numbers."""
    out = counts.astype(np.int64)
    half = 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return out
