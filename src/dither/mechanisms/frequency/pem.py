"""PEM (prefix extending method): find common texts from reports about prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dither.core.domains import Text
from dither.core.kernels.sets.prefix import HashedResponse, PrefixKernel
from dither.core.kernels.window.integers import Blocks
from dither.core.question import PlainQuestion
from dither.mechanisms.frequency.olh import best_buckets
from dither.mechanisms.mechanism import Mechanism

MOST_CHILDREN: Final = 1024  # ways to extend a prefix by one level


@dataclass(frozen=True)
class PEM(Mechanism[PlainQuestion]):
    """One prefix of a text, of a random public length, reported by local hashing.

    Promise:   pure ε: a person reports one prefix only.
    Reports:   eight bytes: a report of `OLH`, whose seed modulo the number of levels is the level.
    Use when:  the possible answers cannot be listed: words, addresses. `heavy_hitters` finds common texts;
               the frequencies of other texts are not estimated.
    Reference: [Wang21, Sec. 4], with levels of complete letters.
    """

    domain: Text

    _draws = ("prefix",)

    _takes = (Text,)

    def _kernel(self) -> PrefixKernel:
        oracle = HashedResponse(Blocks.largest(self.epsilon, best_buckets(self.epsilon)))
        return PrefixKernel(self.domain, oracle, self._ends())

    def _codebook(self, kernel: PrefixKernel) -> None:
        """Return None: a report is a level and a bucket."""

    def _ends(self) -> tuple[int, ...]:
        """Return the length of the prefix of each level; levels are as long as MOST_CHILDREN allows."""
        symbols, step = self.domain.symbols, 1
        while sum(symbols**letters for letters in range(step + 2)) <= MOST_CHILDREN:
            step += 1
        length = self.domain.length
        return (*range(step, length, step), length)
