"""The base class of questions, and functions about them that all packages use."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np

from dither.core import registry
from dither.core.combinator import Combinator
from dither.core.domains import finite
from dither.core.domains.separate import SeparateValues, separate_values
from dither.core.kernels.counting import Counting
from dither.core.kernels.kernel import Promise
from dither.core.people import new_people
from dither.core.registry import read_parameters
from dither.core.reports import Reports
from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch, found
from dither.foundation.arrays import Array
from dither.foundation.canonical import canonical, digest
from dither.foundation.randomness import SYSTEM, Source
from dither.privacy import Guarantee, Unit

LEAST_EPSILON, MOST_EPSILON = 1e-6, 50.0
DIVIDED: Final = "divided"  # the draw of a budget for a complete trajectory
_MOST_SHARED: Final = 1e6  # the largest budget for a complete trajectory
_SINGLE: Final = ("numbers", "codes", "labels")  # types of cells that hold one value of one person


VERSION: Final = 2  # version of specifications and of reports as bytes


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
        """The question or design that draws one answer: this one, or the one in a combinator."""
        return self

    @cached_property
    def device_text(self) -> str:
        """What a device needs in order to answer, as canonical JSON."""
        return canonical(self.device())

    @cached_property
    def fingerprint(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the device text.

        Questions with equal fingerprints have reports of equal distribution. The decoding and the names of
        designs are not part of it.
        """
        return digest(self.device_text)


@dataclass(frozen=True, eq=False, repr=False)
class Question(Answering):
    """A question: a domain, the integers that devices sample from, a codebook and a budget ε.

    `name` and `parameters` belong to its design, as JSON-compatible data; `design()` makes it again. The
    promise is computed from the integers. A question whose promise exceeds its ε cannot be made.
    """

    domain: Any
    kernel: Any
    book: Any = None  # the codebook as `kernel.read_codebook` returns it; None without one
    _: KW_ONLY
    epsilon: float
    name: str
    parameters: Mapping[str, Any]
    made_by: Any = field(default=None)  # the design, if it is at hand

    def __post_init__(self) -> None:
        if not self.kernel.fits(self.domain):
            raise InvalidParameter(
                f"expected a kernel for {self.domain}, got a kernel of {self.name} for another domain"
            )
        if self.made_by is None:  # a design chooses integers that ε allows
            self.certify()

    def certify(self) -> None:
        """Raise InvalidParameter if the integers spend more than the stated ε and δ."""
        shared = self.unit == "trajectory"  # The integers are for a path of one location.
        self.kernel.certify(min(self.epsilon, MOST_EPSILON) if shared else self.epsilon, self.parameters)

    @property
    @abstractmethod
    def quantities(self) -> tuple[str, ...]:
        """The names of the quantities that are estimated from counts of reports, the usual one first.

        `QUANTITIES` of `dither.estimation.verbs` has the function that estimates each of them.
        """

    # --- the promise

    @cached_property
    def promise(self) -> Promise:
        """The bound computed from the integers, its derivation and its assumptions."""
        promise: Promise = self.kernel.promise(self.epsilon, self.parameters)
        return promise

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return Guarantee(self.promise.bound, self.unit, self.assumes)

    @property
    def assumes(self) -> tuple[str, ...]:
        """The assumptions of the guarantee. Without assumptions it holds against any attacker."""
        return self.promise.assumes

    @property
    def unit(self) -> Unit:
        """The unit that the guarantee protects."""
        unit: Unit = self.domain.protects
        return unit

    @property
    def alone(self) -> bool:
        """Whether the reports of different people are independent."""
        alone: bool = self.kernel.alone
        return alone

    # --- texts and bytes that travel

    def device(self) -> dict[str, Any]:
        return {
            **self.kernel.device(),
            "domain": self.domain.device(),
            "outside": self.domain.outside,
        }

    def codebook(self) -> Any:
        """Return the codebook as JSON-compatible data; None without a codebook, as for labels."""
        return self.kernel.write_codebook(self.book)

    def design(self) -> Any:
        """Return the design of this question, made again from its name and its parameters.

        Raise InvalidParameter if the name is not known, and Mismatch if its integers are not these.
        """
        if self.made_by is not None:
            return self.made_by
        made = self._remake({})
        if made.question.device_text != self.device_text:
            raise Mismatch(
                f"expected the integers of {self.name} with these parameters, got others, because "
                "this question was made by another version of dither or by hand; make the mechanism "
                "anew, or use the question without it"
            )
        return made

    def _remake(self, more: Mapping[str, Any]) -> Any:
        """Return the design with these parameters, after replacing some; they are untrusted input."""
        kind: Any = registry.class_for(registry.design(self.name), self.kernel.kind)
        if not kind._admits(self.domain):
            raise Mismatch(
                f"expected the distances between places in the specification of {self.name}; make "
                "the mechanism from the distances. Without them the question draws, counts and "
                "estimates"
            )
        try:
            return kind(self.domain, **{**read_parameters(kind, self.parameters), **more})
        except DitherError:
            raise
        except Exception as error:
            raise MalformedReport(
                "expected parameters from which the mechanism can be made, got others "
                f"({type(error).__name__})"
            ) from None

    def at(self, epsilon: float) -> Question:
        """Return the question of the same design with another ε; its integers are computed anew."""
        made = self._remake({"epsilon": epsilon}) if self.made_by is None else self.made_by.at(epsilon)
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

    @property
    def report_bytes(self) -> int:
        """The size of one report, in bytes."""
        return self.layout.itemsize

    @cached_property
    def counting(self) -> Counting:
        """How reports are counted into a summary."""
        counting: Counting = self.kernel.counting(self.domain)
        return counting

    @abstractmethod
    def _draw(self, values: object, source: Source, threads: int) -> Array:
        """Check the values and draw their reports."""

    def _valid(self, raw: Array) -> Array:
        checked: Array = self.kernel.check(raw)
        return checked

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return the randomised reports of values, as a device does. The values are not kept.

        Values outside the domain raise `OutsideDomain`. `source` is for tests; `threads` speeds up large
        arrays.
        """
        if self.domain.cell_type in _SINGLE:
            _check_one_each(values)
        randomness = check_source(source)
        try:
            return _name_people(Reports(self, self._draw(values, randomness, check_threads(threads))))
        finally:
            randomness.erase()

    def reports(self, raw: object) -> Reports:
        """Return raw integers as reports; raise MalformedReport if no device could have sent them."""
        if isinstance(raw, Reports):
            return raw.read_by(self)
        if isinstance(raw, np.ma.MaskedArray):
            raise MalformedReport(
                "expected reports without a mask, got a masked array; leave missing reports out"
            )
        try:
            array = np.asarray(raw)
        except (TypeError, ValueError):
            raise MalformedReport("reports must form a regular array of integers") from None
        if array.dtype.kind not in "iu":
            if array.size:
                raise MalformedReport(f"reports must be integers, not {array.dtype.name}")
            array = array.astype(np.uint8)
        return _name_people(Reports(self, self._valid(array)))

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

    def specification(self) -> dict[str, Any]:
        """Return the specification as JSON-compatible data: device text, codebook, name and parameters."""
        if not self.domain.portable:
            raise InvalidParameter(
                "expected labels that are texts or numbers to write this mechanism as JSON; convert "
                "the labels first"
            )
        for value in self.parameters.values():
            if isinstance(value, InvalidParameter):
                raise value
        return {
            "dither": VERSION,
            "mechanism": self.name,
            "parameters": dict(self.parameters),
            "fingerprint": self.fingerprint,
            "device": self.device_text,
            "codebook": self.codebook(),
        }

    def to_json(self) -> str:
        """Return the specification as JSON for `dt.from_json`.

        >>> from dither import PM, Interval, from_json
        >>> from_json(PM(Interval(0, 1), epsilon=1).to_json()).epsilon
        1.0
        """
        return json.dumps(self.specification(), ensure_ascii=False, allow_nan=False)

    # --- words

    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""
        size = f"{self.report_bytes} byte" + ("" if self.report_bytes == 1 else "s")
        return (
            f"{self.name} on {self.domain} with ε = {self.epsilon:g}. {self._summary()}"
            f"Promise: {self.guarantee}. A report is {size}."
        )

    def _summary(self) -> str:
        """Return the first sentence about the design; empty if the design is not known."""
        try:
            kind = type(self.made_by) if self.made_by is not None else registry.design(self.name)
        except InvalidParameter:
            return ""
        kind = registry.class_for(kind, self.kernel.kind)
        return (kind.__doc__ or "").strip().splitlines()[0].rstrip(".") + ". "

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name} on {self.domain}, ε = {self.epsilon:g})"


def _rebuilt(kind: type[Question], given: dict[str, Any]) -> Question:
    return kind(**given)


class Asks(Protocol):
    """A design that has a question: a mechanism such as `dt.Podium(…)`."""

    @property
    def question(self) -> Question:
        """The question of the design: its domain, integers, codebook and promise."""
        ...


def as_question(target: object) -> Question:
    """Return a question, or the question of a design; raise InvalidParameter for anything else."""
    question = target if isinstance(target, Question) else getattr(target, "question", None)
    if not isinstance(question, Question) or isinstance(target, Combinator):
        raise InvalidParameter(
            f"expected a question or a mechanism such as dt.Podium(…), got {type(target).__name__}"
        )
    return question


def as_answering(target: object) -> Answering:
    """Return a question or a combinator unchanged, or the question of a design."""
    return target if isinstance(target, Answering) else as_question(target)


def plain_of(target: object) -> object:
    """Return the object that draws one answer: a question, a design's question, or a combinator's part."""
    return target.plain if isinstance(target, Answering) else getattr(target, "question", target)


def can_answer(target: object) -> bool:
    """Return whether this is a question, a design, or a combinator of them."""
    return isinstance(target, Answering) or isinstance(getattr(target, "question", None), Question)


def check_epsilon(epsilon: object) -> float:
    """Return ε as a float; raise InvalidParameter unless it is a number in the supported range."""
    number = isinstance(epsilon, int | float | Fraction | np.integer | np.floating)
    if isinstance(epsilon, bool) or not number:
        raise InvalidParameter(f"expected epsilon to be a number, got {found(epsilon)}")
    budget = float(epsilon)  # type: ignore[arg-type]
    if not math.isfinite(budget) or budget <= 0:
        raise InvalidParameter(f"expected epsilon to be positive and finite, got {found(epsilon)}")
    if not LEAST_EPSILON <= budget <= MOST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be from {LEAST_EPSILON:g} to {MOST_EPSILON:g}, not {found(epsilon)}: "
            "a smaller one leaves no information in reports, a larger one gives no privacy"
        )
    return budget


def check_shared(epsilon: object) -> float:
    """Return the ε of a complete trajectory; raise InvalidParameter unless it is in the supported range."""
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
    """Return the number of threads; raise InvalidParameter unless it is an integer from 1 upwards."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidParameter(f"threads must be an integer from 1 upwards, not {found(threads)}")
    return threads


def _check_one_each(values: object) -> None:
    """Raise InvalidParameter if values have two axes: their reports would count as more people."""
    axes = len(getattr(values, "shape", ()))
    if isinstance(values, list | tuple) and values:
        first = values[0]
        nested = isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim > 0)
        axes = 2 if nested else 1
    if axes > 1:
        raise InvalidParameter(
            f"expected one value per person, got {found(values)} with rows and columns; pass one column, "
            'such as frame["age"], or ask several questions with dt.data.perturb(frame, …) or dt.Each'
        )


def _name_people(reports: Reports) -> Reports:
    """Return reports with new people: one for each entry of the first axis."""
    cells = reports.cells
    return replace(reports, people=new_people(len(cells))) if cells.ndim else reports
