"""Sets of a fixed size, likelier if they contain the input: the arithmetic, however a set is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dither.device_text import hexadecimal, whole
from dither.domains import Domain
from dither.kernels.coin import BiasedCoin, read_coin


@dataclass(frozen=True)
class ChosenSets:
    """Sets of `chosen` out of `size` elements; the coin decides whether the input is one of them."""

    size: int
    chosen: int
    coin: BiasedCoin

    kind: ClassVar[str]

    @property
    def outcomes(self) -> int:
        """The number of sets of this size."""
        return math.comb(self.size, self.chosen)

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities that the set has the input, and a given other element."""
        return self.coin.probability, self.other

    @property
    def ratio(self) -> Fraction:
        """The ratio of the probabilities of a set with the input and of one without."""
        return self.coin.odds * Fraction(self.size - self.chosen, self.chosen)

    @property
    def other(self) -> Fraction:
        """The probability that a given element other than the input is in the set."""
        held = self.coin.probability
        return (held * (self.chosen - 1) + (1 - held) * self.chosen) / (self.size - 1)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The probability of a set that contains the input, and of one that does not."""
        held = self.coin.probability
        return (
            held / math.comb(self.size - 1, self.chosen - 1),
            (1 - held) / math.comb(self.size - 1, self.chosen),
        )

    def device(self) -> dict[str, Any]:
        """Return the integers as JSON-compatible data."""
        return {
            "draw": self.kind,
            "size": self.size,
            "chosen": self.chosen,
            "heads": hexadecimal(self.coin.heads),
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        """Return the sets that `device` describes."""
        return cls(whole(device["size"]), whole(device["chosen"]), read_coin(device["heads"]))
