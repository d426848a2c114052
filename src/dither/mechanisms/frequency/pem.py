"""PEM (prefix extending method): find common texts from reports about prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dither.core.domains import Text
from dither.core.kernels.sets.prefix import HashedResponse, PrefixKernel
from dither.core.kernels.window.integers import Blocks
from dither.core.question import PlainQuestion
from dither.foundation.numerics.distributions import inverse_survival
from dither.mechanisms.frequency.olh import best_buckets
from dither.mechanisms.mechanism import Mechanism

MOST_CHILDREN: Final = 1024  # ways to extend a prefix by one level
_FOLLOWED: Final = 16  # number of prefixes; the shares of the levels depend little on it
_FALSE_ALARM: Final = 0.01  # probability in the last level, the default of `heavy_hitters`
_BEYOND: Final = 1.6  # standard deviations above the threshold give a probability of 95 % to exceed it
_UNITS: Final = 16  # average integer share of a level


@dataclass(frozen=True)
class PEM(Mechanism[PlainQuestion]):
    """One prefix of a text, of a random public length, reported by local hashing.

    Promise:   pure ε: a person reports one prefix only.
    Reports:   eight bytes: a report of `OLH`, whose public seed determines the level. Levels with a higher
               threshold have more people, the last one most of all.
    Use when:  the possible answers cannot be listed: words, addresses. `heavy_hitters` finds common texts;
               the frequencies of other texts are not estimated.
    Reference: [Wang21, Sec. 4], with levels of complete letters.
    """

    domain: Text

    _draws = ("prefix",)

    _takes = (Text,)

    def _kernel(self) -> PrefixKernel:
        oracle = HashedResponse(Blocks.largest(self.epsilon, best_buckets(self.epsilon)))
        ends = self._ends()
        return PrefixKernel(self.domain, oracle, ends, self._shares(ends))

    def _codebook(self, kernel: PrefixKernel) -> None:
        """Return None: a report is a level and a bucket."""

    def _ends(self) -> tuple[int, ...]:
        """Return the prefix length of each level. Steps are as long as MOST_CHILDREN allows."""
        symbols, step = self.domain.symbols, 1
        while sum(symbols**letters for letters in range(step + 2)) <= MOST_CHILDREN:
            step += 1
        length = self.domain.length
        return (*range(step, length, step), length)

    def _shares(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        """Return integers in proportion to the people of each level, or no integers for a single level.

        A text that a level finds with probability 95 % needs people in proportion to (z + 1.6)²: its expected
        support is 1.6 deviations above the threshold, and the threshold is z deviations above the support of
        absent prefixes. z follows from the number of counted prefixes: on average one absent prefix is above
        the threshold, and 0.01 in the last level, as in `heavy_hitters`.
        """
        needed, begin = [], 0
        for end in ends if len(ends) > 1 else ():
            counted = sum(self.domain.symbols**letters for letters in range(end - begin + 1))
            alarms = _FALSE_ALARM if end == ends[-1] else 1.0
            z = inverse_survival(min(alarms / (counted * (_FOLLOWED if begin else 1)), 0.5))
            needed.append((z + _BEYOND) ** 2)
            begin = end
        return tuple(round(_UNITS * len(needed) * each / sum(needed)) for each in needed)
