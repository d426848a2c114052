"""Several attributes of a person: all of them are reported, or one drawn at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dither.core import registry
from dither.core.combinator import Combinator
from dither.core.domains import Domain, finite
from dither.core.domains.separate import as_array
from dither.core.memoised import Memoised
from dither.core.people import new_people
from dither.core.question import Answering, as_answering, can_answer, check_epsilon, check_source
from dither.core.repetition import KeptChange, Once
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MalformedReport, Mismatch, OutsideDomain, unknown_name
from dither.foundation.arrays import Array
from dither.foundation.randomness import SYSTEM, Keyed, Source
from dither.privacy import Guarantee
from dither.privacy.exact import split

if TYPE_CHECKING:
    from dither.advice.explain import Explanation


@dataclass(frozen=True, eq=False)
class Records(Mapping[str, Reports]):
    """The reports of `n` people about several attributes: `records["age"]` are the `Reports` on ages.

    If each person reported only one attribute, `chosen` contains its index for each person, and the reports
    of an attribute come from the people who drew it, in order.
    """

    question: Attributes
    parts: dict[str, Reports]
    n: int
    chosen: Array | None = None

    @staticmethod
    def concatenate(parts: list[Records]) -> Records:
        """Return the records of several groups of people as one."""
        if not parts:
            raise InvalidParameter("expected at least one part of records to concatenate, got an empty list")
        question = parts[0].question
        if any(part.question.fingerprint != question.fingerprint for part in parts):
            raise Mismatch(
                "expected records of one mechanism to concatenate, got several mechanisms; keep them apart"
            )
        joined = {name: Reports.concatenate([part[name] for part in parts]) for name in question.parts}
        drawn = [part.chosen for part in parts if part.chosen is not None]
        chosen = np.concatenate(drawn) if len(drawn) == len(parts) else None
        return Records(question, joined, sum(part.n for part in parts), chosen)

    def __getitem__(self, name: str) -> Reports:
        if name not in self.parts:
            raise unknown_name("attribute", name, self.parts)
        part = self.parts[name]
        return Reports(part.question, part.cells, name, part.people)

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.chosen is not None:
            raise InvalidParameter(
                "expected a mechanism that reports every attribute, but here each person reported one, so "
                "complete records do not exist; use .parts"
            )
        columns = [np.asarray(reports.values) for reports in self.parts.values()]
        if any(column.ndim != columns[0].ndim for column in columns):
            raise InvalidParameter(
                "expected one number for each attribute, got several for one attribute; decode the "
                "attributes one by one"
            )
        return np.stack(columns, axis=-1).astype(dtype) if dtype else np.stack(columns, axis=-1)

    def __repr__(self) -> str:
        return f"Records({self.n} people: {', '.join(self.parts)})"


def _of_one_crowd(parts: dict[str, Reports], n: int, chosen: Array | None = None) -> dict[str, Reports]:
    """Return the reports of attributes as reports of the same n people, each in the rows of its reporters."""
    (everybody,) = new_people(n)
    made: dict[str, Reports] = {}
    for index, (name, part) in enumerate(parts.items()):
        crowd = replace(everybody, part=name)
        if chosen is not None:
            crowd = replace(crowd, rows=np.flatnonzero(chosen == index))
        made[name] = replace(part, people=(crowd,) if part.cells.ndim and crowd.n == len(part.cells) else ())
    return made


def columns(data: object, domains: Mapping[str, Domain]) -> dict[str, Array]:
    """Return one array per attribute, from columns by name or, in a plain array, by position."""
    if isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.dtype.names is None):
        table = np.asarray(data)
        if table.ndim == 0 or table.shape[-1] != len(domains):
            names = ", ".join(domains)
            raise OutsideDomain(
                f"expected an array with one column for each attribute, in this order: {names}"
            )
        found = {name: table[..., index] for index, name in enumerate(domains)}
    else:
        found = {name: _column(data, name, domain) for name, domain in domains.items()}
    if len({array.shape[:1] for array in found.values()}) > 1:
        raise OutsideDomain(
            "expected columns of one length, got different lengths; give every person a value of each "
            "attribute"
        )
    return found


def _column(data: Any, name: str, domain: Domain) -> Array:
    try:
        column = data[name]
    except (KeyError, IndexError, ValueError, TypeError, AttributeError):
        raise OutsideDomain(
            f"expected a column {name!r} in the data, got none; name the columns like the attributes"
        ) from None
    except Exception as error:  # every dataframe library has its own error for a missing column
        if "column" in type(error).__name__.lower():
            raise OutsideDomain(f"expected a column {name!r} in the data, got none") from None
        raise
    return as_array(domain, column)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Attributes(Answering, Combinator):
    """Several named attributes of a person. Each has its own mechanism."""

    parts: dict[str, Any]

    def __init__(self, parts: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        together = {**(parts or {}), **named}
        if not together:
            raise InvalidParameter("expected at least one attribute, as in Each(age=..., income=...)")
        for name, part in together.items():
            if not isinstance(name, str) or not can_answer(part):
                raise InvalidParameter(
                    f"expected a mechanism for the attribute {name!r}, got {type(part).__name__}; pass one "
                    "such as dt.Podium(…)"
                )
            if isinstance(part, Attributes):
                raise InvalidParameter(
                    f"expected one question for the attribute {name!r}, got several attributes; give its "
                    "parts their own names"
                )
            if isinstance(part, Once | KeptChange):
                raise InvalidParameter(
                    f"expected a question for one moment for the attribute {name!r}, got one with its own "
                    "days; ask it as a question by itself"
                )
        _check_permanent(together)
        object.__setattr__(self, "parts", together)

    def explain(self, **options: object) -> Explanation:
        """Explain the questions in plain words, as `dt.Questionnaire.explain` does."""
        explained: Explanation = registry.adviser("explain").explain(self, **options)
        return explained

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return NotImplemented
        return type(other) is type(self) and list(other.parts.items()) == list(self.parts.items())

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once."""
        return self.promise([part.guarantee for part in self.parts.values()])

    @property
    def report_bytes(self) -> int:
        """The size of one person's reports in bytes, without the names of the attributes."""
        sizes = [int(part.report_bytes) for part in self.parts.values()]
        return sum(sizes) if self.whole_records else max(sizes)

    kind: ClassVar[str]  # the name of the draw in a device text
    whole_records: ClassVar[bool]  # True if every attribute is reported

    def device(self) -> dict[str, Any]:
        parts = [[name, as_answering(part).device()] for name, part in self.parts.items()]
        return {"draw": self.kind, "parts": parts}

    @abstractmethod
    def _answer(self, found: dict[str, Array], source: Source | None, threads: int) -> Records:
        """Draw reports from columns that have been checked."""

    @abstractmethod
    def _count_people(self, parts: dict[str, Reports]) -> int:
        """Return the number of people who sent these reports. Raise `MalformedReport` if it is not unique."""

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
        """Return raw integers by attribute as reports.

        Raise MalformedReport if no device could have sent them.
        """
        if not isinstance(raw, Mapping) or set(raw) != set(self.parts):
            raise MalformedReport(
                f"expected a mapping with exactly these attributes: {', '.join(self.parts)}"
            )
        parts = {name: part.reports(raw[name]) for name, part in self.parts.items()}
        people = self._count_people(parts)
        return Records(self, _of_one_crowd(parts, people), people)

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


def at_budget(name: str, part: object, epsilon: float) -> object:
    """Return a part with this budget. A part is a mechanism, or a function from a budget to a mechanism."""
    rebudget = getattr(part, "at", part)
    made: object = rebudget(epsilon) if callable(rebudget) else None
    if not can_answer(made):
        raise InvalidParameter(
            f"expected a mechanism, or a function from ε to one, for the attribute {name!r}"
        )
    return made


def _check_permanent(parts: Mapping[str, Any]) -> None:
    """Raise InvalidParameter if the permanent answers to two attributes would have the same noise."""
    used: dict[tuple[bytes, str], str] = {}
    for attribute, part in parts.items():
        if isinstance(part, Memoised) and used.setdefault((part.key, part.name), attribute) != attribute:
            raise InvalidParameter(
                f"expected different keys or names of the attributes {used[part.key, part.name]!r} and "
                f"{attribute!r}, because equal values would have equal noise; give each Memoised its own name"
            )


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Each(Attributes):
    """Every attribute is reported by its own mechanism, independently.

    Promise:   the sum of the mechanisms' privacy losses, for one record.
    Reports:   `records["age"]` are the reports of one attribute; every estimator takes them.
    Use when:  there are few attributes, or the budget is enough for all; otherwise `Sampled` is better.

    >>> from dither import Interval, Podium
    >>> each = Each(age=Podium(Interval(18, 100), epsilon=1), bmi=Podium(Interval(10, 60), epsilon=0.5))
    >>> each.guarantee
    Guarantee: ε ≤ 1.5 for one record
    >>> each.perturb({"age": [30, 40], "bmi": [21, 25]})["age"]
    Reports(2 of Podium on [18, 100], uint16)
    """

    @staticmethod
    def split(
        epsilon: float,
        *,
        weights: Mapping[str, float] | None = None,
        **parts: object,
    ) -> Each:
        """Divide a budget among attributes, evenly or by weight. Parts are mechanisms or functions of ε.

        >>> from dither import Interval, Podium
        >>> age = Podium(Interval(18, 100), epsilon=1)
        >>> both = Each.split(3, weights={"age": 1, "bmi": 2}, age=age, bmi=lambda e: age.at(e))
        >>> [both[name].epsilon for name in both]
        [1.0, 2.0]
        """
        total = check_epsilon(epsilon)
        if weights is None:
            weights = dict.fromkeys(parts, 1.0)
        if not parts or set(weights) != set(parts):
            raise InvalidParameter(
                f"expected weights for exactly the attributes {', '.join(parts) or '(none was given)'}"
            )
        shares = split(total, [finite("a weight", weights[name]) for name in parts])
        made: dict[tuple[int, float], Any] = {}  # a mechanism that several attributes share is built once
        divided = {}
        for (name, part), budget in zip(parts.items(), shares, strict=True):
            if (id(part), budget) not in made:
                made[id(part), budget] = at_budget(name, part, budget)
            divided[name] = made[id(part), budget]
        return Each(divided)

    def at(self, epsilon: float) -> Each:
        """Return the same mechanisms with another total budget, divided in the same proportions."""
        return Each.split(
            epsilon, weights={name: part.guarantee.epsilon for name, part in self.parts.items()}, **self.parts
        )

    kind: ClassVar[str] = "each"
    whole_records: ClassVar[bool] = True

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the composition of the guarantees."""
        first, *others = inner
        return first.compose(*others).of_record()

    def _answer(self, found: dict[str, Array], source: Source | None, threads: int) -> Records:
        # Independent parts: product_private (proofs/Combine.v).
        reports = {
            name: part.perturb(found[name], source=source, threads=threads)
            for name, part in self.parts.items()
        }
        people = self._count_people(reports)
        return Records(self, _of_one_crowd(reports, people), people)

    def _count_people(self, parts: dict[str, Reports]) -> int:
        counts = {reports.question.counting.answers(reports.cells) for reports in parts.values()}
        if len(counts) > 1:
            raise MalformedReport(
                "expected as many reports of every attribute, got different numbers of them: "
                f"{sorted(counts)}"
            )
        return counts.pop()


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sampled(Attributes):
    """One attribute, drawn at random for each person, is reported with the full budget.

    Promise:   the largest privacy loss of any of the mechanisms, for one record; the draw ignores the values.
    Reports:   `records["age"]` are the reports of those who drew that attribute, a random part of all people,
    so every estimator accepts them; `records.chosen` is the attribute of each person.
    Use when:  there are many attributes: with d attributes errors grow by √d, with a divided budget by about
               d.
    Permanent: if the attributes are memoised, with one key, the choice is also derived from the key: a device
               always reports the same attribute.
    Reference: [Wang19, Sec. IV-B], with one attribute per person.

    >>> from dither import Interval, Podium
    >>> one = Sampled(age=Podium(Interval(18, 100), epsilon=1), bmi=Podium(Interval(10, 60), epsilon=1))
    >>> one.guarantee
    Guarantee: ε ≤ 1 for one record
    >>> records = one.perturb({"age": [30, 40, 50], "bmi": [21, 25, 29]})
    >>> len(records["age"]) + len(records["bmi"])
    3
    """

    def __init__(self, parts: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        super().__init__(parts, **named)
        if len(self._keys) > 1:
            raise InvalidParameter(
                "expected all attributes or none to be memoised with the same key, because repeated random "
                "choices of the attribute would eventually reveal all permanent answers"
            )

    @property
    def _keys(self) -> set[bytes | None]:
        """The set of keys of the attributes. It must have one element: a key, or None."""
        return {part.key if isinstance(part, Memoised) else None for part in self.parts.values()}

    def at(self, epsilon: float) -> Sampled:
        """Return the same mechanisms, each with another budget."""
        return Sampled({name: at_budget(name, part, epsilon) for name, part in self.parts.items()})

    kind: ClassVar[str] = "sampled"
    whole_records: ClassVar[bool] = False

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the largest privacy loss of any of the mechanisms."""
        first, *others = inner
        return first.either(*others).of_record()

    def _answer(self, found: dict[str, Array], source: Source | None, threads: int) -> Records:
        rows = {name: array[None] if array.shape[:1] == () else array for name, array in found.items()}
        people = len(next(iter(rows.values())))
        kind = np.min_scalar_type(len(self.parts) - 1)
        (key,) = self._keys
        if key is not None:
            permanent = Keyed(key, b"sampled 1\0" + self.fingerprint.encode())
            chosen = np.repeat(permanent.integers(len(self.parts), 1), people).astype(kind)
        else:
            draw = SYSTEM if source is None else source
            chosen = draw.integers(len(self.parts), people).astype(kind)
        reports = {
            name: part.perturb(rows[name][chosen == index], source=source, threads=threads)
            for index, (name, part) in enumerate(self.parts.items())
        }
        return Records(self, _of_one_crowd(reports, people, chosen), people, chosen)

    def _count_people(self, parts: dict[str, Reports]) -> int:
        return sum(reports.question.counting.answers(reports.cells) for reports in parts.values())
