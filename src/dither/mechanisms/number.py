"""The base classes of designs of numbers: a window with a codebook, and noise on a lattice."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Domain, Interval, Line
from dither.errors import InvalidParameter, check_choice, unknown_name
from dither.kernels.lattice.integers import Lattice, check_lattice
from dither.kernels.lattice.kernel import LatticeKernel
from dither.kernels.lattice.law import AddedLaw, CutLaw, Law, NoiseDensity
from dither.kernels.window.codebook import IDENTITY, AffineDecoder, Codebook, Decoder, Ramps, Steps, decoder
from dither.kernels.window.integers import Sliding, check_cells
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.law import WindowLaw
from dither.kernels.window.start import CENTRED, WRAPPED, Placement
from dither.mechanisms.base import NumberMechanism, Realised

Rule = Callable[[float, float], Codebook]  # from the window's share and contrast to the codebook


# How the collector decodes reports. The choice does not change what devices send.
Decoding = Literal["own", "compressed", "truncated"]


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
    decoding: Decoding = "own"

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def shape(self) -> Shape:
        """Return the width, the placement and the codebook of the paper's window."""

    @cached_property
    def _shape(self) -> Shape:
        return self.shape()

    def _check(self) -> None:
        check_cells(self.cells)
        check_choice("decoding", self.decoding, Decoding)

    def _kernel(self) -> SlidingKernel:
        width = round(self._shape.width * self.cells)
        window = Sliding.largest(self.epsilon, self.cells, min(max(width, 1), self.cells - 1))
        return SlidingKernel(self.line, window, self._shape.placement.rule(self.line, window))

    def _codebook(self, kernel: SlidingKernel) -> Decoder:
        window = kernel.window
        return decoder(self._book(window.share, window.contrast), self.cells, self.line)

    def _book(self, share: float, contrast: float) -> Codebook:
        if self.decoding == "compressed":
            return IDENTITY
        book = self._shape.codebook(share, contrast)
        if self.decoding == "truncated":
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

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")

    def compressed(self) -> Self:
        """Return the same design with the report space decoded as the domain itself, which is biased."""
        return replace(self, decoding="compressed")


END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(NumberMechanism):
    """A step on a lattice plus noise with integer weights. The noise has up to `cells` different values."""

    _: KW_ONLY
    cells: int = 1 << 16

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)
    certified: ClassVar[bool] = True

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    def _check(self) -> None:
        check_lattice(self.cells)

    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())


@dataclass(frozen=True)
class AddedNoise(ABC):
    """Noise added to a value of an interval. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    decoding: Decoding = "own"

    @abstractmethod
    def density(self) -> NoiseDensity:
        """Return the continuous noise that the integers approximate, in units of the domain's length."""

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        if self.decoding == "truncated":
            return kernel.steps.cut(kernel.line.low, kernel.line.high)
        if self.decoding == "own":
            return kernel.steps
        raise unknown_name("decoding", self.decoding, ("own", "truncated"))

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding == "truncated":
            return CutLaw(self.density())
        design: Any = self
        low, high = design.line.to_unit(design.decoder(np.array([0, design.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, beyond which Laplace noise has the tail `END_MASS`."""
    return math.log(0.5 / END_MASS) / epsilon
