"""The base classes of designs for one number: a window with a codebook, and noise on a lattice."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal, Self, cast, get_args

import numpy as np

from dither.core.domains import Domain, Interval, Line
from dither.core.kernels.lattice.integers import Lattice, check_lattice
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.window.codebook import (
    IDENTITY,
    AffineDecoder,
    Codebook,
    Decoder,
    Ramps,
    Steps,
    decoder,
)
from dither.core.kernels.window.integers import Sliding, check_cells
from dither.core.kernels.window.kernel import OptionalKernel, SlidingKernel
from dither.core.kernels.window.start import CENTRED, GLIDING, WRAPPED, LineStart, Placement, Room
from dither.core.question import NumberQuestion
from dither.errors import InvalidParameter, unknown_name
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.analysis import Analysis, Realised
from dither.mechanisms.analysis.law import Law, TableLaw
from dither.mechanisms.analysis.noise import AddedLaw, CutLaw, NoiseDensity
from dither.mechanisms.analysis.window import WindowLaw
from dither.mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class NumberMechanism(Mechanism[NumberQuestion], Analysis):
    """A design for one number on an interval or a circle, with the distribution of its reports."""

    @property
    def line(self) -> Line:
        line = self.domain.line
        if line is None:
            raise InvalidParameter(f"expected an interval or a circle, got {self.domain}")
        return line

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities (pdf, mean, error, …) for the integers that are sampled."""
        values = self.line.to_unit(self.question.book(np.arange(self.question.outcomes)))

        def chances(unit: float) -> Floats:
            return self.question.kernel.chances(float(self.line.from_unit(np.asarray(unit))))

        return Realised(self.line, TableLaw(chances, values, circular=self.line.circular))


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
        placement = WRAPPED if domain.circular else CENTRED
        return Shape(width, placement, lambda share, contrast: IDENTITY)

    @staticmethod
    def unbiased(width: float, placement: Placement = GLIDING) -> Shape:
        """Return a window with an affine start, and the codebook for which E[report] equals the value."""
        return Shape(width, placement, partial(unbiased_line, placement))


def unbiased_line(placement: Placement, share: float, contrast: float) -> Ramps:
    """Return the affine codebook for which E[report] equals the value."""
    # The mean position of a report is (1−κ)/2 + κ·(start + s/2). Map it to 0 for x = 0 and to 1 for x = 1.
    starts = placement.start(np.array([0.0, 1.0]), share)
    first, last = (1.0 - contrast) / 2.0 + contrast * (starts + share / 2.0)
    return Ramps.affine(-first / (last - first), (1.0 - first) / (last - first))


FEW_CELLS: Final = 1 << 12  # up to this many cells errors are computed cell by cell


@dataclass(frozen=True)
class WindowMechanism(NumberMechanism):
    """A window on `cells` cells and a codebook. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = "own"

    _takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def shape(self) -> Shape:
        """Return the shape of the paper's window: width, placement and codebook."""

    @cached_property
    def _shape(self) -> Shape:
        return self.shape()

    def _check(self) -> None:
        check_cells(self.cells)

    @classmethod
    def _chooses_cells(cls) -> bool:
        """Return whether the number of cells is a parameter, and not part of the design."""
        return bool(cls.__dataclass_fields__["cells"].init)

    @classmethod
    def _admits(cls, domain: object) -> bool:
        """Return whether the mechanism accepts this domain.

        If the number of cells can be chosen, it may be optional.
        """
        if cls._chooses_cells() and isinstance(domain, Domain) and domain.optional:
            return isinstance(domain.line, cls._takes)
        return isinstance(domain, cls._takes)

    def _kernel(self) -> SlidingKernel | OptionalKernel:
        share = self._shape.width
        if self.domain.optional:  # the window has its share of the cells without those for "no answer"
            width = min(max(round(share / (1.0 + share) * self.cells), 1), self.cells // 2)
            window = Sliding.largest(self.epsilon, self.cells, width)
            room = Room(self.cells - width, width)
            rule = self._shape.placement.rule(self.line, cast(Sliding, room))  # reads cells and width
            return OptionalKernel(self.line, window, cast(LineStart, rule))
        width = min(max(round(share * self.cells), 1), self.cells - 1)
        window = Sliding.largest(self.epsilon, self.cells, width)
        return SlidingKernel(self.line, window, self._shape.placement.rule(self.line, window))

    def _codebook(self, kernel: SlidingKernel | OptionalKernel) -> Decoder:
        window = kernel.window
        if isinstance(kernel, OptionalKernel):  # the kernel of the reports that represent numbers
            share, kept = window.width / kernel.room, window.contrast
            contrast = kept / (kept + (1.0 - kept) * kernel.room / window.cells)
            return decoder(self._book(share, contrast), kernel.room, self.line)
        return decoder(self._book(window.share, window.contrast), self.cells, self.line)

    def _book(self, share: float, contrast: float) -> Codebook:
        if self.decoding == "compressed":
            return IDENTITY
        book = self._shape.codebook(share, contrast)
        if self.decoding == "truncated":
            return book.clip()
        if self.decoding == "own":
            return book
        raise unknown_name("decoding", self.decoding, get_args(Decoding))

    @cached_property
    def law(self) -> Law:
        """The distribution of the continuous mechanism that the cells approximate, in closed form.

        A few cells do not approximate it well, so for them it is the distribution of the cells themselves. A
        design with a fixed number of cells has a closed form for them.
        """
        self._insist_on_a_number()
        if self.cells <= FEW_CELLS and self._chooses_cells():
            return self.sampled.law
        shape = self._shape
        lift = math.expm1(self.epsilon) * shape.width
        contrast = lift / (1.0 + lift)
        return WindowLaw(
            share=shape.width,
            contrast=contrast,
            rest=1.0 / (1.0 + lift),
            start=partial(shape.placement.start, width=shape.width),
            codebook=self._book(shape.width, contrast),
            circular=self.line.circular,
            kinks=shape.placement.kinks(shape.width),
        )

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities for the integers that are sampled, for up to 2^20 cells."""
        self._insist_on_a_number()
        if self.cells > 1 << 20:
            raise InvalidParameter(f"expected at most 2^20 cells for `sampled`, got {self.cells}")
        window = self._window_kernel.window
        law = WindowLaw(
            share=window.share,
            contrast=window.contrast,
            rest=window.rest,
            start=self._sampled_start,
            codebook=Steps(self.line.to_unit(self.question.book(np.arange(self.cells)))),
            circular=self.line.circular,
            kinks=self._shape.placement.kinks(window.share),
        )
        return Realised(self.line, law)

    @property
    def _window_kernel(self) -> SlidingKernel:
        return cast(SlidingKernel, self.question.kernel)  # `_kernel` returns it for numbers

    def _insist_on_a_number(self) -> None:
        if self.domain.optional:
            raise InvalidParameter(
                f"expected a domain without 'no answer' for a density or an error, got {self.domain}; use "
                f"{type(self).__name__} on the numbers without dt.Nullable"
            )

    def _sampled_start(self, x: Floats) -> Floats:
        # Rounding at random between two starts has the same distribution as the window between them.
        start = self._window_kernel.start
        aim = start.aim(self.line.from_unit(x)) / (self.cells << start.fraction)
        return np.asarray(np.mod(aim, 1.0) if self.line.circular else aim, dtype=np.float64)

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")

    def compressed(self) -> Self:
        """Return the same design with the report space decoded as the domain itself (biased)."""
        return replace(self, decoding="compressed")


END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(NumberMechanism):
    """A step on a lattice plus noise with integer weights. The noise has up to `cells` different values."""

    _: KW_ONLY
    cells: int = 1 << 16

    _takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)
    _certified: ClassVar[bool] = True

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    def _check(self) -> None:
        check_lattice(self.cells)

    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        return kernel.steps


@dataclass(frozen=True)
class AddedNoise(NumberMechanism):
    """Noise on a lattice that is added to a value of an interval. `decoding` selects how reports are decoded.

    It is not a `LatticeMechanism`, because the reports of a `LatticeMechanism` stay in the domain, and a line
    of inheritance has at most five classes.
    """

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = "own"

    _takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)
    _certified: ClassVar[bool] = True

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    @abstractmethod
    def density(self) -> NoiseDensity:
        """Return the density of the continuous noise, in units of the domain's length."""

    def _check(self) -> None:
        check_lattice(self.cells)

    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        if self.decoding == "truncated":
            return kernel.steps.cut(kernel.line.low, kernel.line.high)
        if self.decoding == "own":
            return kernel.steps
        raise unknown_name("decoding", self.decoding, ("own", "truncated"))

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The distribution of the continuous mechanism.

        The formulas ignore that reports are clamped to `support`.
        """
        if self.decoding == "truncated":
            return CutLaw(self.density())
        ends = np.array([0, self.question.outcomes - 1])
        low, high = self.line.to_unit(self.question.book(ends))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, with the tail `END_MASS` of Laplace noise beyond it."""
    return math.log(0.5 / END_MASS) / epsilon
