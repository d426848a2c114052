"""KRR: k-ary randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.kernels.window.integers import Blocks
from dither.kernels.window.response import ResponseKernel
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class KRR(CategoryMechanism):
    """The true category with some probability, otherwise a uniform category.

    Promise:   pure ε.
    Reports:   a category, in one to four bytes.
    Use when:  there are few categories: a smaller error than `OUE` and `OLH` while k < 3e^ε + 2.
    Reference: [Kairouz16, Sec. 4], there called k-RR; also known as GRR or direct encoding.

    >>> from dither.domains import Categories
    >>> KRR(Categories(["tea", "coffee", "water"]), epsilon=1).report_bytes
    1
    """

    def _kernel(self) -> ResponseKernel:
        return ResponseKernel(Blocks.largest(self.epsilon, len(self.categories)))
