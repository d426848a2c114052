"""Questions about one number, about categories, with several queries, and all others: by their kernel."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Categories, Line, numbers
from dither.errors import InvalidParameter, found
from dither.kernels.codes import SupportKernel
from dither.kernels.kernel import Kernel, LineKernel, UnbiasedReading
from dither.kernels.table.channel import ChannelKernel, CodeChannelKernel, LinearReading
from dither.kernels.transition import Operator
from dither.kernels.window.codebook import IDENTITY, Decoder, decoder
from dither.kernels.window.kernel import SlidingKernel
from dither.question.base import Question
from dither.randomness import Source


@dataclass(frozen=True, eq=False, repr=False)
class PlainQuestion(Question):
    """A question about texts, rows of attributes, or places from a centre: no more than questions share."""

    kernel: Kernel

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(self.kernel.inputs(self.domain.check(values)), source, threads=threads)

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(self.kernel.inputs(self.domain.check([x]))[0], **given)


@dataclass(frozen=True, eq=False, repr=False)
class NumberQuestion(Question):
    """A question about one number, on an interval or a circle."""

    domain: Line
    kernel: LineKernel
    book: Decoder

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        return self.domain

    @property
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""
        return self.book

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(numbers(values), source, threads=threads)  # checks the domain

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(x)

    def chances(self, x: float) -> Floats:
        """Return the probability of every report for the input x, in floats."""
        return self.kernel.chances(x)

    def likelihood(self, inputs: Floats, rows: int) -> Operator:
        """Return P(report | input) as an operator, with reports grouped into about `rows` rows."""
        return self.kernel.likelihood(inputs, rows)

    def decoded(self) -> Floats:
        """Return the decoded number of each counted report; for a group of cells, that of its middle."""
        cells = self.kernel.middles() if self.kernel.rest else np.arange(self.outcomes)
        return np.asarray(self.decode(cells), dtype=np.float64)

    @cached_property
    def _reading(self) -> UnbiasedReading | None:
        return self.kernel.unbiased_reading(self.book)

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the reports whose mean is the value; None if there are none."""
        return self._reading

    @property
    def window_share(self) -> float:
        """The share of all reports that the window of one input covers; 1 if there is no window."""
        return self.kernel.window_share

    def truncated(self) -> NumberQuestion:
        """Return the same question with decoded reports clipped to the domain."""
        return self._decoded_by(self.decoder.cut(self.line.low, self.line.high), "TRUNCATED")

    def compressed(self) -> NumberQuestion:
        """Return the same question with the report space decoded as the domain itself, which is biased."""
        if not isinstance(self.kernel, SlidingKernel):
            raise InvalidParameter(f"reports of {self.name} have no window whose range could be compressed")
        return self._decoded_by(decoder(IDENTITY, self.outcomes, self.line), "COMPRESSED")

    def _decoded_by(self, book: Decoder, decoding: str) -> NumberQuestion:
        stated = dict(self.parameters)
        if "decoding" in stated:
            stated["decoding"] = {"choice": "Decoding", "name": decoding}
        return replace(self, book=book, parameters=stated, made_by=None)


@dataclass(frozen=True, eq=False, repr=False)
class CategoryQuestion(Question):
    """A question with a list of answers; a report supports some of them, most probably the true one."""

    domain: Categories
    kernel: SupportKernel

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(self.domain.check(values), source, threads=threads)

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
        return self.domain

    @property
    def one_category(self) -> bool:
        """Whether a report is one category, independent of other people's."""
        return bool(self.kernel.one_category) and self.alone

    @cached_property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""
        return self.kernel.rates

    @cached_property
    def p(self) -> float:
        """The probability that a report supports its own category."""
        return float(self.rates[0])

    @cached_property
    def q(self) -> float:
        """The probability that a report supports a given other category."""
        return float(self.rates[1])

    @cached_property
    def gap(self) -> float:
        """The difference p − q, by which estimates are divided, computed without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        if not 0.0 <= frequency <= 1.0:
            raise InvalidParameter(f"frequency must be from 0 to 1, not {found(frequency)}")
        return float(self.kernel.variance(frequency))

    def shared(self, n: int) -> tuple[float, float, float]:
        """Return a, b, c of a + b·m + c·m², which is added to m(1 − m) in n times the variance of a share.

        m is the mean of the share. They are 0 if the reports of different people are independent.
        """
        return self.kernel.shared(n)

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        return self.kernel.supports(counts, len(self.categories))

    def probabilities(self, x: Hashable, **given: Any) -> list[Fraction]:
        """Return the exact probability of every report for the category x, from the sampled integers.

        For rows of bits, row r has the bits of the binary number r. For hashed reports they are those of the
        buckets, given the public `seed` of the report.
        """
        return self.kernel.probabilities(int(self.categories.check([x])[0]), **given)


@dataclass(frozen=True, eq=False, repr=False)
class QueryQuestion(Question):
    """A question whose reports answer several linear queries about the shares of its inputs."""

    kernel: ChannelKernel | CodeChannelKernel
    book: LinearReading

    @property
    def reading(self) -> LinearReading:
        """The unbiased contribution of each report to each answer, from the sampled integers."""
        return self.book

    @property
    def matrix(self) -> Floats:
        """The queries, one row each: the contribution of every input."""
        return self.reading.queries

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        inputs = numbers(values) if isinstance(self.kernel, LineKernel) else self.domain.check(values)
        return self.kernel.draw(inputs, source, threads=threads)

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(self.domain.check([x])[0])
