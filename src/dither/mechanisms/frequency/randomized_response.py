"""Reports that are categories: what randomized response on two and on k answers have in common."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dither.arrays import Array, Integers
from dither.kernels.blocks import FEW
from dither.kernels.window.integers import Blocks
from dither.mechanisms.frequency.pure_protocol import PureProtocol
from dither.privacy import Bound, Pure
from dither.randomness import Source


@dataclass(frozen=True)
class Response(PureProtocol):
    """A report is a category, and supports itself: a window of one cell."""

    def _build(self) -> None:
        _ = self.kernel

    @cached_property
    def kernel(self) -> Blocks:
        """One cell for each category, the true one e^ε times as likely as any other."""
        return Blocks.largest(self.epsilon, len(self.categories))

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """E/(E + k − 1) and 1/(E + k − 1), as sampled."""
        kernel = self.kernel
        return Fraction(kernel.inside, kernel.total), Fraction(kernel.outside, kernel.total)

    @property
    def layout(self) -> np.dtype[Any]:
        """The smallest unsigned integer that holds a category."""
        return self.kernel.dtype

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return len(self.categories)

    def _sample(self, codes: Array, cells: Array, source: Source) -> None:
        if codes.size < FEW:
            cells[:] = [self.kernel.draw_one(int(code), source) for code in codes]
        else:
            cells[:] = self.kernel.draw(codes, source)

    def tally(self, cells: Array) -> Integers:
        """Count how often each category was reported."""
        return np.bincount(cells.reshape(-1), minlength=self.outcomes)

    def decode(self, cells: Array) -> Array:
        """Give the reported labels."""
        return self.categories.decode(cells)

    def probabilities(self, x: Hashable) -> list[Fraction]:
        """Give the exact probability of every category as a report, for the category x."""
        return self.kernel.probabilities(self._code(x))

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the two integer weights."""
        kernel = self.kernel
        return Pure(kernel.epsilon), f"ln(H/L) with k = {kernel.cells}, L = {kernel.step} of 2^{kernel.bits}"

    def wire(self) -> dict[str, Any]:
        """Give the number of categories and the integer weight of a lie."""
        kernel = self.kernel
        return {"kernel": {"cells": kernel.cells, "step": kernel.step, "bits": kernel.bits}}
