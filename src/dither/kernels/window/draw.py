"""The exact draw of windows: an index below `tickets`, each with probability step/2^bits, or no index."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Mask
from dither.errors import InvalidParameter, found
from dither.randomness import Source

LATE: Final = 32  # bits that are drawn only if the first ones do not decide
MOST: Final = 96  # bits of the longest draw
LIFT: Final = 1 << 75  # a power of two above every word and every start


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

        All bytes are taken at once, and the numbers of each step have the same number of digits, so that
        neither the number of bytes nor the time depends on the outcome. The exception has probability
        tickets/2^(bits − 32) and takes 4 bytes more.
        """
        early, more = (self.bits - LATE) >> 3, (extra + 7) >> 3
        taken = source.take(early + more)
        first, lift, bound, late = self._lifted
        word = int.from_bytes(taken[:early] + b"\x01", "little") + lift
        drawn, ticket = word < bound, word // first - LIFT
        if word >= late:  # the late bits come before the extra ones: golden files pin this order
            ticket = word - late
            taken, early = taken[early:] + source.take(LATE >> 3), LATE >> 3
            drawn = int.from_bytes(taken[:early], "little") < self.step & ((1 << LATE) - 1)
        return drawn, ticket, int.from_bytes(taken[early:], "little") >> (8 * more - extra)

    @cached_property
    def _lifted(self) -> tuple[int, int, int, int]:
        """The divisor d; what lifts a word v, read with a 1 before it, to v + 2^75·d; and two bounds, lifted.

        Python's integers are slower the more digits of 30 bits they have, so the time of v // d would tell
        whether v is large, that is, whether a ticket was drawn. The multiple of 2^75 decides the number of
        digits, because v is below 2^64, and (v + 2^75·d) // d = v // d + 2^75.
        """
        first = max(self.step >> LATE, 1)
        room, lifted = 1 << (self.bits - LATE), first * LIFT
        return first, lifted - room, self.tickets * (self.step >> LATE) + lifted, room - self.tickets + lifted
