"""Sampled: of several attributes of a person, one is drawn at random and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from dither.arrays import Array
from dither.errors import InvalidParameter
from dither.mechanisms.combined.attributes import Attributes, at_budget
from dither.mechanisms.combined.records import Records
from dither.privacy import Guarantee
from dither.randomness import SYSTEM, Keyed, Source
from dither.repetition.memoised import Memoised
from dither.reports import Reports


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sampled(Attributes):
    """One attribute, drawn at random for each person, is reported with the whole budget.

    Promise:   the most that any of the mechanisms spends, for one record; the draw ignores the values.
    Reports:   `records["age"]` are the reports of those who drew that attribute, a random part of everybody,
               so every estimator accepts them; `records.chosen` is the attribute of each person.
    Use when:  there are many attributes: with d of them errors grow by √d, with a divided budget by about d.
    Permanent: if the attributes are memoised, with one key, the choice is derived from the key too: a device
               always reports the same attribute.
    Reference: [Wang19, Sec. IV-B], with one attribute a person.

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
                "repeated random choices of the attribute would eventually reveal all permanent answers: "
                "memoise every attribute with the same key, or none"
            )

    @property
    def _keys(self) -> set[bytes | None]:
        """The set of keys of the attributes, which must have one element: a key, or None."""
        return {part.key if isinstance(part, Memoised) else None for part in self.parts.values()}

    def at(self, epsilon: float) -> Sampled:
        """Return the same mechanisms, each with another budget."""
        return Sampled({name: at_budget(name, part, epsilon) for name, part in self.parts.items()})

    kind: ClassVar[str] = "sampled"
    whole_records: ClassVar[bool] = False

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the most that any of the mechanisms spends."""
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
            name: part.perturb(rows[name][chosen == place], source=source, threads=threads)
            for place, (name, part) in enumerate(self.parts.items())
        }
        return Records(self, reports, people, chosen)

    def _counted(self, parts: dict[str, Reports]) -> int:
        return sum(reports.question.counting.answers(reports.cells) for reports in parts.values())
