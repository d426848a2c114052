"""Mechanisms solved for linear queries: any workload, and cumulative shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories, Interval
from dither.core.kernels.channel import (
    ChannelKernel,
    CodeChannelKernel,
    LinearReading,
    NearestPoint,
    cumulative,
)
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.mechanism import QueryMechanism
from dither.mechanisms.optimal.design import relative_gap
from dither.mechanisms.optimal.queries.bound import (
    MOST_ENUMERATED,
    enumerated_bound,
    lower_bound,
    matched_bound,
)
from dither.mechanisms.optimal.queries.design import QueryDesign, channel_of
from dither.mechanisms.optimal.queries.solve import TARGET, Moments, solve
from dither.mechanisms.optimal.queries.store import prefix_design, prefixes, shipped_budgets

MOST_INPUTS: Final = 256
_TIGHT: Final = 0.02  # below this relative gap no better bound is searched
_LOOSE: Final = 0.7  # below this ratio to the variance a bound by parts of the inputs is tried
_PARTS: Final = 4
MOST_QUERIES: Final = 1 << 16
LEAST_EPSILON, MOST_EPSILON = 0.05, 8.0


@dataclass(frozen=True)
class Workload(QueryMechanism):
    """The channel whose reports answer given linear queries with nearly the least possible variance.

    Promise:   pure ε.
    Reports:   the number of a column of the channel, in one or two bytes.
    Use when:  sums of frequencies are wanted instead of single frequencies: ranges, prefixes, marginals,
               differences. `dt.optimal.Workload.of(queries, epsilon)` returns it.
    Reference: [McKenna20]; columns by column generation, the lower bound of docs/theory.md.

    >>> import dither as dt
    >>> asked = dt.optimal.Workload.of([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], 1)
    >>> round(asked.average_variance, 2), round(asked.bound, 2)
    (5.99, 5.99)
    """

    domain: Categories

    _draws = ("table",)

    _: KW_ONLY
    queries: Sequence[Sequence[float]]
    target: float = TARGET

    _takes = (Categories,)

    @staticmethod
    def of(queries: Any, epsilon: float, *, target: float = TARGET, labels: Any = None) -> Workload:
        """Return the mechanism with the least variance for linear queries: a matrix, a row for each query.

        Entry (i, x) is the contribution of a person with answer x to query i. `target` is the gap above the
        bound at which the search ends. `labels` are the answers, by default the numbers 0 … k − 1. Solving
        needs the extra `optimal` (scipy) and takes seconds for 32 inputs, minutes for 128; prefix sums of 4,
        8, 16, 32, 64 and 128 inputs are shipped.
        """
        try:
            size = np.shape(queries)[1]
        except (IndexError, ValueError):
            raise InvalidParameter(
                "expected queries as a matrix: a row for each query, a column for each input"
            ) from None
        domain = Categories(labels if labels is not None else size)
        return Workload(domain, epsilon=epsilon, queries=queries, target=target)

    def _check(self) -> None:
        object.__setattr__(self, "queries", check_queries(self.queries, len(self.domain)))
        if not isinstance(self.target, float) or not 1e-4 <= self.target <= 1.0:
            raise InvalidParameter("expected the target gap to be a number from 0.0001 to 1, such as 0.05")
        check_solvable(self.epsilon)

    @cached_property
    def matrix(self) -> Floats:
        """The queries, one row each: the contribution of every input."""
        return np.array(self.queries, dtype=np.float64)

    @property
    def gram(self) -> Floats:
        """WᵀW for the matrix W of queries."""
        return np.asarray(self.matrix.T @ self.matrix)

    def _kernel(self) -> CodeChannelKernel:
        return CodeChannelKernel(channel_of(self._design, mirrored=Moments(self.gram).mirrored))

    def _codebook(self, kernel: CodeChannelKernel) -> LinearReading:
        return LinearReading(kernel.channel.matrix, self.matrix)

    @property
    def _design(self) -> QueryDesign:
        return _solve(self.queries, self.epsilon, self.target)

    @cached_property
    def bound(self) -> float:
        """A lower bound on `average_variance` of every ε-LDP channel, from dual variables; above 0."""
        return _best_bound(self, self._design, self.gram)

    @property
    def gap(self) -> float:
        """The relative excess of `average_variance` over the bound."""
        return relative_gap(self.average_variance, self.bound)


def _best_bound(mechanism: QueryMechanism, design: QueryDesign, gram: Floats) -> float:
    """Return the best bound: by multipliers, by trying every column, by pairs, or by parts of the inputs."""
    ratio = math.exp(mechanism.epsilon)
    proved = lower_bound(gram, ratio, design.multipliers)
    if proved < (1.0 - _TIGHT) * mechanism.average_variance:  # few queries, or a large ε
        proved = max(proved, enumerated_bound(gram, ratio, mechanism.question.kernel.channel.matrix))
    proved = max(proved, matched_bound(gram, ratio))
    if proved < _LOOSE * mechanism.average_variance and len(gram) > MOST_ENUMERATED:
        proved = max(proved, bound_by_parts(gram, mechanism.epsilon))
    return proved


def bound_by_parts(gram: Floats, epsilon: float) -> float:
    """Return the average of bounds for parts without every fourth input, or −∞ for too many inputs.

    A channel for all inputs is also one for the people of a part. Every input is in three of the four parts,
    so the average variance is at least the average of the bounds, weighted by the numbers of inputs.
    """
    inputs, total = np.arange(len(gram)), 0.0
    for dropped in range(_PARTS):
        kept = np.flatnonzero(inputs % _PARTS != dropped)
        if kept.size > MOST_ENUMERATED:
            return -math.inf
        part = gram[np.ix_(kept, kept)]
        channel = channel_of(solve(part, epsilon, target=_TIGHT), mirrored=Moments(part).mirrored)
        total += kept.size * enumerated_bound(part, math.exp(epsilon), channel.matrix)
    return total / ((_PARTS - 1) * len(gram))


def check_queries(queries: object, inputs: int) -> tuple[tuple[float, ...], ...]:
    """Return queries as rows of numbers. Raise InvalidParameter if their number of inputs is wrong."""
    try:
        matrix = np.asarray(queries, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("expected queries to be a matrix of numbers, all rows of one length") from None
    if matrix.ndim != 2 or matrix.shape[1] != inputs or not 1 <= matrix.shape[0] <= MOST_QUERIES:
        raise InvalidParameter(f"expected queries to be rows of {inputs} numbers, one for each input")
    if not 2 <= inputs <= MOST_INPUTS:
        raise InvalidParameter(
            f"expected queries about 2 to {MOST_INPUTS} inputs, got another number; group finer inputs"
        )
    if not np.isfinite(matrix).all() or float(np.abs(matrix).max()) > 1e9:
        raise InvalidParameter("expected the numbers of a query to be finite and at most 1e9")
    across = matrix - matrix.mean(axis=1, keepdims=True)
    if not float(np.abs(across).max()) > 1e-12 * max(float(np.abs(matrix).max()), 1e-300):
        raise InvalidParameter(
            "expected queries in which inputs count differently, got queries with known answers; change the "
            "weights of an input"
        )
    return tuple(map(tuple, matrix.tolist()))


def check_solvable(epsilon: float) -> None:
    """Raise InvalidParameter if channels are not solved for a budget."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidParameter(f"expected ε from {LEAST_EPSILON:g} to {MOST_EPSILON:g} for a solved channel")


@lru_cache(maxsize=16)
def _solve(queries: tuple[tuple[float, ...], ...], epsilon: float, target: float) -> QueryDesign:
    matrix = np.array(queries)
    size = matrix.shape[1]
    if matrix.shape[0] == size and size in shipped_budgets() and np.array_equal(matrix, prefixes(size)):
        return prefix_design(size, epsilon)
    return solve(matrix.T @ matrix, epsilon, target=target)


DEFAULT_CELLS: Final = 32


@dataclass(frozen=True)
class Cumulative(QueryMechanism):
    """The channel with the least variance for the number of people below each of several edges.

    Promise:   pure ε.
    Reports:   the number of a column of the channel, in one or two bytes.
    Use when:  cumulative shares and quantiles matter: for a number, in equal `cells`, or for an ordinal
    scale,
               with `Categories` in their order as answers. `dt.cumulative` takes the reports.
    Reference: solved for prefix sums by column generation; the certified bound is in docs/theory.md. It fills
               the blank cell of [OGPM25, Table 2], a distribution from reports of any kind: the variance is
               at most `gap` above `bound`, a lower bound for all ε-LDP mechanisms for these cells.

    >>> import dither as dt
    >>> waiting = dt.optimal.Cumulative(dt.Interval(0, 60), epsilon=1)
    >>> waiting.report_bytes, round(waiting.gap, 4) < 0.01
    (1, True)
    """

    domain: Interval | Categories

    _draws = ("channel", "table")

    _: KW_ONLY
    cells: int | None = None

    _takes = (Interval, Categories)

    def _check(self) -> None:
        if self.domain.optional:
            raise InvalidParameter(
                'expected answers without "no answer", because an ordered scale has no position for it; use '
                "dt.KRR on dt.Nullable(dt.Categories(…))"
            )
        size = self._size()
        if not 2 <= size <= MOST_INPUTS:
            raise InvalidParameter(
                f"expected 2 to {MOST_INPUTS} cells or answers, got another number; group finer ones"
            )
        check_solvable(self.epsilon)

    def _size(self) -> int:
        if isinstance(self.domain, Categories):
            if self.cells is not None:
                raise InvalidParameter(
                    "expected no cells for an ordinal scale, because its answers are the cells; leave cells "
                    "out"
                )
            return len(self.domain)
        size = DEFAULT_CELLS if self.cells is None else self.cells
        if isinstance(size, bool) or not isinstance(size, int):
            raise InvalidParameter("expected the number of cells to be an integer")
        return size

    def _kernel(self) -> ChannelKernel | CodeChannelKernel:
        channel = channel_of(self._design, mirrored=True)
        if isinstance(self.domain, Categories):
            return CodeChannelKernel(channel)
        inner = tuple(self.edges[1:-1].tolist())
        return ChannelKernel(self.domain, channel, NearestPoint(inner, tuple(range(self._size()))))

    def _codebook(self, kernel: ChannelKernel | CodeChannelKernel) -> LinearReading:
        return cumulative(kernel.channel.matrix, self.edges)

    @property
    def _design(self) -> QueryDesign:
        return prefix_design(self._size(), self.epsilon)

    @cached_property
    def edges(self) -> Floats:
        """The edges of the cells, or −½, ½, … for the answers of an ordinal scale."""
        size = self._size()
        if isinstance(self.domain, Interval):
            return np.asarray(self.domain.from_unit(np.arange(size + 1) / size), dtype=np.float64)
        return np.arange(size + 1, dtype=np.float64) - 0.5

    @cached_property
    def matrix(self) -> Floats:
        """The queries: row i adds up the first i + 1 cells."""
        return prefixes(self._size())

    @cached_property
    def bound(self) -> float:
        """A lower bound on `average_variance` of every ε-LDP channel for these cumulative shares; above 0."""
        return _best_bound(self, self._design, self.matrix.T @ self.matrix)

    @property
    def gap(self) -> float:
        """The relative excess of `average_variance` over the bound."""
        return relative_gap(self.average_variance, self.bound)
