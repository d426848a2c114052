"""Broken twins of the draws below all mechanisms. Tests that count words must reject them."""

from __future__ import annotations

from dataclasses import dataclass

from dither.core.kernels.window.integers import Lottery
from dither.foundation.randomness import Source


@dataclass(frozen=True)
class LateBitsDecideNothing(Lottery):  # type: ignore[misc]
    """A word that hangs between a ticket and none always draws its ticket: 2^−32 too often."""

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        drawn, number, more = super().draw_one(source, extra)
        return drawn or number < self.tickets, number, more


@dataclass(frozen=True)
class OneLateTooMany(Lottery):  # type: ignore[misc]
    """Late bits are compared by ≤: a ticket is drawn by one word of 2^64 too many."""

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        return Lottery(self.tickets, self.step + 1, self.bits).draw_one(source, extra)


@dataclass(frozen=True)
class LastWordShared(Lottery):  # type: ignore[misc]
    """The last ticket has the words of the one before it, too."""

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        drawn, number, more = super().draw_one(source, extra)
        return drawn, (self.tickets - 1 if number == self.tickets - 2 else number), more
