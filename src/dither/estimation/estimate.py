"""`Estimate`: a value with its standard error and its confidence interval; sums and ratios of estimates.

For estimates of different people, the intervals of sums and ratios are computed from the intervals of the
parts by adding their squared arms (MOVER, [Zou08]; for ratios [Donner12]). The parts' intervals may be
asymmetric. So the interval of a difference of two frequencies keeps its level with few reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Protocol, Self, cast, get_args

import numpy as np

from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import Clipping
from dither.core.people import People, count_people
from dither.errors import InvalidParameter, NotIdentifiable, choose, found, unknown_name
from dither.estimation.intervals import (
    Attackable,
    ConfidenceInterval,
    Divisible,
    LooksInterval,
    LyingInterval,
    RatioInterval,
    ScaledInterval,
    Sequential,
    StudentInterval,
    SumInterval,
    Term,
    WiderInterval,
    as_number,
    check_share,
    is_lower_bound,
    length_of_sum,
    linear_terms,
    p_value,
)
from dither.estimation.rounding import (
    AT_LEAST,
    OF_ANSWERS,
    remark_of,
    show_interval,
    thinned_share,
    thousands,
)
from dither.estimation.same_people import count_of, guarantee_of
from dither.foundation.arrays import Array, Floats
from dither.foundation.markup import element
from dither.foundation.numerics.distributions import check_level, student_t_quantile
from dither.foundation.tables import MOST_ROWS, ResultTable, Row, Tableau, as_html, percent, show_label
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EARLY: Final = 200  # reports; below this, intervals for many looks include the any-time interval


class ValuedInterval(Protocol):
    """A confidence interval about a value with a standard error, such as an average."""

    @property
    def value(self) -> float | Floats:
        """The estimated value."""

    @property
    def error(self) -> float | Floats:
        """Its standard error."""

    @property
    def n(self) -> int:
        """The number of reports."""

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval that covers with probability `level`."""


Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tableau):
    """A value, its standard error, the number of reports, and their guarantee.

    `value` is a number or an array, and `labels` are the names of the array's numbers. An interval
    covers the population's value, so it accounts for sampling and for the noise. `confidence` computes
    it, by default by Student's t. If `error` is None, the standard error follows from the interval.

    >>> from dither.privacy import Pure
    >>> Estimate(43.1234, 0.41, 40_000, Guarantee(Pure(1.0)))
    43.1 ± 0.8 (95 %, n = 40 000)
    """

    value: float | Floats
    error: float | Floats | None
    n: int
    guarantee: Guarantee
    confidence: ConfidenceInterval | None = field(default=None, kw_only=True)
    labels: Sequence[Hashable] = field(default=(), kw_only=True)
    # An object shared by estimates of the same reports, because these are not independent.
    origin: object = field(default=None, kw_only=True)
    # The people who sent the reports, if known. Estimates of two calls may be of the same people.
    people: People = field(default=(), kw_only=True)
    # Each person's influence on the estimate, for differences of estimates of the same people.
    influence: Floats | Callable[[], Floats | None] | None = field(default=None, kw_only=True)
    # Each person's influence on the category of an index, if it is known.
    each: Callable[[int], Floats | None] | None = field(default=None, kw_only=True)
    unit: str = field(default="", kw_only=True)  # printed unit of the value
    remark: str = field(default="", kw_only=True)  # printed after the number of reports
    # The range of the population's value. Printed intervals are cut here, with a mark.
    limits: tuple[float, float] = field(default=(-math.inf, math.inf), kw_only=True)
    about: str = field(default="", kw_only=True)  # the name of the question, if it is known
    # The share of people whose sets of items a device may have thinned; None without such sets.
    thinned: float | None = field(default=None, kw_only=True)
    # The interval to which values were clipped, or None. It is printed with the estimate.
    clipping: Clipping | None = field(default=None, kw_only=True)

    __array_priority__ = 100.0  # numpy's scalars let this class do the arithmetic

    @classmethod
    def of(cls, valued: ValuedInterval, guarantee: Guarantee, **more: Any) -> Self:
        """Return the estimate of an interval with a value, a standard error and a number of reports."""
        interval = cast("ConfidenceInterval", valued)
        return cls(valued.value, valued.error, valued.n, guarantee, confidence=interval, **more)

    @cached_property
    def _confidence(self) -> ConfidenceInterval:
        if self.confidence is not None:
            return self.confidence
        return StudentInterval(self.value, self.standard_error, self.n)

    @cached_property
    def standard_error(self) -> float | Floats:
        """The standard error; if it is not given, from the 95 % interval of a normal estimate."""
        if self.error is not None:
            return self.error
        return float(self.half_width()) / student_t_quantile(0.95)

    @property
    def circular(self) -> bool:
        """Whether the value is a direction."""
        return self._confidence.period > 0.0

    @property
    def resolution(self) -> float:
        """The largest error that remains for any number of reports; 0 if the value is identifiable."""
        return self._confidence.resolution

    @property
    def condition(self) -> str:
        """The condition under which intervals cover, such as " if smooth at 0.03", or an empty text."""
        return self._confidence.condition

    @property
    def lower_bound(self) -> bool:
        """Whether the value is a lower bound, as for an item of sets that devices have to thin."""
        return self.thinned is not None and is_lower_bound(self._confidence)

    @property
    def claimed(self) -> bool:
        """Whether the estimate has an interval; posterior means of projected frequencies do not."""
        return getattr(self._confidence, "claimed", True)

    @property
    def liars(self) -> int:
        """The number of reports that may be lies; 0 except for the result of `if_lying`."""
        return self._confidence.liars if isinstance(self._confidence, LyingInterval) else 0

    @property
    def moved(self) -> tuple[Any, Any]:
        """The largest changes by liars: down (negative), and up."""
        if not isinstance(self._confidence, LyingInterval):
            return 0.0, 0.0
        least, greatest = self._confidence.honest()
        return self.value - greatest, self.value - least

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers the population's value with probability `level`.

        On a circle it runs from its first end to its second in the direction of increasing angles; if it
        contains the end of the period, the second number is the smaller one.
        """
        return self._confidence.interval(check_level(level))

    def half_width(self, level: float = 0.95) -> Any:
        """Return half the width of the interval at `level`."""
        return self._confidence.half_width(check_level(level))

    def covers(self, value: float, level: float = 0.95) -> Any:
        """Return whether the interval at `level` contains a value."""
        return self._confidence.covers(value, check_level(level))

    def p_value(self, null: float = 0.0, *, alternative: Alternative = "two-sided") -> float:
        """Return the p-value of the hypothesis that the population's value is `null`.

        It is one minus the largest level whose interval excludes `null`, and at least 1e-15. With
        `alternative="greater"` the hypothesis is that the value is at most `null`; with "less", that it is at
        least `null`. Intervals have equal tails, so a one-sided p-value is half of the two-sided one if the
        estimate is on the side of the alternative. Choose the alternative before you see the estimate.
        """
        side = choose("alternative", alternative, {name: name for name in get_args(Alternative)})
        if np.ndim(self.value):
            raise InvalidParameter(
                "expected one number for a p-value, got several; take one category, as in (a - b)['yes']"
            )
        both = p_value(self, null)
        if side == "two-sided":
            return both
        if self.circular:
            raise InvalidParameter(
                "expected alternative='two-sided' for a direction, because a direction is not greater or "
                "less than another"
            )
        return both / 2.0 if (float(self) > null) == (side == "greater") else 1.0 - both / 2.0

    def if_lying(self, share: float) -> Estimate:
        """Return the estimate if at most this share of the reports are lies, for means and frequencies.

        A liar sends any report, and may know all others. The value is computed from all reports, and `moved`
        is the largest distance below and above the honest estimate. Intervals cover the value of the
        population that the honest people come from, whatever the liars know and send.
        """
        if not isinstance(self._confidence, Attackable):
            raise NotIdentifiable(
                "expected a mean (linear) or frequencies to bound the effect of lies, got "
                f"{type(self).__name__}; take dt.mean(reports).if_lying(share) or "
                "dt.frequencies(reports).if_lying(share)"
            )
        wide = self._confidence.if_lying(share)
        return self._with(wide, f", if {percent(check_share(share))} lie")

    def at_any_time(self) -> Estimate:
        """Return the estimate with intervals that hold at all numbers of reports at once.

        This is available for means, frequencies and answers of queries. You may look every day and stop at
        any time: with probability `level` no interval of the complete collection misses the population's
        value. It assumes independent people from one population. The number of looks is not fixed.
        """
        if not isinstance(self._confidence, Sequential):
            raise NotIdentifiable(
                "expected a mean (linear) or frequencies for intervals at any time, got "
                f"{type(self).__name__}; use estimate.over_looks(100) for 100 looks together"
            )
        return self._with(self._confidence.at_any_time(), ", at any time")

    def over_looks(self, looks: int) -> Estimate:
        """Return the estimate with intervals that hold together for `looks` looks.

        With fewer than 200 reports, the interval of a mean or a frequency also contains its any-time
        interval.
        """
        wide = LooksInterval.of(self._confidence, looks)
        found: ConfidenceInterval = wide
        if self.n < _EARLY and isinstance(self._confidence, Sequential) and not np.ndim(self.value):
            # At this level, the tails of an average of few reports are not normal.
            with suppress(NotIdentifiable):
                found = WiderInterval(wide, self._confidence.at_any_time())
        return self._with(found, f", {thousands(wide.looks)} looks")

    def for_people(self, people: People) -> Estimate:
        """Return the estimate with its error for people who sent several of the reports, by their rows.

        The squared error is multiplied by Σ(sum of a person's influences)²/Σ influence².
        """
        parts = [self[label] for label in self.labels] if self.labels else [self]
        rows = np.concatenate([np.asarray(crowd.rows) for crowd in people])
        factors = []
        for moved in (part.moved_by for part in parts):
            if moved is None:
                raise NotIdentifiable(
                    "the error of several reports of a person is known for means and frequencies of reports"
                )
            sums = np.bincount(rows, moved)
            factors.append(math.sqrt(float(sums @ sums) / (float(moved @ moved) or 1.0)))
        factor = np.array(factors) if self.labels else factors[0]
        interval = ScaledInterval(self.value, self._confidence, factor, self.condition)
        remark = f", of {thousands(count_people(people))} people"
        return replace(self._with(interval, remark), error=factor * self.standard_error)

    def _with(self, confidence: ConfidenceInterval, remark: str) -> Estimate:
        """Return the same value with another interval."""
        kind = LabelledEstimate if self.labels else Estimate
        return kind(
            self.value,
            self.standard_error,
            self.n,
            self.guarantee,
            confidence=confidence,
            labels=self.labels,
            origin=self.origin,
            people=self.people,
            unit=self.unit,
            remark=self.remark + remark,
            limits=self.limits,
            about=self.about,
            thinned=self.thinned,
            clipping=self.clipping,
        )

    def __getitem__(self, label: Any) -> Estimate:
        """Return the estimate of one category."""
        if not self.labels:
            raise InvalidParameter(
                "expected an estimate with categories to take one, got an estimate of one quantity; use it "
                "without [...]"
            )
        try:
            at = self.labels.index(label)
        except ValueError:
            raise unknown_name("category", label, map(str, self.labels)) from None
        return Estimate(
            float(np.asarray(self.value)[at]),
            float(np.asarray(self.standard_error)[at]),
            self.n,
            self.guarantee,
            confidence=cast("Divisible", self._confidence).pick(at),
            origin=self if self.origin is None else self.origin,
            people=self.people,
            influence=self._influence_of(at),
            unit=self.unit,
            remark=self.remark,
            limits=self.limits,
            about=self.about and f"{self.about}: {show_label(label)}",
            thinned=self.thinned,
            clipping=self.clipping,
        )

    def _influence_of(self, at: int) -> Callable[[], Floats | None] | None:
        """Return a function for each person's influence on one category, or None if it is not known."""
        return None if self.each is None else partial(self.each, at)

    @cached_property
    def moved_by(self) -> Floats | None:
        """Each person's influence on the estimate, or None if it is not known."""
        return self.influence() if callable(self.influence) else self.influence

    def __add__(self, other: object) -> Estimate:
        """Return the sum with a number, or with an estimate of other people."""
        return plus(self, other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: object) -> Estimate:
        """Return the difference to a number, or to an estimate of other people."""
        return plus(self, other, -1.0)

    def __rsub__(self, other: object) -> Estimate:
        return -self + other

    def __mul__(self, factor: object) -> Estimate:
        """Return the estimate times a number."""
        return times(self, factor)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Estimate:
        """Return the ratio to a number, or to an estimate of other people."""
        return over(self, other)

    def __neg__(self) -> Estimate:
        return self * -1.0

    def __float__(self) -> float:
        return float(self.value)

    def __round__(self, digits: int | None = None) -> NoReturn:
        """Raise InvalidParameter: a rounded number would lose its interval."""
        raise InvalidParameter(
            "expected the float of an estimate to round, because an estimate has an interval; print the "
            f"estimate, or write round(float(estimate){'' if digits is None else f', {found(digits)}'})"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.value, dtype=dtype)

    def __repr__(self) -> str:
        value = np.asarray(self.value)
        if not self.claimed:
            return f"{float(value):.4g} (posterior mean, no interval is claimed, n = {thousands(self.n)})"
        low, high = (np.asarray(end, dtype=np.float64) for end in self._ends_in_order())
        show = (
            self.unit.show
            if isinstance(self.unit, Calendar)
            else partial(show_interval, limits=self.limits, at_least=self.lower_bound)
        )
        each = [
            show(*triple)
            for triple in zip(
                value.reshape(-1)[:8].tolist(),
                np.broadcast_to(low, value.shape).reshape(-1)[:8].tolist(),
                np.broadcast_to(high, value.shape).reshape(-1)[:8].tolist(),
                strict=True,
            )
        ]
        shown = ", ".join(each)
        if self.labels:
            named = (f"{show_label(label)}: {part}" for label, part in zip(self.labels, each, strict=False))
            shown = f"{{{', '.join(named)}{', …' if value.size > 8 else ''}}}"
        elif value.ndim:
            shown = f"[{shown}{', …' if value.size > 8 else ''}]"
        clipped = "" if self.clipping is None else f"; {self.clipping}"
        return (
            f"{shown}{self._in_unit()} (95 %{self.condition}, n = {thousands(self.n)}{self.remark}{clipped})"
        )

    def _ends_in_order(self) -> tuple[Any, Any]:
        """Return the ends of the 95 % interval in order, the second possibly beyond the end of the period."""
        low, high = self.interval()
        period = self._confidence.period
        if not period:
            return low, high
        value = float(self)
        if high - low >= period:
            return value - period / 2.0, value + period / 2.0
        return value - (value - low) % period, value + (high - value) % period

    def _in_unit(self) -> str:
        return f" {self.unit}" if self.unit and not isinstance(self.unit, Calendar) else ""

    def __format__(self, form: str) -> str:
        """Return value ± half-width in the given format, as in f"{estimate:.2f}"; without a format, repr."""
        if not form:
            return repr(self)
        value, half = np.asarray(self.value).reshape(-1), np.asarray(self.half_width()).reshape(-1)
        if self.lower_bound:
            least = np.asarray(self.interval()[0]).reshape(-1).tolist()
            parts = [f"{AT_LEAST} {low:{form}}" for low in least]
        else:
            parts = [f"{v:{form}} ± {h:{form}}" for v, h in zip(value.tolist(), half.tolist(), strict=True)]
        shown = ", ".join(parts)
        clipped = "" if self.clipping is None else f" ({self.clipping})"
        return (f"[{shown}]" if np.ndim(self.value) else shown) + self._in_unit() + clipped

    def records(self, level: float = 0.95) -> list[Row]:
        """Return the estimate as rows of a table: value, low, high and n; unclaimed ends are None.

        Dates and times are texts, as 2026-05-03 and 08:15.
        """
        rows = self.numbers(level)
        return self.unit.rows(rows) if isinstance(self.unit, Calendar) else rows

    def numbers(self, level: float = 0.95) -> list[Row]:
        """Return the rows with numbers in place of dates and times."""
        values = np.asarray(self.value).reshape(-1).tolist()
        low = high = [None] * len(values)
        if self.claimed:
            low, high = (np.asarray(end).reshape(-1).tolist() for end in self.interval(level))
        of = self.facts()
        return [
            {**names, "value": value, "low": least, "high": most, "n": self.n, **of}
            for names, value, least, most in zip(self._names(), values, low, high, strict=True)
        ]

    def facts(self) -> dict[str, object]:
        """Return the columns of each row about all values: whose they are, and whether they are bounds."""
        found = {} if self.clipping is None else self.clipping.columns()
        if OF_ANSWERS in self.remark:
            found["of"] = f"{found['of']}{OF_ANSWERS}" if "of" in found else OF_ANSWERS.removeprefix(", of ")
        if self.lower_bound:
            found |= {"bound": AT_LEAST, "thinned": self.thinned}
        return found

    def _names(self) -> Sequence[Row]:
        """Return the labels of each number of the value, as the first columns of its row."""
        named = getattr(self, "names", None) or self.labels  # names of cumulative shares: "up to 10"
        if len(named) == np.size(self.value):
            return [{"answer": show_label(label)} for label in named]
        return (
            [{}] if not np.ndim(self.value) else [{"number": index} for index in range(np.size(self.value))]
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        return ResultTable("", tuple(self.records()), limits=self.limits)._cells()

    def _repr_html_(self) -> str:
        """Return the estimate as notebooks show it: a table with its 95 % intervals."""
        unit = f", in {self.unit}" if self.unit else ""
        what = f"95 % intervals{self.condition}" if self.claimed else "posterior means, no intervals"
        of = "" if self.clipping is None else f", {self.clipping}"
        title = f"{what}, n = {thousands(self.n)}{self.remark}{unit}{of}; {self.guarantee}"
        head, cells = self._cells()
        return element("p", f"{self.about}: " * bool(self.about) + title) + as_html(head, cells[:MOST_ROWS])

    def plot(
        self,
        *,
        level: float = 0.95,
        most: int = 20,
        title: str = "",
        truth: float | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the estimate with its intervals on `ax`, and return the axes; needs the extra `plot`.

        Frequencies are bars, at most the `most` most frequent ones; a table is a map of shades; numbers are
        points. Shares are in per cent. `title` is put above, such as the name of the question. `truth` is the
        true number in a simulation, drawn as a dotted line.
        """
        from dither.estimation.plotting import draw_estimate, draw_truth

        axes = draw_estimate(self, level=level, most=most, title=title, ax=ax)
        if truth is not None:
            draw_truth(self, truth, axes)
        return axes


@dataclass(frozen=True, eq=False, repr=False)
class LabelledEstimate(Estimate):
    """Estimates of several categories, by label, as in `estimate["yes"]`."""

    def items(self) -> Iterator[tuple[Hashable, Estimate]]:
        """Return the categories with their estimates."""
        return ((label, self[label]) for label in self.labels)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


def weighted_sum(terms: Sequence[Term], constant: float = 0.0) -> Estimate:
    """Return a constant plus a weighted sum of estimates.

    `terms` are weights with estimates. The weights of a repeated estimate are added. The result of
    frequencies has their labels.
    """
    weights: dict[int, float] = {}
    parts: dict[int, Estimate] = {}
    for weight, part in terms:
        weights[id(part)] = weights.get(id(part), 0.0) + weight
        parts[id(part)] = part
    kept = tuple((weights[key], part) for key, part in parts.items())
    added = [part for _, part in kept]
    labels = _common_labels(added)
    _check_units(added)
    value = as_number(constant + sum(weight * np.asarray(part.value) for weight, part in kept))
    errors = [weight * np.asarray(part.standard_error) for weight, part in kept]
    kind = LabelledEstimate if labels else Estimate
    interval = SumInterval(value, kept, constant, _condition(added))
    return kind(
        value,
        length_of_sum(errors, interval.together),
        count_of(_leaves(added)),
        guarantee_of(_leaves(added)),
        confidence=interval,
        labels=labels,
        unit=_unit(added, sum(weight for weight, _ in kept)),
        remark=remark_of(added),
        thinned=thinned_share(added),
        clipping=_clipping(added),
    )


def _check_units(parts: Sequence[Estimate]) -> None:
    """Raise if numbers of different units are added, such as years and euros, or a date and a number."""
    units = list(dict.fromkeys(part.unit for part in parts if part.unit))
    if any(isinstance(unit, Calendar) for unit in units) and not all(part.unit for part in parts):
        units.append("")
    if len(units) > 1:
        words = [
            ("dates" if unit.is_date else "times") if isinstance(unit, Calendar) else unit or "plain numbers"
            for unit in units
        ]
        raise InvalidParameter(
            f"expected estimates in one unit to add or subtract, got {words[0]} and {words[1]}; convert one "
            "of them first"
        )


def _leaves(parts: Sequence[Estimate]) -> list[Estimate]:
    return [leaf for part in parts for _, leaf in linear_terms(part)]


def _condition(parts: Sequence[Estimate]) -> str:
    """Return the conditions of the parts, without repetitions."""
    return "".join(dict.fromkeys(part.condition for part in parts))


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """Return the ratio of two numbers, with influences if they are of the same people."""
    pair = [above, below]
    _common_labels(pair)
    if np.ndim(above.value) or np.ndim(below.value):
        raise InvalidParameter(
            "expected two numbers for a ratio, got several; take one category of each, as in a['x'] / b['x']"
        )
    a, b = float(above.value), float(below.value)
    if b == 0.0:
        raise NotIdentifiable(
            "expected a divisor other than 0, got an estimate of 0, so the ratio cannot be estimated; "
            "collect more reports"
        )
    value = a / b
    errors = [float(above.standard_error), -value * float(below.standard_error)]
    interval = RatioInterval(above, below, _condition(pair))
    error = float(length_of_sum(errors, [(0, 1, interval.together)])) / abs(b)
    parts = _leaves(pair)
    facts: dict[str, Any] = {"remark": remark_of(pair), "thinned": thinned_share(pair)}
    facts["clipping"] = _clipping(pair)
    return Estimate(value, error, count_of(parts), guarantee_of(parts), confidence=interval, **facts)


def plus(left: Estimate, right: object, sign: float) -> Estimate:
    """Return left + sign·right, for another estimate or a number."""
    if isinstance(right, Estimate):
        own, constant = _terms(left)
        others, other = _terms(right)
        return weighted_sum(
            [*own, *((sign * weight, part) for weight, part in others)], constant + sign * other
        )
    terms, constant = _terms(left)
    return weighted_sum(terms, constant + sign * _real(right))


def times(left: Estimate, factor: object) -> Estimate:
    """Return an estimate times a number."""
    if isinstance(factor, Estimate):
        raise InvalidParameter(
            "expected a number to multiply an estimate by, got an estimate; multiply by a number"
        )
    scale = _real(factor)
    terms, constant = _terms(left)
    return weighted_sum([(scale * weight, part) for weight, part in terms], scale * constant)


def over(left: Estimate, right: object) -> Estimate:
    """Return left / right, for another estimate or a number."""
    if isinstance(right, Estimate):
        return ratio(left, right)
    divisor = _real(right)
    if divisor == 0.0:
        raise InvalidParameter("expected a divisor other than 0, got 0; check the divisor")
    return times(left, 1.0 / divisor)


def _terms(estimate: Estimate) -> tuple[Sequence[Term], float]:
    if isinstance(estimate.confidence, SumInterval):
        return estimate.confidence.terms, estimate.confidence.constant
    return [(1.0, estimate)], 0.0


def _common_labels(parts: Sequence[Estimate]) -> Sequence[Hashable]:
    """Return the common labels of estimates; raise unless all are numbers or have the same labels."""
    for part in parts:
        if part.circular:
            raise InvalidParameter(
                "expected resultants to add or subtract, got directions, but 359° and 1° differ by 2°; "
                "compare their resultants"
            )
    labels = [tuple(part.labels) for part in parts]
    shapes = {np.shape(part.value) for part in parts}
    if len(shapes) > 1 or any(other != labels[0] for other in labels):
        raise InvalidParameter(
            "expected estimates of the same categories, got different ones; combine one number at a time"
        )
    return labels[0]


def _unit(parts: Sequence[Estimate], weight: float) -> str:
    """Return the common unit of estimates with a sum of weights; empty if units differ.

    An average of dates is a date, and their difference a number of days.
    """
    units = {part.unit for part in parts}
    unit = units.pop() if len(units) == 1 else ""
    if not isinstance(unit, Calendar) or math.isclose(weight, 1.0, abs_tol=1e-9):
        return unit
    return unit.span if abs(weight) < 1e-9 else ""


def _clipping(parts: Sequence[Estimate]) -> Clipping | None:
    """Return the clipping of the estimates' values: the first one that is found, or None."""
    return next((part.clipping for part in parts if part.clipping is not None), None)


def _real(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        raise InvalidParameter(
            f"expected an estimate to be combined with estimates and numbers, got {type(number).__name__}"
        )
    if not math.isfinite(number):
        raise InvalidParameter(
            "expected an estimate to be combined with finite numbers; drop NaN and infinity"
        )
    return float(number)


def joint_level(level: float, comparisons: int) -> float:
    """Return the level that each of several intervals needs to hold together with `level` (Bonferroni)."""
    return 1.0 - (1.0 - check_level(level)) / max(comparisons, 1)
