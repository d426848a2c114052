"""Hadamard response: reports are columns of a Hadamard matrix, counted by one fast transform."""

from __future__ import annotations

from dataclasses import dataclass

from dither.core.kernels.sets.hadamard import Columns
from dither.mechanisms.frequency.base import CategoryMechanism


@dataclass(frozen=True)
class HadamardResponse(CategoryMechanism):
    """A random column of a public Hadamard matrix; columns with +1 in the answer's row are likelier.

    Promise:   pure ε.
    Reports:   a column, in one to four bytes: ⌈log₂(k + 1)⌉ bits. It supports half of the categories.
    Use when:  there are many categories, ε is at most 1, and counting must be fast.
    Reference: [Acharya19, Sec. 4]; category x has row x + 1 of the matrix of order 2^⌈log₂(k+1)⌉.
    """

    _draws = ("hadamard",)

    def _kernel(self) -> Columns:
        return Columns.largest(self.epsilon, len(self.categories))
