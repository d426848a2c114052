"""The exact draw under every window: an index below `tickets`, each with probability step/2^bits, or none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Mask
from dither.errors import InvalidParameter
from dither.randomness import Source

_LATE: Final = 32  # bits that are drawn only when the first ones do not decide
_MOST: Final = 96  # bits of the longest draw


@final
@dataclass(frozen=True)
class Lottery:
    """Each of `tickets` tickets is drawn with probability exactly step / 2^bits; otherwise none is.

    The first bits − 32 random bits v decide nearly always: ticket v // d for v < tickets·d, where
    d = step >> 32. The remaining share step mod 2^32 of each ticket hangs on one last value of v each, which
    asks for 32 more bits. No rejection, no float; the expected cost is one word.
    """

    tickets: int
    step: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in (64, _MOST) or self.tickets < 1:
            raise InvalidParameter("a lottery has at least one ticket and 64 or 96 bits")
        if not self.fits(self.tickets, self.step, self.bits):
            raise InvalidParameter("a lottery's step does not fit its bits")

    @staticmethod
    def fits(tickets: int, step: int, bits: int) -> bool:
        """Return whether the first bits alone can carry the tickets, with one value left for each.

        A step below 2^32 has only that one value; it is accepted where no longer word could do better.
        """
        first = step >> _LATE
        fine = first >= 1 or (bits == _MOST and step >= 1)
        return fine and tickets * (first + 1) <= 1 << (bits - _LATE)

    @property
    def nothing(self) -> Fraction:
        """The probability that no ticket is drawn."""
        return 1 - Fraction(self.tickets * self.step, 1 << self.bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The words that `draw` wants: the first bits."""
        return np.dtype(np.uint32 if self.bits == 64 else np.uint64)

    def draw(self, words: Array, drawn: Mask, source: Source) -> None:
        """Turn uniform words into tickets in place, and say where one was drawn; elsewhere it is anything."""
        kind = self.dtype.type
        first = self.step >> _LATE
        hanging = kind((1 << (self.bits - _LATE)) - self.tickets)
        np.less(words, kind(self.tickets * first), out=drawn)
        where = np.flatnonzero(words >= hanging) if words.size and words.max() >= hanging else None
        last = None if where is None else words[where] - hanging
        np.floor_divide(words, kind(max(first, 1)), out=words)
        if where is not None and last is not None:
            late = source.words(where.size) >> np.uint64(64 - _LATE)
            won = late < np.uint64(self.step & ((1 << _LATE) - 1))
            words[where[won]] = last[won]
            drawn[where[won]] = True

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        """Draw once in plain integers: whether a ticket was drawn, its number if so, `extra` uniform bits.

        All bytes are taken at once, whatever is drawn: the time and the number of bytes do not tell whether a
        ticket was drawn. The exception has probability tickets/2^(bits − 32) and takes 4 bytes more.
        """
        early, more = (self.bits - _LATE) >> 3, (extra + 7) >> 3
        taken = source.take(early + more)
        word, first = int.from_bytes(taken[:early], "little"), self.step >> _LATE
        drawn, ticket = word < self.tickets * first, word // max(first, 1)
        last = word - (1 << (self.bits - _LATE)) + self.tickets
        if last >= 0:  # the late bits come before the extra ones, as when each was taken by itself
            taken = taken[early:] + source.take(_LATE >> 3)
            late = int.from_bytes(taken[: _LATE >> 3], "little")
            drawn, ticket, early = late < self.step & ((1 << _LATE) - 1), last, _LATE >> 3
        return drawn, ticket, int.from_bytes(taken[early:], "little") >> (8 * more - extra)
