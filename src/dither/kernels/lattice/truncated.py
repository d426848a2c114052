"""Noise on a truncated lattice: draws are repeated until the report lies in the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, final

from dither.arrays import Array
from dither.device_text import whole
from dither.domains import Line
from dither.errors import InvalidParameter, found
from dither.kernels.lattice.integers import Lattice
from dither.kernels.lattice.noise import FLOOR, End, LatticeNoise, largest_ratio
from dither.kernels.lattice.sampling import BoundedSampler, NoiseSampler
from dither.kernels.window.start import LineStart
from dither.randomness import Source


@final
@dataclass(frozen=True)
class Bounded(Lattice):
    """G + 1 places from end to end of the domain; noise that leads outside is drawn again.

    Every place is a possible report of every input. The probability of staying inside depends on the input:
    the probability of a report is its weight over the total C of the input. The guarantee is for inputs at
    most `shift` steps apart.
    """

    noise: LatticeNoise
    shift: int

    def __post_init__(self) -> None:
        if self.noise.end is not End.CUT or not 1 <= self.shift <= self.noise.reach:
            raise InvalidParameter(
                f"a bounded lattice needs noise with End.CUT and a shift from 1 to {self.noise.reach}, "
                f"not {found(self.shift)}"
            )

    @property
    def cells(self) -> int:
        return self.noise.reach + 1

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The total weight inside the domain, by step of the input."""
        sums = tuple(accumulate(self.noise.weights))
        return tuple(below + above - sums[0] for below, above in zip(sums, reversed(sums), strict=True))

    @cached_property
    def ratio(self) -> Fraction:
        """An upper bound of the ratio of two probabilities of one report, with the totals of both inputs.

        Between inputs k steps apart it is at most ρ(k)·κ(k): the largest ratio of two weights times the
        largest ratio of two totals. From k to k + 1, ρ grows at least by the smallest ratio of neighbouring
        weights above the floor, and κ at least by the smallest ratio of neighbouring totals. If their product
        is at least 1, the largest shift is the worst.
        """
        totals, weights = self.totals, self.noise.weights
        falling = sum(weight > FLOOR for weight in weights) - 1
        steeper = 1 / largest_ratio(weights[1 : falling + 1], weights[:falling])
        flatter = 1 / largest_ratio(totals[:-1], totals[1:])
        if steeper * flatter < 1 or falling < self.shift:
            raise InvalidParameter("the noise is too narrow to certify its bound; choose more cells")
        return self.noise.ratio(self.shift) * largest_ratio(totals[self.shift :], totals[: -self.shift])

    def law(self, row: Array, step: int) -> Array:
        reach = self.noise.reach
        return row[reach - step : 2 * reach - step + 1]

    def start(self, domain: Line) -> LineStart:
        scale = self.noise.reach / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, self.noise.reach)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        # A larger scale would put values further than `shift` steps apart for which the guarantee holds.
        near = start.scale <= self.noise.reach / domain.length
        return start.last == self.noise.reach and not start.fraction and near

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return BoundedSampler(self.noise.table, start, size, self.noise.reach)

    def device(self) -> dict[str, Any]:
        return {"kind": "bounded", "noise": self.noise.device(), "shift": self.shift}

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Bounded:
        """Return the lattice that `device` describes."""
        return Bounded(LatticeNoise.from_device(data["noise"], End.CUT), whole(data["shift"]))

    def draw_one(self, step: int, source: Source) -> int:
        while True:
            place = step + self.noise.table.draw_one(source) - self.noise.reach
            if 0 <= place <= self.noise.reach:
                return place
