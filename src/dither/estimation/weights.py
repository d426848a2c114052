"""Weights of people: raking to published totals, design effects, and averages of weighted numbers.

Weights are public numbers, one for each report. A weighted average is Σ w·y/Σ w. Its error is the error of
its linearisation w·(y − average)/mean(w), so it accounts for varying weights and their correlation with the
answer. Raked weights make the totals of some public columns known: the part of y that these columns explain
has no error. The linearisation uses the residual of y's weighted regression on them [Deville92].
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dither.core.kernels.counting import EachReport, LeadingBits
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import Infeasible, InvalidParameter, found
from dither.estimation.intervals import StudentInterval
from dither.estimation.rounding import thousands
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.markup import element
from dither.foundation.numerics.distributions import student_t_quantile
from dither.foundation.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONE: Final = 0.01  # lower limit of the other people's share of the weight, for the error
_FEW: Final = 100.0  # effective people; with fewer, and weights this uneven, a few people carry the weight
_UNEVEN: Final = 5.0  # the least ratio of people to effective people with which few people carry the weight
_ROUNDS: Final = 1000
_CLOSE: Final = 1e-10  # relative tolerance of a total
_AGREE: Final = 1e-6  # relative tolerance of the sums of two lists of published totals

Labels = Sequence[Hashable] | Array


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """A public weight for each person, as `dt.stats.rake` makes them, or from any list of numbers.

    Every estimate that has `weights=` takes them, or a plain list. `np.asarray(weights)` are the numbers.

    >>> Weights([1, 1, 1, 3])
    Weights(4 people: 1 to 3, design effect 1.33, as many as 3.0 equal ones)
    """

    values: Floats
    margins: tuple[Integers, ...] = ()  # codes of every person's label, by raked column

    def __post_init__(self) -> None:
        given: object = self.values
        if isinstance(given, Reports):
            raise InvalidParameter(
                f"expected public numbers as weights, got randomised reports of {given.question.name}"
            )
        array = np.asarray(given)
        if array.dtype.kind not in "iuf" or array.ndim != 1:
            raise InvalidParameter("expected weights to be a list of numbers, one for each report")
        numbers = array.astype(np.float64)
        if not (np.isfinite(numbers).all() and numbers.size and numbers.min() >= 0.0 and numbers.max() > 0.0):
            raise InvalidParameter("expected weights to be finite numbers from 0 upwards, not all 0")
        numbers.setflags(write=False)
        object.__setattr__(self, "values", numbers)

    @property
    def design_effect(self) -> float:
        """The factor by which unequal weights increase variances: n·Σ w²/(Σ w)² [Kish65]."""
        share = self.shares
        return float((share**2).mean())

    @property
    def effective(self) -> float:
        """The number of equally weighted people with the same error: n over the design effect."""
        return len(self) / self.design_effect

    @property
    def shares(self) -> Floats:
        """The weights divided by their mean."""
        return self.values / float(self.values.mean())

    def __getitem__(self, rows: Any) -> Weights:
        """Return the weights of some people, without raked totals, because totals of a part are not known."""
        return Weights(np.atleast_1d(self.values[rows]))

    def __len__(self) -> int:
        return int(self.values.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype=dtype)

    def __repr__(self) -> str:
        low, high = float(self.values.min()), float(self.values.max())
        shown = thousands(round(self.effective)) if self.effective >= 10.0 else f"{self.effective:.1f}"
        return (
            f"Weights({thousands(len(self))} people: {low:.3g} to {high:.3g}, design effect "
            f"{self.design_effect:.2f}, as many as {shown} equal ones)"
        )

    def _repr_html_(self) -> str:
        """Return the weights as notebooks show them, with their cost."""
        return element("p", repr(self))

    def to_frame(self) -> Any:
        """Return a pandas data frame with the column `weight`; needs the extra `frames`."""
        return ResultTable("", tuple({"weight": float(weight)} for weight in self.values)).to_frame()

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw a histogram of the weights, relative to their mean; needs the extra `plot`."""
        from dither.foundation.plotting import BLUE, axes_or_new, dress_axes

        ax = axes_or_new(ax)
        ax.hist(self.shares, bins=40, color=BLUE, alpha=0.75)
        title = f"Weights of {thousands(len(self))} people: design effect {self.design_effect:.2f}"
        return dress_axes(ax, title=title, x="weight, relative to the mean", y="people")


Weighting = Sequence[float] | Floats | Weights


def as_weights(weights: object, people: int) -> Weights:
    """Return weights for a number of people; raise InvalidParameter if they do not fit."""
    made = weights if isinstance(weights, Weights) else Weights(weights)  # type: ignore[arg-type]
    if len(made) != people:
        raise InvalidParameter(f"expected one weight for each of {people} reports, got {len(made)}")
    return made


def check_weighted(reports: object) -> Reports:
    """Return reports that weights can be given to; raise InvalidParameter otherwise."""
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            f"expected reports, with one weight for each, got {type(reports).__name__} without their order; "
            "use dt.stats.post_stratified to weight groups"
        )
    if not reports.question.alone:
        raise InvalidParameter(
            f"expected reports that are independent between people, got reports of {reports.question.name}, "
            "which have no weights of their own; use a mechanism of one person, such as KRR"
        )
    return reports


def influences(numbers: Floats, weights: Weights | None) -> tuple[float, Floats]:
    """Return the weighted average of a number per person, and each person's influence on it.

    The influences have about the mean 0, and the average of n of them is the error. A person with a share h
    of all weight pulls the average towards the own number and makes the gap smaller. So the gap is divided by
    √(1 − h) [MacKinnon85].
    """
    if weights is None:
        mean = float(numbers.mean())
        return mean, np.asarray(numbers - mean)
    shares = weights.shares
    mean = float((shares * numbers).mean())
    gaps = numbers - mean
    n = len(weights)
    rest = np.maximum(1.0 - shares / n, _ALONE) * (n / (n - 1.0) if n > 1 else 1.0)  # 1 for equal weights
    return mean, np.asarray(shares * (gaps - _fit_on_margins(gaps, weights)) / np.sqrt(rest))


def _fit_on_margins(gaps: Floats, weights: Weights) -> Floats | float:
    """Return the weighted least-squares fit of a number on the labels of the raked columns."""
    if not weights.margins:
        return 0.0
    sizes = [int(codes.max()) + 1 for codes in weights.margins]
    starts = np.cumsum([0, *sizes])
    square, right = np.zeros((starts[-1], starts[-1])), np.zeros(starts[-1])
    for i, j in combinations_with_replacement(range(len(sizes)), 2):
        pairs = weights.margins[i] * sizes[j] + weights.margins[j]
        block = np.bincount(pairs, weights.values, sizes[i] * sizes[j]).reshape(sizes[i], sizes[j])
        rows, columns = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        square[rows, columns], square[columns, rows] = block, block.T
    for i, codes in enumerate(weights.margins):
        right[starts[i] : starts[i + 1]] = np.bincount(codes, weights.values * gaps, sizes[i])
    solved = np.linalg.lstsq(square, right, rcond=1e-10)[0]
    fitted: Floats = np.sum(
        [solved[start + codes] for start, codes in zip(starts, weights.margins, strict=False)], 0
    )
    return fitted


def relative_variance(numbers: Floats, weights: Weights) -> float:
    """Return the variance of a weighted average relative to the effective number of equal people.

    It is 1 if the weights are independent of the number. Raked columns that explain the number lower it.
    """
    mean, influence = influences(numbers, weights)
    equal = float((weights.shares * (numbers - mean) ** 2).mean()) * weights.design_effect
    return float((influence**2).mean()) / equal if equal > 0.0 else 1.0


def student(value: float, influence: Floats, weights: Weights | None = None) -> StudentInterval:
    """Return a value with the error of its influences, one for each person, whose mean is about 0.

    The skewness of the influences moves the interval, unless weights leave few degrees of freedom. Then it is
    the interval of a few people. If few people have most of the influence, their variance is uncertain:
    Student's quantile has the degrees of freedom that their kurtosis leaves [Satterthwaite46]. If uneven
    `weights` count for fewer than 100 equal people, its degrees of freedom are at most this number, and the
    interval says that few people carry the weight, because people with larger weights may be missing.
    """
    n = influence.size
    gaps = influence - influence.mean()
    second = float((gaps**2).mean())
    if not second > 0.0:
        return StudentInterval(value, 0.0, n)
    skew = float((gaps**3).mean()) / second
    free, condition = freedom(gaps), ""
    if weights is not None and weights.effective < min(_FEW, n / _UNEVEN):
        free, condition = min(free, max(int(weights.effective) - 1, 1)), ", few people carry the weight"
    if weights is not None and free < _FEW:
        skew = 0.0
    wider = student_t_quantile(0.95, free) / student_t_quantile(0.95, max(n - 1, 1))
    return StudentInterval(value, wider * math.sqrt(second / max(n - 1, 1)), n, skew, condition)


def freedom(gaps: Floats) -> int:
    """Return the degrees of freedom of a sample variance, 2n/(kurtosis − 1), at most n − 1."""
    second = float((gaps**2).mean())
    if not second > 0.0:
        return max(gaps.size - 1, 1)
    kurtosis = float((gaps**4).mean()) / second**2
    return max(min(int(2.0 * gaps.size / max(kurtosis - 1.0, 1e-9)), gaps.size - 1), 1)


class WeightedCounts(NamedTuple):
    """Counts of reports by weight, in place of a summary: they add up to the effective number of people."""

    question: Question
    counts: Floats
    n: int


def entries_of(reports: Reports) -> Integers:
    """Return the index in the counts of a summary at which each report is counted."""
    cells, counting = reports.cells.reshape(-1), reports.question.counting
    return np.asarray(cells >> counting.rest if isinstance(counting, LeadingBits) else cells, dtype=np.int64)


def count_weighted(reports: Reports, weights: Weights, factor: float = 1.0) -> Any:
    """Return counts of reports by weight, scaled to the effective number of people over a factor.

    They replace a summary; estimators of shapes need nothing else.
    """
    question, cells = reports.question, reports.cells.reshape(-1)
    n = max(int(weights.effective / max(factor, 1e-3)), 1)
    scaled = weights.shares * n / len(weights)
    counting = question.counting
    if isinstance(counting, LeadingBits):
        rest = cells & cells.dtype.type((1 << counting.rest) - 1)
        counts = np.bincount(entries_of(reports), scaled, counting.groups)
        return WeightedCounts(question, np.append(counts, float((scaled * rest).sum())), n)
    if isinstance(counting, EachReport):
        counts = np.bincount(cells, scaled, counting.outcomes)
        return WeightedCounts(question, np.asarray(counts, dtype=np.float64), n)
    raise InvalidParameter(
        f"expected reports that are counted one by one, got reports of {question.name}; leave out the weights"
    )


def rake(
    columns: Mapping[str, Labels],
    totals: Mapping[str | tuple[str, ...], Mapping[Any, float]],
    *,
    base: Sequence[float] | Floats | None = None,
) -> Weights:
    """Return weights with which public columns of people have published totals.

    `columns` are a frame, or a mapping from names to the label of every person. `totals` says for some of
    them how many people of the population have each label, in numbers or in shares. A tuple of names is a
    table of several columns: `{("age", "sex"): {("18–39", "f"): 7.1e6, …}}` alone is post-stratification.
    Several columns are raked: weights are scaled to the totals of one after the other until all hold. `base`
    are the weights to begin with, such as inverse inclusion probabilities.

    Columns are public labels. Randomised answers are refused: their reports are not people's labels.

    >>> import dither as dt
    >>> people = {"sex": ["f", "m", "m", "m"], "city": ["Kyoto", "Kyoto", "Nara", "Nara"]}
    >>> known = {"sex": {"f": 52, "m": 48}, "city": {"Kyoto": 60, "Nara": 40}}
    >>> dt.stats.rake(people, known).values.round(1).tolist()
    [52.0, 8.0, 20.0, 20.0]
    """
    if not isinstance(totals, Mapping) or not totals:
        raise InvalidParameter(
            f"expected totals to be a mapping from columns to their totals, got {found(totals)}"
        )
    margins = [_margin(columns, key, known) for key, known in totals.items()]
    people = {codes.size for codes, _ in margins}
    if len(people) > 1:
        raise InvalidParameter(
            f"expected columns of one length, got {' and '.join(map(str, sorted(people)))} rows"
        )
    sums = [float(known.sum()) for _, known in margins]
    if max(sums) - min(sums) > _AGREE * max(sums):
        raise InvalidParameter(
            f"expected totals of the columns with one sum, got {', '.join(f'{each:g}' for each in sums)}, as "
            "of different populations; divide each list by its sum, or correct one"
        )
    n = people.pop()
    weights = np.ones(n) if base is None else as_weights(base, n).values.copy()
    complete = sums[0] if abs(sums[0] - 1.0) > _AGREE else float(n)  # totals are shares: the mean weight is 1
    wanted = [known * (complete / each) for (_, known), each in zip(margins, sums, strict=True)]
    gap = math.inf
    for _ in range(_ROUNDS):
        gap = 0.0
        for (codes, _), known in zip(margins, wanted, strict=True):
            now = np.bincount(codes, weights, known.size)
            if (now[known > 0.0] <= 0.0).any():
                raise Infeasible(
                    "expected people of positive weight for every label, got a label without; merge it with "
                    "another, so that its total can be reached"
                )
            ratio = np.divide(known, now, out=np.zeros_like(known), where=now > 0.0)
            gap = max(gap, float(np.abs(now - known).max()) / complete)
            weights = weights * ratio[codes]
        if gap <= _CLOSE:
            return Weights(weights, tuple(codes for codes, _ in margins))
    raise Infeasible(
        f"no weights of these people have all of these totals (after {_ROUNDS} rounds one is off by "
        f"{gap:.1%}), because some labels never occur together, or the totals contradict each other; merge "
        "small labels"
    )


def _margin(columns: object, key: object, known: object) -> tuple[Integers, Floats]:
    """Return the code of every person's label in a column, or in several together, and the totals by code."""
    names = key if isinstance(key, tuple) else (key,)
    listed = [_labels(columns, name) for name in names]
    if not isinstance(known, Mapping) or not known:
        raise InvalidParameter(f"expected the totals of {key!r} to be a mapping from labels to numbers")
    if len({len(part) for part in listed}) > 1:
        raise InvalidParameter(
            f"expected columns of one length, but {', '.join(map(repr, names))} have different lengths"
        )
    held = listed[0] if len(names) == 1 else list(zip(*listed, strict=True))
    positions = {label: index for index, label in enumerate(known)}
    absent = next((label for label in held if label not in positions), None)
    if absent is not None or (held and None in held and None not in positions):
        raise InvalidParameter(
            f"expected a total for the label {found(absent)} of column {key!r}, got none; give one, or drop "
            "these people"
        )
    try:
        numbers = np.array([float(total) for total in known.values()])
    except (TypeError, ValueError):
        raise InvalidParameter(f"the totals of {key!r} are numbers from 0 upwards") from None
    if not (np.isfinite(numbers).all() and numbers.min() >= 0.0 and numbers.sum() > 0.0):
        raise InvalidParameter(f"expected the totals of {key!r} to be numbers from 0 upwards, not all 0")
    codes = np.fromiter((positions[label] for label in held), np.int64, len(held))
    seen = np.bincount(codes, minlength=numbers.size) > 0
    for label, index in positions.items():
        if numbers[index] > 0.0 and not seen[index]:
            raise Infeasible(
                f"expected people with the label {found(label)} of {key!r}, got none; merge it with another"
            )
    return codes, numbers


def _labels(columns: Any, name: object) -> list[Hashable]:
    there = list(columns) if isinstance(columns, Mapping) else list(getattr(columns, "columns", []))
    if name not in there:
        raise InvalidParameter(
            f"expected a column among {', '.join(map(str, there[:20]))}, got {found(name)}"
        )
    column = columns[name]
    if isinstance(column, Reports):
        raise InvalidParameter(
            f"expected a public column to rake, got {name!r}, randomised reports of {column.question.name} "
            "that do not contain people's labels; rake public columns"
        )
    plain = column.tolist() if hasattr(column, "tolist") else list(column)
    return [None if isinstance(label, float) and math.isnan(label) else label for label in plain]
