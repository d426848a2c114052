"""Kernels that add noise on a lattice: clamped, circular and truncated.

Noise in the plane, on a lattice and on rings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from dither.core.domains import Domain, Line
from dither.core.kernels.alias import below
from dither.core.kernels.kernel import (
    LineKernel,
    Promise,
    Sampler,
    UnbiasedReading,
    affine_reading,
    check_ratio,
    equal_groups,
    listed_likelihood,
)
from dither.core.kernels.lattice.integers import Clamped, Lattice, excess, failure
from dither.core.kernels.lattice.noise import (
    FLOOR,
    BoundedSampler,
    End,
    LatticeNoise,
    NoiseSampler,
    RingSampler,
    largest_ratio,
)
from dither.core.kernels.transition import Dense, Operator
from dither.core.kernels.window.codebook import AffineDecoder, Decoder, Single, check_size, read_decoder
from dither.core.kernels.window.integers import LineStart
from dither.core.kernels.window.kernel import a_line
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import real, whole
from dither.foundation.numerics.roots import float_at_least
from dither.foundation.randomness import Source
from dither.privacy import PAC, Approximate, Pure
from dither.privacy.guarantee import exp_below


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
        return check_size(read_decoder(data), self.outcomes)

    def unbiased_reading(self, book: Decoder, *, plain: bool = False) -> UnbiasedReading | None:
        """Return the steps of the lattice if noise is added without redrawing; its mean is 0.

        Reports beyond the domain with proportional probabilities under all inputs say the same of the value.
        Each is read as their average, which keeps the mean, and no value has a larger variance
        (Rao-Blackwell).
        """
        lattice = self.lattice
        if not isinstance(lattice, Clamped):
            return affine_reading(self, book)
        steps, rounded = self.steps(np.arange(self.outcomes)), 0.5 / self.start.scale
        inputs = self.steps(np.arange(lattice.steps + 1) - lattice.first)
        bias = rounded + float(np.abs(lattice.means(steps) - inputs).max())
        if plain or lattice.alike is None:
            return UnbiasedReading(steps, bias=bias)
        middle = lattice.chances((lattice.steps // 2) << lattice.between)
        average = np.bincount(lattice.alike, middle * steps) / np.bincount(lattice.alike, middle)
        merged = average[lattice.alike]
        centre = inputs[lattice.steps // 2]
        if float(middle @ (merged - centre) ** 2) > 0.99 * float(middle @ (steps - centre) ** 2):
            return UnbiasedReading(steps, bias=bias)
        return UnbiasedReading(merged, bias=rounded + float(np.abs(lattice.means(merged) - inputs).max()))

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


_LARGEST: Final = 1 << 52  # leaves room below 2^63 for products with the number of terms of a series


@dataclass(frozen=True)
class PlanarNoise:
    """Offsets z on the integer lattice with probability ∝ e^(−⌊|z|⌋·fall/per)."""

    fall: int
    per: int

    def __post_init__(self) -> None:
        if not (self.fall >= 1 and 1 <= self.per <= _LARGEST):
            raise InvalidParameter(
                "the rate of the noise must be a positive fraction with a denominator ≤ 2^52"
            )

    @staticmethod
    def largest(epsilon: float, reach: int, precision: int = 1 << 10) -> PlanarNoise:
        """Return the noise with the largest rate that spends at most ε between places `reach` steps apart."""
        per = -(-Fraction(precision * reach) // Fraction(epsilon))
        if per > _LARGEST:
            raise InvalidParameter(
                f"ε = {found(epsilon)} is too small for so fine a lattice; choose fewer cells"
            )
        return PlanarNoise(precision, int(per))

    def exponent(self, reach: int) -> Fraction:
        """Return the exact ε between places at most `reach` steps apart: ⌊|z|⌋ differs by at most `reach`."""
        return Fraction(self.fall * reach, self.per)

    def weight(self, right: int, up: int) -> Fraction:
        """Return −ln of the weight of an offset, relative to the offset (0, 0)."""
        return self.exponent(isqrt(right * right + up * up))

    def draw(self, size: int, source: Source) -> Integers:
        """Draw offsets, as pairs."""
        offsets = np.empty((size, 2), dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            radius = self._geometric(wanted.size, source)
            radius += self._geometric(wanted.size, source)
            radius += self._geometric(wanted.size, source)
            right = below(2 * radius + 2, source) - (radius + 1)
            up = below(2 * radius + 4, source) - (radius + 2)
            kept = _within(right, up, radius)
            offsets[wanted[kept], 0], offsets[wanted[kept], 1] = right[kept], up[kept]
            wanted = wanted[~kept]
        return offsets

    def _geometric(self, size: int, source: Source) -> Integers:
        """Draw geometric variables of ratio e^(−fall/per): one of ratio e^(−1/per), divided by `fall`."""
        low = np.empty(size, dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            tried = source.integers(self.per, wanted.size)
            kept = _coins(tried, self.per, source)
            low[wanted[kept]] = tried[kept]
            wanted = wanted[~kept]
        high = np.zeros(size, dtype=np.int64)
        going = np.arange(size)
        while going.size:  # the quotient by `per` is geometric, with a coin of probability e^(−1)
            going = going[_coins(np.ones_like(going), 1, source)]
            high[going] += 1
        return (low + self.per * high) // self.fall


def _within(right: Integers, up: Integers, radius: Integers) -> Mask:
    """Return whether |z| < g + 1, in integers: |z|² ≤ g·(g + 2) = (g+1)² − 1."""
    if radius.max() < 1 << 30:
        return np.asarray(right * right + up * up <= radius * (radius + 2))
    across, along, room = (side.astype(object) for side in (right, up, radius))  # squares beyond 64 bits
    return np.asarray(across * across + along * along <= room * (room + 2), dtype=np.bool_)


def _coins(heads: Integers, of: int, source: Source) -> Mask:
    """Toss coins of probability e^(−heads/of), heads ≤ of, by Forsythe's method."""
    even = np.ones(heads.size, dtype=np.bool_)
    going, term = np.arange(heads.size), 1
    while going.size:  # success k has probability heads/(of·k): the exponential series of −heads/of
        going = going[source.integers(of * term, going.size) < heads[going]]
        even[going] ^= True
        term += 1
    return even


_BITS: Final = 64
_WORD: Final = 1 << _BITS
_WIDEST: Final = 1 << 24
LEAST: Final = 0.01  # the smallest ε: a geometric variable is counted one by one


@dataclass(frozen=True)
class RingNoise:
    """Offsets z on the integer lattice with probability ∝ (fall/2^64)^k on ring k."""

    first: int
    width: int
    fall: int

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.width <= _WIDEST or not 1 <= self.fall < _WORD:
            raise InvalidParameter(
                "rings need a first radius from 1 to their width, a width up to 2^24 and a fall from 1 to "
                "2^64 − 1"
            )

    @staticmethod
    def largest(epsilon: float, first: int, width: int) -> RingNoise:
        """Return the noise with the steepest fall that spends at most ε between neighbouring rings."""
        if epsilon < LEAST:
            raise InvalidParameter(
                f"ε = {found(epsilon)} is too small for rings; PlanarLaplace is as accurate below {LEAST}"
            )
        # The ceiling of 2^64·e^(−ε), so that 2^64/fall is at most e^ε.
        return RingNoise(first, width, int(-(-_WORD // exp_below(Fraction(epsilon)))))

    @property
    def ratio(self) -> Fraction:
        """The ratio of the weights of neighbouring rings."""
        return Fraction(_WORD, self.fall)

    def ring(self, right: int, up: int) -> int:
        """Return the number of the ring of an offset, in integers: |z| < R if and only if ⌊|z|⌋ < R."""
        length = isqrt(right * right + up * up)
        return 0 if length < self.first else (length - self.first) // self.width + 1

    def draw(self, size: int, source: Source) -> Integers:
        """Draw offsets, as pairs."""
        offsets = np.empty((size, 2), dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            radius = self.first + self.width * self._disks(wanted.size, source)
            right = below(2 * radius, source) - radius
            up = below(2 * radius, source) - radius
            kept = _inside(right, up, radius)
            offsets[wanted[kept], 0], offsets[wanted[kept], 1] = right[kept], up[kept]
            wanted = wanted[~kept]
        return offsets

    @cached_property
    def kinds(self) -> tuple[int, int, int]:
        """The integer weights of the three kinds of j, all times (1−b)³·2^128."""
        rest = _WORD - self.fall
        return (
            self.first**2 * rest**2,
            (self.width**2 + 2 * self.first * self.width) * self.fall * rest,
            2 * self.width**2 * self.fall**2,
        )

    def _disks(self, size: int, source: Source) -> Integers:
        """Draw numbers j of disks, with probability ∝ b^j·R_j²."""
        kind = self._kind(size, source)
        count = kind.copy()
        for term in range(3):
            chosen = np.flatnonzero(kind >= term)
            count[chosen] += self._geometric(chosen.size, source)
        return count

    def _kind(self, size: int, source: Source) -> Integers:
        """Draw 0, 1 or 2 with the three weights, by rejection from whole words."""
        first, second, third = self.kinds
        total = first + second + third
        words = -(-total.bit_length() // _BITS)
        spare = np.uint64(words * _BITS - total.bit_length())
        kind = np.empty(size, dtype=np.int64)
        wanted = np.arange(size)
        while wanted.size:
            drawn = np.array(source.words(words * wanted.size), dtype=np.uint64).reshape(words, -1)
            drawn[0] >>= spare
            kept = _less(drawn, total)
            chosen = 2 - _less(drawn, first).astype(np.int64) - _less(drawn, first + second)
            kind[wanted[kept]] = chosen[kept]
            wanted = wanted[~kept]
        return kind

    def _geometric(self, size: int, source: Source) -> Integers:
        """Draw geometric variables of ratio fall/2^64: how many words in a row are below `fall`."""
        count = np.zeros(size, dtype=np.int64)
        going = np.arange(size)
        while going.size:
            going = going[source.words(going.size) < np.uint64(self.fall)]
            count[going] += 1
        return count


def _less(numbers: Array, bound: int) -> Mask:
    """Return whether numbers, given as words from the highest to the lowest, are below a bound."""
    less = np.zeros(numbers.shape[1], dtype=np.bool_)
    equal = np.ones_like(less)
    for place, word in enumerate(numbers):
        digit = np.uint64(bound >> _BITS * (len(numbers) - 1 - place) & (_WORD - 1))
        less |= equal & (word < digit)
        equal &= word == digit
    return less


def _inside(right: Integers, up: Integers, radius: Integers) -> Mask:
    """Return whether |z| < R, in integers."""
    if radius.max(initial=0) < 1 << 31:
        return np.asarray(right * right + up * up < radius * radius)
    across, along, room = (side.astype(object) for side in (right, up, radius))  # squares beyond 64 bits
    return np.asarray(across * across + along * along < room * room, dtype=np.bool_)
