"""Hadamard response: a column of a Hadamard matrix, counted by one fast transform."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from dither.arrays import Array, Integers
from dither.kernels.sets.hadamard import Columns
from dither.mechanisms.frequency.pure_protocol import PureProtocol
from dither.privacy import Bound, Pure
from dither.randomness import Source


@final
@dataclass(frozen=True)
class HadamardResponse(PureProtocol):
    """A column of a public ±1 matrix, more often one with a plus in the answer's row.

    Promise:   pure ε.
    Reports:   a column, in one to four bytes: ⌈log₂(k + 1)⌉ bits. It supports half of the categories.
    Use when:  there are many categories, ε is at most 1, and counting must be fast.
    Reference: [Acharya19, Sec. 4]; category x owns row x + 1 of the matrix of order 2^⌈log₂(k+1)⌉.
    """

    def _build(self) -> None:
        _ = self.kernel

    @cached_property
    def kernel(self) -> Columns:
        """The order of the matrix and the coin, in integers: what devices sample."""
        return Columns.largest(self.epsilon, len(self.categories))

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """E/(E + 1), and a half: any two rows agree in half of the columns."""
        return self.kernel.coin.probability, Fraction(1, 2)

    @property
    def layout(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds a column."""
        return self.kernel.dtype

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.kernel.order

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is: one count for each column."""
        return self.outcomes

    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        self.kernel.draw(codes + 1, cells, source)

    def tally(self, cells: Array) -> Integers:
        """Count how often each column was reported."""
        return np.bincount(cells.reshape(-1), minlength=self.outcomes)

    def supports(self, counts: Integers) -> Integers:
        """Give how many reports support each category: one fast Walsh–Hadamard transform."""
        return self.kernel.pluses(counts)[1 : len(self.categories) + 1]

    def decode(self, cells: Array) -> Array:
        """Give which categories each report supports, along the last axis."""
        rows = np.arange(1, len(self.categories) + 1)
        minus: Array = np.bitwise_count(cells[..., None] & rows) & np.uint8(1)
        return np.asarray(minus == 0)

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every column for the category x."""
        return self.kernel.probabilities(self._code(x) + 1)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the coin: every row has as many pluses as minuses."""
        kernel = self.kernel
        return Pure(kernel.epsilon), f"ln p/(1−p) with K = {kernel.order}, p = {kernel.coin.heads} of 2^128"

    def wire(self) -> dict[str, Any]:
        """Give the order of the matrix and the coin."""
        return {"kernel": {"order": self.kernel.order, "heads": self.kernel.coin.heads}}
