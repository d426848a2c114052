"""Kernels that add noise on a lattice: clamped, circular and truncated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from dither.arrays import Array, Floats
from dither.device_text import real, whole
from dither.domains import Domain, Line
from dither.errors import InvalidParameter, found
from dither.kernels.blocks import Sampler
from dither.kernels.kernel import (
    LineKernel,
    Promise,
    UnbiasedReading,
    affine_reading,
    check_ratio,
    equal_groups,
    listed_likelihood,
)
from dither.kernels.lattice.integers import Clamped, Lattice, excess, failure
from dither.kernels.lattice.noise import (
    FLOOR,
    BoundedSampler,
    End,
    LatticeNoise,
    NoiseSampler,
    RingSampler,
    largest_ratio,
)
from dither.kernels.transition import Dense, Operator
from dither.kernels.window.codebook import AffineDecoder, Decoder, Single, read_decoder, sized
from dither.kernels.window.kernel import a_line
from dither.kernels.window.start import LineStart
from dither.numerics.quadrature import float_at_least
from dither.privacy import PAC, Approximate, Pure
from dither.privacy.exact import exp_below
from dither.randomness import Source


@dataclass(frozen=True)
class Ring(Lattice):
    """N steps around a circle; a report is the input's step plus noise, modulo N."""

    noise: LatticeNoise

    def __post_init__(self) -> None:
        if self.noise.end is not End.RING:
            raise InvalidParameter("a circular lattice needs noise with End.RING")

    @property
    def cells(self) -> int:
        return 2 * self.noise.reach

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.noise.weights[0], self.noise.weights[-1])

    def law(self, row: Array, step: int) -> Array:
        return np.roll(row, step)

    def start(self, domain: Line) -> LineStart:
        scale = self.cells / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, None)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        return not start.fraction  # modulo N every whole number is a step of the circle

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return RingSampler(self.noise.table, start, size, self.cells)

    def device(self) -> dict[str, Any]:
        return {"kind": "ring", "noise": self.noise.device()}

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Ring:
        """Return the lattice that `device` describes."""
        return Ring(LatticeNoise.from_device(data["noise"], End.RING))

    def draw_one(self, step: int, source: Source) -> int:
        return (step + self.noise.table.draw_one(source)) % self.cells


@dataclass(frozen=True)
class Bounded(Lattice):
    """G + 1 places from end to end of the domain; noise that leads outside is drawn again.

    Every place is a possible report of every input. The probability of staying inside depends on the input:
    the probability of a report is its weight over the total C of the input. The guarantee is for inputs at
    most `shift` steps apart.
    """

    noise: LatticeNoise
    shift: int

    def __post_init__(self) -> None:
        if self.noise.end is not End.CUT or not 1 <= self.shift <= self.noise.reach:
            raise InvalidParameter(
                f"a bounded lattice needs noise with End.CUT and a shift from 1 to {self.noise.reach}, "
                f"not {found(self.shift)}"
            )

    @property
    def cells(self) -> int:
        return self.noise.reach + 1

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The total weight inside the domain, by step of the input."""
        sums = tuple(accumulate(self.noise.weights))
        return tuple(below + above - sums[0] for below, above in zip(sums, reversed(sums), strict=True))

    @cached_property
    def ratio(self) -> Fraction:
        """An upper bound of the ratio of two probabilities of one report, with the totals of both inputs.

        Between inputs k steps apart it is at most ρ(k)·κ(k): the largest ratio of two weights times the
        largest ratio of two totals. From k to k + 1, ρ grows at least by the smallest ratio of neighbouring
        weights above the floor, and κ at least by the smallest ratio of neighbouring totals. If their product
        is at least 1, the largest shift is the worst.
        """
        totals, weights = self.totals, self.noise.weights
        falling = sum(weight > FLOOR for weight in weights) - 1
        steeper = 1 / largest_ratio(weights[1 : falling + 1], weights[:falling])
        flatter = 1 / largest_ratio(totals[:-1], totals[1:])
        if steeper * flatter < 1 or falling < self.shift:
            raise InvalidParameter("the noise is too narrow to certify its bound; choose more cells")
        return self.noise.ratio(self.shift) * largest_ratio(totals[self.shift :], totals[: -self.shift])

    def law(self, row: Array, step: int) -> Array:
        reach = self.noise.reach
        return row[reach - step : 2 * reach - step + 1]

    def start(self, domain: Line) -> LineStart:
        scale = self.noise.reach / domain.length
        return LineStart(domain.low - 0.5 / scale, scale, self.noise.reach)

    def keeps(self, start: LineStart, domain: Line) -> bool:
        # A larger scale would put values further than `shift` steps apart for which the guarantee holds.
        near = start.scale <= self.noise.reach / domain.length
        return start.last == self.noise.reach and not start.fraction and near

    def sampler(self, start: LineStart, size: int) -> NoiseSampler:
        return BoundedSampler(self.noise.table, start, size, self.noise.reach)

    def device(self) -> dict[str, Any]:
        return {"kind": "bounded", "noise": self.noise.device(), "shift": self.shift}

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Bounded:
        """Return the lattice that `device` describes."""
        return Bounded(LatticeNoise.from_device(data["noise"], End.CUT), whole(data["shift"]))

    def draw_one(self, step: int, source: Source) -> int:
        while True:
            place = step + self.noise.table.draw_one(source) - self.noise.reach
            if 0 <= place <= self.noise.reach:
                return place


Kind = TypeVar("Kind", bound=Lattice)

_PARTS: Final = 1 << 96  # e^ε is rounded down to a multiple of 1/_PARTS where δ is computed
_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Lattice]]] = {
    "clamped": Clamped.from_device,
    "ring": Ring.from_device,
    "bounded": Bounded.from_device,
}


@dataclass(frozen=True)
class LatticeKernel(LineKernel, Generic[Kind]):
    """A lattice with noise of integer weights, and the rule that maps a value to a step."""

    line: Line
    lattice: Kind
    start: LineStart

    kind: ClassVar[str] = "lattice"

    def __post_init__(self) -> None:
        if not self.start.reaches(self.line, 31) or not self.lattice.keeps(self.start, self.line):
            raise InvalidParameter(
                "the start rule leads to steps for which the privacy ratio was not computed"
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

    def _listed(self, value: float) -> list[Fraction]:
        return self.lattice.probabilities(self.start.aim_one(value))

    def chances(self, value: Any) -> Floats:
        return self.lattice.chances(self.start.aim_one(float(self.line.check(value))))

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        if not isinstance(self.lattice, Clamped):
            return listed_likelihood(self, inputs, rows, self.typical())
        groups = equal_groups(self, rows, self.typical())
        return Dense(self.lattice.grouped(self.start.aim(inputs), groups), groups)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        told, aims = np.broadcast_arrays(reports.astype(np.int64), self.start.aim(inputs))
        found = np.empty(told.shape)
        for aim in np.unique(aims):
            here = aims == aim
            found[here] = self.lattice.chances(int(aim))[told[here]]
        return found

    @cached_property
    def steps(self) -> AffineDecoder:
        """The number of each report: the steps of the lattice."""
        step = (1 << self.lattice.between) / self.start.scale
        return AffineDecoder(self.line.low + self.lattice.first * step, step)

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> Single:
        return sized(read_decoder(data), self.outcomes)

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        """Return the steps of the lattice if noise is added without redrawing; its mean is 0."""
        if isinstance(self.lattice, Clamped):
            return UnbiasedReading(self.steps(np.arange(self.outcomes)))
        return affine_reading(self, book)

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
                    f"with this calibration δ at ε = {epsilon:g} would exceed {delta:g}; "
                    "use calibration='analytic', or more cells"
                )
            return
        if isinstance(self.lattice, Bounded):
            needed = largest_shift(self.lattice.noise.reach, self._reach(stated))
            if self.lattice.shift < needed:
                raise InvalidParameter(
                    f"these weights are certified for values up to {self.lattice.shift} steps apart; "
                    f"{needed} are needed"
                )
        check_ratio(self, epsilon)

    def _reach(self, stated: Mapping[str, Any]) -> float:
        """Return the largest distance of two protected values, in lengths of the domain."""
        near = stated.get("sensitivity") if isinstance(self.lattice, Bounded) else None
        return 1.0 if near is None else real(near) / self.line.length

    def delta(self, epsilon: float, *, probable: bool) -> Fraction:
        """Return δ at ε; with `probable`, the probability of a privacy loss above ε."""
        if not isinstance(self.lattice, Clamped):
            raise InvalidParameter("δ is computed for noise that is added and clamped")
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

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, "lattice": self.lattice.device(), "start": self.start.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        lattice: Any = read_lattice(device["lattice"])
        return cls(a_line(domain), lattice, LineStart.from_device(device["start"]))


def read_lattice(data: Mapping[str, Any]) -> Lattice:
    """Return the lattice that `Lattice.device` wrote."""
    return _READERS[data["kind"]](data)


def largest_shift(steps: int, reach: float) -> int:
    """Return the largest distance, in steps, of two values that are `reach` lengths of the domain apart.

    The domain has `steps` steps; there is room for rounding.
    """
    return min(steps, math.floor(reach * steps * (1.0 + 2.0**-40)) + 1)


def _probable(stated: Mapping[str, Any]) -> bool:
    """Return whether δ is the probability of a larger privacy loss than ε (PAC), by the calibration."""
    calibration = stated.get("calibration")
    return isinstance(calibration, Mapping) and calibration.get("name") in ("PAC", "EXACT_PAC")
