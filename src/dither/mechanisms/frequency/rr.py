"""RR: randomized response to a question with two answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.errors import InvalidParameter
from dither.kernels.window.integers import Blocks
from dither.kernels.window.response import ResponseKernel
from dither.mechanisms.base import CategoryMechanism


@final
@dataclass(frozen=True)
class RR(CategoryMechanism):
    """One of two answers, the true one with probability e^ε/(e^ε + 1).

    Promise:   pure ε.
    Reports:   0 or 1, in one byte.
    Use when:  the question is yes or no.
    Reference: [Warner65], with the coin of [Duchi13].
    """

    def _check(self) -> None:
        if len(self.categories) != 2:
            raise InvalidParameter(f"RR needs two categories, not {len(self.categories)}; use KRR")

    def _kernel(self) -> ResponseKernel:
        return ResponseKernel(Blocks.largest(self.epsilon, 2))
