"""Kernels on an interval or a circle: values are checked and reports drawn in blocks."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, final

import numpy as np

from dither.arrays import Array
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.blocks import FEW, Sampler, in_threads
from dither.kernels.kernel import MOST_LISTED, CellKernel
from dither.randomness import Source


class LineKernel(CellKernel):
    """A kernel whose inputs are numbers of an interval or a circle."""

    line: Line

    @abstractmethod
    def sampler(self, size: int) -> Sampler:
        """Return a sampler for blocks of up to `size` values, for one thread."""

    @abstractmethod
    def draw_one(self, value: float, source: Source) -> int: ...

    @final
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw a cell for each number; raise OutsideDomain if a number is not in the domain."""
        values = inputs.reshape(-1)
        if values.size < FEW:  # Python integers are faster than arrays
            if values.size and not self.line.admits(values):
                self.line.refuse()
            cells = np.array([self.draw_one(float(value), source) for value in values], dtype=self.layout)
        else:
            cells = in_threads(self._checking, values, self.layout, source, threads)
        return cells.reshape(inputs.shape)

    def _checking(self, size: int) -> Sampler:
        draw, line = self.sampler(size), self.line

        def checked(block: Array, cells: Array, source: Source) -> None:
            if not line.admits(block):
                line.refuse()
            draw(block, cells, source)

        return checked

    @final
    def probabilities(self, value: Any) -> list[Fraction]:
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                f"exact probabilities are listed for up to 2^16 cells, not {self.outcomes}"
            )
        checked = self.line.check(value)
        if checked.ndim:
            raise InvalidParameter("exact probabilities are listed for one input at a time")
        return self._listed(float(checked))

    @abstractmethod
    def _listed(self, value: float) -> list[Fraction]:
        """Return the exact probability of every cell for a value of the line."""

    def _typical(self) -> list[Any]:
        return list(np.linspace(self.line.low, self.line.high, 9))
