"""The base classes of designs that add noise on a lattice; a paper's file defines the noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.domains import Domain, Interval
from dither.errors import InvalidParameter, found
from dither.kernels.lattice.integers import Lattice, check_lattice
from dither.kernels.lattice.kernel import LatticeKernel
from dither.kernels.lattice.law import AddedLaw, CutLaw, NoiseDensity
from dither.kernels.window.decoder import AffineDecoder
from dither.mechanisms.base import NumberMechanism
from dither.mechanisms.window import Decoding

END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(NumberMechanism):
    """A step on a lattice plus noise with integer weights. The noise has up to `cells` different values."""

    _: KW_ONLY
    cells: int = 1 << 16

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    def _build(self) -> None:
        check_lattice(self.cells)
        self.question.certify()

    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        return kernel.steps


@dataclass(frozen=True)
class AddedNoise(LatticeMechanism):
    """Noise added to a value of an interval. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    decoding: Decoding = Decoding.OWN

    @abstractmethod
    def density(self) -> NoiseDensity:
        """Return the continuous noise that the integers approximate, in units of the domain's length."""

    def _build(self) -> None:
        if self.decoding not in (Decoding.OWN, Decoding.TRUNCATED):
            raise InvalidParameter(
                f"decoding must be Decoding.OWN or Decoding.TRUNCATED, not {found(self.decoding)}"
            )
        super()._build()

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        cut = self.decoding is Decoding.TRUNCATED
        return kernel.steps.cut(self.line.low, self.line.high) if cut else kernel.steps

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding is Decoding.TRUNCATED:
            return CutLaw(self.density())
        low, high = self.line.to_unit(self.decoder(np.array([0, self.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding=Decoding.TRUNCATED)


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, beyond which Laplace noise has the tail `END_MASS`."""
    return math.log(0.5 / END_MASS) / epsilon
