"""Mechanisms that add noise on a lattice: a paper's file says how the noise falls off; the rest is here."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from dither.arrays import Array
from dither.domains import Domain, Interval, numbers
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.lattice.circular import Bounded, Ring
from dither.kernels.lattice.integers import Clamped, check_lattice
from dither.kernels.lattice.law import AddedLaw, CutLaw, Density
from dither.kernels.lattice.sampling import draw_lattice
from dither.kernels.window.decoder import Affine, Decoder, from_wire
from dither.kernels.window.start import Track
from dither.mechanisms.number import Reading
from dither.mechanisms.table import TabledMechanism
from dither.mechanisms.window import Decoding
from dither.privacy import Bound, Pure
from dither.privacy.exact import log_above
from dither.randomness import Source

Kind = TypeVar("Kind", Clamped, Ring, Bounded)

END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(TabledMechanism, Generic[Kind]):
    """A value's step on a lattice plus noise with integer weights. The noise takes up to `cells` values."""

    _: KW_ONLY
    cells: int = 1 << 16

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def lattice(self) -> Kind:
        """Give the lattice and its noise in integers: all that a paper adds, with its law."""

    def _build(self) -> None:
        check_lattice(self.cells)
        _ = self.kernel

    @cached_property
    def kernel(self) -> Kind:
        """The lattice in integers: what devices sample."""
        return self._certified(self.lattice())

    def _certified(self, kernel: Kind) -> Kind:
        if self._exceeds(kernel):
            raise InvalidParameter("this ε is too small or too large for the number of cells")
        return kernel

    @cached_property
    def track(self) -> Track:
        """How a value becomes a step of the lattice."""
        return self.kernel.track(self.line)

    @cached_property
    def decoder(self) -> Decoder:
        """Which number each report stands for."""
        return self._steps()

    def _steps(self) -> Affine:
        step = (1 << self.kernel.between) / self.track.scale
        return Affine(self.line.low + self.kernel.first * step, step)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        array = numbers(values)
        flat = array.reshape(-1)
        cells = draw_lattice(self.line, self.kernel, self.track, flat, source, threads=threads)
        return cells.reshape(array.shape)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the integer weights: the largest ratio that two inputs can have."""
        return Pure(log_above(self.kernel.ratio)), f"the largest ratio of {self._integers}"

    @property
    def _integers(self) -> str:
        noise = self.kernel.noise
        return f"integer weights of total 2^128 out to {noise.reach} steps, digest {noise.digest}"

    def wire(self) -> dict[str, Any]:
        """Give the integers that name all weights, a digest of the weights, and the codebook."""
        return {"kernel": self.kernel.wire(), "codebook": self.decoder.wire()}

    def restored(self, wire: dict[str, Any]) -> Self:
        """Give this mechanism with the integers and the codebook that travelled, never recomputed ones."""
        try:
            kernel = type(self.kernel).from_wire(wire["kernel"])
        except (TypeError, KeyError, InvalidParameter):
            raise MalformedReport("the kernel is a noise and how many steps the domain has") from None
        if kernel.noise.reach != self.kernel.noise.reach:
            raise MalformedReport("the kernel and the mechanism disagree about the number of cells")
        copy = replace(self)
        copy.__dict__.pop("track", None)
        book = from_wire(wire["codebook"])
        copy.__dict__.update(kernel=self._certified(kernel), decoder=book, _travelled=wire)
        return copy


@dataclass(frozen=True)
class AddedNoise(LatticeMechanism[Clamped]):
    """Noise added to a value of an interval. `decoding` chooses how the same reports are read."""

    _: KW_ONLY
    decoding: Decoding = Decoding.OWN

    decoding_only: ClassVar[frozenset[str]] = frozenset({"decoding"})

    @abstractmethod
    def density(self) -> Density:
        """Give the continuous noise that the integers approximate, in lengths of the domain."""

    def _build(self) -> None:
        if self.decoding not in (Decoding.OWN, Decoding.TRUNCATED):
            raise InvalidParameter("reports with added noise are read as they are, or cut off at the domain")
        super()._build()

    @cached_property
    def decoder(self) -> Decoder:
        """Which number each report stands for."""
        if self.decoding is Decoding.TRUNCATED:
            return replace(self._steps(), low=self.line.low, high=self.line.high)
        return self._steps()

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding is Decoding.TRUNCATED:
            return CutLaw(self.density())
        low, high = self.line.to_unit(self.decoder(np.array([0, self.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def straight(self) -> Reading:
        """Give the reading of reports whose mean is the value: the lattice itself, cut off or not."""
        return Reading(self._steps()(np.arange(self.outcomes)))

    def truncated(self) -> Self:
        """Give the same mechanism with reports beyond the domain read as its nearer end."""
        cut = self.decoder.cut(self.line.low, self.line.high)
        return self._varied(lambda copy: cut.wire(), decoding=Decoding.TRUNCATED)


def exponential_margin(epsilon: float) -> float:
    """Give how many lengths of the domain noise that falls by e^ε a length goes on, to the end mass."""
    return math.log(0.5 / END_MASS) / epsilon
