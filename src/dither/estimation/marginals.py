"""Tables of attributes from the reports of `Marginals`: unbiased; consistent and non-negative on request."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from dither.core.counts import Counts, summarise
from dither.core.kernels.sets.functions import FunctionsKernel, TableReading
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import sum_noise
from dither.estimation.intervals import VarianceInterval
from dither.estimation.rounding import SHARE, thousands
from dither.foundation.arrays import Floats, Integers
from dither.foundation.tables import Row, Tabular, show_label
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Variance = tuple[Any, Any, Any]  # a, b and c of the variance a + b·f − c·f² of a share f
_FEW: Final = 2  # people from whom a function is estimated
_ROUNDS: Final = 500
_CLOSE: Final = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTables(Tabular, Mapping[tuple[str, ...], Estimate]):
    """Shares of the cells of every table: `tables["age", "sex"]` is an `Estimate` of a matrix.

    Names may be given in either order. The tables are unbiased; cells may be negative. `consistent` makes
    them non-negative, with equal shares of an attribute in all tables that hold it.
    """

    parts: dict[tuple[str, ...], Estimate]
    n: int
    answers: Mapping[str, Sequence[Hashable]]  # labels of each attribute
    possible: bool = False
    limits: ClassVar[tuple[float, float]] = SHARE

    def records(self) -> list[Row]:
        """Return a row for each cell of each table: the table, the answers, the share and its interval."""
        return [
            {"table": " × ".join(key), "first": names[0], "second": names[1] if names[1:] else None, **row}
            for key, part in self.parts.items()
            for names, row in zip(
                product(*(map(show_label, self.answers[name]) for name in key)),
                ({cell: row[cell] for cell in ("value", "low", "high", "n")} for row in part.records()),
                strict=True,
            )
        ]

    def plot(self, *names: str, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the table of some attributes, by default the first; needs the extra `plot`."""
        from dither.estimation.plotting import draw_table

        key = names or next(iter(self.parts))
        shown = self[key]
        which = "" if names or len(self) == 1 else f" (1 of {len(self)} tables)"
        head = f"{title or ' × '.join(key)}{which}\nn = {thousands(self.n)}, {shown.guarantee}"
        if len(key) == 1:
            own = replace(shown, labels=tuple(self.answers[key[0]]), limits=SHARE)
            return own.plot(title=title or key[0], ax=ax)
        return draw_table(shown, [self.answers[name] for name in key], 0.95, head, ax=ax)

    def __getitem__(self, names: Any) -> Estimate:
        key = (names,) if isinstance(names, str) else names
        if key in self.parts:
            return self.parts[key]
        if isinstance(key, tuple) and len(key) == 2 and key[::-1] in self.parts:
            return _table(_interval(self.parts[key[::-1]]).transpose(), self.parts[key[::-1]].guarantee)
        listed = "; ".join(", ".join(names) for names in list(self.parts)[:8])
        raise InvalidParameter(f"unknown table {found(names)}; expected one of {listed}")

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def consistent(self) -> EstimatedTables:
        """Return non-negative tables that sum to 1 and agree about every attribute, near the unbiased ones.

        Tables are projected in turn onto those that agree and onto those that are possible. The step biases
        rare cells; standard errors are still those of the unbiased tables.
        """
        values = {key: np.asarray(part.value, dtype=np.float64) for key, part in self.parts.items()}
        for _ in range(_ROUNDS):
            possible = {key: np.maximum(value, 0.0) for key, value in values.items()}
            agreeing = _agree(possible)
            moved = max(float(np.abs(agreeing[key] - possible[key]).max()) for key in values)
            values = agreeing
            if moved < _CLOSE:
                break
        kept = {key: np.maximum(value, 0.0) for key, value in values.items()}
        kept = {key: value / value.sum() for key, value in kept.items()}
        moved_parts = {
            key: replace(part, value=kept[key], confidence=replace(_interval(part), value=kept[key]))
            for key, part in self.parts.items()
        }
        return EstimatedTables(moved_parts, self.n, self.answers, True)

    def __repr__(self) -> str:
        shown = ", ".join(" × ".join(key) for key in list(self.parts)[:4])
        more = ", …" if len(self) > 4 else ""
        step = ", consistent" if self.possible else ""
        return f"EstimatedTables({shown}{more}; n = {thousands(self.n)}{step})"


def tables(reports: Reports | Counts) -> EstimatedTables:
    """Estimate the tables of all pairs of attributes (or of all attributes) from reports of `Marginals`.

    Without bias. The values of each function are read by f = (share − q)/(p − q); a table is put together
    from its functions, directly or by lines.
    """
    summary = summarise(reports)
    question = summary.question
    kernel = question.kernel
    if not isinstance(kernel, FunctionsKernel):
        raise InvalidParameter(f"tables are estimated from reports of Marginals, not of {question.name}")
    reading: TableReading = question.book
    names, sizes = question.domain.names, kernel.sizes
    requests = [function.attributes for function in kernel.functions]
    found: dict[tuple[str, ...], tuple[Floats, Variance]] = {}
    larger = len(requests[0]) > reading.way and not reading.order
    shares, variances = _values(question, kernel, summary.counts, every=not larger)
    if larger:
        found = _from_subsets(kernel, names, shares, kernel.counting(question.domain).people(summary.counts))
    for indices in combinations(range(len(sizes)), reading.way):
        key = tuple(names[index] for index in indices)
        if larger:
            break
        if reading.order:
            found[key] = _from_lines(kernel, reading.order, indices, shares, variances)
        else:
            at = requests.index(indices)
            shape = tuple(sizes[index] for index in indices)
            found[key] = shares[at].reshape(shape), variances[at]
    if reading.way == 2 and not reading.order and not larger:
        found = _agreeing(found, len(sizes))
    guarantee, n = question.guarantee, summary.n
    parts = {
        key: _table(VarianceInterval(value, n, variance), guarantee)
        for key, (value, variance) in found.items()
    }
    answers = dict(zip(names, (part.labels for part in question.domain.parts), strict=True))
    return EstimatedTables(parts, n, answers)


def _table(interval: VarianceInterval, guarantee: Guarantee) -> Estimate:
    return Estimate.of(interval, guarantee, limits=SHARE)


def _interval(table: Estimate) -> VarianceInterval:
    return cast("VarianceInterval", table.confidence)


def _values(
    question: Question, kernel: FunctionsKernel, counts: Integers, *, every: bool
) -> tuple[list[Floats], list[Variance]]:
    """Return the share of every value of every function, and its variance as a function of the share.

    With m = q + (p − q)f it is m(1 − m)/(n(p − q)²) [Wang17, Thm 2]. Tables of pairs that are margins of
    larger ones do not need `every` function: a plan may ask hardly anybody about some.
    """
    counting = kernel.counting(question.domain)
    shares: list[Floats] = []
    variances: list[Variance] = []
    people = counting.people(counts)
    if every and min(people, default=0) < _FEW:
        raise NotIdentifiable("some functions were reported by fewer than two people; ask more people")
    order = question.book.order
    for draw, function, own, n in zip(
        kernel.reporting, kernel.functions, counting.split(counts), np.maximum(people, 1), strict=True
    ):
        q, gap = float(draw.rates[1]), float(draw.rates[0] - draw.rates[1])
        share = draw.supports(own, order or len(function.values)) / n
        shares.append((share - q) / gap)
        variances.append((q * (1.0 - q) / (n * gap**2), (1.0 - 2.0 * q) / (n * gap), 1.0 / n))
    return shares, variances


def _from_lines(
    kernel: FunctionsKernel,
    order: int,
    indices: tuple[int, ...],
    shares: list[Floats],
    variances: list[Variance],
) -> tuple[Floats, Variance]:
    """Return a table from the shares of its lines: (Σ over directions of the cell's line − 1)/q.

    The share of a line is the share of the cell plus the rest of the line. The rest is taken as estimated.
    """
    requests = [function.attributes for function in kernel.functions]
    shape = (kernel.sizes[indices[0]], kernel.sizes[indices[1]])
    begin = requests.index(indices)
    lines = [(requests.index((indices[side],)), np.indices(shape)[side]) for side in (0, 1)]
    lines += [(at, np.reshape(kernel.functions[at].values, shape)) for at in range(begin, begin + order - 1)]
    value = (np.sum([shares[at][line] for at, line in lines], axis=0) - 1.0) / order
    constant, slope, square = np.zeros((3, *shape))
    for at, line in lines:
        a, b, c = variances[at]
        rest = np.clip(shares[at][line] - np.maximum(value, 0.0), 0.0, 1.0)
        constant += a + b * rest - c * rest**2
        slope += b - 2.0 * c * rest
        square += c
    return np.asarray(value), (constant / order**2, slope / order**2, square / order**2)


@dataclass(frozen=True, eq=False)
class _Margin:
    """A table as the margin of a larger one, with its variance as a function of a share."""

    value: Floats
    variance: Variance
    spread: float  # the variance along one dimension, if all cells are alike


def _margin(
    kernel: FunctionsKernel, at: int, share: Floats, people: int, positions: tuple[int, ...]
) -> _Margin:
    """Return the margin of the cells of a function; each of its cells is a sum of equally many."""
    function = kernel.functions[at]
    sizes = [kernel.sizes[index] for index in function.attributes]
    others = tuple(axis for axis, index in enumerate(function.attributes) if index not in positions)
    value = share.reshape(sizes).sum(axis=others)
    cells = share.size // value.size
    inside = np.zeros(share.size)
    inside[:cells] = 1.0
    noise = sum_noise(kernel.reporting[at], inside)
    first, last = float(noise[0]), float(noise[-1])
    variance = (last / people, (first - last + 1.0) / people, 1.0 / people)
    even = 1.0 / value.size
    own = variance[0] + variance[1] * even - variance[2] * even**2
    return _Margin(value, variance, own * value.size / (value.size - 1.0))


def _from_subsets(
    kernel: FunctionsKernel, names: Sequence[str], shares: list[Floats], people: Sequence[int]
) -> dict[tuple[str, ...], tuple[Floats, Variance]]:
    """Return the tables of pairs as margins of larger tables that agree about every attribute.

    Each pair and each attribute is the mean of the margins that hold it, weighted by their precision.
    """

    def mean(positions: tuple[int, ...]) -> tuple[Floats, Variance, float]:
        held = [
            _margin(kernel, at, shares[at], people[at], positions)
            for at, function in enumerate(kernel.functions)
            if set(positions) <= set(function.attributes) and people[at] >= _FEW
        ]
        if not held:
            raise NotIdentifiable("some functions were reported by fewer than two people; ask more people")
        weights = np.array([1.0 / margin.spread for margin in held])
        spread = 1.0 / float(weights.sum())
        weights *= spread
        value = sum(weight * margin.value for weight, margin in zip(weights, held, strict=True))
        value = np.asarray(value + (1.0 - value.sum()) / value.size)
        squares = np.array([margin.variance for margin in held])
        constant, slope, square = (weights**2 @ squares).tolist()
        return value, (constant, slope, square), spread

    single = [mean((index,)) for index in range(len(kernel.sizes))]
    found: dict[tuple[str, ...], tuple[Floats, Variance]] = {}
    for first, second in combinations(range(len(kernel.sizes)), 2):
        value, (constant, slope, square), spread = mean((first, second))
        rows, columns = value.shape
        agreed = value + ((single[first][0] - value.sum(axis=1)) / columns)[:, None]
        agreed = agreed + ((single[second][0] - value.sum(axis=0)) / rows)[None, :]
        # The part of the variance that is left when each attribute is known better than from this pair.
        kept = (rows - 1) * (columns - 1) * spread
        kept += (rows - 1) / columns * single[first][2] + (columns - 1) / rows * single[second][2]
        part = min(kept / ((value.size - 1) * spread), 1.0)
        found[names[first], names[second]] = agreed, _shrunk(agreed, (constant, slope, square), part)
    return found


def _shrunk(values: Floats, variance: Variance, part: float) -> Variance:
    """Return the variances of cells after a projection that leaves a part of their sum.

    A projection P has Σ_k P_ik² = P_ii: the cell's own variance counts P_ii² times, others the rest.
    """
    constant, slope, square = variance
    near = np.clip(values, 0.0, 1.0)
    others = (part - part**2) * float(np.mean(constant + slope * near - square * near**2))
    own = part**2
    return constant * own + others, slope * own, square * own


def _agreeing(
    found: dict[tuple[str, ...], tuple[Floats, Variance]], attributes: int
) -> dict[tuple[str, ...], tuple[Floats, Variance]]:
    """Return tables that sum to 1 and agree about every attribute, by least squares, with their variances."""
    values = _agree({key: value for key, (value, _) in found.items()})
    out: dict[tuple[str, ...], tuple[Floats, Variance]] = {}
    for key, (value, variance) in found.items():
        rows, columns = value.shape
        kept = (rows - 1) * (columns - 1) + (rows + columns - 2) / (attributes - 1)
        out[key] = values[key], _shrunk(values[key], variance, kept / (rows * columns - 1))
    return out


def _agree(values: dict[tuple[str, ...], Floats]) -> dict[tuple[str, ...], Floats]:
    """Return the nearest tables, in squares, that sum to 1 and have the same shares of every attribute.

    The shares of an attribute are the mean over its tables, weighted by one over the other side's categories.
    """
    total = {key: value + (1.0 - value.sum()) / value.size for key, value in values.items()}
    if any(value.ndim == 1 for value in total.values()):
        return total
    sums: dict[str, list[tuple[Floats, float]]] = {}
    for (first, second), value in total.items():
        sums.setdefault(first, []).append((value.sum(axis=1), 1.0 / value.shape[1]))
        sums.setdefault(second, []).append((value.sum(axis=0), 1.0 / value.shape[0]))
    means = {
        name: np.sum([share * weight for share, weight in known], axis=0) / sum(w for _, w in known)
        for name, known in sums.items()
    }
    out: dict[tuple[str, ...], Floats] = {}
    for (first, second), value in total.items():
        rows = (means[first] - value.sum(axis=1)) / value.shape[1]
        columns = (means[second] - value.sum(axis=0)) / value.shape[0]
        out[first, second] = value + rows[:, None] + columns[None, :]
    return out
