"""Windows as kernels: integer weights, and a rule that maps a value to the start of its window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import from_hexadecimal, hexadecimal, whole
from dither.domains import Circle, Domain, Line
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.blocks import Sampler
from dither.kernels.kernel import PureKernel
from dither.kernels.line import STRAIGHT, LineKernel, UnbiasedReading, tested_reading
from dither.kernels.transition import Dense, Windows
from dither.kernels.window.decoder import Decoder, Single, read_decoder, sized
from dither.kernels.window.integers import Blocks, Sliding
from dither.kernels.window.sampling import SlidingSampler
from dither.kernels.window.start import LineStart, StartRule
from dither.kernels.window.start_table import KnotStart, read_start
from dither.randomness import Source

COUNTED: Final = 20  # leading bits of a cell that counts and likelihoods distinguish


class WindowKernel(PureKernel):
    """A kernel with two probabilities, H inside of a window and L outside: ε = ln(H/L)."""

    window: Sliding | Blocks

    @final
    @property
    def ratio(self) -> Fraction:
        return self.window.ratio

    @property
    def blanket(self) -> Fraction:  # type: ignore[override]
        """The mass of the least probabilities, L for every cell."""
        return self.window.blanket


@final
@dataclass(frozen=True)
class SlidingKernel(WindowKernel, LineKernel):
    """A window that starts where the start rule says, and wraps around."""

    line: Line
    window: Sliding
    start: StartRule

    kind: ClassVar[str] = "sliding"

    def __post_init__(self) -> None:
        if not self.start.fits(self.line, self.window):
            raise InvalidParameter("the starts of this rule do not fit the sampler's integers")

    @property
    def outcomes(self) -> int:
        return self.window.cells

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> Single:
        return sized(read_decoder(data), self.outcomes)

    @property
    def rest(self) -> int:  # type: ignore[override]
        """The number of trailing bits of a cell that counts ignore."""
        return max(self.window.cells.bit_length() - 1 - COUNTED, 0)

    def sampler(self, size: int) -> Sampler:
        return SlidingSampler(self.window, self.start, size)

    def draw_one(self, value: float, source: Source) -> int:
        start = self.start.draw_one(value, source) & (self.window.cells - 1)
        return self.window.draw_one(start, source)

    def _listed(self, value: float) -> list[Fraction]:
        return self.window.mixed(self.start.starts(value))

    def likelihood(self, inputs: Array, rows: int) -> Windows:
        """Return P(report | input), with cells grouped into `rows` rows, rounded up to a power of two."""
        rows = min(1 << (rows - 1).bit_length(), self.window.cells >> self.rest)
        group = self.window.cells // rows
        starts = self.start.aim(inputs) / (group << self.start.fraction)
        circular = isinstance(self.line, Circle)
        return Windows(
            starts % rows if circular else starts,
            self.window.width / group,
            rows,
            self.window.contrast,
            circular,
        )

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        window, fraction = self.window, self.start.fraction
        told, aims = reports.astype(np.int64), self.start.aim(inputs)
        starts, up = aims >> fraction, (aims & ((1 << fraction) - 1)) / (1 << fraction)  # rounded at random
        inside = (1.0 - up) * ((told - starts) % window.cells < window.width)
        inside += up * ((told - starts - 1) % window.cells < window.width)
        low, high = window.outside / window.total, window.inside / window.total
        return np.asarray(low + (high - low) * inside)

    @property
    def window_share(self) -> float:  # type: ignore[override]
        """The share of all reports that the window covers."""
        return self.window.share

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return numbers whose mean is the value: of the cells if the start is affine in the value.

        The mean cell is (1−κ)(N−1)/2 + κ(start + (K−1)/2). A start that was chosen for a codebook may make
        the decoded reports unbiased instead.
        """
        window, start = self.window, self.start
        if isinstance(start, KnotStart):
            values = book(np.arange(window.cells))
            return UnbiasedReading(values) if self._has_means(values) else None
        if not isinstance(start, LineStart) or not start.affine(self.line):
            return None
        base = (1.0 - window.contrast) * (window.cells - 1) / 2.0 + window.contrast * (window.width - 1) / 2.0
        unit = (1 << start.fraction) / start.scale  # length of the domain for one cell of the start
        # `origin` includes half a unit, so that rounding down rounds to the nearest.
        values = start.origin + 0.5 / start.scale + unit * (self.middles() - base) / window.contrast
        half = ((1 << self.rest) - 1) / 2.0
        return UnbiasedReading(np.asarray(values), unit / window.contrast if self.rest else 0.0, half)

    def _has_means(self, values: Floats) -> bool:
        """Return whether the mean of a number per cell is the value, at a few values."""
        window = self.window
        sums = np.cumsum(np.concatenate([[0.0], values, values[: window.width]]))
        for value in np.linspace(self.line.low, self.line.high, 9).tolist():
            inside = sum(
                float(share) * float(sums[start + window.width] - sums[start]) / window.width
                for start, share in self.start.starts(value)
            )
            mean = (1.0 - window.contrast) * float(values.mean()) + window.contrast * inside
            if abs(mean - value) > STRAIGHT * self.line.length:
                return False
        return True

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with N = {window.cells}, K = {window.width}, d = {window.step} of 2^{window.bits}"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, **integers(self.window), "start": self.start.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        window = Sliding(*read_integers(device))
        return cls(a_line(domain), window, read_start(device["start"], window))


@final
@dataclass(frozen=True)
class SectorKernel(WindowKernel, LineKernel):
    """Equal blocks of cells; the block of the input is likelier, and the cell within a block is uniform."""

    line: Line
    window: Blocks
    start: LineStart

    kind: ClassVar[str] = "sectors"

    def __post_init__(self) -> None:
        if self.start.fraction:
            raise InvalidParameter("the start rule of sectors must not round at random")
        if not self.start.reaches(self.line, 62):
            raise InvalidParameter("the starts of this rule do not fit the sampler's integers")

    @property
    def outcomes(self) -> int:
        return self.window.cells

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> Single:
        return sized(read_decoder(data), self.outcomes)

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        return tested_reading(self, book)

    def _aims(self, values: Array) -> Array:
        return self.start.aim(values) % self.window.cells  # on a circle the period is the same angle as 0

    def sampler(self, size: int) -> Sampler:
        def draw(block: Array, cells: Array, source: Source) -> None:
            cells[:] = self.window.draw(self._aims(block), source)

        return draw

    def draw_one(self, value: float, source: Source) -> int:
        return self.window.draw_one(self.start.aim_one(value) % self.window.cells, source)

    def _listed(self, value: float) -> list[Fraction]:
        aim = self.start.aim_one(value) % self.window.cells
        return self.window.probabilities(aim - aim % self.window.width)

    def chances(self, value: Any) -> Floats:
        return self.likelihoods(np.arange(self.outcomes), np.asarray(value, dtype=np.float64))

    def likelihood(self, inputs: Array, rows: int) -> Dense:
        """Return P(block | input): cells of one block are equally likely, so that nothing else tells."""
        window = self.window
        groups = np.arange(0, window.cells, window.width)
        inputs = np.asarray(inputs, dtype=np.float64)
        return Dense(window.width * self.likelihoods(groups[:, None], inputs[None, :]), groups)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        window = self.window
        inside = reports.astype(np.int64) // window.width == self._aims(inputs) // window.width
        return np.where(inside, window.inside / window.total, window.outside / window.total)

    @property
    def evidence(self) -> str:
        window = self.window
        return f"ln(H/L) with {window.blocks} sectors and d = {window.step} of 2^{window.bits}"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, **integers(self.window), "start": self.start.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        window = Blocks(*read_integers(device))
        return cls(a_line(domain), window, LineStart.from_device(device["start"]))


def integers(window: Sliding | Blocks) -> dict[str, Any]:
    """Return the integers of a window as JSON-compatible data."""
    return {
        "cells": window.cells,
        "width": window.width,
        "step": hexadecimal(window.step),
        "bits": window.bits,
    }


def read_integers(device: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Return the four integers that `integers` wrote."""
    cells, width, bits = (whole(device[name]) for name in ("cells", "width", "bits"))
    return cells, width, from_hexadecimal(device["step"]), bits


def a_line(domain: Domain) -> Line:
    """Return the domain if it is an interval or a circle; raise MalformedReport otherwise."""
    if not isinstance(domain, Line):
        raise MalformedReport(f"this kernel needs an interval or a circle, not {type(domain).__name__}")
    return domain
