"""Mechanisms that add noise on a lattice: a paper's file says how the noise falls off; the rest is here."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dither.domains import Circle, Domain, Interval, Line, numbers
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.adding import draw_lattice
from dither.kernels.decoder import Affine, Decoder, from_wire
from dither.kernels.lattice import Bounded, Clamped, Ring, check_lattice
from dither.kernels.noise_law import AddedLaw, CutLaw, Density, TableLaw
from dither.kernels.placement import Track
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.questions import Questions, Realised
from dither.mechanisms.windowed import Decoding, within
from dither.privacy import Bound, Pure
from dither.privacy.exact import exp_below, log_above
from dither.randomness import Source

Array = NDArray[Any]
Floats = NDArray[np.float64]

END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range
Kind = TypeVar("Kind", Clamped, Ring, Bounded)


@dataclass(frozen=True)
class LatticeMechanism(Mechanism, Questions, Generic[Kind]):
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

    @property
    def line(self) -> Line:
        """The domain of the inputs."""
        assert isinstance(self.domain, Line)
        return self.domain

    @cached_property
    def kernel(self) -> Kind:
        """The lattice in integers: what devices sample."""
        return self._certified(self.lattice())

    def _certified(self, kernel: Kind) -> Kind:
        """Give the lattice back if its largest ratio, in integers, is at most e^ε: the privacy proof."""
        if kernel.ratio > exp_below(Fraction(self.epsilon)):
            raise InvalidParameter("this ε is too small or too large for the number of cells")
        return kernel

    @cached_property
    def track(self) -> Track:
        """How a value becomes a step of the lattice."""
        return self.kernel.track(self.line)

    @cached_property
    def decoder(self) -> Decoder:
        """Which number each report stands for."""
        kernel, track = self.kernel, self.track
        step = (1 << kernel.fraction) / track.scale
        return Affine(self.line.low + float(kernel.offset()) * step, step)

    @cached_property
    def sampled(self) -> Realised:
        """The same questions about the integers that are sampled."""
        values = self.line.to_unit(self.decoder(np.arange(self.outcomes)))
        law = TableLaw(self._chances, values, circular=isinstance(self.domain, Circle))
        return Realised(self.line, law)

    def _chances(self, unit: float) -> Floats:
        value = float(self.line.from_unit(np.asarray(unit)))
        return self.kernel.chances(self.track.aim_one(value))

    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the input x, from the very integers sampled."""
        return self.kernel.probabilities(self.track.aim_one(float(self.line.check(x))))

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        array = numbers(values)
        flat = array.reshape(-1)
        return draw_lattice(self.line, self.kernel, self.track, flat, source, threads=threads).reshape(
            array.shape
        )

    def decode(self, cells: Array) -> Array:
        """Give the numbers that reports stand for."""
        return self.decoder(cells)

    def _valid(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.kernel.dtype)

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the integer weights: the largest ratio between the two ends of the domain."""
        noise = self.kernel.noise
        how = f"the largest ratio of {noise.reach + 1} integer weights of total 2^128 ({noise.digest})"
        return Pure(log_above(self.kernel.ratio)), how

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
        copy.__dict__.update(kernel=self._certified(kernel), decoder=from_wire(wire["codebook"]))
        copy.__dict__.pop("track", None)
        return copy

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.kernel.cells

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return float(self.kernel.dtype.itemsize)


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
        _ = self.decoder

    @cached_property
    def decoder(self) -> Decoder:
        """Which number each report stands for."""
        plain = super().decoder
        assert isinstance(plain, Affine)
        if self.decoding is Decoding.TRUNCATED:
            return replace(plain, low=self.line.low, high=self.line.high)
        return plain

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding is Decoding.TRUNCATED:
            return CutLaw(self.density())
        low, high = self.line.to_unit(self.decoder(np.array([0, self.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Give the same mechanism with reports beyond the domain read as its nearer end."""
        return replace(self, decoding=Decoding.TRUNCATED)
