"""The base class of combinators for several attributes of a person."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

from dither.arrays import Array
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, unknown_name
from dither.mechanisms.combined.records import Records, columns
from dither.privacy import Guarantee
from dither.privacy.combinator import Combinator
from dither.question import Answering, can_answer, check_source
from dither.randomness import Source
from dither.repetition.kept_change import KeptChange
from dither.repetition.memoised import Memoised
from dither.repetition.once import Once
from dither.reports import Reports

Budgeted = Callable[[float], Any]  # from a budget to a mechanism


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Attributes(Answering, Combinator):
    """Several named attributes of a person, each with its own mechanism."""

    parts: dict[str, Any]

    def __init__(self, parts: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        together = {**(parts or {}), **named}
        if not together:
            raise InvalidParameter("at least one attribute is needed, as in Each(age=..., income=...)")
        for name, part in together.items():
            if not isinstance(name, str) or not can_answer(part):
                raise InvalidParameter(f"the attribute {name!r} needs a mechanism, not {type(part).__name__}")
            if isinstance(part, Attributes):
                raise InvalidParameter(
                    f"the attribute {name!r} is itself several attributes; give its parts their own names"
                )
            if isinstance(part, Once | KeptChange):
                raise InvalidParameter(
                    f"the attribute {name!r} is answered on days of its own; ask it as a question by itself"
                )
        _check_permanent(together)
        object.__setattr__(self, "parts", together)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return NotImplemented
        return type(other) is type(self) and list(other.parts.items()) == list(self.parts.items())

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @final
    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once."""
        return self.promise([part.guarantee for part in self.parts.values()])

    kind: ClassVar[str]  # the name of the draw in a device text
    whole_records: ClassVar[bool]  # whether every attribute is reported

    def device(self) -> dict[str, Any]:
        parts = [[name, part.device()] for name, part in self.parts.items()]
        return {"draw": self.kind, "parts": parts}

    @abstractmethod
    def _answer(self, found: dict[str, Array], source: Source | None, threads: int) -> Records:
        """Draw reports from columns that have been checked."""

    @abstractmethod
    def _counted(self, parts: dict[str, Reports]) -> int:
        """Return the number of people who sent these reports; raise `MalformedReport` if it is not unique."""

    def perturb(self, data: object, *, source: Source | None = None, threads: int = 1) -> Records:
        """Return the randomised reports of records, as a device does. The values are not kept.

        Columns are found by name (in a dict of arrays, a dataframe, a structured array), or by position in a
        plain array, whose last axis runs over the attributes. Other columns are not read.
        """
        if source is not None:
            check_source(source)
        found = columns(data, {name: part.domain for name, part in self.parts.items()})
        for name, part in self.parts.items():
            try:
                part.domain.check(found[name])
            except OutsideDomain as error:
                raise OutsideDomain(f"{name}: {error}") from None
        return self._answer(found, source, threads)

    def reports(self, raw: Mapping[str, object]) -> Records:
        """Return raw integers by attribute as reports; raise MalformedReport if they are not possible."""
        if not isinstance(raw, Mapping) or set(raw) != set(self.parts):
            raise MalformedReport(
                f"a mapping with exactly these attributes was expected: {', '.join(self.parts)}"
            )
        parts = {name: part.reports(raw[name]) for name, part in self.parts.items()}
        return Records(self, parts, self._counted(parts))

    def describe(self) -> str:
        """Return a description in words: the guarantee, and the mechanism of each attribute."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        lines = [f"{summary}. Promise: {self.guarantee}."]
        lines += [f"{name}: {part.describe()}" for name, part in self.parts.items()]
        return "\n".join(lines)

    def __getitem__(self, name: str) -> Any:
        if name not in self.parts:
            raise unknown_name("attribute", name, self.parts)
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={part!r}" for name, part in self.parts.items())
        return f"{type(self).__name__}({inside})"


def at_budget(name: str, part: object, epsilon: float) -> Any:
    """Return a part with this budget; it is a mechanism, or a function from a budget to a mechanism."""
    rebudget = getattr(part, "at", part)
    made: Any = rebudget(epsilon) if callable(rebudget) else None
    if not can_answer(made):
        raise InvalidParameter(f"the attribute {name!r} needs a mechanism, or a function from ε to one")
    return made


def _check_permanent(parts: Mapping[str, Any]) -> None:
    """Raise InvalidParameter if the permanent answers of two attributes would have the same noise."""
    used: dict[tuple[bytes, str], str] = {}
    for attribute, part in parts.items():
        if isinstance(part, Memoised) and used.setdefault((part.key, part.name), attribute) != attribute:
            raise InvalidParameter(
                f"the attributes {used[part.key, part.name]!r} and {attribute!r} have the same key and name: "
                "equal values would have equal noise; give each Memoised its own name"
            )
