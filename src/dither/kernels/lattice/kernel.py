"""Noise on a lattice as a kernel: a value is mapped to a step, and a report is that step plus noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Domain, Line
from dither.errors import InvalidParameter
from dither.kernels.blocks import Sampler
from dither.kernels.lattice.circular import Ring
from dither.kernels.lattice.integers import Clamped, Lattice
from dither.kernels.lattice.truncated import Bounded
from dither.kernels.line import LineKernel
from dither.kernels.transition import Dense, Operator
from dither.kernels.window.kernel import a_line
from dither.kernels.window.start import LineStart
from dither.randomness import Source

Kind = TypeVar("Kind", bound=Lattice)

_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Lattice]]] = {
    "clamped": Clamped.from_device,
    "ring": Ring.from_device,
    "bounded": Bounded.from_device,
}


@final
@dataclass(frozen=True)
class LatticeKernel(LineKernel, Generic[Kind]):
    """A lattice with noise of integer weights, and the rule that maps a value to a step."""

    line: Line
    lattice: Kind
    start: LineStart

    kind: ClassVar[str] = "lattice"

    def __post_init__(self) -> None:
        if not self.start.reaches(self.line, 31) or not self.lattice.keeps(self.start, self.line):
            raise InvalidParameter(
                "the start rule leads to steps for which the privacy ratio was not computed"
            )

    @staticmethod
    def on(line: Line, lattice: Kind) -> LatticeKernel[Kind]:
        """Return the kernel of a lattice laid evenly over a line."""
        return LatticeKernel(line, lattice, lattice.start(line))

    @property
    def outcomes(self) -> int:
        return self.lattice.cells

    def sampler(self, size: int) -> Sampler:
        return self.lattice.sampler(self.start, size)

    def draw_one(self, value: float, source: Source) -> int:
        return self.lattice.draw_one(self.start.draw_one(value, source), source)

    def _listed(self, value: float) -> list[Fraction]:
        return self.lattice.probabilities(self.start.aim_one(value))

    def chances(self, value: Any) -> Floats:
        return self.lattice.chances(self.start.aim_one(float(self.line.check(value))))

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        if not isinstance(self.lattice, Clamped):
            return super().likelihood(inputs, rows)
        groups = self._groups(rows)
        return Dense(self.lattice.grouped(self.start.aim(inputs), groups), groups)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        told, aims = np.broadcast_arrays(reports.astype(np.int64), self.start.aim(inputs))
        found = np.empty(told.shape)
        for aim in np.unique(aims):
            here = aims == aim
            found[here] = self.lattice.chances(int(aim))[told[here]]
        return found

    @property
    def ratio(self) -> Fraction:
        return self.lattice.ratio

    @property
    def evidence(self) -> str:
        return f"the largest ratio of {self.weights}"

    @property
    def weights(self) -> str:
        """A description of the integer weights: their total, reach and digest."""
        noise = self.lattice.noise
        return f"integer weights of total 2^128 out to {noise.reach} steps, digest {noise.digest}"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, "lattice": self.lattice.device(), "start": self.start.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        lattice: Any = read_lattice(device["lattice"])
        return cls(a_line(domain), lattice, LineStart.from_device(device["start"]))


def read_lattice(data: Mapping[str, Any]) -> Lattice:
    """Return the lattice that `Lattice.device` wrote."""
    return _READERS[data["kind"]](data)
