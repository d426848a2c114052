"""The base classes of designs that add noise on a lattice; a paper's file defines the noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

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
    certified: ClassVar[bool] = True

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    def _check(self) -> None:
        check_lattice(self.cells)

    @final
    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())


@dataclass(frozen=True)
class AddedNoise(ABC):
    """Noise added to a value of an interval. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    decoding: Decoding = Decoding.OWN

    @abstractmethod
    def density(self) -> NoiseDensity:
        """Return the continuous noise that the integers approximate, in units of the domain's length."""

    @final
    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        if self.decoding is Decoding.TRUNCATED:
            return kernel.steps.cut(kernel.line.low, kernel.line.high)
        if self.decoding is Decoding.OWN:
            return kernel.steps
        raise InvalidParameter(
            f"decoding must be Decoding.OWN or Decoding.TRUNCATED, not {found(self.decoding)}"
        )

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding is Decoding.TRUNCATED:
            return CutLaw(self.density())
        design: Any = self
        low, high = design.line.to_unit(design.decoder(np.array([0, design.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding=Decoding.TRUNCATED)


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, beyond which Laplace noise has the tail `END_MASS`."""
    return math.log(0.5 / END_MASS) / epsilon
