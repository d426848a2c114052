"""Marginals: tables of several attributes from one report, and a lower bound on their variance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import ClassVar, Final, cast

import numpy as np

from dither.core.domains import Categories, finite
from dither.core.domains.records import Profile
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.sets.functions import (
    MOST_FUNCTIONS,
    TOTAL,
    FunctionsKernel,
    TableFunction,
    TableReading,
    lines,
)
from dither.core.question import PlainQuestion
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.numerics.finite_fields import least_order
from dither.foundation.numerics.roots import argmax
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.frequency.projective import ProjectiveResponse
from dither.mechanisms.frequency.subset import SubsetIndices
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal.design import relative_gap
from dither.mechanisms.optimal.problem import least_frequency_variance
from dither.mechanisms.optimal.queries.bound import MOST_ENUMERATED, enumerated_bound

_MOST_SETS: Final = 12  # all sets are examined for up to this number of attributes; for more, y = 0
_SWEEPS: Final = 12


@dataclass(frozen=True)
class TableBound:
    """The bound on the variance of all tables of `way` attributes of the given sizes, at E = ratio."""

    sizes: tuple[int, ...]
    way: int
    ratio: float

    @property
    def rest(self) -> float:
        """1ᵀG1/N² − tr(G)/N: a table counts every person once."""
        tables = list(combinations(self.sizes, self.way))
        return sum(1.0 / math.prod(table) for table in tables) - len(tables)

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        positions = range(len(self.sizes))
        most = len(self.sizes) if len(self.sizes) <= _MOST_SETS else self.way
        return [subset for count in range(1, most + 1) for subset in combinations(positions, count)]

    @cached_property
    def _eigenvalues(self) -> tuple[Floats, Floats]:
        """For every set S: its number of dimensions, and the eigenvalue of G over the number of cells."""
        dimensions, values = [], []
        tables = list(combinations(range(len(self.sizes)), self.way))
        for subset in self._sets:
            dimensions.append(math.prod(self.sizes[index] - 1 for index in subset))
            holding = [table for table in tables if set(subset) <= set(table)]
            values.append(sum(1.0 / math.prod(self.sizes[index] for index in table) for table in holding))
        return np.array(dimensions, dtype=np.float64), np.array(values)

    @cached_property
    def _differing(self) -> tuple[Floats, Floats]:
        """P_r(S) for every set S (rows) and r = 1 … d (columns), and for the empty set."""

        def row(held: tuple[int, ...]) -> Floats:
            polynomial = np.array([1.0])
            for index, size in enumerate(self.sizes):
                factor = [1.0, -1.0] if index in held else [1.0, size - 1.0]
                polynomial = np.convolve(polynomial, factor)
            return polynomial[1:]

        return np.array([row(subset) for subset in self._sets]), row(())

    def value(self, pairs: Floats) -> float:
        """Return the bound for y_1 … y_d, or −∞ if it proves nothing."""
        by_set, complete = self._differing
        inner = 1.0 - by_set @ pairs
        total = float(complete @ pairs)
        gamma = self.ratio - total
        if not gamma > 0.0 or float(inner.min()) < 1e-9:
            return -math.inf
        tau = ((1.0 + self.ratio) / 2.0 - total) ** 2 / gamma - 1.0 + total
        if not tau > 0.0:
            return -math.inf
        dimensions, values = self._eigenvalues
        return float((dimensions * np.sqrt(values * inner)).sum() ** 2 / tau + self.rest)

    @cached_property
    def best(self) -> float:
        """The largest bound found by line searches: over each y_r, over all, and over all from some r on."""
        pairs = np.zeros(len(self.sizes))
        reached = self.value(pairs)
        if len(self.sizes) > _MOST_SETS:
            return reached
        _, complete = self._differing
        count = len(pairs)
        ways = [np.ones(count), *np.eye(count), *(np.arange(count) >= first for first in range(1, count))]
        for _ in range(_SWEEPS):
            for way in ways:
                step = np.asarray(way, dtype=np.float64)
                down = float(min(pairs[step > 0.0]))  # y stays at least 0

                def along(length: float, step: Floats = step, now: Floats = pairs) -> float:
                    return self.value(now + length * step)

                length = argmax(along, -down, self.ratio / float(complete @ step), sections=40)
                if along(length) > reached:
                    pairs = np.maximum(pairs + length * step, 0.0)
                    reached = self.value(pairs)
        return reached


_LARGEST_FIELD: Final = 64  # functionals are tried for attributes of at most 64 categories
_MOST_CELLS: Final = 1 << 14  # cells of all subsets of attributes: the device text lists them
_DRAWS: Final = (KRR, SubsetIndices, ProjectiveResponse)


@dataclass(frozen=True)
class TablePlan:
    """Functions of rows with their weights, and the resulting variance of all tables."""

    functions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # attributes, and values for their codes
    inputs: tuple[int, ...]  # the number of values of each function
    weights: tuple[float, ...]
    variance: float  # variance of one report, summed over the cells of all tables
    field: int = 0  # the order of the field of the lines; 0 if sets of attributes are reported directly


@dataclass(frozen=True)
class Marginals(Mechanism[PlainQuestion]):
    """One public random question about one, two or more attributes, answered by randomized response.

    Promise:   pure ε for one record: each person answers a single question, drawn independently of the
               values.
    Reports:   the number of the question and the answer, a few bytes.
    Use when:  tables of pairs of attributes are wanted. `dt.stats.tables` reads the reports. The question is
               a linear function of two codes over a finite field, the pair itself, three attributes, or the
               complete profile as one category: the one with the smallest computed variance.
    Option:    `one_way=0.3` asks three in ten people about a single attribute. The shares of attributes
               become more accurate, and tables of pairs a little less. `dt.rows` gains at ε up to about 1.
    Reference: the bound of docs/theory.md for marginals; answers by [Ye18], [Kairouz16] or [Feldman22].

    >>> import dither as dt
    >>> survey = dt.Marginals({"age": dt.Categories(4), "sex": dt.Categories(2)}, epsilon=1)
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    domain: Profile

    _draws = ("questions",)

    _: KW_ONLY
    way: int = 2
    one_way: float | None = None

    _takes: ClassVar[tuple[type[Profile], ...]] = (Profile,)

    def __post_init__(self) -> None:
        given: object = self.domain
        if isinstance(given, Mapping):
            object.__setattr__(self, "domain", Profile(given))
        super().__post_init__()

    def _check(self) -> None:
        if isinstance(self.way, bool) or self.way not in (1, 2):
            raise InvalidParameter(
                "expected way to be 1 for tables of single attributes, or 2 for tables of pairs"
            )
        if self.one_way is None:
            return
        object.__setattr__(self, "one_way", finite("one_way", self.one_way))
        if self.way != 2 or not 0.0 < self.one_way < 1.0:
            raise InvalidParameter(
                "expected one_way, the share of the people who report one attribute, to be above 0 and "
                "below 1, with way=2"
            )
        if _functionals(self.domain.sizes, self.epsilon, self.one_way) is None or (
            max(self.domain.sizes) > _LARGEST_FIELD
        ):
            raise InvalidParameter(
                f"expected one_way only for attributes of up to {_LARGEST_FIELD} answers, and up to "
                f"{MOST_FUNCTIONS} functions; leave it out"
            )

    @cached_property
    def plan(self) -> TablePlan:
        """The functions with the smallest predicted variance, or with `one_way` the lines of pairs."""
        if self.one_way is not None:
            return cast(TablePlan, _functionals(self.domain.sizes, self.epsilon, self.one_way))
        plans = [table_of_pairs(self.domain.sizes, self.epsilon, self.way)]
        if self.way == 2 and max(self.domain.sizes) <= _LARGEST_FIELD:
            functionals = _functionals(self.domain.sizes, self.epsilon)
            plans += [functionals] if functionals is not None else []
        if self.way == 2:
            counts = range(3, len(self.domain.sizes) + 1)
            subsets = (_subsets(self.domain.sizes, self.epsilon, count) for count in counts)
            plans += [plan for plan in subsets if plan is not None]
        return min(plans, key=lambda plan: plan.variance)

    def _kernel(self) -> FunctionsKernel:
        different = sorted(set(self.plan.inputs))
        draws = tuple(cast(CodeKernel, best_answer(size, self.epsilon).question.kernel) for size in different)
        weights = _integers(self.plan.weights)
        functions = tuple(
            TableFunction(attributes, values, weight, different.index(size))
            for (attributes, values), size, weight in zip(
                self.plan.functions, self.plan.inputs, weights, strict=True
            )
        )
        return FunctionsKernel(self.domain.sizes, functions, draws)

    def _codebook(self, kernel: FunctionsKernel) -> TableReading:
        return kernel.reading()

    @property
    def average_variance(self) -> float:
        """The predicted variance that one report adds to all cells of all tables together."""
        return self.plan.variance

    @cached_property
    def bound(self) -> float:
        """A lower bound on `average_variance` of every ε-LDP mechanism, by symmetric multipliers.

        At large ε these prove nothing (their bound is negative). Then the bound of each single table is used:
        a mechanism for all tables estimates each table at best as well as a mechanism for its cells [Pan26].
        For profiles with at most 27 cells the bound proved by trying every column is also used.
        """
        together = TableBound(self.domain.sizes, self.way, math.exp(self.epsilon)).best
        sizes = [math.prod(table) for table in combinations(self.domain.sizes, self.way)]
        alone = sum(size * least_frequency_variance(size, self.epsilon) for size in sizes)
        return max(together, alone, _small_bound(self.domain.sizes, self.way, self.epsilon))

    @property
    def gap(self) -> float:
        """How far `average_variance` is above the bound, relative to it."""
        return relative_gap(self.average_variance, self.bound)


@lru_cache(maxsize=64)
def _small_bound(sizes: tuple[int, ...], way: int, epsilon: float) -> float:
    """Return the bound from the prices of randomized response on all cells, or −∞ if there are many cells."""
    size = math.prod(sizes)
    if size > MOST_ENUMERATED:
        return -math.inf
    cells = np.array(list(np.ndindex(*sizes)))
    rows = [
        np.all(cells[:, table] == codes, axis=1)
        for table in combinations(range(len(sizes)), way)
        for codes in np.ndindex(*(sizes[index] for index in table))
    ]
    matrix, ratio = np.array(rows, dtype=np.float64), math.exp(epsilon)
    response = (np.ones((size, size)) + (ratio - 1.0) * np.eye(size)) / (ratio + size - 1.0)
    return enumerated_bound(matrix.T @ matrix, ratio, response)


def best_answer(size: int, epsilon: float) -> CategoryMechanism:
    """Return the protocol with the smallest variance for `size` answers among those with short reports."""
    found: list[CategoryMechanism] = []
    for kind in _DRAWS:
        try:
            found.append(kind(Categories(size), epsilon=epsilon))
        except InvalidParameter:  # sets too small or too large
            continue
    return min(found, key=lambda protocol: protocol.variance(1.0 / size))


def _spread(size: int, epsilon: float) -> float:
    """Return n times the variance of a value's share among those who answered its question, for equal shares.

    Besides the noise it includes f(1 − f), because the people who answer a question are drawn at random.
    Drawing from finitely many people lowers the sum by tr(G)/N − 1ᵀG1/N².
    """
    return best_answer(size, epsilon).variance(1.0 / size) + (1.0 - 1.0 / size) / size


def _functionals(sizes: tuple[int, ...], epsilon: float, single: float | None = None) -> TablePlan | None:
    """Return linear functions x + a·y over the field of q ≥ k elements for each pair, and each attribute.

    A table of a pair is (Σ over the q + 1 directions of the share of the cell's line, less 1)/q. A question
    is drawn in proportion to the square root of the number of cells that it enters. `single` is the share of
    the people who are asked about one attribute.
    """
    order = least_order(max(sizes))
    if len(sizes) + math.comb(len(sizes), 2) * (order - 1) > MOST_FUNCTIONS:
        return None
    requests: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    enters: list[float] = []
    for index, size in enumerate(sizes):
        requests.append(((index,), tuple(range(size))))
        enters.append(sum(size * other for at, other in enumerate(sizes) if at != index))
    for (first, second), values in lines(sizes, order):
        requests.append(((first, second), values))
        enters.append(sizes[first] * sizes[second])
    noise = _spread(order, epsilon) / order**2
    weights = np.sqrt(enters)
    weights /= weights.sum()
    if single is not None:
        weights[: len(sizes)] *= single / weights[: len(sizes)].sum()
        weights[len(sizes) :] *= (1.0 - single) / weights[len(sizes) :].sum()
    return TablePlan(
        tuple(requests),
        (order,) * len(requests),
        tuple(weights.tolist()),
        float(noise * (np.array(enters) / weights).sum()) + TableBound(sizes, 2, 1.0).rest,
        order,
    )


def table_of_pairs(sizes: tuple[int, ...], epsilon: float, way: int) -> TablePlan:
    """Return the questions for the combinations of attributes themselves. Marginals are made consistent."""
    requests: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    inputs: list[int] = []
    spreads: list[float] = []
    for indices in combinations(range(len(sizes)), way):
        cells = math.prod(sizes[index] for index in indices)
        requests.append((indices, tuple(range(cells))))
        inputs.append(cells)
        spread = _spread(cells, epsilon) * cells / (cells - 1)
        dimensions = float(cells - 1)
        if way == 2:  # a single attribute is averaged over the tables that contain it
            ends = [sizes[index] - 1 for index in indices]
            dimensions = math.prod(ends) + sum(ends) / (len(sizes) - 1)
        spreads.append(spread * dimensions)
    roots = np.sqrt(spreads)
    variance = float(roots.sum() ** 2) + TableBound(sizes, way, 1.0).rest
    return TablePlan(tuple(requests), tuple(inputs), tuple((roots / roots.sum()).tolist()), variance)


def _cells_of_subsets(sizes: tuple[int, ...], count: int) -> int:
    """Return the total number of cells of all subsets of `count` attributes, without listing them."""
    cells = [1, *(0 for _ in range(count))]  # cells by the number of attributes: ∏ (1 + size·t) up to t^count
    for size in sizes:
        for held in range(count, 0, -1):
            cells[held] += size * cells[held - 1]
    return cells[count]


def _subsets(sizes: tuple[int, ...], epsilon: float, count: int) -> TablePlan | None:
    """Return the questions for all subsets of `count` attributes, or None if they have too many cells.

    The component of a table that belongs to a set A of attributes (its interaction, or one attribute) has
    Π(k_a − 1) dimensions. A subset S with spread s and k_S cells, answered by a share w of the people,
    estimates each with the variance s·k_S/(k_A·w); all subsets that hold A are averaged by their variances.
    """
    if _cells_of_subsets(sizes, count) > _MOST_CELLS:
        return None
    requests = [
        (indices, tuple(range(math.prod(sizes[index] for index in indices))))
        for indices in combinations(range(len(sizes)), count)
    ]
    costs, precisions = [], []
    for held in (*combinations(range(len(sizes)), 1), *combinations(range(len(sizes)), 2)):
        cells = math.prod(sizes[index] for index in held)
        others = [size for index, size in enumerate(sizes) if index not in held]
        enters = sum(1.0 / size for size in others) if len(held) == 1 else 1.0
        costs.append(enters * math.prod(sizes[index] - 1 for index in held))
        precisions.append(
            [cells / len(values) if set(held) <= set(indices) else 0.0 for indices, values in requests]
        )
    inputs = tuple(len(values) for _, values in requests)
    spreads = np.array([_spread(cells, epsilon) * cells / (cells - 1) for cells in inputs])
    cost, precision = np.array(costs), np.array(precisions) / spreads
    weights = np.full(len(requests), 1.0 / len(requests))
    for _ in range(_SWEEPS * 10):  # equalise the derivatives of the variance by the weights
        weights = weights * np.sqrt(precision.T @ (cost / (precision @ weights) ** 2))
        weights /= weights.sum()
    variance = float((cost / (precision @ weights)).sum()) + TableBound(sizes, 2, 1.0).rest
    return TablePlan(tuple(requests), inputs, tuple(weights.tolist()), variance)


def _integers(weights: tuple[float, ...]) -> list[int]:
    """Return integers in proportion to weights, each at least 1, that sum to 2^32."""
    found = [max(1, int(Fraction(weight) * TOTAL)) for weight in weights]
    found[found.index(max(found))] += TOTAL - sum(found)
    return found
