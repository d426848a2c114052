"""PEM: the prefix extending method, which finds common texts from reports about prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Array, Integers
from dither.domains import Categories, Text
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.counting import NotCounted
from dither.kernels.sets.hashed_response import HashedResponse
from dither.kernels.sets.hashing import MOST_ITEMS
from dither.kernels.sets.prefix import PrefixKernel
from dither.kernels.window.integers import Blocks
from dither.mechanisms.base import Mechanism, Travelled
from dither.mechanisms.frequency.olh import OLH, best_buckets
from dither.mechanisms.number import check_ratio

MOST_CHILDREN: Final = 1024  # ways to extend a prefix by one level


@final
@dataclass(frozen=True)
class PEM(Mechanism[Text]):
    """One prefix of a text, of a random public length, reported by local hashing.

    Promise:   pure ε: a person reports one prefix only.
    Reports:   eight bytes: a report of `OLH`, whose seed modulo the number of levels is the level.
    Use when:  the possible answers cannot be listed: words, addresses. `heavy_hitters` finds common texts;
               the frequencies of other texts are not estimated.
    Reference: [Wang21, Sec. 4], with levels of whole letters.
    """

    takes = (Text,)

    @cached_property
    def kernel(self) -> PrefixKernel:
        """What devices run: the lengths of the prefixes, and randomized response on the buckets."""
        if self.travelled is None:
            oracle = HashedResponse(Blocks.largest(self.epsilon, best_buckets(self.epsilon)))
            return PrefixKernel(self.domain, oracle, self._ends())
        kernel = self.travelled.kernel
        if not isinstance(kernel, PrefixKernel) or kernel.text != self.domain:
            raise MalformedReport("PEM needs a kernel of prefixes on its own domain")
        check_ratio(kernel, self.epsilon)
        return kernel

    def _ends(self) -> tuple[int, ...]:
        """Return the length of the prefix of each level; levels are as long as MOST_CHILDREN allows."""
        symbols, step = self.domain.symbols, 1
        while sum(symbols**letters for letters in range(step + 2)) <= MOST_CHILDREN:
            step += 1
        length = self.domain.length
        return (*range(step, length, step), length)

    @cached_property
    def oracle(self) -> OLH:
        """Local hashing of the items of prefixes, which are numbers below 2^32."""
        return OLH(Categories(MOST_ITEMS), epsilon=self.epsilon, travelled=Travelled(self.kernel.oracle))

    @property
    def ends(self) -> tuple[int, ...]:
        """The length of the prefix of each level."""
        return self.kernel.ends

    @property
    def levels(self) -> int:
        """The number of levels; all have about the same number of reports."""
        return len(self.ends)

    def level(self, cells: Array) -> Integers:
        """Return the level of each report."""
        return self.kernel.level(self.kernel.oracle.hashing.unpack(cells)[0])

    def decode(self, cells: Array) -> Array:
        """Return the level and the bucket of each report, along the last axis."""
        _, bucket = self.kernel.oracle.hashing.unpack(cells)
        return np.stack([self.level(cells), bucket], axis=-1).reshape(*cells.shape, 2)

    def probabilities(self, x: str | bytes, *, seed: int = 0) -> list[Fraction]:
        """Return the exact probability of every bucket for the text x, given the report's public seed."""
        return self.kernel.probabilities(self.domain.check([x])[0], seed)

    @property
    def counting(self) -> NotCounted:
        return NotCounted(
            InvalidParameter("common texts are found from the reports, not from a summary; keep the reports")
        )
