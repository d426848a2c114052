"""Noise in the plane as a kernel: a place is rounded to a point of a square lattice, and noise is added."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, NoReturn, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import real, whole
from dither.domains import Domain
from dither.domains.plane import Pair, Region, read_pair
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.blocks import split_rows
from dither.kernels.kernel import Kernel
from dither.kernels.lattice.planar import PlanarNoise
from dither.privacy.exact import exp_above
from dither.randomness import Source

FAR: Final = (1 << 31) - 1  # the coordinates of a report are clipped to 32 bits


@final
@dataclass(frozen=True)
class PlanarKernel(Kernel):
    """The lattice point nearest to a place, plus noise; two such points are at most `reach` steps apart."""

    noise: PlanarNoise
    origin: Pair
    spacing: float
    reach: int

    kind: ClassVar[str] = "planar"

    def __post_init__(self) -> None:
        if not self.spacing > 0.0 or self.reach < 1:
            raise InvalidParameter(
                f"a lattice in the plane needs a positive spacing and reach, not {found(self.spacing)} and "
                f"{found(self.reach)}"
            )

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.int32, (2,)))

    @property
    def outcomes(self) -> int:
        return (2 * FAR + 1) ** 2

    def points(self, places: Array) -> Array:
        """Return the lattice point nearest to each place."""
        steps: Floats = np.rint((places - np.array(self.origin)) / self.spacing)
        return steps.astype(np.int64)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        return split_rows(self._drawn, inputs.reshape(-1, 2), source, threads).reshape(inputs.shape)

    def _drawn(self, places: Array, source: Source) -> Array:
        points = self.points(places)
        points += self.noise.draw(len(points), source)
        return np.clip(points, -FAR, FAR).astype(np.int32)

    def draw_one(self, value: Any, source: Source) -> tuple[int, int]:
        right, up = self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0].tolist()
        return right, up

    def probabilities(self, value: Any) -> NoReturn:
        raise InvalidParameter(
            "planar noise has too many reports to list; use `noise.weight` for their ratios"
        )

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | place) up to a factor that depends only on the report."""
        gap = reports - self.points(inputs)
        steps = np.floor(np.hypot(gap[..., 0], gap[..., 1]))
        steps -= steps.min(axis=-1, keepdims=True)
        return np.asarray(np.exp(-float(self.noise.exponent(1)) * steps))

    @property
    def exponent(self) -> Fraction:
        """The exact ε: the rate of the noise times the largest distance, in steps."""
        return self.noise.exponent(self.reach)

    @property
    def ratio(self) -> Fraction:
        return exp_above(self.exponent)

    @property
    def evidence(self) -> str:
        rate = f"{self.noise.fall}·{self.reach}/{self.noise.per}"
        return f"{rate}: the noise's rate over the diameter, in steps"

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=np.int32)
        if raw.ndim == 0 or raw.shape[-1] != 2 or np.abs(raw).max() > FAR:
            raise MalformedReport("a report is a pair of whole numbers of 32 bits")
        return raw.astype(np.int32, copy=False)

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "fall": self.noise.fall,
            "per": self.noise.per,
            "origin": list(self.origin),
            "spacing": self.spacing,
            "reach": self.reach,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if not isinstance(domain, Region):
            raise MalformedReport(f"planar noise needs a bounded area, not {type(domain).__name__}")
        noise = PlanarNoise(whole(device["fall"]), whole(device["per"]))
        spacing, reach = real(device["spacing"]), whole(device["reach"])
        if not spacing > 0.0 or reach < steps_across(domain, spacing):
            raise MalformedReport(f"the area is larger than the reach of the noise, {reach} steps")
        return cls(noise, read_pair(device["origin"]), spacing, reach)


def steps_across(area: Region, spacing: float) -> int:
    """Return the largest distance between the lattice points of two places, in steps, rounded up."""
    # Rounding to the nearest point of the lattice moves a place by at most half a diagonal of a cell.
    return math.ceil(area.diameter / spacing * (1.0 + 1e-9) + math.sqrt(2.0))
