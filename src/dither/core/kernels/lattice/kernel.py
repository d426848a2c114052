"""The kernel that adds noise on a lattice: clamped, circular or truncated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np

from dither.core.domains import Line
from dither.core.kernels.blocks import Sampler
from dither.core.kernels.kernel import (
    A_LINE,
    LineKernel,
    Promise,
    UnbiasedReading,
    affine_reading,
    check_ratio,
    equal_groups,
    listed_likelihood,
)
from dither.core.kernels.lattice.delta import excess, failure
from dither.core.kernels.lattice.integers import Bounded, Clamped, Lattice, Ring
from dither.core.kernels.transition import Dense, Operator
from dither.core.kernels.window.codebook import AffineDecoder, Decoder, Single, check_size, read_decoder
from dither.core.kernels.window.start import LINE_START, LineStart
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Floats
from dither.foundation.canonical import Fields, one_of, real
from dither.foundation.randomness import Source
from dither.privacy import PAC, Approximate, Pure
from dither.privacy.exact import exp_below, float_at_least

Kind = TypeVar("Kind", bound=Lattice)

_PARTS: Final = 1 << 96  # e^ε is rounded down to a multiple of 1/_PARTS where δ is computed


@dataclass(frozen=True)
class LatticeKernel(LineKernel, Generic[Kind]):
    """A lattice with noise of integer weights, and the rule that maps a value to a step."""

    line: Line
    lattice: Kind
    start: LineStart

    kind: ClassVar[str] = "lattice"
    fields = Fields(line=A_LINE, lattice=one_of(Clamped, Ring, Bounded), start=LINE_START)

    def __post_init__(self) -> None:
        if not self.start.reaches(self.line, 31) or not self.lattice.keeps(self.start, self.line):
            raise InvalidParameter(
                "expected a start rule whose steps all have a computed privacy ratio; use the start "
                "rule of a mechanism"
            )

    @staticmethod
    def on(line: Line, lattice: Kind) -> LatticeKernel[Kind]:
        """Return the kernel of a lattice laid evenly over a line."""
        return LatticeKernel(line, lattice, lattice.start(line))

    @property
    def outcomes(self) -> int:
        return self.lattice.cells

    def sampler(self, size: int) -> Sampler:
        return self.lattice.sampler(self.start, size)

    def draw_one(self, value: float, source: Source) -> int:
        return self.lattice.draw_one(self.start.draw_one(value, source), source)

    def _probabilities(self, value: float) -> list[Fraction]:
        return self.lattice.probabilities(self.start.aim_one(value))

    def chances(self, value: Any) -> Floats:
        return self.lattice.chances(self.start.aim_one(float(self.line.check(value))))

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        if not isinstance(self.lattice, Clamped):
            return listed_likelihood(self, inputs, rows, self.typical())
        groups = equal_groups(self, rows, self.typical())
        return Dense(self.lattice.group_masses(self.start.aim(inputs), groups), groups)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        outputs, aims = np.broadcast_arrays(reports.astype(np.int64), self.start.aim(inputs))
        found = np.empty(outputs.shape)
        for aim in np.unique(aims):
            here = aims == aim
            found[here] = self.lattice.chances(int(aim))[outputs[here]]
        return found

    @cached_property
    def steps(self) -> AffineDecoder:
        """The number of each report: the steps of the lattice."""
        step = (1 << self.lattice.between) / self.start.scale
        return AffineDecoder(self.line.low + self.lattice.first * step, step)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Single:
        return check_size(read_decoder(data), self.outcomes)

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return the steps of the lattice if noise is added without redrawing; its mean is 0."""
        lattice = self.lattice
        if not isinstance(lattice, Clamped):
            return affine_reading(self, book)
        steps, rounded = self.steps(np.arange(self.outcomes)), 0.5 / self.start.scale
        inputs = self.steps(np.arange(lattice.steps + 1) - lattice.first)
        return UnbiasedReading(steps, bias=rounded + float(np.abs(lattice.means(steps) - inputs).max()))

    def promise(self, epsilon: float, stated: Mapping[str, Any]) -> Promise:
        """Return the bound: (ε, δ) where a δ is stated, and otherwise pure.

        With a `sensitivity` the bound is for values at most that far apart.
        """
        if "delta" in stated:
            probable = _probable(stated)
            spent = float_at_least(self.delta(epsilon, probable=probable))
            bound = PAC(epsilon, spent) if probable else Approximate(epsilon, spent)
            return Promise(bound, f"δ at this ε from {self.weights}")
        near = self._reach(stated)
        assumes = () if near == 1.0 else (f"two values differ by at most {stated['sensitivity']:g}",)
        return Promise(Pure(self.epsilon), self.evidence, assumes)

    def certify(self, epsilon: float, stated: Mapping[str, Any]) -> None:
        if "delta" in stated:
            delta = real(stated["delta"])
            if self.delta(epsilon, probable=_probable(stated)) > Fraction(delta):
                raise InvalidParameter(
                    f"with this calibration δ at ε = {epsilon:g} would exceed {delta:g}; use "
                    "calibration='analytic', or more cells"
                )
            return
        if isinstance(self.lattice, Bounded):
            needed = largest_shift(self.lattice.noise.reach, self._reach(stated))
            if self.lattice.shift < needed:
                raise InvalidParameter(
                    f"expected weights that are certified for values up to {needed} steps apart, got "
                    f"{self.lattice.shift} steps; compute them anew"
                )
        check_ratio(self, epsilon)

    def _reach(self, stated: Mapping[str, Any]) -> float:
        """Return the largest distance of two protected values, in lengths of the domain."""
        near = stated.get("sensitivity") if isinstance(self.lattice, Bounded) else None
        return 1.0 if near is None else real(near) / self.line.length

    def delta(self, epsilon: float, *, probable: bool) -> Fraction:
        """Return δ at ε; with `probable`, the probability of a privacy loss above ε."""
        if not isinstance(self.lattice, Clamped):
            raise InvalidParameter(
                "expected noise that is added and clamped, because δ is computed only for such noise; "
                "use dt.Gaussian"
            )
        bound = Fraction(math.floor(exp_below(Fraction(epsilon)) * _PARTS), _PARTS)
        return failure(self.lattice, bound) if probable else excess(self.lattice, bound)

    @property
    def ratio(self) -> Fraction:
        return self.lattice.ratio

    @property
    def evidence(self) -> str:
        return f"the largest ratio of {self.weights}"

    @property
    def weights(self) -> str:
        """A description of the integer weights: their total, reach and digest."""
        noise = self.lattice.noise
        return f"integer weights of total 2^128 out to {noise.reach} steps, digest {noise.digest}"


def largest_shift(steps: int, reach: float) -> int:
    """Return the largest distance, in steps, of two values that are `reach` lengths of the domain apart.

    The domain has `steps` steps. The result has a margin for rounding.
    """
    return min(steps, math.floor(reach * steps * (1.0 + 2.0**-40)) + 1)


def _probable(stated: Mapping[str, Any]) -> bool:
    """Return whether δ is the probability of a larger privacy loss than ε (PAC), by the calibration."""
    calibration = stated.get("calibration")
    return isinstance(calibration, Mapping) and calibration.get("name") in ("PAC", "EXACT_PAC")
