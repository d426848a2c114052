"""What every mechanism is: a public question that randomises values on devices and reads reports back."""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Integers
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport
from dither.privacy import Bound, Guarantee, Unit
from dither.randomness import SYSTEM, Source
from dither.reports import Reports

LEAST_EPSILON, MOST_EPSILON = 1e-6, 50.0


@dataclass(frozen=True)
class Mechanism(ABC):
    """A question with a budget. One object serves both sides: devices perturb, the collector decodes."""

    domain: Domain
    _: KW_ONLY
    epsilon: float

    takes: ClassVar[tuple[type[Domain], ...]]
    decoding_only: ClassVar[frozenset[str]] = frozenset()  # fields that do not change what devices send

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", self._budget())
        if not isinstance(self.domain, self.takes):
            wanted = " or ".join(kind.__name__ for kind in self.takes)
            raise InvalidParameter(
                f"{type(self).__name__} takes a domain of kind {wanted}, not {type(self.domain).__name__}"
            )
        self._build()

    def _budget(self) -> float:
        return check_epsilon(self.epsilon)

    @abstractmethod
    def _build(self) -> None:
        """Make everything that can fail, so that an object that exists is valid."""

    @abstractmethod
    def _draw(self, values: object, source: Source, threads: int) -> Array:
        """Check the values and draw their reports."""

    @abstractmethod
    def decode(self, cells: Array) -> Array:
        """Give what reports stand for, as an array of numbers or labels."""

    @abstractmethod
    def _valid(self, raw: Array) -> Array:
        """Give raw reports in their own dtype, or raise `MalformedReport`."""

    @abstractmethod
    def realised(self) -> tuple[Bound, str]:
        """Recompute the bound from the integers that are sampled, and say how."""

    @abstractmethod
    def wire(self) -> dict[str, Any]:
        """Give the integers that devices sample by and the codebook, as plain data."""

    @classmethod
    def rebuilt(cls, domain: Domain, parameters: Mapping[str, Any], wire: dict[str, Any]) -> Self:
        """Give a mechanism from its parameters and the integers and the codebook that travelled."""
        return cls(domain, **parameters).restored(wire)

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the integers and the codebook that travelled, never recomputed ones."""
        if wire != self.wire():
            raise MalformedReport("the reports were sampled by other integers than this version's")
        return self

    @final
    def _varied(self, codebook: Callable[[Self], Any], **changes: Any) -> Self:
        """Give a copy with other fields; integers that travelled stay, read by the codebook for the copy."""
        copy = replace(self, **changes)
        if "_travelled" not in self.__dict__:
            return copy
        return copy.restored(self.wire() | {"codebook": codebook(copy)})

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different reports there are."""

    @property
    def layout(self) -> np.dtype[Any]:
        """One report as numpy lays it out: an unsigned integer, or a row of them."""
        return np.dtype(np.min_scalar_type(self.outcomes - 1))

    def tally(self, cells: Array) -> Integers:
        """Count reports into a vector that adds across chunks and machines: how often each was sent."""
        return np.bincount(cells.reshape(-1), minlength=self.outcomes)

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is."""
        return self.outcomes

    def adds_up(self, counts: Integers, n: int) -> bool:
        """Say whether n answers can have been counted like this: each once, unless `tally` says otherwise."""
        return int(counts.sum()) == n

    def answers(self, cells: Array) -> int:
        """Say how many answers an array of reports holds: its size, unless one answer is several numbers."""
        return int(cells.size)

    @property
    @abstractmethod
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""

    @property
    def unit(self) -> Unit:
        """What one perturbed value is: what the guarantee protects."""
        return Unit.VALUE

    @cached_property
    def guarantee(self) -> Guarantee:
        """What a person who answers once is promised, computed from the integers that are sampled."""
        return Guarantee(self.realised()[0], self.unit)

    @final
    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Randomise values: what happens on a device. Nothing of the values is kept.

        Values outside the domain raise `OutsideDomain`; nothing is half done. `source` is for tests;
        `threads` speeds up large arrays.
        """
        if source is not None and not isinstance(source, Source):
            raise InvalidParameter("source must be a Source such as dt.Seeded(7), or left out")
        return Reports(self, self._draw(values, SYSTEM if source is None else source, threads))

    @final
    def reports(self, raw: object) -> Reports:
        """Read reports that come from outside: the one way in. Refuses what no device could have sent."""
        if isinstance(raw, Reports):
            return raw.read_by(self)
        if isinstance(raw, np.ma.MaskedArray):
            raise MalformedReport("a masked array was given; leave missing reports out")
        try:
            array = np.asarray(raw)
        except (TypeError, ValueError):
            raise MalformedReport("reports form a regular array of whole numbers") from None
        if array.dtype.kind not in "iu":
            if array.size:
                raise MalformedReport(f"reports are whole numbers, not {array.dtype.name}")
            array = array.astype(np.uint8)
        return Reports(self, self._valid(array))

    def at(self, epsilon: float) -> Self:
        """Give the same mechanism with another budget."""
        return replace(self, epsilon=epsilon)

    @final
    def parameters(self) -> dict[str, Any]:
        """Give what the mechanism was made of, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def __reduce__(self) -> tuple[Any, ...]:
        # What was derived is derived again; what travelled with the mechanism travels on.
        return _rebuilt, (type(self), self.parameters(), self.__dict__.get("_travelled"))

    @final
    @cached_property
    def fingerprint(self) -> str:
        """A short name for what devices do: equal fingerprints, equal laws. Decoding is not part of it."""
        kept = {name: repr(value) for name, value in self.parameters().items()}
        kept["domain"] = self.domain.identity
        for name in self.decoding_only:
            kept.pop(name, None)
        wire = {name: part for name, part in self.wire().items() if name != "codebook"}
        text = json.dumps([type(self).__name__, kept, wire], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def describe(self) -> str:
        """Give a paragraph for people: what is asked, what is promised, what a report is."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        size = f"{self.report_bytes:g} byte" + ("" if self.report_bytes == 1 else "s")
        return (
            f"{type(self).__name__} on {self.domain} with ε = {self.epsilon:g}. {summary}. "
            f"Promise: {self.guarantee}. A report is {size}."
        )


def _rebuilt(
    kind: type[Mechanism], parameters: dict[str, Any], travelled: dict[str, Any] | None
) -> Mechanism:
    made = kind(**parameters)
    return made if travelled is None else made.restored(travelled)


def check_epsilon(epsilon: object) -> float:
    """Give a budget as a float, or say what a budget is."""
    number = isinstance(epsilon, int | float | Fraction | np.integer | np.floating)
    if isinstance(epsilon, bool) or not number:
        raise InvalidParameter(f"epsilon must be a number, not {type(epsilon).__name__}")
    budget = float(epsilon)  # type: ignore[arg-type]
    if not math.isfinite(budget) or budget <= 0:
        raise InvalidParameter("epsilon must be positive and finite: smaller is more private")
    if not LEAST_EPSILON <= budget <= MOST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be between {LEAST_EPSILON:g} and {MOST_EPSILON:g}: below, reports say nothing; "
            "above, they hide nothing"
        )
    return budget
