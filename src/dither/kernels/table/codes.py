"""A channel on a list of categories: the row of the answer's code, drawn exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Categories, Domain
from dither.errors import MalformedReport
from dither.kernels.blocks import FEW, Sampler, in_threads
from dither.kernels.kernel import CellKernel, PureKernel, check_no_codebook
from dither.kernels.table.alias import AliasSampler
from dither.kernels.table.channel import Channel
from dither.kernels.table.reading import LinearReading, cumulative
from dither.randomness import Source


@final
@dataclass(frozen=True)
class CodeChannelKernel(PureKernel, CellKernel):
    """A report is an outcome of the row that belongs to the code."""

    channel: Channel

    kind: ClassVar[str] = "table"

    @property
    def outcomes(self) -> int:
        return self.channel.cells

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        if inputs.size < FEW:
            return self.draw_singly(inputs.reshape(-1).tolist(), source).reshape(inputs.shape)
        reports = in_threads(self._sampler, inputs.reshape(-1), self.layout, source, threads)
        return reports.reshape(inputs.shape)

    def _sampler(self, size: int) -> Sampler:
        alias = AliasSampler(self.channel.table, size)

        def draw(block: Array, cells: Array, source: Source) -> None:
            drawn = alias.draw(block.size, source, block.astype(np.int64))
            np.copyto(cells, drawn, casting="unsafe")

        return draw

    def draw_one(self, value: int, source: Source) -> int:
        return self.channel.table.draw_one(source, value)

    def probabilities(self, value: int) -> list[Fraction]:
        return self.channel.probabilities(value)

    def chances(self, value: int) -> Floats:
        return np.asarray(self.channel.matrix[value])

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        return np.asarray(self.channel.matrix[np.asarray(inputs), reports.astype(np.int64)])

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Categories) and len(domain) == len(self.channel.values)

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> LinearReading:
        """Return the reading of the stated queries; without queries, of cumulative shares."""
        check_no_codebook(self, data)
        size = len(self.channel.values)
        if "queries" not in stated:
            return cumulative(self.channel.matrix, np.arange(size + 1, dtype=np.float64) - 0.5)
        queries = np.asarray(stated["queries"], dtype=np.float64)
        if queries.ndim != 2 or queries.shape[1] != size or not np.isfinite(queries).all():
            raise MalformedReport("the kernel and the queries disagree about the number of inputs")
        return LinearReading(self.channel.matrix, queries)

    def write_codebook(self, book: LinearReading) -> None:
        """Return None: the queries travel as a parameter, or follow from the channel."""

    def decode(self, reports: Array, domain: Domain, book: LinearReading) -> Floats:
        """Return the contribution of each report to each answer, along the last axis."""
        return book(reports)

    @property
    def ratio(self) -> Fraction:
        return self.channel.ratio

    @property
    def evidence(self) -> str:
        return f"all pairs of {len(self.channel.values)} inputs, from integer weights of total 2^128"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, **self.channel.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        return cls(Channel.from_device(device))
