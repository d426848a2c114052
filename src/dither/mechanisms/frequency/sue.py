"""SUE: one bit for each category, all flipped with the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.kernels.sets.bits import Bits
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class SUE(CategoryMechanism):
    """The answer as one bit for each category, every bit flipped with the same probability.

    Promise:   pure ε: the rows of two answers differ in two bits, ε/2 for each.
    Reports:   ⌈k/8⌉ bytes of packed bits.
    Use when:  bits must be flipped symmetrically, as in RAPPOR; otherwise `OUE` has the smaller error.
    Reference: [RAPPOR14, Sec. 3], one-time; [Wang17, Sec. 4.3].
    """

    def _kernel(self) -> Bits:
        return Bits.symmetric(self.epsilon, len(self.categories))  # p = e^(ε/2)/(e^(ε/2) + 1), q = 1 − p
