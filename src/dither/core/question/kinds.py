"""The classes of questions: about numbers, about categories, with several queries, and all others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories, Domain, Line, numbers, read_domain
from dither.core.kernels.channel import LinearReading, RowKernel
from dither.core.kernels.codes import SupportKernel
from dither.core.kernels.kernel import Kernel, LineKernel, UnbiasedReading, read_kernel
from dither.core.kernels.transition import Operator
from dither.core.kernels.window.codebook import IDENTITY, Decoder, decoder
from dither.core.kernels.window.kernel import OptionalKernel, SlidingKernel
from dither.core.question.base import DIVIDED, Question, check_epsilon, check_shared
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.randomness import Source
from dither.privacy import Guarantee

_MOST_NAME: Final = 80  # characters of the name of a design


@dataclass(frozen=True, eq=False, repr=False)
class PlainQuestion(Question):
    """A question about texts, rows of attributes or places around a centre, with the common methods only."""

    kernel: Kernel

    @property
    def quantities(self) -> tuple[str, ...]:
        return self.kernel.quantities

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
    def quantities(self) -> tuple[str, ...]:
        if self.domain.circular:  # directions have no order
            return ("mean", "variance", "resultant", "distribution")
        if self.domain.scale:  # The mean position is not the position of the mean.
            return ("bounds", "quantile", "distribution")
        return ("mean", "variance", "quantile", "distribution", "bounds")

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        return self.domain

    @property
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""
        return self.book

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        values = self.line.plain(values)
        if self.domain.clipping is not None:
            values = self.domain.clip(values)
        return self.kernel.draw(numbers(values), source, threads=threads)  # checks the domain

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(x)

    def chances(self, x: float) -> Floats:
        """Return the probability of every report for the input x, in floats."""
        return self.kernel.chances(x)

    def likelihood(self, inputs: Floats, rows: int) -> Operator:
        """Return P(report | input) as an operator, with reports grouped into about `rows` rows."""
        return self.kernel.likelihood(inputs, rows)

    def decoded_numbers(self) -> Floats:
        """Return the decoded number of each counted report; for a group of cells, its middle."""
        cells = self.kernel.middles() if self.kernel.rest else np.arange(self.outcomes)
        return np.asarray(self.decode(cells), dtype=np.float64)

    @cached_property
    def _reading(self) -> UnbiasedReading | None:
        return self.kernel.unbiased_reading(self.book)

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers whose mean is the value, affine in the report or decoded; None if impossible.

        `dt.mean` averages numbers with the same mean and a smaller variance where they exist.
        """
        return self._reading

    @property
    def window_share(self) -> float:
        """The share of all reports that the window of one input covers; 1 without a window."""
        return self.kernel.window_share

    def truncated(self) -> NumberQuestion:
        """Return the same question with decoded reports clipped to the domain."""
        return self._decoded_by(self.decoder.cut(self.line.low, self.line.high), "TRUNCATED")

    def compressed(self) -> NumberQuestion:
        """Return the same question with the report space decoded as the domain itself (biased)."""
        if not isinstance(self.kernel, SlidingKernel):
            raise InvalidParameter(
                "expected reports with a window, whose range can be compressed, got reports of "
                f"{self.name}; use PM or SW"
            )
        return self._decoded_by(decoder(IDENTITY, self.outcomes, self.line), "COMPRESSED")

    def _decoded_by(self, book: Decoder, decoding: str) -> NumberQuestion:
        stated = dict(self.parameters)
        if "decoding" in stated:
            stated["decoding"] = {"choice": "Decoding", "name": decoding}
        return replace(self, book=book, parameters=stated, made_by=None)


@dataclass(frozen=True, eq=False, repr=False)
class OptionalQuestion(Question):
    """A question about a number that may be missing: see `Nullable`. NaN is a decoded "no answer"."""

    domain: Domain
    kernel: OptionalKernel
    book: Decoder

    @property
    def quantities(self) -> tuple[str, ...]:
        if self.line.circular:
            return ("mean", "response rate")
        if self.line.scale:
            return ("bounds", "quantile", "distribution", "response rate")
        return ("mean", "variance", "quantile", "distribution", "bounds", "response rate")

    @property
    def line(self) -> Line:
        """The domain of the numbers."""
        return self.kernel.line if self.domain.line is None else self.domain.line

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(self.domain.check(values), source, threads=threads)

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(float(self.domain.check([x])[0]))


@dataclass(frozen=True, eq=False, repr=False)
class CategoryQuestion(Question):
    """A question with a list of answers; a report supports some of them, most probably the true ones.

    People have one answer of `Categories`, or a set of the items of `Several`.
    """

    domain: Domain
    kernel: SupportKernel

    @property
    def quantities(self) -> tuple[str, ...]:
        sets = ("sizes",) if self.domain.sets else ()
        return ("frequencies", *sets, *(("response rate",) if self.categories.optional else ()))

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        return self.kernel.draw(self.domain.check(values), source, threads=threads)

    @property
    def categories(self) -> Categories:
        """The public list of answers, or of items."""
        if self.domain.listed is None:
            raise InvalidParameter(
                f"expected a domain with a list of labels for {self.name}, got {self.domain}"
            )
        return self.domain.listed

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
        """The difference p − q (the divisor of estimates), computed without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        check_frequency(frequency)
        return float(self.kernel.variance(frequency))

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        return self.kernel.supports(counts, len(self.categories))

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        """Return the exact probability of every report for the category x, from the sampled integers.

        For rows of bits, row r has the bits of the binary number r. For hashed reports they are the
        probabilities of the buckets, given the public `seed` of the report. For sets of items they belong to
        all sets of elements that can be reported, in lexicographic order.
        """
        value = self.domain.check([x])[0]
        return self.kernel.probabilities(value if value.ndim else int(value), **given)


@dataclass(frozen=True, eq=False, repr=False)
class QueryQuestion(Question):
    """A question whose reports answer several linear queries about the shares of its inputs."""

    kernel: RowKernel
    book: LinearReading

    @property
    def quantities(self) -> tuple[str, ...]:
        if self.kernel.kind == "splines":
            return ("moments", "answers")
        if self.book.shares:
            return ("frequencies", "answers")
        return ("answers",) if self.book.edges is None else ("cumulative shares", "quantile", "answers")

    @property
    def reading(self) -> LinearReading:
        """The unbiased contribution of each report to each answer, from the sampled integers."""
        return self.book

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the share of an input of this frequency.

        It is the average over the inputs, if the others are equally frequent.
        """
        check_frequency(frequency)
        table, channel = self.reading.table, self.reading.channel
        noise = table**2 @ channel.T - self.matrix**2  # rows: queries; columns: inputs
        own = float(np.trace(noise)) / len(noise)
        others = (float(noise.sum()) / len(noise) - own) / max(len(noise) - 1, 1)
        return frequency * own + (1.0 - frequency) * others

    @property
    def matrix(self) -> Floats:
        """The queries, one row each: the contribution of every input."""
        return self.reading.queries

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        inputs = numbers(values) if isinstance(self.kernel, LineKernel) else self.domain.check(values)
        return self.kernel.draw(inputs, source, threads=threads)

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        return self.kernel.probabilities(self.domain.check([x])[0])


def check_frequency(frequency: float) -> None:
    """Raise InvalidParameter unless a frequency is a number from 0 to 1."""
    if not 0.0 <= frequency <= 1.0:
        raise InvalidParameter(f"frequency must be from 0 to 1, not {found(frequency)}")


def ask(domain: Any, kernel: Kernel, book: Any = None, *, divided: bool = False, **more: Any) -> Question:
    """Return the question with these integers and this codebook, of the class that its kernel determines."""
    if isinstance(book, LinearReading) and isinstance(kernel, RowKernel):
        return QueryQuestion(domain, kernel, book, **more)
    if isinstance(kernel, OptionalKernel):
        return OptionalQuestion(domain, kernel, book, **more)
    if isinstance(kernel, LineKernel):
        return NumberQuestion(domain, kernel, book, **more)
    if isinstance(kernel, SupportKernel):
        return CategoryQuestion(domain, kernel, book, **more)
    from dither.core.kernels.places.place import PlaceKernel
    from dither.core.question.paths import PathQuestion  # imported only for places

    if isinstance(kernel, PlaceKernel):
        return PathQuestion(domain, kernel, book, divided=divided, **more)
    return PlainQuestion(domain, kernel, book, **more)


def read_question(
    device: Mapping[str, Any], codebook: object, name: str, parameters: Mapping[str, Any]
) -> Question:
    """Return the question of a device text's data and a codebook; raise MalformedReport for other data."""
    if not name.isidentifier() or len(name) > _MOST_NAME:
        raise MalformedReport(f"expected the name of a mechanism, got {found(name)}")
    divided = device["draw"] == DIVIDED
    domain = read_domain(device["domain"])
    kernel = read_kernel(device["one"] if divided else device, domain)
    book = kernel.read_codebook(codebook, parameters)
    if "epsilon" in parameters:
        epsilon = check_shared(parameters["epsilon"]) if divided else check_epsilon(parameters["epsilon"])
    else:  # correlated coins are stated by p and ρ
        epsilon = Guarantee(kernel.promise(math.inf, parameters).bound).epsilon
    return ask(domain, kernel, book, divided=divided, epsilon=epsilon, name=name, parameters=dict(parameters))
