"""KRR and RR: the true answer, or another one at random."""

from __future__ import annotations

from dataclasses import dataclass

from dither.core.kernels.window.integers import Blocks
from dither.core.kernels.window.kernel import ResponseKernel
from dither.errors import InvalidParameter
from dither.mechanisms.frequency.base import CategoryMechanism


@dataclass(frozen=True)
class KRR(CategoryMechanism):
    """The true category with some probability, otherwise a category drawn uniformly.

    Promise:   pure ε.
    Reports:   a category, in one to four bytes.
    Use when:  there are few categories: a smaller error than `OUE` and `OLH` while k < 3e^ε + 2.
    Reference: [Kairouz16, Sec. 4], there called k-RR; also known as GRR or direct encoding.

    >>> from dither.core.domains import Categories
    >>> KRR(Categories(["tea", "coffee", "water"]), epsilon=1).report_bytes
    1
    """

    _draws = ("response",)

    def _kernel(self) -> ResponseKernel:
        return ResponseKernel(Blocks.largest(self.epsilon, len(self.categories)))


@dataclass(frozen=True)
class RR(CategoryMechanism):
    """One of two answers, the true one with probability e^ε/(e^ε + 1).

    Promise:   pure ε.
    Reports:   0 or 1, in one byte.
    Use when:  the question is yes or no.
    Reference: [Warner65], with the coin of [Duchi13].
    """

    _draws = ("response",)

    def _check(self) -> None:
        if len(self.categories) != 2:
            raise InvalidParameter(f"expected two categories for RR, got {len(self.categories)}; use KRR")

    def _kernel(self) -> ResponseKernel:
        return ResponseKernel(Blocks.largest(self.epsilon, 2))
