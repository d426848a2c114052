"""Kernels for categories: inputs are codes, the indices of the categories."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import final

from dither.arrays import Array
from dither.kernels.blocks import FEW, in_threads
from dither.kernels.kernel import Kernel
from dither.randomness import Source


class CodeKernel(Kernel):
    """A pure protocol: a report supports some categories, the input's own with a larger probability."""

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""

    @abstractmethod
    def write(self, codes: Array, reports: Array, source: Source) -> None:
        """Draw a report for each code and write it to `reports`."""

    @property
    def few(self) -> int:
        """For fewer inputs than this, `draw_one` in Python integers is faster than arrays."""
        return FEW

    @final
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        if inputs.size < self.few:
            few = self.draw_singly(inputs.reshape(-1).tolist(), source)
            return few.reshape(inputs.shape + self.layout.shape)
        reports = in_threads(lambda size: self.write, inputs.reshape(-1), self.layout, source, threads)
        return reports.reshape(inputs.shape + self.layout.shape)
