"""The base classes of mechanisms that add noise on a lattice; a paper's file defines the noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from dither.domains import Domain, Interval
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.lattice.integers import Clamped, Lattice, check_lattice
from dither.kernels.lattice.kernel import LatticeKernel
from dither.kernels.lattice.law import AddedLaw, CutLaw, NoiseDensity
from dither.kernels.window.decoder import AffineDecoder, Decoder, sized
from dither.mechanisms.base import Travelled
from dither.mechanisms.number import NumberMechanism, UnbiasedReading, check_ratio
from dither.mechanisms.window import Decoding

Kind = TypeVar("Kind", bound=Lattice)

END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(NumberMechanism, Generic[Kind]):
    """A step on a lattice plus noise with integer weights. The noise has up to `cells` different values."""

    _: KW_ONLY
    cells: int = 1 << 16

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def lattice(self) -> Kind:
        """Return the lattice with the paper's noise, in integers."""

    def _build(self) -> None:
        check_lattice(self.cells)
        _ = self.kernel

    @cached_property
    def kernel(self) -> LatticeKernel[Kind]:
        """What devices run: the lattice in integers, and the rule for the step of a value."""
        if self.travelled is None:
            kernel = LatticeKernel.on(self.line, self.lattice())
        else:
            kernel = self._travelled_kernel(self.travelled)
        self._certify(kernel)
        return kernel

    def _travelled_kernel(self, travelled: Travelled) -> LatticeKernel[Kind]:
        kernel, own = travelled.kernel, self.lattice()
        if not isinstance(kernel, LatticeKernel) or kernel.line.device() != self.line.device():
            raise MalformedReport(f"{type(self).__name__} needs a lattice kernel on its own domain")
        if type(kernel.lattice) is not type(own) or kernel.lattice.noise.reach != own.noise.reach:
            raise MalformedReport(f"the lattice of the kernel differs from that of {type(self).__name__}")
        return kernel

    def _certify(self, kernel: LatticeKernel[Kind]) -> None:
        """Raise InvalidParameter if the integers spend more than ε."""
        check_ratio(kernel, self.epsilon)

    @cached_property
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""
        if self.travelled is not None and self.travelled.codebook is not None:
            return sized(self.travelled.codebook, self.outcomes)
        return self._steps()

    def _steps(self) -> AffineDecoder:
        lattice = self.kernel.lattice
        step = (1 << lattice.between) / self.kernel.start.scale
        return AffineDecoder(self.line.low + lattice.first * step, step)


@dataclass(frozen=True)
class AddedNoise(LatticeMechanism[Clamped]):
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

    def _steps(self) -> AffineDecoder:
        steps = super()._steps()
        return steps.cut(self.line.low, self.line.high) if self.decoding is Decoding.TRUNCATED else steps

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding is Decoding.TRUNCATED:
            return CutLaw(self.density())
        low, high = self.line.to_unit(self.decoder(np.array([0, self.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def unbiased_reading(self) -> UnbiasedReading:
        """Return numbers for the reports whose mean is the value: the steps of the lattice."""
        return UnbiasedReading(super()._steps()(np.arange(self.outcomes)))

    def truncated(self) -> Self:
        """Return the same mechanism with decoded reports clipped to the domain."""
        if self.travelled is None:
            return replace(self, decoding=Decoding.TRUNCATED)
        cut = self.decoder.cut(self.line.low, self.line.high)
        return replace(self, decoding=Decoding.TRUNCATED, travelled=Travelled(self.kernel, cut))


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, beyond which Laplace noise has the tail `END_MASS`."""
    return math.log(0.5 / END_MASS) / epsilon
