"""The base class of mechanisms of one number: a kernel on a line, and a map from reports to numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle, Line, numbers
from dither.errors import InvalidParameter, found
from dither.kernels.kernel import Kernel
from dither.kernels.lattice.law import TableLaw
from dither.kernels.line import LineKernel
from dither.kernels.transition import Operator
from dither.kernels.window.decoder import Decoder, read_decoder
from dither.mechanisms.analysis import Questions, Realised
from dither.mechanisms.base import Mechanism
from dither.privacy.exact import exp_below
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


@dataclass(frozen=True)
class NumberMechanism(Mechanism[Line], Questions):
    """A mechanism of one number, on an interval or a circle."""

    @property
    @abstractmethod
    def kernel(self) -> LineKernel: ...

    @property
    @abstractmethod
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""

    @property
    def line(self) -> Line:
        return self.domain

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(numbers(values), source, threads=threads)  # the kernel checks the domain

    def decode(self, cells: Array) -> Floats:
        return self.decoder(cells)

    def codebook(self) -> Any:
        return self.decoder.plain()

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        return read_decoder(data)

    @final
    def probabilities(self, x: float) -> list[Fraction]:
        """Return the exact probability of every report for the input x, from the sampled integers."""
        return self.kernel.probabilities(x)

    @final
    def chances(self, x: float) -> Floats:
        """Return the probability of every report for the input x, in floats."""
        return self.kernel.chances(x)

    @final
    def likelihood(self, inputs: Floats, rows: int) -> Operator:
        """Return P(report | input) as an operator, with reports grouped into about `rows` rows."""
        return self.kernel.likelihood(inputs, rows)

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities (pdf, mean, error, …) for the integers that are sampled."""
        values = self.line.to_unit(self.decoder(np.arange(self.outcomes)))

        def chances(unit: float) -> Floats:
            return self.chances(float(self.line.from_unit(np.asarray(unit))))

        return Realised(self.line, TableLaw(chances, values, circular=isinstance(self.line, Circle)))

    def decoded(self) -> Floats:
        """Return the decoded number of each counted report."""
        return np.asarray(self.decode(np.arange(self.outcomes)), dtype=np.float64)

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the reports whose mean is the value; None if E[report] is not affine in it.

        They do not depend on `decoding`. Here the mean cell, or else the mean decoded report, is computed at
        a few inputs and tested for being affine.
        """
        if isinstance(self.line, Circle):
            return None
        inputs = np.linspace(self.line.low, self.line.high, 9)
        chances = np.stack([self.chances(float(x)) for x in inputs])
        for given in (np.arange(self.outcomes), self.decoded()):
            means = chances @ given
            slope = (means[-1] - means[0]) / self.line.length
            line = means[0] + slope * (inputs - self.line.low)
            if np.abs(means - line).max() < STRAIGHT * abs(slope) * self.line.length:
                return UnbiasedReading(self.line.low + (given - means[0]) / slope)
        return None

    @property
    def window_share(self) -> float:
        """The share of all reports that the window of one input covers; 1 if there is no window."""
        return 1.0


def check_ratio(kernel: Kernel, epsilon: float) -> None:
    """Raise InvalidParameter unless the kernel's exact ratio is at most e^ε, which proves ε-LDP."""
    if kernel.ratio > exp_below(Fraction(epsilon)):
        raise InvalidParameter(f"ε = {found(epsilon)} is too small or too large for this number of cells")
