"""Marginals: tables of one or two of several attributes, from one answer of each person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Final, final

import numpy as np

from dither.domains import Categories
from dither.domains.profile import Profile
from dither.errors import InvalidParameter
from dither.kernels.sets.finite_field import least_order
from dither.kernels.sets.functions import (
    MOST_FUNCTIONS,
    TOTAL,
    FunctionsKernel,
    TableFunction,
    TableReading,
    lines,
)
from dither.mechanisms.base import CategoryMechanism, Mechanism
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.frequency.projective import ProjectiveResponse
from dither.mechanisms.frequency.subset_indices import SubsetIndices
from dither.mechanisms.tables.table_bound import TableBound

_LARGEST_FIELD: Final = 64  # functionals are tried for attributes of up to so many categories
_DRAWS: Final = (KRR, SubsetIndices, ProjectiveResponse)


@final
@dataclass(frozen=True)
class TablePlan:
    """Functions of rows with their weights, and the variance of all tables that they lead to."""

    functions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # attributes, and values for their codes
    inputs: tuple[int, ...]  # the number of values of each function
    weights: tuple[float, ...]
    variance: float  # of one report, summed over the cells of all tables
    field: int = 0  # the order of the field of the lines; 0 if pairs are reported directly


@final
@dataclass(frozen=True)
class Marginals(Mechanism[Profile]):
    """One public random question about one or two attributes, answered by randomized response.

    Promise:   pure ε for one record: each person answers a single question, drawn without looking.
    Reports:   the number of the question and the answer, a few bytes.
    Use when:  tables of pairs of attributes are wanted. `dt.tables` reads the reports. The question is a
               linear function of two codes over a finite field, or the pair itself, by computed variance.
    Reference: the bound of docs/theory.md for marginals; answers by [Ye18], [Kairouz16] or [Feldman22].

    >>> import dither as dt
    >>> survey = dt.Marginals({"age": dt.Categories(4), "sex": dt.Categories(2)}, epsilon=1)
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    _: KW_ONLY
    way: int = 2

    takes: ClassVar[tuple[type[Profile], ...]] = (Profile,)

    def __post_init__(self) -> None:
        given: Any = self.domain
        if isinstance(given, Mapping):
            object.__setattr__(self, "domain", Profile(given))
        super().__post_init__()

    def _check(self) -> None:
        if isinstance(self.way, bool) or self.way not in (1, 2):
            raise InvalidParameter("way is 1 for tables of single attributes or 2 for tables of pairs")

    @cached_property
    def plan(self) -> TablePlan:
        """The functions with the smallest predicted variance."""
        plans = [_pairs(self.domain.sizes, self.epsilon, self.way)]
        if self.way == 2 and max(self.domain.sizes) <= _LARGEST_FIELD:
            functionals = _functionals(self.domain.sizes, self.epsilon)
            plans += [functionals] if functionals is not None else []
        return min(plans, key=lambda one: one.variance)

    def _kernel(self) -> FunctionsKernel:
        different = sorted(set(self.plan.inputs))
        draws = tuple(best_answer(size, self.epsilon).kernel for size in different)
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
        """What one report adds to the variance of all cells of all tables together, as predicted."""
        return self.plan.variance

    @cached_property
    def bound(self) -> float:
        """A lower bound on `average_variance` of every ε-LDP mechanism, by symmetric multipliers."""
        return TableBound(self.domain.sizes, self.way, math.exp(self.epsilon)).best

    @property
    def gap(self) -> float:
        """How far `average_variance` is above the bound, relative to it."""
        return max(self.average_variance / self.bound - 1.0, 0.0)


def best_answer(size: int, epsilon: float) -> CategoryMechanism:
    """Return the protocol with the smallest variance for one of `size` answers, in few numbers."""
    found: list[CategoryMechanism] = []
    for kind in _DRAWS:
        try:
            found.append(kind(Categories(size), epsilon=epsilon))
        except InvalidParameter:  # sets too small or too large
            continue
    return min(found, key=lambda one: one.variance(1.0 / size))


def _spread(size: int, epsilon: float) -> float:
    """Return n times the variance of a value's share among those who answered its question, if all are alike.

    Beside the noise it holds f(1 − f): who of all people answers a question is drawn as well. That everybody
    is drawn from finitely many people lowers the sum by tr(G)/N − 1ᵀG1/N².
    """
    return best_answer(size, epsilon).variance(1.0 / size) + (1.0 - 1.0 / size) / size


def _functionals(sizes: tuple[int, ...], epsilon: float) -> TablePlan | None:
    """Return linear functions x + a·y over the field of q ≥ k elements for each pair, and each attribute.

    A table of a pair is (Σ over the q + 1 directions of the share of the cell's line, less 1)/q. A question
    is asked in proportion to the square root of the number of cells that it enters.
    """
    order = least_order(max(sizes))
    if len(sizes) + math.comb(len(sizes), 2) * (order - 1) > MOST_FUNCTIONS:
        return None
    asked: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    enters: list[float] = []
    for place, size in enumerate(sizes):
        asked.append(((place,), tuple(range(size))))
        enters.append(sum(size * other for at, other in enumerate(sizes) if at != place))
    for (first, second), values in lines(sizes, order):
        asked.append(((first, second), values))
        enters.append(sizes[first] * sizes[second])
    noise = _spread(order, epsilon) / order**2
    roots = np.sqrt(enters)
    return TablePlan(
        tuple(asked),
        (order,) * len(asked),
        tuple((roots / roots.sum()).tolist()),
        float(noise * roots.sum() ** 2) + TableBound(sizes, 2, 1.0).rest,
        order,
    )


def _pairs(sizes: tuple[int, ...], epsilon: float, way: int) -> TablePlan:
    """Return the questions for the combinations of attributes themselves; marginals are made to agree."""
    asked: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    inputs: list[int] = []
    spreads: list[float] = []
    for places in combinations(range(len(sizes)), way):
        cells = math.prod(sizes[place] for place in places)
        asked.append((places, tuple(range(cells))))
        inputs.append(cells)
        one = _spread(cells, epsilon) * cells / (cells - 1)
        dimensions = float(cells - 1)
        if way == 2:  # a single attribute is averaged over the tables that hold it
            ends = [sizes[place] - 1 for place in places]
            dimensions = math.prod(ends) + sum(ends) / (len(sizes) - 1)
        spreads.append(one * dimensions)
    roots = np.sqrt(spreads)
    variance = float(roots.sum() ** 2) + TableBound(sizes, way, 1.0).rest
    return TablePlan(tuple(asked), tuple(inputs), tuple((roots / roots.sum()).tolist()), variance)


def _integers(weights: tuple[float, ...]) -> list[int]:
    """Return whole numbers in proportion to weights, each at least 1, that sum to 2^32."""
    found = [max(1, int(Fraction(weight) * TOTAL)) for weight in weights]
    found[found.index(max(found))] += TOTAL - sum(found)
    return found
