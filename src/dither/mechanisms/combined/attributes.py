"""What asking about several attributes has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, final

from dither.arrays import Array
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.mechanisms.base import Answering, check_source
from dither.mechanisms.combined.combinator import Combinator
from dither.mechanisms.combined.memoised import Memoised
from dither.mechanisms.combined.records import Records, columns
from dither.privacy import Guarantee, Unit
from dither.randomness import Source
from dither.reports import Reports

Budgeted = Callable[[float], Any]  # from a budget to a mechanism


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Attributes(Answering, Combinator):
    """Several named attributes of a person, each with its own mechanism."""

    parts: dict[str, Any]

    def __init__(self, parts: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        together = {**(parts or {}), **named}
        if not together:
            raise InvalidParameter("name at least one attribute, as in Each(age=..., income=...)")
        for name, part in together.items():
            if not isinstance(name, str) or not isinstance(part, Answering):
                raise InvalidParameter(f"the attribute {name!r} needs a mechanism")
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
        """What a person who answers once is promised."""
        return self.promise([part.guarantee for part in self.parts.values()])

    kind: ClassVar[str]  # the name of the draw in a device text
    whole_records: ClassVar[bool]  # whether every attribute is reported

    def device(self) -> dict[str, Any]:
        parts = [[name, part.device()] for name, part in self.parts.items()]
        return {"draw": self.kind, "parts": parts}

    @abstractmethod
    def _answer(self, found: dict[str, Array], source: Source | None, threads: int) -> Records:
        """Draw reports from columns that were checked."""

    @abstractmethod
    def _counted(self, parts: dict[str, Reports]) -> int:
        """Say how many people sent these reports, or raise `MalformedReport`."""

    def perturb(self, data: object, *, source: Source | None = None, threads: int = 1) -> Records:
        """Randomise everybody's record: what happens on a device. Nothing of the values is kept.

        Columns are found by name in whatever has names (a dict of arrays, a dataframe, a structured array),
        by position in a plain array, whose last axis runs over the attributes. Other columns stay unread.
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
        """Read reports that come from outside, by attribute. Refuses what no device could have sent."""
        if not isinstance(raw, Mapping) or set(raw) != set(self.parts):
            raise MalformedReport(f"reports by attribute were expected: {', '.join(self.parts)}")
        parts = {name: part.reports(raw[name]) for name, part in self.parts.items()}
        return Records(self, parts, self._counted(parts))

    def describe(self) -> str:
        """Give a paragraph for people: what is asked, and what is promised."""
        summary = (type(self).__doc__ or "").strip().splitlines()[0].rstrip(".")
        lines = [f"{summary}. Promise: {self.guarantee}."]
        lines += [f"{name}: {part.describe()}" for name, part in self.parts.items()]
        return "\n".join(lines)

    def __getitem__(self, name: str) -> Any:
        if name not in self.parts:
            raise InvalidParameter(f"there is no attribute of this name; there are {', '.join(self.parts)}")
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={part!r}" for name, part in self.parts.items())
        return f"{type(self).__name__}({inside})"


def at_budget(name: str, part: object, epsilon: float) -> Any:
    """Give a part with this budget: a mechanism, or a function from a budget to one."""
    rebudget = getattr(part, "at", part)
    made: Any = rebudget(epsilon) if callable(rebudget) else None
    if not isinstance(made, Answering):
        raise InvalidParameter(f"the attribute {name!r} needs a mechanism, or a function from ε to one")
    return made


def of_records(guarantee: Guarantee) -> Guarantee:
    """Return what holds for a record, given what holds for its values together."""
    return replace(guarantee, unit=Unit.RECORD) if guarantee.unit is Unit.VALUE else guarantee


def _check_permanent(parts: Mapping[str, Answering]) -> None:
    """Raise InvalidParameter if two attributes would share the noise of their permanent answers."""
    used: dict[tuple[bytes, str], str] = {}
    for attribute, part in parts.items():
        if isinstance(part, Memoised) and used.setdefault((part.key, part.name), attribute) != attribute:
            raise InvalidParameter(
                f"the attributes {used[part.key, part.name]!r} and {attribute!r} have one key and one name: "
                "equal values would have equal noise; give each Memoised a name of its own"
            )
