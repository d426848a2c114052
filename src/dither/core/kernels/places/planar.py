"""Noise in the plane as a kernel: a place is rounded to a point of a square lattice, and noise is added."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, NoReturn, Protocol

import numpy as np

from dither.core.domains import Domain, Paths
from dither.core.domains.plane import PAIR, Pair, Region
from dither.core.kernels.blocks import split_rows
from dither.core.kernels.kernel import Promise
from dither.core.kernels.lattice.plane import PlanarNoise, RingNoise
from dither.core.kernels.places.place import PlaceKernel, PlaceLikelihood, Rows, over_cells
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import REAL, WHOLE, Data, Fields, Member, condition, inline, real
from dither.foundation.randomness import Source
from dither.privacy import Metric, Pure
from dither.privacy.exact import exp_above, exp_below, float_at_least, log_above

_FINE: Final = 1e-3  # the rate of planar noise per step below which integrals replace sums over its lattice
FAR: Final = (1 << 31) - 1  # the coordinates of a report are clipped to 32 bits


class PlaneNoise(Protocol):
    """Noise on the integer lattice of the plane."""

    def draw(self, size: int, source: Source) -> Integers:
        """Draw offsets, as pairs."""


@dataclass(frozen=True)
class PlanarNoiseKernel(PlaceKernel):
    """The lattice point nearest to a place, plus noise that does not depend on the place.

    The codebook says whether the collector moves reports back into the area.
    """

    noise: PlaneNoise
    origin: Pair
    spacing: float

    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype((np.int32, (2,)))

    @property
    def outcomes(self) -> int:
        return (2 * FAR + 1) ** 2

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Region)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> bool:
        return bool(stated.get("clipped", True))  # the lattice is part of the device text

    def write_codebook(self, book: bool) -> object:
        return {"origin": list(self.origin), "spacing": self.spacing}

    def places_of(self, cells: Array, begins: Mask, domain: Domain, book: bool) -> Floats:
        locations = np.array(self.origin) + cells * self.spacing
        return np.asarray(domain.clip(locations)) if book else locations

    def draw_paths(self, paths: Paths, source: Source, threads: int = 1) -> Array:
        return self.draw_each(paths, source, threads)

    def likelihood_in(self, cells: Floats) -> PlaceLikelihood:
        return _OnLattice(self, cells)

    def points(self, places: Array) -> Array:
        """Return the lattice point nearest to each place."""
        steps: Floats = np.rint((places - np.array(self.origin)) / self.spacing)
        return steps.astype(np.int64)

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        return split_rows(self._draw_places, inputs.reshape(-1, 2), source, threads).reshape(inputs.shape)

    def _draw_places(self, locations: Array, source: Source) -> Array:
        points = self.points(locations)
        points += self.noise.draw(len(points), source)
        return np.clip(points, -FAR, FAR).astype(np.int32)

    def draw_one(self, value: Any, source: Source) -> tuple[int, int]:
        right, up = self.draw(np.asarray(value, dtype=np.float64).reshape(1, 2), source)[0].tolist()
        return right, up

    def probabilities(self, value: Any) -> NoReturn:
        raise InvalidParameter(
            "expected a mechanism with fewer reports to list their probabilities; use "
            "`noise.weight` for the ratios of planar noise"
        )

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | place) up to a factor that depends only on the report."""
        gap = reports - self.points(inputs)
        steps = self._falls(np.floor(np.hypot(gap[..., 0], gap[..., 1])))
        steps -= steps.min(axis=-1, keepdims=True)
        return np.asarray(np.exp(-self.rate * steps))

    @property
    @abstractmethod
    def fine(self) -> bool:
        """Whether the lattice is so fine that `within` is exact enough."""

    @abstractmethod
    def within(self, lengths: Floats) -> Floats:
        """Return the probability that noise without a lattice is shorter than each length, in steps."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The decrease of the logarithm of the density at one step of `_falls`."""

    @abstractmethod
    def _falls(self, lengths: Floats) -> Floats:
        """Return how many times the density has fallen at offsets of the given integer lengths."""

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return np.zeros((0, 2), dtype=np.int32)
        if raw.ndim == 0 or raw.shape[-1] != 2 or np.abs(raw).max() > FAR:
            raise MalformedReport("expected a report to be a pair of 32-bit integers")
        return raw.astype(np.int32, copy=False)


def _on_lattice(noise: Member, needs: str) -> Fields:
    """Return the members of noise on a lattice; it must reach from any place of the area to any other."""

    def check_area(data: Data, known: Data) -> None:
        if not isinstance(known["domain"], Region):
            raise MalformedReport(f"{needs} a bounded area, not {type(known['domain']).__name__}")

    def check_reach(data: Data, known: Data) -> None:
        spacing, reach = known["spacing"], known["reach"]
        if not spacing > 0.0 or reach < steps_across(known["domain"], spacing):
            raise MalformedReport(f"expected an area within the reach of the noise, {reach} steps")

    return Fields(
        area=condition(check_area),
        noise=noise,
        spacing=REAL,
        reach=WHOLE,
        across=condition(check_reach),
        origin=PAIR,
    )


@dataclass(frozen=True)
class PlanarKernel(PlanarNoiseKernel):
    """Noise whose weight falls with the distance; two lattice points are at most `reach` steps apart."""

    noise: PlanarNoise
    reach: int

    kind: ClassVar[str] = "planar"
    fields = _on_lattice(inline(PlanarNoise), "planar noise needs")

    def __post_init__(self) -> None:
        check_lattice(self.spacing, self.reach)

    @property
    def rate(self) -> float:
        return float(self.noise.exponent(1))

    def _falls(self, lengths: Floats) -> Floats:
        return lengths

    @property
    def fine(self) -> bool:
        return self.rate < _FINE

    def within(self, lengths: Floats) -> Floats:
        far = self.rate * lengths
        return np.asarray(1.0 - (1.0 + far) * np.exp(-far))

    @property
    def exponent(self) -> Fraction:
        """The exact ε: the rate of the noise times the largest distance, in steps."""
        return self.noise.exponent(self.reach)

    @property
    def ratio(self) -> Fraction:
        return exp_above(self.exponent)

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        return Promise(Pure(float_at_least(self.exponent)), self.evidence)

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        if self.exponent > Fraction(epsilon):
            raise InvalidParameter(f"expected noise that spends at most ε = {epsilon:g}")

    @property
    def evidence(self) -> str:
        rate = f"{self.noise.fall}·{self.reach}/{self.noise.per}"
        return f"{rate}: the noise's rate over the diameter, in steps"


@dataclass(frozen=True)
class RingKernel(PlanarNoiseKernel):
    """Noise that is constant on rings; two lattice points are at most `reach` steps apart."""

    noise: RingNoise
    reach: int

    kind: ClassVar[str] = "rings"
    fields = _on_lattice(inline(RingNoise), "noise on rings needs")

    def __post_init__(self) -> None:
        check_lattice(self.spacing, self.reach)

    @property
    def rate(self) -> float:
        return math.log(self.noise.ratio)

    def _falls(self, lengths: Floats) -> Floats:
        return np.asarray(np.maximum(np.floor((lengths - self.noise.first) / self.noise.width) + 1.0, 0.0))

    @property
    def fine(self) -> bool:
        return self.noise.first * _FINE > 1.0

    def within(self, lengths: Floats) -> Floats:
        # A report is in disk j with probability ∝ b^j·R_j², and uniform in it.
        disks = np.arange(math.ceil(40.0 / self.rate) + 40)
        radii = self.noise.first + self.noise.width * disks.astype(np.float64)
        weights = np.exp(-self.rate * disks)
        inner = np.minimum(np.asarray(lengths)[..., None], radii) ** 2
        return np.asarray(inner @ weights / (radii**2 @ weights))

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return ε for each stated `distance` between places; without it, pure ε over the complete area."""
        distance = stated.get("distance")
        if distance is None:
            return Promise(Pure(self.epsilon), self.evidence)
        spent = log_above(self.noise.ratio)
        return Promise(Metric(spent, f"{distance:g} of distance begun"), self.evidence)

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        distance = stated.get("distance")
        width = self.reach if distance is None else steps_between(real(distance), self.spacing)
        if self.noise.width < width or self.noise.ratio > exp_below(Fraction(epsilon)):
            raise InvalidParameter("expected noise that spends at most the mechanism's ε")

    @property
    def ratio(self) -> Fraction:
        return self.noise.ratio ** -(-self.reach // self.noise.width)

    @property
    def evidence(self) -> str:
        return f"2^64/{self.noise.fall} for each {self.noise.width} steps begun, of {self.reach} at most"


@dataclass(frozen=True, eq=False)
class _OnLattice(PlaceLikelihood):
    kernel: PlanarNoiseKernel
    cells: Floats

    def of(self, reports: Array) -> Rows:
        locations = self.cells.reshape(-1, 2)[None]

        def rows(chosen: Integers) -> Floats:
            outputs = self.kernel.likelihoods(reports[chosen, None, 1:], locations)
            return over_cells(outputs, chosen, self.cells)

        return rows


def check_lattice(spacing: float, reach: int) -> None:
    """Raise InvalidParameter unless the spacing and the reach of a lattice are positive."""
    if not spacing > 0.0 or reach < 1:
        raise InvalidParameter(
            f"expected a positive spacing and reach of a lattice in the plane, got {found(spacing)} and "
            f"{found(reach)}"
        )


def steps_across(area: Region, spacing: float) -> int:
    """Return the largest distance between the lattice points of two places, in steps, rounded up."""
    return steps_between(area.diameter, spacing)


def steps_between(distance: float, spacing: float) -> int:
    """Return the largest distance between the lattice points of places at a distance, in steps, rounded up.

    At k times this distance it is at most k times as large.
    """
    # Rounding to the nearest point of the lattice moves a place by at most half a diagonal of a cell.
    return math.ceil(distance / spacing * (1.0 + 1e-9) + math.sqrt(2.0))
