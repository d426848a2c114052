"""Unbiased tables of attributes from reports of `Marginals`, on request consistent and non-negative."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.kernels.sets.functions import FunctionsKernel, TableReading
from dither.core.people import People
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import sum_noise
from dither.estimation.intervals import VarianceInterval
from dither.estimation.pairs import INDEPENDENCE, EstimatedTable
from dither.estimation.projections import simplex
from dither.estimation.ratios import QuotientInterval
from dither.estimation.rounding import SHARE, thousands
from dither.estimation.significance import Significance, category_noise, contrasts, quadratic_form
from dither.foundation.arrays import Floats, Integers
from dither.foundation.tables import Row, Tabular, show_label
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Variance = tuple[Any, Any, Any]  # a, b and c of the variance a + b·f − c·f² of a share f
_FEW: Final = 2  # least number of people for the estimate of a function
_MOST_PRODUCTS: Final = 1 << 24  # largest product of the cells of a table and the values of a function
_ROUNDS: Final = 500
_CLOSE: Final = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTables(Tabular, Mapping[tuple[str, ...], Estimate]):
    """Shares of the cells of every table: `tables["age", "sex"]` is an `Estimate` of a matrix.

    Names may be given in either order. The tables are unbiased, so cells may be negative. `consistent` makes
    them non-negative, with equal shares of an attribute in all tables that contain it.
    """

    parts: dict[tuple[str, ...], Estimate]
    n: int
    answers: Mapping[str, Sequence[Hashable]]  # labels of each attribute
    read: _Shares = field(repr=False)
    possible: bool = False
    people: People = field(default=(), repr=False)  # who sent the reports, if known
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
            return shown.plot(title=title or key[0], ax=ax)
        return draw_table(shown, [self.answers[name] for name in key], 0.95, head, ax=ax)

    def __getitem__(self, names: Any) -> Estimate:
        key = (names,) if isinstance(names, str) else names
        if key in self.parts and len(key) == 1:
            labels = tuple(self.answers[key[0]])
            return replace(self.parts[key], labels=labels, people=self.people, origin=self.read)
        if key in self.parts:
            return self._pair(key, _interval(self.parts[key]))
        if isinstance(key, tuple) and len(key) == 2 and key[::-1] in self.parts:
            return self._pair(key, _interval(self.parts[key[::-1]]).transpose())
        listed = "; ".join(", ".join(names) for names in list(self.parts)[:8])
        raise InvalidParameter(f"expected the name of a table among {listed}, got {found(names)}")

    def _pair(self, key: tuple[str, ...], interval: VarianceInterval) -> EstimatedTable:
        order = list(self.answers)
        evidence = _PairEvidence(self.read, tuple(order.index(name) for name in key), interval)
        table = _table(interval, next(iter(self.parts.values())).guarantee)
        return EstimatedTable(
            table.value,
            table.standard_error,
            self.n,
            table.guarantee,
            tuple(self.answers[key[0]]),
            tuple(self.answers[key[1]]),
            evidence,
            confidence=interval,
            limits=SHARE,
            people=self.people,
            origin=self.read,
        )

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def consistent(self) -> EstimatedTables:
        """Return non-negative tables that sum to 1 and agree about every attribute, near the unbiased ones.

        Tables are projected alternately onto tables that agree and onto tables without negative cells. The
        projection biases rare cells. Standard errors still belong to the unbiased tables.
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
        return EstimatedTables(moved_parts, self.n, self.answers, self.read, True, self.people)

    def __repr__(self) -> str:
        shown = ", ".join(" × ".join(key) for key in list(self.parts)[:4])
        more = ", …" if len(self) > 4 else ""
        step = ", consistent" if self.possible else ""
        return f"EstimatedTables({shown}{more}; n = {thousands(self.n)}{step})"


@name_result
def tables(reports: Reports | Counts) -> EstimatedTables:
    """Estimate the tables of all pairs of attributes (or of all attributes) from reports of `Marginals`.

    The tables are unbiased. The share of each value of a function is estimated by f = (share − q)/(p − q). A
    table is computed from its functions, directly or by lines. `tables["age", "sex"]` has the labels of its
    answers, the shares `within_rows()` and `within_columns()`, and a test of `independence()`.
    """
    summary = summarise(reports)
    question = summary.question
    kernel = question.kernel
    if not isinstance(kernel, FunctionsKernel):
        raise InvalidParameter(
            f"expected reports of Marginals to estimate tables, got reports of {question.name}"
        )
    reading: TableReading = question.book
    names, sizes = question.domain.names, kernel.sizes
    every = reading.way == 1 or bool(reading.order)
    shares, variances = _values(question, kernel, summary.counts, every=every)
    people = kernel.counting(question.domain).people(summary.counts)
    read = _Shares(kernel, reading.order, tuple(shares), tuple(people))
    found: dict[tuple[int, ...], tuple[Floats, Variance]] = {}
    if not every:
        found = _from_subsets(read)
    else:
        requests = [function.attributes for function in kernel.functions]
        for indices in combinations(range(len(sizes)), reading.way):
            at = requests.index(indices)
            found[indices] = (
                _from_lines(read, indices, variances)
                if reading.order
                else (shares[at].reshape([sizes[index] for index in indices]), variances[at])
            )
    guarantee, n = question.guarantee, summary.n
    parts = {
        tuple(names[index] for index in indices): _table(VarianceInterval(value, n, variance), guarantee)
        for indices, (value, variance) in found.items()
    }
    answers = dict(zip(names, (part.labels for part in question.domain.parts), strict=True))
    return EstimatedTables(parts, n, answers, read)


def _table(interval: VarianceInterval, guarantee: Guarantee) -> Estimate:
    return Estimate.of(interval, guarantee, limits=SHARE)


def _interval(table: Estimate) -> VarianceInterval:
    return cast("VarianceInterval", table.confidence)


def _values(
    question: Question, kernel: FunctionsKernel, counts: Integers, *, every: bool
) -> tuple[list[Floats], list[Variance]]:
    """Return the share of every value of every function, and its variance as a function of the share.

    With m = q + (p − q)f the variance is m(1 − m)/(n(p − q)²) [Wang17, Thm 2]. Tables of pairs that are
    margins of larger tables do not need `every` function, because a plan may ask hardly anybody about some of
    them.
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


@dataclass(frozen=True, eq=False)
class _Shares:
    """The estimated shares of the values of every function; each function has its own people."""

    kernel: FunctionsKernel
    order: int  # order of the finite field of the lines; 0 if tables are margins of functions
    shares: tuple[Floats, ...]
    people: tuple[int, ...]

    def lines_of(self, indices: tuple[int, ...]) -> list[tuple[int, Integers]]:
        """Return the functions of a pair (its lines), and the value of each cell under each of them."""
        requests = [function.attributes for function in self.kernel.functions]
        shape = (self.kernel.sizes[indices[0]], self.kernel.sizes[indices[1]])
        begin = requests.index(indices)
        axes = [(requests.index((indices[side],)), np.indices(shape)[side]) for side in (0, 1)]
        return axes + [
            (at, np.reshape(self.kernel.functions[at].values, shape))
            for at in range(begin, begin + self.order - 1)
        ]

    def margins_of(self, indices: tuple[int, ...]) -> dict[int, _Margin]:
        """Return, for these attributes, the margin of every function with enough reports."""
        held = {
            at: _margin(self.kernel, at, self.shares[at], self.people[at], indices)
            for at, function in enumerate(self.kernel.functions)
            if set(indices) <= set(function.attributes) and self.people[at] >= _FEW
        }
        if not held:
            raise NotIdentifiable("some functions were reported by fewer than two people; ask more people")
        return held

    def influences(self, indices: tuple[int, ...]) -> Iterator[tuple[int, Floats]]:
        """Yield each function of a pair with the derivative of the table by the shares of its values."""
        rows, columns = (self.kernel.sizes[index] for index in indices)
        if self.order:
            for at, line in self.lines_of(tuple(sorted(indices))):
                cells = line == np.arange(self.shares[at].size)[:, None, None]
                yield at, (cells if indices[0] < indices[1] else cells.transpose(0, 2, 1)) / self.order
            return
        # The table is T + (a − T·1)/l + (b − 1·T)/k: T is the pair's, a and b are its attributes' shares.
        pair, first, second = map(_mean_weights, map(self.margins_of, (indices, indices[:1], indices[1:])))
        for at in sorted({*pair, *first, *second}):
            function = self.kernel.functions[at]
            codes = dict(zip(function.attributes, np.indices(self._shape(at)), strict=True))
            row, column = (
                codes[index].reshape(-1, 1) == np.arange(self.kernel.sizes[index])
                if index in codes
                else np.zeros((1, self.kernel.sizes[index]))
                for index in indices
            )
            own = pair.get(at, 0.0)
            along = (first.get(at, 0.0) - own) / columns * row
            across = (second.get(at, 0.0) - own) / rows * column
            yield at, own * row[:, :, None] * column[:, None, :] + along[:, :, None] + across[:, None, :]

    def independent(self, at: int, indices: tuple[int, ...], joint: Floats) -> Floats:
        """Return the shares of a function's values, with the pair's table replaced by a possible one."""
        shares, held = simplex(self.shares[at]), self.kernel.functions[at].attributes
        if self.order or not set(indices) <= set(held):
            return shares
        codes = np.indices(self._shape(at)).reshape(len(held), -1)
        pair = tuple(codes[held.index(index)] for index in indices)
        table = np.zeros(joint.shape)
        np.add.at(table, pair, shares)
        own = table[pair]
        alike = table.size / shares.size  # used for the values of a cell without people
        return np.asarray(joint[pair] * np.where(own > 0.0, shares / np.where(own > 0.0, own, 1.0), alike))

    def _shape(self, at: int) -> list[int]:
        return [self.kernel.sizes[index] for index in self.kernel.functions[at].attributes]

    def covariance(self, at: int, influence: Floats, shares: Floats | None = None) -> tuple[Floats, Floats]:
        """Return factors u and v of the covariance of sums over a function's values, u'u − vv'.

        `influence` has a row for each value. The shares of a function sum to 1, so the mean of a column does
        not matter.
        """
        flat = influence.reshape(len(influence), -1)
        flat = flat - flat.mean(axis=0)
        constant, slope = category_noise(self.kernel.reporting[at])
        shares = simplex(self.shares[at]) if shares is None else shares
        scaled = np.sqrt((constant + slope * shares) / self.people[at])[:, None] * flat
        return scaled, shares @ flat / math.sqrt(self.people[at])


@dataclass(frozen=True, eq=False)
class _PairEvidence:
    """The covariances of one table, which follow from its functions."""

    read: _Shares
    indices: tuple[int, ...]
    table: VarianceInterval

    def influence(self, at: tuple[int, int], whose: str) -> None:
        """Return None: tables of counts do not have each person's influence."""

    def _influences(self) -> Iterator[tuple[int, Floats]]:
        cells = int(np.size(self.table.value))
        if cells * max(share.size for share in self.read.shares) > _MOST_PRODUCTS:
            raise InvalidParameter(
                f"expected a table of fewer cells than {cells} for its covariances; join rare answers"
            )
        return self.read.influences(self.indices)

    def within(self, side: int) -> QuotientInterval:
        """Return the shares within rows (side 0), or within columns with the sides exchanged (side 1)."""
        turned = (0, 1) if side == 0 else (1, 0)
        value = np.transpose(np.asarray(self.table.value, dtype=np.float64), turned)
        top, both, bottom = (np.zeros(value.shape) for _ in range(3))
        for at, influence in self._influences():
            moved = np.transpose(influence, (0, *(axis + 1 for axis in turned)))
            sums = np.broadcast_to(moved.sum(axis=2, keepdims=True), moved.shape)
            (own, mean), (rest, other) = (self.read.covariance(at, part) for part in (moved, sums))
            top += ((own**2).sum(axis=0) - mean**2).reshape(value.shape)
            both += ((own * rest).sum(axis=0) - mean * other).reshape(value.shape)
            bottom += ((rest**2).sum(axis=0) - other**2).reshape(value.shape)
        row = np.broadcast_to(value.sum(axis=1, keepdims=True), value.shape)
        return QuotientInterval(value, row, (top, both, bottom), self.table.n)

    def independence(self) -> Significance:
        """Return the χ² test of the residuals T − r·c', with their covariance."""
        value = np.asarray(self.table.value, dtype=np.float64)
        bases = [contrasts(size) for size in value.shape]
        rows, columns = value.sum(axis=1), value.sum(axis=0)
        gaps = bases[0].T @ (value - np.outer(rows, columns)) @ bases[1]
        spread = np.zeros((gaps.size, gaps.size))
        for at, influence in self._influences():
            by_row, by_column = influence.sum(axis=2), influence.sum(axis=1)
            moved = influence - by_row[:, :, None] * columns - rows[:, None] * by_column[:, None, :]
            shares = self.read.independent(at, self.indices, np.outer(simplex(rows), simplex(columns)))
            tested = np.einsum("vij,ia,jb->vab", moved, *bases, optimize=True)
            own, mean = self.read.covariance(at, tested, shares)
            spread += own.T @ own - np.outer(mean, mean)
        statistic = quadratic_form(gaps.reshape(-1), spread)
        return Significance.chi_square(statistic, gaps.size, INDEPENDENCE)


def _from_lines(
    read: _Shares, indices: tuple[int, ...], variances: list[Variance]
) -> tuple[Floats, Variance]:
    """Return a table from the shares of its lines: (Σ over directions of the cell's line − 1)/q.

    The share of a line is the share of the cell plus the rest of the line. The variance uses the estimated
    rest.
    """
    lines, order = read.lines_of(indices), read.order
    value = (np.sum([read.shares[at][line] for at, line in lines], axis=0) - 1.0) / order
    constant, slope, square = np.zeros((3, *value.shape))
    for at, line in lines:
        a, b, c = variances[at]
        rest = np.clip(read.shares[at][line] - np.maximum(value, 0.0), 0.0, 1.0)
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
    """Return a margin of a function's cells. Each cell of the margin sums the same number of cells."""
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


def _mean_weights(held: Mapping[int, _Margin]) -> dict[int, float]:
    """Return the weights of a mean of margins, proportional to their precision."""
    spread = _joint_spread(held)
    return {at: spread / margin.spread for at, margin in held.items()}


def _joint_spread(held: Mapping[int, _Margin]) -> float:
    return 1.0 / sum(1.0 / margin.spread for margin in held.values())


def _from_subsets(read: _Shares) -> dict[tuple[int, ...], tuple[Floats, Variance]]:
    """Return the tables of pairs as margins of functions. The tables agree about every attribute.

    The table of a pair or attribute is the mean of the margins that contain it, weighted by precision.
    """

    def mean(positions: tuple[int, ...]) -> tuple[Floats, Variance, float]:
        held = read.margins_of(positions)
        weights = _mean_weights(held)
        value = np.sum([weight * held[at].value for at, weight in weights.items()], axis=0)
        value = np.asarray(value + (1.0 - value.sum()) / value.size)
        squares = np.array([held[at].variance for at in weights])
        constant, slope, square = (np.square(list(weights.values())) @ squares).tolist()
        return value, (constant, slope, square), _joint_spread(held)

    sizes = read.kernel.sizes
    single = [mean((index,)) for index in range(len(sizes))]
    found: dict[tuple[int, ...], tuple[Floats, Variance]] = {}
    for first, second in combinations(range(len(sizes)), 2):
        value, (constant, slope, square), spread = mean((first, second))
        rows, columns = value.shape
        agreed = value + ((single[first][0] - value.sum(axis=1)) / columns)[:, None]
        agreed = agreed + ((single[second][0] - value.sum(axis=0)) / rows)[None, :]
        # `part` is the remaining part of the variance if each attribute is known better than from this pair.
        kept = (rows - 1) * (columns - 1) * spread
        kept += (rows - 1) / columns * single[first][2] + (columns - 1) / rows * single[second][2]
        part = min(kept / ((value.size - 1) * spread), 1.0)
        found[first, second] = agreed, _shrunk(agreed, (constant, slope, square), part)
    return found


def _shrunk(values: Floats, variance: Variance, part: float) -> Variance:
    """Return the variances of cells after a projection that retains a part of their sum.

    A projection P has Σ_k P_ik² = P_ii. The cell's own variance has the factor P_ii², other cells the rest.
    """
    constant, slope, square = variance
    near = np.clip(values, 0.0, 1.0)
    others = (part - part**2) * float(np.mean(constant + slope * near - square * near**2))
    own = part**2
    return constant * own + others, slope * own, square * own


def _agree(values: dict[tuple[str, ...], Floats]) -> dict[tuple[str, ...], Floats]:
    """Return the nearest tables (least squares) that sum to 1 and agree about the shares of every attribute.

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
