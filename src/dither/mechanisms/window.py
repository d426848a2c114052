"""The base class of window mechanisms; a paper's file defines the width, the start and the codebook."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import ClassVar, Self, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle, Domain, Interval, Line
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.counting import Counting, EachReport, LeadingBits
from dither.kernels.law import Law
from dither.kernels.window.codebook import IDENTITY, Codebook, Ramps, Steps
from dither.kernels.window.decoder import Decoder, decoder, sized
from dither.kernels.window.integers import Sliding, check_cells
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.law import WindowLaw
from dither.kernels.window.start import CENTRED, WRAPPED, LineStart, Placement
from dither.mechanisms.analysis import Realised
from dither.mechanisms.base import Travelled
from dither.mechanisms.number import NumberMechanism, UnbiasedReading, check_ratio

Rule = Callable[[float, float], Codebook]  # from the window's share and contrast to the codebook


class Decoding(Enum):
    """How the collector decodes reports. The choice does not change what devices send."""

    OWN = "own"
    COMPRESSED = "compressed"
    TRUNCATED = "truncated"


@final
@dataclass(frozen=True)
class Shape:
    """A paper's window: its width as a share of the report space, its start, and the codebook."""

    width: float
    placement: Placement
    codebook: Rule

    @staticmethod
    def centred(domain: Line, width: float) -> Shape:
        """Return a window centred on the value, with the identity as codebook."""
        placement = WRAPPED if isinstance(domain, Circle) else CENTRED
        return Shape(width, placement, lambda share, contrast: IDENTITY)

    @staticmethod
    def unbiased(width: float, placement: Placement) -> Shape:
        """Return a window with an affine start, and the codebook for which E[report] equals the value."""
        return Shape(width, placement, partial(unbiased_line, placement))


def unbiased_line(placement: Placement, share: float, contrast: float) -> Ramps:
    """Return the affine codebook for which E[report] equals the value."""
    # The mean position of a report is (1−κ)/2 + κ·(start + s/2). Map it to 0 for x = 0 and to 1 for x = 1.
    starts = placement.start(np.array([0.0, 1.0]), share)
    first, last = (1.0 - contrast) / 2.0 + contrast * (starts + share / 2.0)
    return Ramps.affine(-first / (last - first), (1.0 - first) / (last - first))


@dataclass(frozen=True)
class WindowMechanism(NumberMechanism):
    """A window on `cells` cells and a codebook. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = Decoding.OWN

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def shape(self) -> Shape:
        """Return the width, the placement and the codebook of the paper's window."""

    @final
    @cached_property
    def _shape(self) -> Shape:
        return self.shape()

    def _build(self) -> None:
        check_cells(self.cells)
        if not isinstance(self.decoding, Decoding):
            raise InvalidParameter(f"decoding must be a member of dt.Decoding, not {found(self.decoding)}")
        _ = self._shape, self.kernel, self.decoder

    @cached_property
    def kernel(self) -> SlidingKernel:
        """What devices run: the window in integers, and the rule for the start of a value."""
        if self.travelled is not None:
            return self._travelled_kernel(self.travelled)
        width = round(self._shape.width * self.cells)
        return self._placed(Sliding.largest(self.epsilon, self.cells, min(max(width, 1), self.cells - 1)))

    def _placed(self, window: Sliding) -> SlidingKernel:
        return SlidingKernel(self.line, window, self._shape.placement.rule(self.line, window))

    def _travelled_kernel(self, travelled: Travelled) -> SlidingKernel:
        kernel = travelled.kernel
        if not isinstance(kernel, SlidingKernel) or kernel.line.device() != self.line.device():
            raise MalformedReport(f"{type(self).__name__} needs a sliding window on its own domain")
        if kernel.outcomes != self.cells:
            raise MalformedReport(f"the kernel has {kernel.outcomes} cells, the mechanism {self.cells}")
        check_ratio(kernel, self.epsilon)
        return kernel

    @cached_property
    def decoder(self) -> Decoder:
        """The map from cells to numbers."""
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
        """The distribution of the continuous mechanism that the cells approximate, in closed form."""
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
        """The same quantities for the integers that are sampled, for up to 2^20 cells."""
        if self.cells > 1 << 20:
            raise InvalidParameter(f"`sampled` is available for up to 2^20 cells, not {self.cells}")
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
        # Rounding at random between two starts has the same distribution as the window between them.
        start = self.kernel.start
        aim = start.aim(self.line.from_unit(x)) / (self.cells << start.fraction)
        return np.asarray(np.mod(aim, 1.0) if isinstance(self.line, Circle) else aim, dtype=np.float64)

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the cells whose mean is the value, or None if the start is not affine in it.

        The mean cell is (1−κ)(N−1)/2 + κ(start + (K−1)/2).
        """
        window, start = self.kernel.window, self.kernel.start
        if not self._shape.placement.affine or not isinstance(start, LineStart):
            return None
        base = (1.0 - window.contrast) * (window.cells - 1) / 2.0 + window.contrast * (window.width - 1) / 2.0
        unit = (1 << start.fraction) / start.scale  # length of the domain for one cell of the start
        # `origin` includes half a unit, so that rounding down rounds to the nearest.
        values = start.origin + 0.5 / start.scale + unit * (self._middles - base) / window.contrast
        rest = self.kernel.rest
        half = ((1 << rest) - 1) / 2.0
        return UnbiasedReading(np.asarray(values), unit / window.contrast if rest else 0.0, half)

    def decoded(self) -> Floats:
        """Return the decoded number of each counted report; for a group of cells, that of its middle."""
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

    def truncated(self) -> Self:
        """Return the same mechanism with decoded reports clipped to the domain."""
        if self.travelled is None or self.decoding is not Decoding.OWN:
            return self._read(Decoding.TRUNCATED)
        cut = self.decoder.cut(self.line.low, self.line.high)
        return replace(self, decoding=Decoding.TRUNCATED, travelled=Travelled(self.kernel, cut))

    def compressed(self) -> Self:
        """Return the same mechanism with the report space decoded as the domain itself, which is biased."""
        return self._read(Decoding.COMPRESSED)

    def _read(self, decoding: Decoding) -> Self:
        travelled = None if self.travelled is None else Travelled(self.kernel)
        return replace(self, decoding=decoding, travelled=travelled)
