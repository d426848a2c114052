"""Cumulative: shares of people below each edge, for cdfs, quantiles and ordinal scales."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Categories, Interval
from dither.errors import InvalidParameter
from dither.kernels.table.channel import ChannelKernel, NearestPoint
from dither.kernels.table.codes import CodeChannelKernel
from dither.kernels.table.reading import LinearReading, cumulative
from dither.mechanisms.base import QueryMechanism
from dither.optimal.design import relative_gap
from dither.optimal.queries.bound import lower_bound
from dither.optimal.queries.design import QueryDesign
from dither.optimal.queries.integers import channel_of
from dither.optimal.queries.store import prefix_design, prefixes
from dither.optimal.queries.workload import MOST_INPUTS, check_solvable

DEFAULT_CELLS: Final = 32


@final
@dataclass(frozen=True)
class Cumulative(QueryMechanism):
    """The channel that tells with the least variance how many people are below each of several edges.

    Promise:   pure ε.
    Reports:   the number of a column of the channel, in one or two bytes.
    Use when:  cumulative shares and quantiles matter: of a number, in equal `cells`, or of an ordinal scale,
               whose answers are `Categories` in their order. `dt.cumulative` reads the reports.
    Reference: solved for prefix sums by column generation; the certified bound is in docs/theory.md.

    >>> import dither as dt
    >>> waiting = dt.Cumulative(dt.Interval(0, 60), epsilon=1)
    >>> waiting.report_bytes, round(waiting.gap, 4) < 0.01
    (1, True)
    """

    _: KW_ONLY
    cells: int | None = None

    takes = (Interval, Categories)

    def _check(self) -> None:
        size = self._size()
        if not 2 <= size <= MOST_INPUTS:
            raise InvalidParameter(f"there are 2 to {MOST_INPUTS} cells or answers; group finer ones")
        check_solvable(self.epsilon)

    def _size(self) -> int:
        if isinstance(self.domain, Categories):
            if self.cells is not None:
                raise InvalidParameter("answers of an ordinal scale are not divided into cells")
            return len(self.domain)
        size = DEFAULT_CELLS if self.cells is None else self.cells
        if isinstance(size, bool) or not isinstance(size, int):
            raise InvalidParameter("the number of cells is a whole number")
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
        """The ends of the cells, or −½, ½, … of the answers of an ordinal scale."""
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
        """A lower bound on `average_variance` of every ε-LDP channel for these cumulative shares."""
        return lower_bound(self.matrix.T @ self.matrix, math.exp(self.epsilon), self._design.multipliers)

    @property
    def gap(self) -> float:
        """How far `average_variance` is above the bound, relative to it."""
        return relative_gap(self.average_variance, self.bound)
