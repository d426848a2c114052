"""k-ary randomized response: a window of one cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Domain
from dither.kernels.codes import CodeKernel
from dither.kernels.kernel import CellKernel
from dither.kernels.window.integers import Blocks
from dither.kernels.window.kernel import WindowKernel, integers, read_integers
from dither.randomness import Source


@final
@dataclass(frozen=True)
class ResponseKernel(WindowKernel, CodeKernel, CellKernel):
    """A report is a category: the input's own with weight H, each other one with weight L."""

    window: Blocks

    kind: ClassVar[str] = "response"
    one_category: ClassVar[bool] = True

    @property
    def outcomes(self) -> int:
        return self.window.cells

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        window = self.window
        return Fraction(window.inside, window.total), Fraction(window.outside, window.total)

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        reports[:] = self.window.draw(codes, source)

    def draw_one(self, value: int, source: Source) -> int:
        return self.window.draw_one(value, source)

    def probabilities(self, value: int) -> list[Fraction]:
        return self.window.probabilities(value)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        own, other = (float(rate) for rate in self.rates)
        return np.where(reports == inputs, own, other)

    def holds(self, categories: int) -> bool:
        return self.window.cells == categories and self.window.width == 1

    def supported(self, reports: Array, categories: int) -> Array:
        return np.asarray(reports[..., None] == np.arange(categories))

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with k = {window.cells}, L = {window.step} of 2^{window.bits}"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, **integers(self.window)}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        return cls(Blocks(*read_integers(device)))
