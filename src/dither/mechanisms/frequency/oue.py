"""OUE and SUE: one bit for each category."""

from __future__ import annotations

from dataclasses import dataclass

from dither.core.kernels.sets.bits import Bits
from dither.mechanisms.frequency.base import CategoryMechanism


@dataclass(frozen=True)
class OUE(CategoryMechanism):
    """One bit for each category: the answer's bit is a fair coin, and all other bits are rarely 1.

    Promise:   pure ε.
    Reports:   ⌈k/8⌉ bytes of packed bits.
    Use when:  there are up to a few hundred categories; beyond, `OLH` has the same error in eight bytes.
    Reference: optimized unary encoding (OUE) [Wang17, Sec. 4.3].
    """

    _draws = ("bits",)

    def _kernel(self) -> Bits:
        return Bits.fair(self.epsilon, len(self.categories))  # p = 1/2, q = 1/(e^ε + 1)


@dataclass(frozen=True)
class SUE(CategoryMechanism):
    """One bit for each category, each flipped with the same probability.

    Promise:   pure ε: the rows of two answers differ in two bits, ε/2 for each.
    Reports:   ⌈k/8⌉ bytes of packed bits.
    Use when:  bits must be flipped symmetrically, as in RAPPOR; otherwise `OUE` has the smaller error.
    Reference: symmetric unary encoding (SUE) [Wang17, Sec. 4.3]; one-time RAPPOR [RAPPOR14, Sec. 3].
    """

    _draws = ("bits",)

    def _kernel(self) -> Bits:
        return Bits.symmetric(self.epsilon, len(self.categories))  # p = e^(ε/2)/(e^(ε/2) + 1), q = 1 − p
