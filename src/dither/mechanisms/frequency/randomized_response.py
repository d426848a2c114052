"""The base class of randomized response with two or k categories, whose reports are categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dither.arrays import Array
from dither.kernels.kernel import Kernel
from dither.kernels.window.integers import Blocks
from dither.kernels.window.response import ResponseKernel
from dither.mechanisms.frequency.pure_protocol import CodeProtocol


@dataclass(frozen=True)
class Response(CodeProtocol[ResponseKernel]):
    """A report is a category, and supports itself: a window of one cell."""

    runs: ClassVar[type[Kernel]] = ResponseKernel
    one_category: ClassVar[bool] = True

    def _kernel(self) -> ResponseKernel:
        return ResponseKernel(Blocks.largest(self.epsilon, len(self.categories)))

    def _fits(self, kernel: ResponseKernel) -> bool:
        return kernel.window.cells == len(self.categories) and kernel.window.width == 1

    def decode(self, cells: Array) -> Array:
        """Return the reported labels."""
        return self.categories.decode(cells)
