"""Noise on a circular lattice: steps are counted modulo N."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from dither.arrays import Array
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.lattice.integers import Lattice
from dither.kernels.lattice.noise import End, LatticeNoise
from dither.kernels.lattice.sampling import NoiseSampler, RingSampler
from dither.kernels.window.start import LineStart
from dither.randomness import Source


@final
@dataclass(frozen=True)
class Ring(Lattice):
    """N steps around a circle; a report is the input's step plus noise, modulo N."""

    noise: LatticeNoise

    def __post_init__(self) -> None:
        if self.noise.end is not End.RING:
            raise InvalidParameter("a circular lattice needs noise with End.RING")

    @property
    def cells(self) -> int:
        return 2 * self.noise.reach

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.noise.weights[0], self.noise.weights[-1])

    def law(self, row: Array, step: int) -> Array:
        return np.roll(row, step)

    def start(self, domain: Line) -> LineStart:
        scale = self.cells / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, None)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        return not start.fraction  # modulo N every whole number is a step of the circle

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return RingSampler(self.noise.table, start, size, self.cells)

    def device(self) -> dict[str, Any]:
        return {"kind": "ring", "noise": self.noise.device()}

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Ring:
        """Return the lattice that `device` describes."""
        return Ring(LatticeNoise.from_device(data["noise"], End.RING))

    def draw_one(self, step: int, source: Source) -> int:
        return (step + self.noise.table.draw_one(source)) % self.cells
