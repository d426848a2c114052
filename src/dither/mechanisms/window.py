"""Mechanisms that are a window on cells and a codebook: a paper's file says which; the rest is here."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import whole
from dither.domains import Circle, Domain, Interval, Line
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.counting import Counting, EachReport, LeadingBits
from dither.kernels.law import Law
from dither.kernels.window.codebook import IDENTITY, Codebook, Ramps, Steps
from dither.kernels.window.decoder import Decoder, decoder, read_decoder, sized
from dither.kernels.window.integers import Sliding, check_cells
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.law import WindowLaw
from dither.kernels.window.start import CENTRED, WRAPPED, LineStart, Placement
from dither.mechanisms.analysis import Realised
from dither.mechanisms.base import Travelled
from dither.mechanisms.number import NumberMechanism, UnbiasedReading, check_ratio

Rule = Callable[[float, float], Codebook]  # from the window's share and contrast to the codebook


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
        """Return a window about the value whose reports stand for themselves."""
        placement = WRAPPED if isinstance(domain, Circle) else CENTRED
        return Shape(width, placement, lambda share, contrast: IDENTITY)

    @staticmethod
    def unbiased(width: float, placement: Placement) -> Shape:
        """Return a window with an affine start, read so that the mean report equals the value."""
        return Shape(width, placement, partial(unbiased_line, placement))


def unbiased_line(placement: Placement, share: float, contrast: float) -> Ramps:
    """Return the straight codebook that makes the mean report of a window equal to the value."""
    # The mean place of a report is (1−κ)/2 + κ·(start + s/2); read it as 0 for x = 0 and as 1 for x = 1.
    starts = placement.start(np.array([0.0, 1.0]), share)
    first, last = (1.0 - contrast) / 2.0 + contrast * (starts + share / 2.0)
    return Ramps.affine(-first / (last - first), (1.0 - first) / (last - first))


@dataclass(frozen=True)
class WindowMechanism(NumberMechanism):
    """A window on `cells` cells and a codebook. `decoding` chooses how the same reports are read."""

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = Decoding.OWN

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def shape(self) -> Shape:
        """Return the window's width, placement and codebook: all that a paper adds."""

    @final
    @cached_property
    def _shape(self) -> Shape:
        return self.shape()

    def _build(self) -> None:
        check_cells(self.cells)
        if not isinstance(self.decoding, Decoding):
            raise InvalidParameter("decoding is one of dt.Decoding's choices")
        _ = self._shape, self.kernel, self.decoder

    @cached_property
    def kernel(self) -> SlidingKernel:
        """The window in integers and the start of every value: what devices run."""
        if self.travelled is not None:
            return self._travelled_kernel(self.travelled)
        width = round(self._shape.width * self.cells)
        return self._placed(Sliding.largest(self.epsilon, self.cells, min(max(width, 1), self.cells - 1)))

    def _placed(self, window: Sliding) -> SlidingKernel:
        return SlidingKernel(self.line, window, self._shape.placement.rule(self.line, window))

    def _travelled_kernel(self, travelled: Travelled) -> SlidingKernel:
        kernel = travelled.kernel
        if not isinstance(kernel, SlidingKernel) or kernel.line != self.line:
            raise MalformedReport(f"{type(self).__name__} runs a sliding window on its own domain")
        if kernel.outcomes != self.cells:
            raise MalformedReport("the kernel and the mechanism disagree about the number of cells")
        check_ratio(kernel, self.epsilon)
        return kernel

    @cached_property
    def decoder(self) -> Decoder:
        """The number that each cell stands for."""
        if self.travelled is not None and self.travelled.codebook is not None:
            return sized(self.travelled.codebook, self.cells)
        return self._decoder(self.kernel.window)

    def _decoder(self, window: Sliding) -> Decoder:
        return decoder(self._book(window.share, window.contrast), self.cells, self.line)

    def _book(self, share: float, contrast: float) -> Codebook:
        if self.decoding is Decoding.COMPRESSED:
            return IDENTITY
        book = self._shape.codebook(share, contrast)
        if self.decoding is Decoding.TRUNCATED:
            return book.clipped()
        return book

    @cached_property
    def law(self) -> Law:
        """The continuous mechanism that the cells approximate, from the closed form."""
        shape = self._shape
        lift = math.expm1(self.epsilon) * shape.width
        contrast = lift / (1.0 + lift)
        return WindowLaw(
            share=shape.width,
            contrast=contrast,
            rest=1.0 / (1.0 + lift),
            start=partial(shape.placement.start, width=shape.width),
            codebook=self._book(shape.width, contrast),
            circular=isinstance(self.line, Circle),
            kinks=shape.placement.kinks(shape.width),
        )

    @cached_property
    def sampled(self) -> Realised:
        """The same questions about the integers that are sampled (for up to 2^20 cells)."""
        if self.cells > 1 << 20:
            raise InvalidParameter("the sampled law is tabulated for up to 2^20 cells")
        window = self.kernel.window
        law = WindowLaw(
            share=window.share,
            contrast=window.contrast,
            rest=window.rest,
            start=self._sampled_start,
            codebook=Steps(self.line.to_unit(self.decoder(np.arange(self.cells)))),
            circular=isinstance(self.line, Circle),
        )
        return Realised(self.line, law)

    def _sampled_start(self, x: Floats) -> Floats:
        # Rounding at random between two starts is the same law as the window between them.
        start = self.kernel.start
        aim = start.aim(self.line.from_unit(x)) / (self.cells << start.fraction)
        return np.asarray(np.mod(aim, 1.0) if isinstance(self.line, Circle) else aim, dtype=np.float64)

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the cells whose mean is the value: there are some if the start is affine in it.

        The mean cell is (1−κ)(N−1)/2 + κ(start + (K−1)/2).
        """
        window, start = self.kernel.window, self.kernel.start
        if not self._shape.placement.affine or not isinstance(start, LineStart):
            return None
        base = (1.0 - window.contrast) * (window.cells - 1) / 2.0 + window.contrast * (window.width - 1) / 2.0
        unit = (1 << start.fraction) / start.scale  # of the domain, for one cell of the start
        # Aims are rounded down from half a unit above: to the nearest.
        values = start.origin + 0.5 / start.scale + unit * (self._middles - base) / window.contrast
        rest = self.kernel.rest
        half = ((1 << rest) - 1) / 2.0
        return UnbiasedReading(np.asarray(values), unit / window.contrast if rest else 0.0, half)

    def decoded(self) -> Floats:
        """Return the number of each report that is counted; of groups of cells, the middle's."""
        return self.decode(self._middles if self.kernel.rest else np.arange(self.cells))

    @property
    def _middles(self) -> Array:
        group = 1 << self.kernel.rest
        return np.asarray(np.arange(self.cells // group) * float(group) + (group - 1) / 2.0)

    @property
    def window_share(self) -> float:
        return self.kernel.window.share

    @property
    def counting(self) -> Counting:
        rest = self.kernel.rest
        return LeadingBits(self.cells, rest) if rest else EachReport(self.cells)

    def version_1(self, sampled: Mapping[str, Any]) -> Self:
        data = sampled["kernel"]
        window = Sliding(*(whole(data[name]) for name in ("cells", "width", "step", "bits")))
        travelled = Travelled(self._placed(window), read_decoder(sampled["codebook"]))
        return replace(self, travelled=travelled)

    def truncated(self) -> Self:
        """Return the same mechanism with reports beyond the domain read as its nearer end."""
        if self.travelled is None or self.decoding is not Decoding.OWN:
            return self._read(Decoding.TRUNCATED)
        cut = self.decoder.cut(self.line.low, self.line.high)
        return replace(self, decoding=Decoding.TRUNCATED, travelled=Travelled(self.kernel, cut))

    def compressed(self) -> Self:
        """Return the same mechanism with the report space read as the domain itself: biased, by choice."""
        return self._read(Decoding.COMPRESSED)

    def _read(self, decoding: Decoding) -> Self:
        travelled = None if self.travelled is None else Travelled(self.kernel)
        return replace(self, decoding=decoding, travelled=travelled)
