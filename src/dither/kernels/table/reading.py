"""The best linear unbiased decoder of a channel: numbers for every report whose means are given queries.

With q_y the column of report y and d_y = π·q_y, the numbers b_y = W·K⁻¹·q_y/d_y with K = Σ q_y q_yᵀ/d_y have
E[b_Y | x] = W e_x, and the smallest average variance over inputs distributed by π [docs/theory.md].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import NotIdentifiable

_SINGULAR: Final = 1e-12


@final
@dataclass(frozen=True, eq=False)
class LinearReading:
    """Numbers for the answers to `queries`, a row each, from a channel with a row for each input."""

    channel: Floats
    queries: Floats
    edges: Floats | None = None  # of the cells whose cumulative shares the queries are; None for others

    def __call__(self, reports: Array) -> Floats:
        """Return the contribution of each report to each answer, along the last axis."""
        return np.asarray(self.table.T[reports.astype(np.int64)])

    def plain(self) -> None:
        """Return None: the queries travel as a parameter, or follow from the channel."""

    @cached_property
    def table(self) -> Floats:
        """The contribution of each report to each answer: a row for each query, a column for each report."""
        means = self.channel.mean(axis=0)
        scaled = self.channel / means
        moments = scaled @ self.channel.T
        eigenvalues = np.linalg.eigvalsh(moments)
        if not eigenvalues[0] > _SINGULAR * eigenvalues[-1]:
            raise NotIdentifiable(
                "some inputs have reports of the same distribution and cannot be distinguished"
            )
        return np.asarray(np.linalg.solve(moments, self.queries.T).T @ scaled)

    @cached_property
    def variances(self) -> Floats:
        """The variance that one report adds to the answers together, for each input."""
        squares = (self.table**2).sum(axis=0)
        return np.asarray(self.channel @ squares - (self.queries**2).sum(axis=0))

    @cached_property
    def single_variances(self) -> Floats:
        """The variance that one report adds to each answer, averaged over the inputs."""
        return np.asarray((self.table**2) @ self.channel.mean(axis=0) - (self.queries**2).mean(axis=1))


def cumulative(channel: Floats, edges: Floats) -> LinearReading:
    """Return the reading of cumulative shares: row i of the queries adds up the first i + 1 inputs."""
    return LinearReading(channel, np.tri(len(channel)), edges)
