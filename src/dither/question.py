"""Questions: integers, a codebook, a domain and a budget. A question travels, draws, counts, decodes, promises.

A design (`Podium`, `OLH`, …) is a paper's formula, from which integers follow; it has a question. A question
that is read from a text needs no design: everything here is computed from the kernel and the codebook.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final, final

import numpy as np

from dither import registry
from dither.arrays import Array, Floats, Integers
from dither.device_text import canonical, digest
from dither.domains import Categories, Domain, Line, Paths, Plane, finite, numbers, read_domain
from dither.domains.separate import SeparateValues, separate_paths, separate_values
from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch, found
from dither.kernels.codes import SupportKernel
from dither.kernels.counting import Counting
from dither.kernels.kernel import Kernel, Promise, read_kernel
from dither.kernels.line import LineKernel, UnbiasedReading
from dither.kernels.places.pair import PairKernel, terms_of_part
from dither.kernels.places.place import PlaceKernel, PlaceLikelihood, Separable, check_begun
from dither.kernels.table.reading import LinearReading
from dither.kernels.transition import Operator
from dither.kernels.window.codebook import IDENTITY
from dither.kernels.window.decoder import Decoder, decoder
from dither.kernels.window.kernel import SlidingKernel
from dither.parameters import read, read_parameters
from dither.post_processing import PostProcessing
from dither.privacy import Guarantee, Nothing, Pure, Unit
from dither.privacy.combinator import Combinator
from dither.privacy.guarantee import PUBLIC_LENGTH
from dither.privacy.split import share
from dither.randomness import SYSTEM, Source
from dither.reports import Reports

LEAST_EPSILON, MOST_EPSILON = 1e-6, 50.0
_MOST_SHARED: Final = 1e6  # the largest budget for a whole trajectory
_DIVIDED: Final = "divided"  # the draw of a budget for a whole trajectory
_MOST_NAME: Final = 80  # characters of the name of a design


class Answering(ABC):
    """The interface of questions, and of combinators of questions and designs."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of a person who answers once."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to answer, as JSON-compatible data: see docs/wire.md."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""

    @property
    def plain(self) -> Any:
        """The question or design that draws one answer: this one, or the one that it wraps."""
        return self

    @property
    def blanket(self) -> Fraction | None:
        """The mass of a measure below the law of a report under every value; None where it is not known."""
        return None

    @final
    @cached_property
    def device_text(self) -> str:
        """What a device needs in order to answer, as canonical JSON."""
        return canonical(self.device())

    @final
    @cached_property
    def fingerprint(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the device text.

        Questions with equal fingerprints have reports of equal distribution. The decoding and the names of
        designs are not part of it.
        """
        return digest(self.device_text)


@dataclass(frozen=True, eq=False, repr=False)
class Question(Answering):
    """What is asked: a domain, the integers that devices sample from, a codebook and a budget ε.

    `name` and `parameters` are those of its design, as JSON-compatible data; `design()` makes it again. The
    promise is computed from the integers. A question whose promise exceeds its ε does not exist.
    """

    domain: Any
    kernel: Any
    book: Any = None  # the codebook as `kernel.read_codebook` returns it; None if there is none
    _: KW_ONLY
    epsilon: float
    name: str
    parameters: Mapping[str, Any]
    made_by: Any = field(default=None)  # the design, if it is at hand

    def __post_init__(self) -> None:
        if not self.kernel.fits(self.domain):
            raise InvalidParameter(f"the kernel of {self.name} is not one for {self.domain}")
        if self.made_by is None:  # a design chooses integers that ε allows
            self.certify()

    @final
    def certify(self) -> None:
        """Raise InvalidParameter if the integers spend more than ε and what else is stated."""
        shared = self.unit is Unit.TRAJECTORY  # the integers are then those of a path of one location
        self.kernel.certify(min(self.epsilon, MOST_EPSILON) if shared else self.epsilon, self.parameters)

    # --- the promise

    @cached_property
    def promise(self) -> Promise:
        """The bound computed from the integers, how, and what it assumes."""
        promise: Promise = self.kernel.promise(self.epsilon, self.parameters)
        return promise

    @final
    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return Guarantee(self.promise.bound, self.unit, self.assumes)

    @property
    def assumes(self) -> tuple[str, ...]:
        """The assumptions of the guarantee. Without any it holds against anybody."""
        return self.promise.assumes

    @property
    def unit(self) -> Unit:
        """The unit that the guarantee protects."""
        return Unit.LOCATION if isinstance(self.domain, Plane) else Unit.VALUE

    @final
    @property
    def alone(self) -> bool:
        """Whether the reports of different people are independent."""
        alone: bool = self.kernel.alone
        return alone

    @property
    def blanket(self) -> Fraction | None:
        blanket: Fraction | None = self.kernel.blanket
        return blanket

    # --- what travels

    def device(self) -> dict[str, Any]:
        return {
            **self.kernel.device(),
            "domain": self.domain.device(),
            "outside": self.domain.outside,
        }

    @final
    def codebook(self) -> Any:
        """Return the codebook as JSON-compatible data; None if there is none, as for labels."""
        return self.kernel.write_codebook(self.book)

    @final
    def design(self) -> Any:
        """Return the design of this question, made again from its name and its parameters.

        Raise InvalidParameter if the name is not known, and Mismatch if its integers are not these.
        """
        if self.made_by is not None:
            return self.made_by
        made = self._made({})
        if made.question.device_text != self.device_text:
            raise Mismatch(
                f"{self.name} with these parameters has other integers than this question, which was designed "
                "by another version of dither or by hand"
            )
        return made

    def _made(self, more: Mapping[str, Any]) -> Any:
        """Return the design with these parameters, of which some are replaced; they are untrusted input."""
        kind: Any = registry.design(self.name)
        try:
            return kind(self.domain, **{**read_parameters(kind, self.parameters), **more})
        except DitherError:
            raise
        except Exception as error:
            raise MalformedReport(f"the design cannot be made ({type(error).__name__})") from None

    def at(self, epsilon: float) -> Question:
        """Return the question of the same design with another ε; its integers are computed anew."""
        made = self._made({"epsilon": epsilon}) if self.made_by is None else self.made_by.at(epsilon)
        question: Question = made.question
        return question

    def __reduce__(self) -> tuple[Any, ...]:
        if self.made_by is not None:
            return getattr, (self.made_by, "question")
        return _rebuilt, (type(self), {item.name: getattr(self, item.name) for item in fields(self)})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Question):
            return NotImplemented
        return self is other or (
            self.device_text == other.device_text
            and self.domain == other.domain
            and self.codebook() == other.codebook()
            and (self.name, self.parameters) == (other.name, other.parameters)
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    # --- reports

    @final
    @property
    def outcomes(self) -> int:
        """The number of different reports."""
        outcomes: int = self.kernel.outcomes
        return outcomes

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of one report: an integer, or a row of integers."""
        layout: np.dtype[Any] = self.kernel.layout
        return layout

    @final
    @property
    def report_bytes(self) -> int:
        """The size of one report, in bytes."""
        return self.layout.itemsize

    @final
    @cached_property
    def counting(self) -> Counting:
        """How reports are counted into a summary."""
        counting: Counting = self.kernel.counting(self.domain)
        return counting

    @property
    def parts(self) -> tuple[Question, ...]:
        """The two questions of a pair of numbers, each with its share of ε; none for other questions."""
        if not isinstance(self.kernel, PairKernel):
            return ()
        budgets = self.kernel.shares(self.epsilon, self.parameters, self.book)
        return tuple(
            NumberQuestion(
                part.line,
                part,
                self.book.parts[axis],
                epsilon=budgets[axis],
                name=f"part {axis + 1} of {self.name}",
                parameters=terms_of_part(self.parameters, axis),
            )
            for axis, part in enumerate(self.kernel.parts)
        )

    @abstractmethod
    def _draw(self, values: object, source: Source, threads: int) -> Array:
        """Check the values and draw their reports."""

    def _valid(self, raw: Array) -> Array:
        checked: Array = self.kernel.check(raw)
        return checked

    @final
    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return the randomised reports of values, as a device does. The values are not kept.

        Values outside the domain raise `OutsideDomain`. `source` is for tests; `threads` speeds up large
        arrays.
        """
        randomness = check_source(source)
        try:
            return Reports(self, self._draw(values, randomness, check_threads(threads)))
        finally:
            randomness.erase()

    @final
    def reports(self, raw: object) -> Reports:
        """Return raw integers as reports; raise MalformedReport if no device could have sent them."""
        if isinstance(raw, Reports):
            return raw.read_by(self)
        if isinstance(raw, np.ma.MaskedArray):
            raise MalformedReport("masked arrays are not accepted; leave missing reports out")
        try:
            array = np.asarray(raw)
        except (TypeError, ValueError):
            raise MalformedReport("reports must form a regular array of whole numbers") from None
        if array.dtype.kind not in "iu":
            if array.size:
                raise MalformedReport(f"reports must be whole numbers, not {array.dtype.name}")
            array = array.astype(np.uint8)
        return Reports(self, self._valid(array))

    def decode(self, cells: Array) -> Array:
        """Return the decoded reports, as an array of numbers, labels or places."""
        decoded: Array = self.kernel.decode(cells, self.domain, self.book)
        return decoded

    def separate(self, values: object) -> SeparateValues:
        """Return the values one by one, each of which has its own report or reports."""
        return separate_values(self.domain, values)

    @abstractmethod
    def probabilities(self, x: Any, **given: Any) -> Any:
        """Return the exact probability of every report for the value x, from the sampled integers."""

    # --- words

    @final
    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""
        size = f"{self.report_bytes} byte" + ("" if self.report_bytes == 1 else "s")
        return (
            f"{self.name} on {self.domain} with ε = {self.epsilon:g}. {self._summary()}"
            f"Promise: {self.guarantee}. A report is {size}."
        )

    def _summary(self) -> str:
        """Return the first sentence about the design; nothing if the design is not known."""
        try:
            kind = type(self.made_by) if self.made_by is not None else registry.design(self.name)
        except InvalidParameter:
            return ""
        return (kind.__doc__ or "").strip().splitlines()[0].rstrip(".") + ". "

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name} on {self.domain}, ε = {self.epsilon:g})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlainQuestion(Question):
    """A question about texts, rows of attributes, or places from a centre: no more than questions share."""

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        drawn: Array = self.kernel.draw(
            self.kernel.inputs(self.domain.check(values)), source, threads=threads
        )
        return drawn

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        listed: list[Fraction] = self.kernel.probabilities(
            self.kernel.inputs(self.domain.check([x]))[0], **given
        )
        return listed


@final
@dataclass(frozen=True, eq=False, repr=False)
class NumberQuestion(Question):
    """A question about one number, on an interval or a circle."""

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        line: Line = self.domain
        return line

    @property
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""
        book: Decoder = self.book
        return book

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        drawn: Array = self.kernel.draw(numbers(values), source, threads=threads)  # checks the domain
        return drawn

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        listed: list[Fraction] = self.kernel.probabilities(x)
        return listed

    def chances(self, x: float) -> Floats:
        """Return the probability of every report for the input x, in floats."""
        chances: Floats = self.kernel.chances(x)
        return chances

    def likelihood(self, inputs: Floats, rows: int) -> Operator:
        """Return P(report | input) as an operator, with reports grouped into about `rows` rows."""
        operator: Operator = self.kernel.likelihood(inputs, rows)
        return operator

    def decoded(self) -> Floats:
        """Return the decoded number of each counted report; for a group of cells, that of its middle."""
        cells = self.kernel.middles() if self.kernel.rest else np.arange(self.outcomes)
        return np.asarray(self.decode(cells), dtype=np.float64)

    @cached_property
    def _reading(self) -> UnbiasedReading | None:
        reading: UnbiasedReading | None = self.kernel.unbiased_reading(self.book)
        return reading

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the reports whose mean is the value; None if there are none."""
        return self._reading

    @property
    def window_share(self) -> float:
        """The share of all reports that the window of one input covers; 1 if there is no window."""
        share: float = self.kernel.window_share
        return share

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


@final
@dataclass(frozen=True, eq=False, repr=False)
class CategoryQuestion(Question):
    """A question with a list of answers; a report supports some of them, most probably the true one."""

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        drawn: Array = self.kernel.draw(self.domain.check(values), source, threads=threads)
        return drawn

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
        categories: Categories = self.domain
        return categories

    @property
    def one_category(self) -> bool:
        """Whether a report is one category, independent of other people's."""
        return bool(self.kernel.one_category) and self.alone

    @cached_property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""
        rates: tuple[Fraction, Fraction] = self.kernel.rates
        return rates

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
        shared: tuple[float, float, float] = self.kernel.shared(n)
        return shared

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        supports: Integers = self.kernel.supports(counts, len(self.categories))
        return supports

    def probabilities(self, x: Hashable, **given: Any) -> list[Fraction]:
        """Return the exact probability of every report for the category x, from the sampled integers.

        For rows of bits, row r has the bits of the binary number r. For hashed reports they are those of the
        buckets, given the public `seed` of the report.
        """
        listed: list[Fraction] = self.kernel.probabilities(int(self.categories.check([x])[0]), **given)
        return listed


@final
@dataclass(frozen=True, eq=False, repr=False)
class QueryQuestion(Question):
    """A question whose reports answer several linear queries about the shares of its inputs."""

    @property
    def reading(self) -> LinearReading:
        """The unbiased contribution of each report to each answer, from the sampled integers."""
        reading: LinearReading = self.book
        return reading

    @property
    def matrix(self) -> Floats:
        """The queries, one row each: the contribution of every input."""
        return self.reading.queries

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        inputs = numbers(values) if isinstance(self.kernel, LineKernel) else self.domain.check(values)
        drawn: Array = self.kernel.draw(inputs, source, threads=threads)
        return drawn

    def probabilities(self, x: Any, **given: Any) -> list[Fraction]:
        listed: list[Fraction] = self.kernel.probabilities(self.domain.check([x])[0])
        return listed


@final
@dataclass(frozen=True, eq=False, repr=False)
class PathQuestion(Question):
    """A question about places, asked at each location of a path.

    A report is a few integers for each location. The first of them is 1 where a path begins and 0 elsewhere:
    the lengths of paths are public. If ε is for a whole trajectory (`divided`), its locations have equal
    shares, and the integers of a path of each length are those that the design has for that share.
    """

    _: KW_ONLY
    divided: bool = False

    @property
    def area(self) -> Plane:
        """The domain of the places."""
        area: Plane = self.domain
        return area

    @property
    def unit(self) -> Unit:
        return Unit.TRAJECTORY if self.divided else Unit.LOCATION

    @cached_property
    def reading(self) -> PostProcessing | None:
        """The post-processing of the decoded places."""
        stated = self.parameters.get("reading")
        if isinstance(stated, InvalidParameter):
            raise stated
        reading = read(stated)
        if reading is not None and not isinstance(reading, PostProcessing):
            raise MalformedReport("the reading of places is a post-processing such as dt.Rounded")
        return reading

    @cached_property
    def promise(self) -> Promise:
        if not self.divided:
            promise: Promise = self.kernel.promise(self.epsilon, self.parameters)
            return promise
        one: Promise = self.kernel.promise(min(self.epsilon, MOST_EPSILON), self.parameters)
        assumes = (*one.assumes, PUBLIC_LENGTH)
        if isinstance(one.bound, Nothing):
            return Promise(one.bound, one.evidence, assumes, kept=False)
        if not one.kept:
            reason = Nothing("what a trajectory spends is not bounded by its budget")
            return Promise(reason, one.evidence, assumes, kept=False)
        # For every length n there are n kernels, each certified for ε/n: see `per_location`.
        how = f"n kernels for ε/n each, checked for each length n; for n = 1: {one.evidence}"
        return Promise(Pure(self.epsilon), how, assumes)

    @property
    def columns(self) -> int:
        """The number of integers of a location, without the mark of a beginning."""
        columns: int = self.kernel.columns
        return columns

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of the report of one location, with the mark of a beginning."""
        return np.dtype((self.kernel.layout.base, (1 + self.columns,)))

    def device(self) -> dict[str, Any]:
        one = super().device()
        if not self.divided:
            return one
        # Only the device knows how many locations share the budget. The integers of all lengths cannot be
        # listed, so the device computes them from ε.
        around = {"domain": one["domain"], "outside": one["outside"]}
        return {"draw": _DIVIDED, "epsilon": self.epsilon, "one": one, **around}

    def per_location(self, length: int) -> PathQuestion:
        """Return the question for each location of a path of this length."""
        return self if not self.divided else _per_location(self, length)

    def split(self, paths: Paths) -> Iterator[tuple[PathQuestion, Paths, slice | Array]]:
        """Yield the questions of one location, each with its paths and the rows of their locations."""
        if not self.divided:
            yield self, paths, slice(None)
            return
        lengths = paths.lengths
        for length in np.unique(lengths):
            begins = paths.offsets[:-1][lengths == length]
            rows = (begins[:, None] + np.arange(length)).reshape(-1)
            part = Paths(paths.points[rows], np.arange(0, rows.size + 1, length, dtype=np.int64))
            yield self.per_location(int(length)), part, rows

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        paths = Paths.of(values)
        self.area.check(paths.points)
        cells = np.empty((len(paths.points), 1 + self.columns), dtype=self.kernel.layout.base)
        cells[:, 0] = paths.begins
        for question, part, rows in self.split(paths):
            cells[rows, 1:] = question.kernel.draw_paths(part, source, threads)
        return cells.reshape(*_shape(values, paths), 1 + self.columns)

    def separate(self, values: object) -> SeparateValues:
        """Return the paths one by one: a whole path is one value."""
        paths = Paths.of(values)
        self.area.check(paths.points)
        return separate_paths(paths, _shape(values, paths))

    def decode(self, cells: Array) -> Floats:
        """Return the decoded places of reports."""
        flat = np.asarray(cells).reshape(-1, 1 + self.columns)
        check_begun(flat[:, 0])
        places = np.empty((len(flat), 2))
        for question, _, rows in self.split(Paths.begun(places, flat[:, 0] != 0)):
            places[rows] = question.kernel.decode(flat[rows], question.domain, question.book)
        if self.reading is not None:
            places = self.reading(places)
        return places.reshape(*np.shape(cells)[:-1], 2)

    def read(self, reading: PostProcessing | None) -> PathQuestion:
        """Return the same question with another post-processing of places: `read(dt.Rounded(points))`."""
        if reading is not None and not isinstance(reading, PostProcessing):
            raise InvalidParameter(
                f"reading must be dt.Rounded, dt.Snapped, dt.Projected or None, not {found(reading)}"
            )
        if self.made_by is not None:
            made: PathQuestion = replace(self.made_by, reading=reading).question
            return made
        stated = None if reading is None else {"reading": reading.kind, **reading.plain()}
        return replace(self, parameters={**self.parameters, "reading": stated})

    def paths(self, reports: Reports) -> Paths:
        """Return the decoded places of reports, as paths."""
        own = self.reports(reports)
        return Paths.begun(own.values.reshape(-1, 2), own.cells[..., 0].reshape(-1) != 0)

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        """Return the likelihood of reports for cells, an array of a few places for each cell."""
        likelihood: PlaceLikelihood = self.kernel.likelihood_in(cells)
        return likelihood

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        """Return the likelihood on a grid over the domain if the coordinates are independent, else None."""
        separable: Separable | None = None if self.divided else self.kernel.separable(shape)
        return separable

    def probabilities(self, x: Any, *, reference: object = None, **given: Any) -> Any:
        """Return the exact probability of each report for a place.

        Two numbers are a row for each cell of the first. `reference` is the place of the previous report, for
        kernels that use it; by default the first reference.
        """
        place = self.area.check(x)
        parts = getattr(self.kernel, "parts", None)
        if parts is None:
            return self.kernel.probabilities(place)
        seen = None if reference is None else np.asarray(reference, dtype=np.float64)
        first, second = (
            part.probabilities(number)
            for part, number in zip(parts, self.kernel.numbers(place, seen).tolist(), strict=True)
        )
        return [[one * two for two in second] for one in first]

    def _valid(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 1 + self.columns), dtype=self.kernel.layout.base)
        if raw.ndim == 0 or raw.shape[-1] != 1 + self.columns:
            raise MalformedReport(
                f"a report has {1 + self.columns} whole numbers for each location: whether a path begins "
                f"there, and {self.columns} cell{'s' if self.columns > 1 else ''}"
            )
        marks, told = raw[..., 0], raw[..., 1:]
        if marks.min() < 0 or marks.max() > 1:
            raise MalformedReport(
                "the first number of a report must be 1 where a path begins, and 0 elsewhere"
            )
        self.kernel.check(told if self.kernel.layout.shape else told[..., 0])
        check_begun(raw.reshape(-1, 1 + self.columns)[:, 0])
        return raw.astype(self.kernel.layout.base, copy=False)


@lru_cache(maxsize=1024)
def _per_location(question: PathQuestion, length: int) -> PathQuestion:
    """Return the question for one of `length` locations; raise if together they would exceed the budget."""
    own = min(share(question.epsilon, length), MOST_EPSILON)
    try:
        single: PathQuestion = replace(question.design(), epsilon=own, unit=Unit.LOCATION).question
    except InvalidParameter:
        raise InvalidParameter(
            f"ε = {question.epsilon:g} is too small for a trajectory of {length} locations"
        ) from None
    check_shares(single, length, question.epsilon)
    return single


def check_shares(single: Question, length: int, epsilon: float) -> None:
    """Raise InvalidParameter unless `length` answers to a question about one location spend at most ε."""
    bound = single.promise.bound
    if not single.promise.kept:
        return
    if not isinstance(bound, Pure):
        raise InvalidParameter(
            "the budget of a trajectory can only be divided among mechanisms with a pure ε"
        )
    if Fraction(bound.epsilon) * length > Fraction(epsilon):
        raise InvalidParameter(f"{length} locations together would exceed ε = {epsilon:g}")


def _shape(values: object, paths: Paths) -> tuple[int, ...]:
    """Return the shape of the reports, without the axis of the numbers of a location."""
    return np.shape(values)[:-1] if isinstance(values, np.ndarray) else (len(paths.points),)


def ask(domain: Domain, kernel: Kernel, book: Any = None, *, divided: bool = False, **more: Any) -> Question:
    """Return the question with these integers and this codebook, of the class that its kernel determines."""
    if isinstance(kernel, PlaceKernel):
        return PathQuestion(domain, kernel, book, divided=divided, **more)
    if isinstance(book, LinearReading):
        return QueryQuestion(domain, kernel, book, **more)
    if isinstance(kernel, LineKernel):
        return NumberQuestion(domain, kernel, book, **more)
    if isinstance(kernel, SupportKernel):
        return CategoryQuestion(domain, kernel, book, **more)
    return PlainQuestion(domain, kernel, book, **more)


def _rebuilt(kind: type[Question], given: dict[str, Any]) -> Question:
    return kind(**given)


def read_question(device: Mapping[str, Any], codebook: Any, name: str, parameters: Mapping[str, Any]) -> Question:
    """Return the question of a device text's data and a codebook; raise MalformedReport if there is none."""
    if not name.isidentifier() or len(name) > _MOST_NAME:
        raise MalformedReport(f"{found(name)} is not the name of a design")
    divided = device["draw"] == _DIVIDED
    domain = read_domain(device["domain"])
    kernel = read_kernel(device["one"] if divided else device, domain)
    book = kernel.read_codebook(codebook, parameters)
    if "epsilon" in parameters:
        epsilon = check_shared(parameters["epsilon"]) if divided else check_epsilon(parameters["epsilon"])
    else:  # of correlated coins, which are stated by p and ρ
        epsilon = Guarantee(kernel.promise(math.inf, parameters).bound).epsilon
    return ask(
        domain, kernel, book, divided=divided, epsilon=epsilon, name=name, parameters=dict(parameters)
    )


def as_question(asked: object) -> Question:
    """Return a question, or the question of a design; raise InvalidParameter for anything else."""
    question = asked if isinstance(asked, Question) else getattr(asked, "question", None)
    if not isinstance(question, Question) or isinstance(asked, Combinator):
        raise InvalidParameter(
            f"a question or a mechanism such as dt.Podium(…) was expected, not {type(asked).__name__}"
        )
    return question


def can_answer(asked: object) -> bool:
    """Return whether this is a question, a design, or a combinator of them."""
    return isinstance(asked, Answering) or isinstance(getattr(asked, "question", None), Question)


def check_epsilon(epsilon: object) -> float:
    """Return ε as a float; raise InvalidParameter unless it is a number in the supported range."""
    number = isinstance(epsilon, int | float | Fraction | np.integer | np.floating)
    if isinstance(epsilon, bool) or not number:
        raise InvalidParameter(f"epsilon must be a number, not {found(epsilon)}")
    budget = float(epsilon)  # type: ignore[arg-type]
    if not math.isfinite(budget) or budget <= 0:
        raise InvalidParameter(f"epsilon must be positive and finite, not {found(epsilon)}")
    if not LEAST_EPSILON <= budget <= MOST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be from {LEAST_EPSILON:g} to {MOST_EPSILON:g}, not {found(epsilon)}: "
            "a smaller one leaves no information in reports, a larger one gives no privacy"
        )
    return budget


def check_shared(epsilon: object) -> float:
    """Return the ε of a whole trajectory; raise InvalidParameter unless it is in the supported range."""
    budget = finite("epsilon", epsilon)
    if not 0.0 < budget <= _MOST_SHARED:
        raise InvalidParameter(
            f"epsilon of a trajectory must be positive and at most {_MOST_SHARED:g}, not {budget:g}"
        )
    return budget


def check_source(source: Source | None) -> Source:
    """Return the source of randomness: the system's if None is given."""
    if source is None:
        return SYSTEM
    if not isinstance(source, Source):
        raise InvalidParameter(f"source must be a Source such as dt.Seeded(7), or None, not {found(source)}")
    return source


def check_threads(threads: object) -> int:
    """Return the number of threads; raise InvalidParameter unless it is a whole number from 1 upwards."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidParameter(f"threads must be a whole number from 1 upwards, not {found(threads)}")
    return threads
