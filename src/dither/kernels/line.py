"""Kernels on an interval or a circle: values are checked and reports drawn in blocks; unbiased readings."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle, Domain, Line
from dither.errors import InvalidParameter
from dither.kernels.blocks import FEW, Sampler, in_threads
from dither.kernels.kernel import MOST_LISTED, CellKernel
from dither.kernels.transition import Operator
from dither.kernels.window.decoder import Decoder
from dither.randomness import Source

STRAIGHT: Final = 1e-6  # tolerance, in lengths of the domain, for E[report] being affine in the value


@final
@dataclass(frozen=True, eq=False)
class UnbiasedReading:
    """A number for each counted report, such that its mean for every input is the input.

    If only the leading bits of cells are counted, `cut` is the number per unit of the remaining bits, and
    `values` are for the middle of a group, `half` units above its first cell.
    """

    values: Floats
    cut: float = 0.0
    half: float = 0.0

    @property
    def slack(self) -> float:
        """How far the number of a report may be from that of its group; 0 if every cell is counted."""
        return abs(self.cut) * self.half

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest number that a report can stand for."""
        return float(self.values.min()) - self.slack, float(self.values.max()) + self.slack

    def total(self, counts: Array, n: int) -> float:
        """Return the sum of the numbers of n reports."""
        rest = self.cut * (float(counts[-1]) - n * self.half) if self.cut else 0.0
        return float((counts[: self.values.size] * self.values).sum()) + rest


class LineKernel(CellKernel):
    """A kernel whose inputs are numbers of an interval or a circle."""

    line: Line
    window_share: float = 1.0  # the share of all reports that the window of one input covers, if there is one

    @final
    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Line) and domain.device() == self.line.device()

    @final
    def middles(self) -> Floats:
        """Return the cell in the middle of each counted group of cells."""
        group = 1 << self.rest
        return np.asarray(np.arange(self.outcomes // group) * float(group) + (group - 1) / 2.0)

    @final
    def decode(self, reports: Array, domain: Domain, book: Decoder) -> Floats:
        return book(reports)

    @final
    def write_codebook(self, book: Decoder | None) -> Any:
        return None if book is None else book.plain()

    @abstractmethod
    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return numbers for the counted reports whose mean is the value; None if there are none.

        They do not depend on how reports are decoded, unless the codebook itself is what makes them unbiased.
        """

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

    @abstractmethod
    def likelihood(self, inputs: Array, rows: int) -> Operator:
        """Return P(report | input) as an operator: columns are inputs, about `rows` rows are reports.

        If there are more reports than rows, neighbouring reports are grouped into rows of about equal
        probability.
        """

    @final
    def typical(self) -> list[Any]:
        """Return a few inputs that cover the domain."""
        return list(np.linspace(self.line.low, self.line.high, 9))


def tested_reading(kernel: LineKernel, book: Decoder) -> UnbiasedReading | None:
    """Return a reading for any kernel: the mean cell, or else the mean decoded report, if it is affine.

    It is computed at a few inputs and tested there.
    """
    line = kernel.line
    if isinstance(line, Circle):
        return None
    inputs = np.linspace(line.low, line.high, 9)
    chances = np.stack([kernel.chances(float(x)) for x in inputs])
    cells = np.arange(kernel.outcomes)
    for given in (cells, np.asarray(book(cells), dtype=np.float64)):
        means = chances @ given
        slope = (means[-1] - means[0]) / line.length
        straight = means[0] + slope * (inputs - line.low)
        if np.abs(means - straight).max() < STRAIGHT * abs(slope) * line.length:
            return UnbiasedReading(line.low + (given - means[0]) / slope)
    return None
