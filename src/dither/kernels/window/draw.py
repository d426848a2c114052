"""The exact draw of windows: an index below `tickets`, each with probability step/2^bits, or no index."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Mask
from dither.errors import InvalidParameter, found
from dither.randomness import Source

LATE: Final = 32  # bits that are drawn only if the first ones do not decide
MOST: Final = 96  # bits of the longest draw


@final
@dataclass(frozen=True)
class Lottery:
    """Draw an index below `tickets`, each with probability exactly step / 2^bits, or none.

    The first bits − 32 random bits v nearly always decide: the index is v // d for v < tickets·d, where d =
    step >> 32. Each index also has one of the last `tickets` values of v. There, 32 more bits are compared
    with step mod 2^32, the rest of its probability. There is no rejection and no float, and the expected cost
    is one word.
    """

    tickets: int
    step: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in (64, MOST) or self.tickets < 1:
            raise InvalidParameter(
                f"a draw needs at least one ticket, not {found(self.tickets)}, and 64 or 96 bits, "
                f"not {found(self.bits)}"
            )
        if not self.fits(self.tickets, self.step, self.bits):
            raise InvalidParameter(
                f"{self.tickets} tickets with step {found(self.step)} do not fit {self.bits} bits"
            )

    @staticmethod
    def fits(tickets: int, step: int, bits: int) -> bool:
        """Return whether the first bits have room for all tickets, with one more value of v for each.

        A step below 2^32 has only that one value. It is accepted only for the longest word.
        """
        first = step >> LATE
        fine = first >= 1 or (bits == MOST and step >= 1)
        return fine and tickets * (first + 1) <= 1 << (bits - LATE)

    @property
    def nothing(self) -> Fraction:
        """The probability that no ticket is drawn."""
        return 1 - Fraction(self.tickets * self.step, 1 << self.bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the words that `draw` takes."""
        return np.dtype(np.uint32 if self.bits == 64 else np.uint64)

    def draw(self, words: Array, drawn: Mask, source: Source) -> None:
        """Replace uniform words by indices, in place, and set `drawn` where there is one.

        Where `drawn` is False the number in `words` has no meaning.
        """
        kind = self.dtype.type
        first = self.step >> LATE
        hanging = kind((1 << (self.bits - LATE)) - self.tickets)
        np.less(words, kind(self.tickets * first), out=drawn)
        where = np.flatnonzero(words >= hanging) if words.size and words.max() >= hanging else None
        last = None if where is None else words[where] - hanging
        np.floor_divide(words, kind(max(first, 1)), out=words)
        if where is not None and last is not None:
            late = source.words(where.size) >> np.uint64(64 - LATE)
            won = late < np.uint64(self.step & ((1 << LATE) - 1))
            words[where[won]] = last[won]
            drawn[where[won]] = True

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        """Draw once, in Python integers: whether there is an index, the index, and `extra` uniform bits.

        All bytes are taken at once, so that the time and the number of bytes do not depend on the outcome.
        The exception has probability tickets/2^(bits − 32) and takes 4 bytes more.
        """
        early, more = (self.bits - LATE) >> 3, (extra + 7) >> 3
        taken = source.take(early + more)
        word, first = int.from_bytes(taken[:early], "little"), self.step >> LATE
        drawn, ticket = word < self.tickets * first, word // max(first, 1)
        last = word - (1 << (self.bits - LATE)) + self.tickets
        if last >= 0:  # the late bits come before the extra ones: golden files pin this order
            taken = taken[early:] + source.take(LATE >> 3)
            late = int.from_bytes(taken[: LATE >> 3], "little")
            drawn, ticket, early = late < self.step & ((1 << LATE) - 1), last, LATE >> 3
        return drawn, ticket, int.from_bytes(taken[early:], "little") >> (8 * more - extra)
