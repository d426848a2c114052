"""The base class of mechanisms: they randomise values on devices and decode reports at the collector."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, final

import numpy as np

from dither.arrays import Array
from dither.device_text import canonical, digest
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.counting import Counting, EachReport
from dither.kernels.kernel import Kernel, read_kernel
from dither.mechanisms.separate import SeparateValues, separate_values
from dither.privacy import Bound, Guarantee, Pure, Unit
from dither.privacy.guarantee import assumed
from dither.randomness import SYSTEM, Source
from dither.reports import Reports

Admits = TypeVar("Admits", bound=Domain)

LEAST_EPSILON, MOST_EPSILON = 1e-6, 50.0
_TRAVELLED: Final = "travelled"


@final
@dataclass(frozen=True)
class Travelled:
    """The parts of a specification that are read and not recomputed: the kernel, and the codebook."""

    kernel: Kernel
    codebook: Any = None  # as `Mechanism.read_codebook` returns it; None if the mechanism computes it


class Answering(ABC):
    """The interface of mechanisms and of combinators of mechanisms."""

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
        """The mechanism that draws one answer: this one, or the one that it wraps."""
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

        Mechanisms with equal fingerprints have reports of equal distribution. The decoding and the names of
        classes are not part of it.
        """
        return digest(self.device_text)


@dataclass(frozen=True)
class Mechanism(Answering, Generic[Admits]):
    """A mechanism on a domain with a budget ε. Devices call `perturb`; the collector decodes the reports.

    `travelled` is set for mechanisms that were read from a specification. They use the integers of the
    specification, which are checked against ε, and do not recompute them.
    """

    domain: Admits
    _: KW_ONLY
    epsilon: float
    travelled: Travelled | None = field(default=None, repr=False, compare=False)

    takes: ClassVar[tuple[type[Domain], ...]]
    alone: ClassVar[bool] = True  # whether the reports of different people are independent

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", self._budget())
        if not isinstance(self.domain, self.takes):
            wanted = " or ".join(kind.__name__ for kind in self.takes)
            raise InvalidParameter(
                f"{type(self).__name__} needs a domain of type {wanted}, not {type(self.domain).__name__}"
            )
        self._build()

    def _budget(self) -> float:
        return check_epsilon(self.epsilon)

    def _build(self) -> None:
        """Compute everything that can fail, so that every mechanism that exists is valid."""
        _ = self.kernel

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """What devices run: integers, and the rule that maps a value to them."""

    @abstractmethod
    def decode(self, cells: Array) -> Array:
        """Return the decoded reports, as an array of numbers or labels."""

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        """Check the values and draw their reports."""
        return self.kernel.draw(self.domain.check(values), source, threads=threads)

    def separate(self, values: object) -> SeparateValues:
        """Return the values one by one, each of which has its own report or reports."""
        return separate_values(self.domain, values)

    def realised(self) -> tuple[Bound, str]:
        """Return the bound computed from the integers that are sampled, and a text that says how."""
        return Pure(self.kernel.epsilon), self.kernel.evidence

    @property
    def blanket(self) -> Fraction | None:
        return self.kernel.blanket

    # --- what travels

    def device(self) -> dict[str, Any]:
        return {
            **self.kernel.device(),
            "domain": self.domain.device(),
            "outside": self.domain.outside,
        }

    def codebook(self) -> Any:
        """Return the codebook as JSON-compatible data; None if there is none, as for labels."""
        return None

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        """Return the codebook that `codebook` wrote; raise MalformedReport if the data describe none."""
        if data is not None:
            raise MalformedReport(f"the codebook of {cls.__name__} must be null")
        return None

    @classmethod
    def rebuilt(
        cls, domain: Domain, parameters: Mapping[str, Any], device: Mapping[str, Any], codebook: Any
    ) -> Self:
        """Return a mechanism with the kernel and the codebook of a specification."""
        kernel = read_kernel(device, domain)
        return cls(domain, **parameters, travelled=Travelled(kernel, cls.read_codebook(codebook)))  # type: ignore[arg-type]

    @final
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the constructor, by name."""
        named = {item.name for item in fields(self) if item.init} - {_TRAVELLED}
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name in named}

    def __reduce__(self) -> tuple[Any, ...]:
        # Derived attributes are computed again; those of a specification are kept.
        return _rebuilt, (type(self), self.parameters(), self.travelled)

    # --- reports

    @property
    def outcomes(self) -> int:
        """The number of different reports."""
        return self.kernel.outcomes

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of one report: an integer, or a row of integers."""
        return self.kernel.layout

    @final
    @property
    def report_bytes(self) -> int:
        """The size of one report, in bytes."""
        return self.layout.itemsize

    @property
    def counting(self) -> Counting:
        """How reports are counted into a summary."""
        return EachReport(self.outcomes)

    @property
    def unit(self) -> Unit:
        """The unit that the guarantee protects."""
        return Unit.VALUE

    @property
    def parts(self) -> tuple[Mechanism[Any], ...]:
        """The mechanisms of which this one consists; none for most."""
        return ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """The assumptions of the guarantee: those of all parts. Without any it holds against anybody."""
        return assumed(part.guarantee for part in self.parts)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return Guarantee(self.realised()[0], self.unit, self.assumes)

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

    def _valid(self, raw: Array) -> Array:
        return self.kernel.check(raw)

    def at(self, epsilon: float) -> Self:
        """Return the same mechanism with another ε."""
        return replace(self, epsilon=epsilon, travelled=None)

    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        size = f"{self.report_bytes} byte" + ("" if self.report_bytes == 1 else "s")
        return (
            f"{type(self).__name__} on {self.domain} with ε = {self.epsilon:g}. {summary}. "
            f"Promise: {self.guarantee}. A report is {size}."
        )


def _rebuilt(kind: type[Mechanism[Any]], parameters: dict[str, Any], travelled: Travelled | None) -> Any:
    return kind(**parameters, travelled=travelled)


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
