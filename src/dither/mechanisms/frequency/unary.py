"""Reports that are one bit for each category: what the unary encodings have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Integers
from dither.errors import InvalidParameter
from dither.kernels.sets import bit_rows as packed
from dither.kernels.sets.bits import Bits
from dither.mechanisms.frequency.pure_protocol import PureProtocol
from dither.privacy import Bound, Pure
from dither.randomness import Source

MOST_LISTED: Final = 16  # bits of a report whose law is listed in full


@dataclass(frozen=True)
class Packed(PureProtocol):
    """A report is a set of categories, one bit for each, eight to a byte; it supports its members."""

    @final
    @property
    def layout(self) -> np.dtype[Any]:
        """⌈k/8⌉ bytes, whatever the answer; bits beyond the last category are zero."""
        return np.dtype((np.uint8, (packed.width(len(self.categories)),)))

    @final
    def tally(self, cells: Array) -> Integers:
        """Count how many reports support each category."""
        return packed.count(cells, len(self.categories))

    @final
    def adds_up(self, counts: Integers, n: int) -> bool:
        """Say whether n reports can have been counted like this: none supports a category twice."""
        return int(counts.max()) <= n

    @final
    def decode(self, cells: Array) -> Array:
        """Give which categories each report supports, along the last axis."""
        return packed.unpack(cells, len(self.categories))

    def _valid(self, raw: Array) -> Array:
        return packed.check(raw, len(self.categories))

    @final
    def _listed(self) -> None:
        if len(self.categories) > MOST_LISTED:
            raise InvalidParameter(f"exact probabilities are listed for up to {MOST_LISTED} categories")


@dataclass(frozen=True)
class Unary(Packed):
    """Every category has a bit, drawn by itself; the bit of the answer is likelier to be 1."""

    def _build(self) -> None:
        _ = self.kernel

    @cached_property
    @abstractmethod
    def kernel(self) -> Bits:
        """The two coins, in integers: what devices sample."""

    @final
    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities of a 1 in the bit of the answer and in any other."""
        return self.kernel.own.probability, self.kernel.other.probability

    @final
    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return 1 << len(self.categories)

    @final
    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        self.kernel.draw(codes, cells, source)

    @final
    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every row of bits, read as a binary number, for the category x."""
        self._listed()
        return self.kernel.probabilities(self._code(x))

    @final
    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the two coins: two bits differ between two answers."""
        own, other = self.kernel.own, self.kernel.other
        how = f"ln p(1−q)/((1−p)q) with p = {own.heads}, q = {other.heads} of 2^{own.bits}"
        return Pure(self.kernel.epsilon), how

    @final
    def wire(self) -> dict[str, Any]:
        """Give the number of bits and the two coins."""
        kernel = self.kernel
        integers = {"size": kernel.size, "own": kernel.own.heads, "other": kernel.other.heads}
        return {"kernel": {**integers, "bits": kernel.own.bits}}
