"""Contingency tables of two randomised questions, and the test of independence."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dither.arrays import Floats
from dither.errors import unknown_name
from dither.estimation.comparison.significance import Significance, contrasts, quadratic_form
from dither.estimation.estimate import Estimate, show, thousands
from dither.estimation.intervals import StudentInterval
from dither.estimation.pairs.readings import blocks, check_pair, indicators, protocol_of
from dither.reports import Reports
from dither.table import Row, as_html, as_text


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTable(Estimate):
    """The share of people with each pair of answers. Unbiased: some shares may be negative.

    `table["cat", "house"]` is one share, with its interval; `value` has a row for each answer to the first
    question and a column for each to the second.
    """

    rows: Sequence[Hashable]
    columns: Sequence[Hashable]
    dependence: Significance
    confidence: StudentInterval = field(kw_only=True)

    def independence(self) -> Significance:
        """Test the hypothesis that the two answers of a person are independent.

        A χ² statistic of the covariances of all pairs of answers, with the covariance that they have under
        the hypothesis: it contains the noise of both mechanisms.
        """
        return self.dependence

    def __getitem__(self, pair: Any) -> Estimate:
        first, second = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)
        if first not in self.rows:
            raise unknown_name("answer to the first question", first, map(str, self.rows))
        if second not in self.columns:
            raise unknown_name("answer to the second question", second, map(str, self.columns))
        at = self.rows.index(first), self.columns.index(second)
        return Estimate.of(self.confidence.pick(at), self.guarantee, origin=self)

    def items(self) -> Iterator[tuple[tuple[Hashable, Hashable], Estimate]]:
        """Return the pairs of answers with their shares."""
        return (((a, b), self[a, b]) for a in self.rows for b in self.columns)

    def _names(self) -> list[Row]:
        return [{"first": row, "second": other} for row in self.rows for other in self.columns]

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        value, half = np.asarray(self.value), np.asarray(self.half_width())
        lines = [
            [str(label), *(show(float(v), float(h)) for v, h in zip(value[i], half[i], strict=True))]
            for i, label in enumerate(self.rows)
        ]
        return ["", *map(str, self.columns)], lines

    def __repr__(self) -> str:
        return f"{as_text(*self._grid())}\n(95 %, n = {thousands(self.n)})"

    def _repr_html_(self) -> str:
        return as_html(*self._grid())


def crosstab(first: Reports, second: Reports) -> EstimatedTable:
    """Estimate how frequent each pair of answers is, from two questions that the same people answered.

    The reports are in the same order of people, as those of `dt.Each` and of `dt.data.reports` are. Each
    report is read by its own channel, inverted; their products average to the shares, without bias.

    >>> import dither as dt
    >>> both = dt.Each(pet=dt.KRR(dt.Categories(["cat", "dog"]), epsilon=4),
    ...                home=dt.KRR(dt.Categories(["flat", "house"]), epsilon=4))
    >>> people = {"pet": ["cat", "dog"] * 500, "home": ["flat", "house"] * 500}
    >>> told = both.perturb(people, source=dt.Seeded(1))
    >>> crosstab(told["pet"], told["home"])["cat", "flat"]
    0.50 ± 0.03 (95 %, n = 1 000)
    """
    n = check_pair(first, second)
    sides = [protocol_of(reports) for reports in (first, second)]
    sizes = [len(side.categories) for side in sides]
    powers = np.zeros((3, *sizes))
    sums = [np.zeros(size) for size in sizes]
    inner = [np.zeros((size, size)) for size in sizes]
    for people in blocks(n, sum(sizes)):
        told = [indicators(reports[people]) for reports in (first, second)]
        for power in range(3):
            powers[power] += (told[0] ** (power + 1)).T @ told[1] ** (power + 1)
        for side, numbers in enumerate(told):
            sums[side] += numbers.sum(axis=0)
            inner[side] += numbers.T @ numbers
    value, square, cube = powers / n
    spread = np.maximum(square - value**2, 0.0)
    third = cube - 3.0 * value * square + 2.0 * value**3
    skew = np.divide(third, spread, out=np.zeros_like(third), where=spread > 0.0)
    means = [total / n for total in sums]
    covariances = [matrix / n - np.outer(mean, mean) for matrix, mean in zip(inner, means, strict=True)]
    error = np.sqrt(spread / max(n - 1, 1))
    return EstimatedTable(
        value,
        error,
        n,
        first.question.guarantee.compose(second.question.guarantee),
        tuple(sides[0].categories.labels),
        tuple(sides[1].categories.labels),
        _independence(value - np.outer(*means), covariances, n),
        confidence=StudentInterval(value, error, n, skew),
    )


def _independence(dependence: Floats, covariances: list[Floats], n: int) -> Significance:
    """Return the χ² test of no dependence; under it the covariance of products is that of the factors."""
    bases = [contrasts(len(matrix)) for matrix in covariances]
    inside = [base.T @ matrix @ base for base, matrix in zip(bases, covariances, strict=True)]
    gaps = bases[0].T @ dependence @ bases[1]
    statistic = n * quadratic_form(gaps, *inside)
    return Significance.chi_square(statistic, gaps.size, "independence of the two answers")
