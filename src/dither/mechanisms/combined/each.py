"""Each: several attributes of a person, all of them reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from dither.arrays import Array
from dither.domains import finite
from dither.errors import InvalidParameter, MalformedReport
from dither.mechanisms.combined.attributes import Attributes, at_budget
from dither.mechanisms.combined.records import Records
from dither.privacy import Guarantee
from dither.privacy.split import split
from dither.question import check_epsilon
from dither.randomness import Source
from dither.reports import Reports


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Each(Attributes):
    """Every attribute is reported by its own mechanism, independently.

    Promise:   the sum of what the mechanisms spend, for one record.
    Reports:   `records["age"]` are the reports of one attribute; every estimator takes them.
    Use when:  there are few attributes, or budget for all; otherwise `Sampled` is better.

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
        **parts: Any,
    ) -> Each:
        """Divide a budget among attributes, evenly or by weight; parts are mechanisms or functions of ε.

        >>> from dither import Interval, Podium
        >>> age = Podium(Interval(18, 100), epsilon=1)
        >>> both = Each.split(3, weights={"age": 1, "bmi": 2}, age=age, bmi=lambda e: age.at(e))
        >>> [both[name].epsilon for name in both]
        [1.0, 2.0]
        """
        whole = check_epsilon(epsilon)
        if weights is None:
            weights = dict.fromkeys(parts, 1.0)
        if not parts or set(weights) != set(parts):
            raise InvalidParameter(
                f"weights are needed for exactly the attributes {', '.join(parts) or '(none was given)'}"
            )
        shares = split(whole, [finite("a weight", weights[name]) for name in parts])
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
        reports = {
            name: part.perturb(found[name], source=source, threads=threads)
            for name, part in self.parts.items()
        }
        return Records(self, reports, self._counted(reports))

    def _counted(self, parts: dict[str, Reports]) -> int:
        counts = {reports.question.counting.answers(reports.cells) for reports in parts.values()}
        if len(counts) > 1:
            raise MalformedReport(
                f"every person reports every attribute, but the numbers of reports differ: {sorted(counts)}"
            )
        return counts.pop()
