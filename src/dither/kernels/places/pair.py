"""Two numbers, each reported by its own kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Domain, read_domain
from dither.errors import MalformedReport
from dither.kernels.blocks import FEW
from dither.kernels.kernel import Kernel, read_kernel
from dither.kernels.line import LineKernel
from dither.randomness import Source


@final
@dataclass(frozen=True)
class PairKernel(Kernel):
    """A report is one cell of each kernel; the two are drawn independently, so their privacy losses add."""

    first: LineKernel
    second: LineKernel

    kind: ClassVar[str] = "pair"

    @property
    def parts(self) -> tuple[LineKernel, LineKernel]:
        """The two kernels."""
        return self.first, self.second

    @property
    def layout(self) -> np.dtype[Any]:
        cell = np.min_scalar_type(max(part.outcomes for part in self.parts) - 1)
        return np.dtype((cell, (2,)))

    @property
    def outcomes(self) -> int:
        return self.first.outcomes * self.second.outcomes

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        rows = inputs.reshape(-1, 2)
        if len(rows) < FEW:
            for axis, part in enumerate(self.parts):
                if len(rows) and not part.line.admits(rows[:, axis]):
                    part.line.refuse()
            return self.draw_singly(rows.tolist(), source).reshape(inputs.shape)
        reports = np.empty(inputs.shape, dtype=self.layout.base)
        for axis, part in enumerate(self.parts):
            reports[..., axis] = part.draw(inputs[..., axis], source, threads=threads)
        return reports

    def draw_one(self, value: tuple[float, float], source: Source) -> tuple[int, int]:
        return self.first.draw_one(value[0], source), self.second.draw_one(value[1], source)

    def probabilities(self, value: tuple[float, float]) -> list[Fraction]:
        """Return the exact probability of every pair of cells, in lexicographic order."""
        first, second = self.first.probabilities(value[0]), self.second.probabilities(value[1])
        return [one * two for one in first for two in second]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        first, second = (
            part.likelihoods(reports[..., axis], inputs[..., axis]) for axis, part in enumerate(self.parts)
        )
        return np.asarray(first * second)

    @property
    def ratio(self) -> Fraction:
        return self.first.ratio * self.second.ratio

    @property
    def evidence(self) -> str:
        return f"{self.first.evidence}; and {self.second.evidence}; the two add"

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=self.layout.base)
        if raw.ndim == 0 or raw.shape[-1] != 2:
            raise MalformedReport(
                "a report is a pair of cells: the last axis of the array must have length 2"
            )
        columns = [part.check(raw[..., axis]) for axis, part in enumerate(self.parts)]
        return np.stack(columns, axis=-1).astype(self.layout.base, copy=False)

    def device(self) -> dict[str, Any]:
        first, second = ({**part.device(), "domain": part.line.device()} for part in self.parts)
        return {"draw": self.kind, "first": first, "second": second}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        parts = []
        for name in ("first", "second"):
            part = read_kernel(device[name], read_domain(device[name]["domain"]))
            if not isinstance(part, LineKernel):
                raise MalformedReport(f"the {name} kernel of a pair must be one of an interval or a circle")
            parts.append(part)
        return cls(*parts)
