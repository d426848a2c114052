"""Hadamard response: a column of a Hadamard matrix, counted by one fast transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from dither.arrays import Array, Integers
from dither.kernels.kernel import Kernel
from dither.kernels.sets.hadamard import Columns
from dither.mechanisms.frequency.pure_protocol import CodeProtocol


@final
@dataclass(frozen=True)
class HadamardResponse(CodeProtocol[Columns]):
    """A column of a public Hadamard matrix, more often one with +1 in the answer's row.

    Promise:   pure ε.
    Reports:   a column, in one to four bytes: ⌈log₂(k + 1)⌉ bits. It supports half of the categories.
    Use when:  there are many categories, ε is at most 1, and counting must be fast.
    Reference: [Acharya19, Sec. 4]; category x has row x + 1 of the matrix of order 2^⌈log₂(k+1)⌉.
    """

    runs: ClassVar[type[Kernel]] = Columns

    def _kernel(self) -> Columns:
        return Columns.largest(self.epsilon, len(self.categories))

    def _fits(self, kernel: Columns) -> bool:
        return kernel.order == 1 << len(self.categories).bit_length()

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, by one fast Walsh–Hadamard transform."""
        return Columns.pluses(counts)[1 : len(self.categories) + 1]

    def decode(self, cells: Array) -> Array:
        """Return which categories each report supports, along the last axis."""
        rows = np.arange(1, len(self.categories) + 1)
        minus: Array = np.bitwise_count(cells[..., None] & rows) & np.uint8(1)
        return np.asarray(minus == 0)
