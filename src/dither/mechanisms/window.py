"""Mechanisms that are a window on cells and a codebook: a paper's file says which; the rest is here."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Circle, Domain, Interval, Line, numbers
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.blocks import draw_sliding
from dither.kernels.law import Law, WindowLaw
from dither.kernels.transition import Windows
from dither.kernels.window.codebook import IDENTITY, Codebook, Ramps, Steps
from dither.kernels.window.decoder import Decoder, decoder, from_wire
from dither.kernels.window.integers import Sliding, certified, check_cells
from dither.kernels.window.start import CENTRED, WRAPPED, Course, Gliding, Placement, Track
from dither.mechanisms.analysis import Realised
from dither.mechanisms.number import Numerical, Reading
from dither.privacy import Bound, Pure
from dither.privacy.exact import exp_below
from dither.randomness import Source

Rule = Callable[[float, float], Codebook]  # from the window's share and contrast to the codebook

COUNTED: Final = 20  # leading bits of a cell that a tally keeps apart


class Decoding(Enum):
    """How the collector reads the same reports."""

    OWN = "own"
    COMPRESSED = "compressed"
    TRUNCATED = "truncated"


@final
@dataclass(frozen=True)
class Shape:
    """What a paper says about a window: how wide, where it starts, what its reports stand for."""

    width: float
    placement: Placement
    codebook: Rule

    @staticmethod
    def centred(domain: Line, width: float) -> Shape:
        """Give a window about the value whose reports stand for themselves."""
        placement = WRAPPED if isinstance(domain, Circle) else CENTRED
        return Shape(width, placement, lambda share, contrast: IDENTITY)

    @staticmethod
    def unbiased(width: float, placement: Placement) -> Shape:
        """Give a gliding window read along the line that makes the mean report equal to the value."""
        return Shape(width, placement, partial(_unbiased, placement))


def _unbiased(placement: Placement, share: float, contrast: float) -> Ramps:
    # The mean place of a report is (1−κ)/2 + κ·(start + s/2); read it as 0 for x = 0 and as 1 for x = 1.
    starts = placement.start(np.array([0.0, 1.0]), share)
    first, last = (1.0 - contrast) / 2.0 + contrast * (starts + share / 2.0)
    return Ramps.affine(-first / (last - first), (1.0 - first) / (last - first))


@dataclass(frozen=True)
class WindowMechanism(Numerical):
    """A window on `cells` cells and a codebook. `decoding` chooses how the same reports are read."""

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = Decoding.OWN

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)
    decoding_only: ClassVar[frozenset[str]] = frozenset({"decoding"})

    @abstractmethod
    def shape(self) -> Shape:
        """Give the window's width, placement and codebook: all that a paper adds."""

    def _build(self) -> None:
        check_cells(self.cells)
        if not isinstance(self.decoding, Decoding):
            raise InvalidParameter("decoding is one of dither's Decoding choices")
        _ = self.kernel, self.decoder

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        assert isinstance(self.domain, Line)
        return self.domain

    @cached_property
    def kernel(self) -> Sliding:
        """The window in integers: what devices sample."""
        width = round(self.shape().width * self.cells)
        return Sliding.largest(self.epsilon, self.cells, min(max(width, 1), self.cells - 1))

    @cached_property
    def track(self) -> Course:
        """How a value becomes the integer start of its window."""
        return self.shape().placement.track(self.line, self.kernel)

    @cached_property
    def decoder(self) -> Decoder:
        """Which number each cell stands for."""
        return decoder(self._book(self.kernel.share, self.kernel.contrast), self.cells, self.line)

    def _book(self, share: float, contrast: float) -> Codebook:
        if self.decoding is Decoding.COMPRESSED:
            return IDENTITY
        book = self.shape().codebook(share, contrast)
        if self.decoding is Decoding.TRUNCATED:
            return book.clipped()
        return book

    @cached_property
    def law(self) -> Law:
        """The continuous mechanism that the cells approximate, from the closed form."""
        shape = self.shape()
        lift = math.expm1(self.epsilon) * shape.width
        contrast = lift / (1.0 + lift)
        return WindowLaw(
            share=shape.width,
            contrast=contrast,
            rest=1.0 / (1.0 + lift),
            start=partial(shape.placement.start, width=shape.width),
            codebook=self._book(shape.width, contrast),
            circular=isinstance(self.domain, Circle),
            kinks=shape.placement.kinks(shape.width),
        )

    @cached_property
    def sampled(self) -> Realised:
        """The same questions about the integers that are sampled (for up to 2^20 cells)."""
        if self.cells > 1 << 20:
            raise InvalidParameter("the sampled law is tabulated for up to 2^20 cells")
        values = self.line.to_unit(self.decoder(np.arange(self.cells)))
        law = WindowLaw(
            share=self.kernel.share,
            contrast=self.kernel.contrast,
            rest=self.kernel.rest,
            start=self._sampled_start,
            codebook=Steps(values),
            circular=isinstance(self.domain, Circle),
        )
        return Realised(self.line, law)

    def _sampled_start(self, x: Floats) -> Floats:
        # Rounding at random between two starts is the same law as the window between them.
        aim = self.track.aim(self.line.from_unit(x)) / (self.cells << self.track.fraction)
        return np.asarray(np.mod(aim, 1.0) if isinstance(self.line, Circle) else aim, dtype=np.float64)

    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the input x, from the very integers sampled."""
        if self.cells > 1 << 16:
            raise InvalidParameter("exact probabilities are listed for up to 2^16 cells")
        return self.kernel.mixed(self.track.starts(float(self.line.check(x))))

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        array = numbers(values)
        cells = draw_sliding(self.line, self.kernel, self.track, array.reshape(-1), source, threads=threads)
        return cells.reshape(array.shape)

    def decode(self, cells: Array) -> Floats:
        """Give the numbers that reports stand for."""
        return self.decoder(cells)

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.kernel.cells, self.kernel.dtype)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from N, K and the integer step: every pair of starts has the same two weights."""
        kernel = self.kernel
        how = f"ln(H/L) with N = {kernel.cells}, K = {kernel.width}, d = {kernel.step} of 2^{kernel.bits}"
        return Pure(kernel.epsilon), how

    def wire(self) -> dict[str, Any]:
        """Give N, K, d and the codebook: what must be the same on both sides."""
        kernel = self.kernel
        integers = {"cells": kernel.cells, "width": kernel.width, "step": kernel.step, "bits": kernel.bits}
        return {"kernel": integers, "codebook": self.decoder.wire()}

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the integers and the codebook that travelled, never recomputed ones."""
        try:
            kernel = Sliding(**wire["kernel"])
        except (TypeError, KeyError, InvalidParameter):
            raise MalformedReport("the kernel is four whole numbers: cells, width, step, bits") from None
        if kernel.cells != self.cells:
            raise MalformedReport("the kernel and the mechanism disagree about the number of cells")
        certified(kernel, exp_below(Fraction(self.epsilon)))
        copy = replace(self)
        copy.__dict__.update(kernel=kernel, decoder=from_wire(wire["codebook"]), _travelled=wire)
        return copy

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.cells

    def straight(self) -> Reading | None:
        """Give the reading of cells whose mean is the value: there is one if the window glides.

        The mean cell is (1−κ)(N−1)/2 + κ(start + (K−1)/2), and the start is affine in the value.
        """
        kernel, track = self.kernel, self.track
        if not isinstance(self.shape().placement, Gliding) or not isinstance(track, Track):
            return None
        base = (1.0 - kernel.contrast) * (kernel.cells - 1) / 2.0 + kernel.contrast * (kernel.width - 1) / 2.0
        unit = (1 << track.fraction) / track.scale  # of the domain, for one cell of the start
        # Aims are rounded down from half a unit above: to the nearest.
        values = track.origin + 0.5 / track.scale + unit * (self._middles - base) / kernel.contrast
        half = ((1 << self._rest) - 1) / 2.0
        return Reading(np.asarray(values), unit / kernel.contrast if self._rest else 0.0, half)

    def decoded(self) -> Floats:
        """Give what each report that is counted stands for: the middle, where cells are counted in groups."""
        return self.decode(self._middles if self._rest else np.arange(self.cells))

    @property
    def _middles(self) -> Floats:
        group = 1 << self._rest
        return np.asarray(np.arange(self.cells // group) * float(group) + (group - 1) / 2.0)

    @property
    def window_share(self) -> float:
        """The share of the reports within which the likeliest ones of one input lie: the window's."""
        return self.kernel.share

    def transition(self, x: Floats, rows: int) -> Windows:
        """Give P(report | input) for inputs x, cells grouped into `rows` rows or the next power of two."""
        rows = min(1 << (rows - 1).bit_length(), self.cells >> self._rest)
        group = self.cells // rows
        starts = self.track.aim(x) / (group << self.track.fraction)
        circular = isinstance(self.line, Circle)
        return Windows(
            starts % rows if circular else starts,
            self.kernel.width / group,
            rows,
            self.kernel.contrast,
            circular,
        )

    @property
    def _rest(self) -> int:
        """How many trailing bits of a cell a tally does not keep apart."""
        return max(self.cells.bit_length() - 1 - COUNTED, 0)

    def tally(self, cells: Array) -> Integers:
        """Count reports by cell; beyond 2^20 cells by their leading 20 bits, with the sum of the rest last.

        So the sum of all cells stays exact: Σ cell = 2^rest · Σ place·count + Σ (what was cut off).
        """
        flat = cells.reshape(-1)
        counts = np.bincount(flat >> self._rest, minlength=self.cells >> self._rest)
        if not self._rest:
            return counts
        cut = (flat & flat.dtype.type((1 << self._rest) - 1)).sum(dtype=np.int64)
        return np.append(counts, cut)

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is."""
        return (self.cells >> self._rest) + (1 if self._rest else 0)

    def adds_up(self, counts: Integers, n: int) -> bool:
        """Say whether n reports can have been counted like this."""
        if not self._rest:
            return super().adds_up(counts, n)
        return super().adds_up(counts[:-1], n) and int(counts[-1]) <= n * ((1 << self._rest) - 1)

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.kernel.dtype.itemsize)

    def truncated(self) -> Self:
        """Give the same mechanism with reports beyond the domain read as its nearer end."""
        return self._varied(self._cut, decoding=Decoding.TRUNCATED)

    def compressed(self) -> Self:
        """Give the same mechanism with the report space read as the domain itself: biased, by choice."""
        return self._varied(self._again, decoding=Decoding.COMPRESSED)

    def _cut(self, copy: WindowMechanism) -> dict[str, Any]:
        if self.decoding is not Decoding.OWN:
            return self._again(copy)
        return self.decoder.cut(self.line.low, self.line.high).wire()

    def _again(self, copy: WindowMechanism) -> dict[str, Any]:
        book = copy._book(self.kernel.share, self.kernel.contrast)
        return decoder(book, self.cells, self.line).wire()


def within(raw: Array, cells: int, dtype: np.dtype[Any]) -> Array:
    """Give raw whole numbers as cells, or raise if one is not a cell."""
    if raw.size and not (int(raw.min()) >= 0 and int(raw.max()) < cells):
        raise MalformedReport(f"a report is a whole number from 0 to {cells - 1}; one is not")
    return raw.astype(dtype, copy=False)
