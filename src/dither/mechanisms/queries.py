"""Mechanisms for linear queries: a channel, and the contribution of each report to each answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats
from dither.kernels.kernel import CellKernel
from dither.kernels.table.channel import Channel
from dither.kernels.table.reading import LinearReading
from dither.mechanisms.base import Mechanism


@dataclass(frozen=True)
class QueryMechanism(Mechanism[Any]):
    """A mechanism whose reports answer several linear queries about the shares of its inputs."""

    @property
    @abstractmethod
    def kernel(self) -> CellKernel: ...

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """The integer weights of every report for every input."""

    @property
    @abstractmethod
    def matrix(self) -> Floats:
        """The queries, one row each: the contribution of every input."""

    @final
    @cached_property
    def reading(self) -> LinearReading:
        """The unbiased contribution of each report to each answer, from the sampled integers."""
        return LinearReading(self.channel.matrix, self.matrix)

    @final
    @cached_property
    def average_variance(self) -> float:
        """The variance that one report adds to all answers together, averaged over the inputs."""
        return float(self.reading.variances.mean())

    @final
    @cached_property
    def worst_variance(self) -> float:
        """The variance that one report adds to all answers together, for the worst input."""
        return float(self.reading.variances.max())

    @final
    def decode(self, cells: Array) -> Array:
        """Return the contribution of each report to each answer, along the last axis."""
        return np.asarray(self.reading.table.T[cells.astype(np.int64)])
