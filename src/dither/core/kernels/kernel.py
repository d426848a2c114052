"""The interface of kernels: what a device runs to turn an input into a report.

Mechanisms, estimators, maps, audits and the wire format use only this interface. An input is a result of
`Domain.check`: a number, the code of a category, or two numbers for a place. A report is an integer or a
short row of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from types import UnionType
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from dither.core.domains import Domain, Line
from dither.core.kernels.blocks import FEW, Sampler, in_threads
from dither.core.kernels.counting import Counting, EachReport, LeadingBits
from dither.core.kernels.transition import Dense, Operator
from dither.core.kernels.window.codebook import Decoder
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found
from dither.foundation.arrays import Array, Floats, Indices
from dither.foundation.canonical import Data, Fields, Member, from_domain
from dither.foundation.randomness import Source
from dither.privacy import Bound, Pure
from dither.privacy.exact import exp_below, log_above
from dither.privacy.shuffling import Blanket

MOST_LISTED: Final = 1 << 16  # reports whose exact probabilities are listed

_KINDS: Final[dict[str, type[Kernel]]] = {}
_MODULES: Final = {  # modules of the kernels of device texts, below `dither.core.kernels`
    "window.kernel": ("sliding", "sectors", "response", "mixture", "optional"),
    "lattice.kernel": ("lattice",),
    "channel": ("channel", "table"),
    "splines": ("splines",),
    "sets.bits": ("bits",),
    "sets.subsets": ("subset", "indices"),
    "sets.prefix": ("hashed", "prefix"),
    "sets.projective": ("projective",),
    "sets.hadamard": ("hadamard",),
    "sets.functions": ("questions",),
    "sets.several": ("several",),
    "sets.polynomial": ("polynomial",),
    "places.points": ("points", "grid"),
    "places.two_copies": ("two copies",),
    "places.planar": ("planar", "rings"),
    "places.pair": ("pair", "polar"),
    "places.walk": ("walk",),
    "places.nearest": ("nearest", "listing", "box"),
    "places.routes": ("routes",),
    "directions": ("directions",),
    "joint": ("joint response", "joint bits", "joint hashed"),
}


class Promise(NamedTuple):
    """A bound computed from the integers, a text that says how, and what the bound assumes."""

    bound: Bound
    evidence: str
    assumes: tuple[str, ...] = ()
    kept: bool = True  # False for designs that are reproduced as published and promise no ε


class Kernel(ABC):
    """The integers from which a device samples, and the rule that maps an input to them.

    `stated` contains the parameters of the question's design from its specification, as JSON-compatible
    data. A kernel reads those that its promise or its decoding depend on, such as δ.
    """

    kind: ClassVar[str]  # the name of the draw in a device text
    fields: ClassVar[Fields]  # the other members of a device text
    alone: ClassVar[bool] = True  # True if the reports of different people are independent
    # The quantities that are estimated from counts, for kernels without their own class of question. Without
    # such quantities, `dt.stats.tables`, `dt.heavy_hitters` or `dt.maps.joint` decodes the reports.
    quantities: ClassVar[tuple[str, ...]] = ()
    # A measure that is at most the probabilities under every input, and these relative to it. None if it is
    # not known; shuffled reports then have the bound that holds for every kernel of the same ratio.
    blanket: Blanket | None = None

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def layout(self) -> np.dtype[Any]:
        """The dtype of one report: an integer, or a row of integers."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """The number of different reports."""

    @abstractmethod
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw a report for each input; the shape is the inputs' shape, followed by the layout's.

        Only the distribution of the reports is specified, not the map from random bytes to reports.
        """

    @abstractmethod
    def draw_one(self, value: Any, source: Source) -> Any:
        """Draw the report of one input, in Python integers; it has the same distribution as `draw`.

        docs/wire.md fixes for every kernel the random bytes and the order in which they are used.
        """

    def draw_singly(self, inputs: Iterable[Any], source: Source) -> Array:
        """Draw a row of reports by `draw_one`, one input after the other, as devices do."""
        outputs = [self.draw_one(value, source) for value in inputs]
        reports = np.empty(len(outputs), dtype=self.layout)
        for index, report in enumerate(outputs):
            reports[index] = np.frombuffer(report, dtype=np.uint8) if isinstance(report, bytes) else report
        return reports

    @abstractmethod
    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report for one input."""

    @abstractmethod
    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | input) in floats, element by element after broadcasting."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs, exactly."""

    @property
    @abstractmethod
    def evidence(self) -> str:
        """A text that states how the ratio follows from the integers."""

    @abstractmethod
    def check(self, raw: Array) -> Array:
        """Return raw integers as reports; raise MalformedReport if no device could have sent them."""

    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to draw, as JSON-compatible data, without the domain."""
        return {"draw": self.kind, **self.fields.write(self)}

    @classmethod
    def from_device(cls, device: Data, domain: Domain) -> Self:
        """Return the kernel that `device` describes, on a domain."""
        return cls(**cls.fields.read(device, domain=domain))

    @abstractmethod
    def fits(self, domain: Domain) -> bool:
        """Return whether every value of a domain is an input, and every report is one about the domain."""

    def inputs(self, values: Array) -> Array:
        """Return values, as `Domain.check` returns them, as inputs of `draw`."""
        return values

    @abstractmethod
    def counting(self, domain: Domain) -> Counting:
        """Return how reports about a domain are counted into a summary."""

    @abstractmethod
    def decode(self, reports: Array, domain: Domain, book: Any) -> Array:
        """Return the values that reports represent; `book` is a result of `read_codebook`."""

    @abstractmethod
    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Any:
        """Return the codebook of a specification; raise MalformedReport if the data are not a codebook."""

    @abstractmethod
    def write_codebook(self, book: Any) -> object:
        """Return a codebook as JSON-compatible data; None without a codebook, as for labels."""

    @abstractmethod
    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the bound of one report, computed from the integers."""

    @abstractmethod
    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        """Raise InvalidParameter if the integers spend more than the stated ε."""

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report, ln(ratio), rounded up."""
        return log_above(self.ratio)

    def chances(self, value: Any) -> Floats:
        """Return the probability of every report for one input, in floats."""
        return np.array([float(chance) for chance in self.probabilities(value)])


# Methods that kernels assign by name, so that no class needs many base classes.


def pure_promise(self: Kernel, epsilon: float, stated: Mapping[str, Any]) -> Promise:
    """Return the pure ε of the integers. The stated parameters are not used."""
    return Promise(Pure(self.epsilon), self.evidence)


def pure_certify(self: Kernel, epsilon: float, stated: Mapping[str, Any]) -> None:
    """Raise InvalidParameter if the integers spend more than ε."""
    check_ratio(self, epsilon)


def read_no_codebook(self: Kernel, data: object, stated: Mapping[str, Any]) -> None:
    """Raise MalformedReport if there is a codebook: the kernel itself decodes its reports."""
    check_no_codebook(self, data)


def write_no_codebook(self: Kernel, book: object) -> None:
    """Return None: this kernel has no codebook."""


class CellKernel(Kernel):
    """A kernel whose reports are the integers below `outcomes`."""

    rest: int = 0  # the number of trailing bits of a cell that counts ignore

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype(np.min_scalar_type(self.outcomes - 1))

    def check(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.layout)

    def counting(self, domain: Domain) -> Counting:
        return LeadingBits(self.outcomes, self.rest) if self.rest else EachReport(self.outcomes)


def check_no_codebook(kernel: Kernel, data: object) -> None:
    """Raise MalformedReport if there is a codebook."""
    if data is not None:
        raise MalformedReport(f"expected null as the codebook of a question with the draw {kernel.kind!r}")


def listed_likelihood(
    kernel: Kernel, inputs: Array, rows: int, typical: Sequence[Any] | None = None
) -> Operator:
    """Return P(report | input) as an operator, from the probability of every report.

    If there are more reports than rows, neighbouring reports are grouped into rows of about equal
    probability, on average over a few `typical` inputs.
    """
    if kernel.outcomes > MOST_LISTED:
        raise NotIdentifiable(
            f"expected fewer reports to list their probabilities, got {kernel.outcomes}; choose fewer cells"
        )
    groups = equal_groups(kernel, rows, inputs if typical is None else typical)
    columns = [kernel.chances(value) for value in inputs]
    if groups.size < kernel.outcomes:
        columns = [np.add.reduceat(column, groups) for column in columns]
    return Dense(np.stack(columns, axis=1), groups)


def equal_groups(kernel: Kernel, rows: int, inputs: Iterable[Any]) -> Indices:
    """Return the first report of each of about `rows` groups, about equally likely for these inputs."""
    if rows >= kernel.outcomes:
        return np.arange(kernel.outcomes)
    typical = [kernel.chances(value) for value in inputs]
    below = np.cumsum(sum(typical)) / len(typical)
    return np.unique(np.searchsorted(below, np.arange(rows) / rows, side="right"))


def check_ratio(kernel: Kernel, epsilon: float) -> None:
    """Raise InvalidParameter unless the kernel's exact ratio is at most e^ε; that bound proves ε-LDP."""
    if kernel.ratio > exp_below(Fraction(epsilon)):
        raise InvalidParameter(
            f"expected an ε that integers can represent with this number of cells, got {found(epsilon)}; "
            "choose an ε nearer to 1"
        )


def within(raw: Array, cells: int, dtype: np.dtype[Any]) -> Array:
    """Return raw integers as cells; raise MalformedReport if one is not from 0 to cells − 1."""
    if raw.size and not (int(raw.min()) >= 0 and int(raw.max()) < cells):
        raise MalformedReport(
            f"expected reports to be integers from 0 to {cells - 1}, got another number; pass the "
            "reports of this question"
        )
    return raw.astype(dtype, copy=False)


def read_kernel(device: Mapping[str, Any], domain: Domain) -> Kernel:
    """Return the kernel of a device text's data; raise MalformedReport for other data.

    The modules of the kernels are listed in `_MODULES`, and the one that is needed is imported.
    """
    try:
        kind = _KINDS.get(device["draw"]) or _import_kernel(device["draw"])
        return kind.from_device(device, domain)
    except MalformedReport:
        raise
    except InvalidParameter as error:
        raise MalformedReport(f"expected a valid kernel in the device text: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise MalformedReport("expected a kernel of this mechanism in the device text") from None


def _import_kernel(kind: str) -> type[Kernel]:
    """Return the kernel class of a draw after importing its module; raise KeyError if it is unknown."""
    for module, kinds in _MODULES.items():
        if kind in kinds:
            import_module(f"dither.core.kernels.{module}")
    return _KINDS[kind]


def on(kinds: type | UnionType, needs: str, take: Callable[[Any], object] = lambda domain: domain) -> Member:
    """Return a member: the domain, or `take` of it. The error for domains of other kinds says `needs`."""

    def get(domain: Domain) -> object:
        if not isinstance(domain, kinds):
            raise MalformedReport(needs.format(type(domain).__name__))
        return take(domain)

    return from_domain(get)


A_LINE: Final = on(Line, "expected an interval or a circle for this kernel, got {}")

STRAIGHT: Final = 1e-6  # tolerance, in lengths of the domain, for E[report] being affine in the value


@dataclass(frozen=True, eq=False)
class UnbiasedReading:
    """A number for each counted report; for every input, the mean of the number is the input.

    If only the leading bits of cells are counted, `cut` is the number per unit of the remaining bits, and
    `values` are for the middle of a group, `half` units above its first cell. `bias` is the largest distance
    of the mean from the input. It is not 0, because inputs are rounded to integers before sampling.
    """

    values: Floats
    cut: float = 0.0
    half: float = 0.0
    bias: float = 0.0

    @property
    def slack(self) -> float:
        """The largest distance of a report's number from its group's number; 0 if every cell is counted."""
        return abs(self.cut) * self.half

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest number that a report can represent."""
        return float(self.values.min()) - self.slack, float(self.values.max()) + self.slack

    def total(self, counts: Array, n: int) -> float:
        """Return the sum of the numbers of n reports."""
        rest = self.cut * (float(counts[-1]) - n * self.half) if self.cut else 0.0
        return float((counts[: self.values.size] * self.values).sum()) + rest


class LineKernel(CellKernel):
    """A kernel whose inputs are numbers of an interval or a circle."""

    line: Line
    window_share: float = 1.0  # the share of all reports that the window of one input covers, if there is one

    def fits(self, domain: Domain) -> bool:
        return self.line.has_values_of(domain)

    def middles(self) -> Floats:
        """Return the cell in the middle of each counted group of cells."""
        group = 1 << self.rest
        return np.asarray(np.arange(self.outcomes // group) * float(group) + (group - 1) / 2.0)

    def decode(self, reports: Array, domain: Domain, book: Decoder) -> Floats:
        return book(reports)

    def write_codebook(self, book: Decoder | None) -> object:
        return None if book is None else book.plain()

    @abstractmethod
    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return numbers for the counted reports whose mean is the value; None if that is impossible.

        They are affine in the report, or they are the decoded reports. The mean of their squares is quadratic
        in the value. They do not depend on the codebook, unless the decoded reports themselves are unbiased.
        """

    @abstractmethod
    def sampler(self, size: int) -> Sampler:
        """Return a sampler for blocks of up to `size` values, for one thread."""

    @abstractmethod
    def draw_one(self, value: float, source: Source) -> int: ...

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

        def draw_checked(block: Array, cells: Array, source: Source) -> None:
            if not line.admits(block):
                line.refuse()
            draw(block, cells, source)

        return draw_checked

    def probabilities(self, value: Any) -> list[Fraction]:
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                f"expected at most 2^16 cells to list exact probabilities, got {self.outcomes}; "
                "choose fewer cells"
            )
        checked = self.line.check(value)
        if checked.ndim:
            raise InvalidParameter(
                "expected one input, because exact probabilities are listed for one at a time; pass one value"
            )
        return self._probabilities(float(checked))

    @abstractmethod
    def _probabilities(self, value: float) -> list[Fraction]:
        """Return the exact probability of every cell for a value of the line."""

    @abstractmethod
    def likelihood(self, inputs: Array, rows: int) -> Operator:
        """Return P(report | input) as an operator: columns are inputs, about `rows` rows are reports.

        If there are more reports than rows, neighbouring reports are grouped into rows of about equal
        probability.
        """

    def typical(self) -> list[Any]:
        """Return a few inputs that cover the domain."""
        return list(np.linspace(self.line.low, self.line.high, 9))


def affine_reading(kernel: LineKernel, book: Decoder) -> UnbiasedReading | None:
    """Return a decoding for any kernel: the mean cell, or else the mean decoded report, if it is affine.

    The mean is computed at a few inputs, and the fit is checked there.
    """
    line = kernel.line
    if line.circular:
        return None
    inputs = np.linspace(line.low, line.high, 9)
    chances = np.stack([kernel.chances(float(x)) for x in inputs])
    cells = np.arange(kernel.outcomes)
    for numbers in (cells, np.asarray(book(cells), dtype=np.float64)):
        means = chances @ numbers
        slope = (means[-1] - means[0]) / line.length
        straight = means[0] + slope * (inputs - line.low)
        if np.abs(means - straight).max() < STRAIGHT * abs(slope) * line.length:
            bias = float(np.abs(means - straight).max() / abs(slope))
            return UnbiasedReading(line.low + (numbers - means[0]) / slope, bias=bias)
    return None
