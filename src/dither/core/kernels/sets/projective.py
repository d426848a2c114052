"""Projective response: points and hyperplanes of a finite geometry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.kernel import MOST_LISTED, CellKernel
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import HEXADECIMAL, WHOLE, Data, Fields, Member, inline
from dither.foundation.numerics.finite_fields import Field, first_primitive, prime_power
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below
from dither.privacy.shuffling import Blanket

MOST_POINTS: Final = 1 << 21
_LEAST_ORDER: Final = 2
_DIGITS: Final = 32  # hexadecimal digits of a set's digest


@dataclass(frozen=True)
class Geometry:
    """The projective geometry of dimension t − 1 over the field of q elements, as residues modulo K."""

    order: int  # q, a prime power
    dimension: int  # t, of the vector space

    fields: ClassVar[Fields] = Fields(order=WHOLE, dimension=WHOLE)

    def __post_init__(self) -> None:
        if self.order < _LEAST_ORDER or self.dimension < 2 or not self.dimension <= MOST_POINTS.bit_length():
            raise InvalidParameter(
                "expected an order and a dimension of at least 2 in a projective geometry, "
                f"got {found(self.order)} and {found(self.dimension)}"
            )
        if not self.points <= MOST_POINTS:
            raise InvalidParameter(f"expected a projective geometry of up to {MOST_POINTS} points")
        if prime_power(self.order) is None:
            raise InvalidParameter(
                f"the order of a projective geometry must be a prime power, not {found(self.order)}"
            )

    @property
    def points(self) -> int:
        """The number K of points."""
        return self._count(self.dimension)

    @property
    def block(self) -> int:
        """The number w of points of a hyperplane."""
        return self._count(self.dimension - 1)

    @property
    def meeting(self) -> int:
        """The number λ of points that any two hyperplanes share."""
        return self._count(self.dimension - 2)

    def _count(self, dimension: int) -> int:
        return sum(self.order**power for power in range(dimension))

    @property
    def polynomial(self) -> tuple[int, ...]:
        """The coefficients c_0 … c_(n−1) of the first primitive polynomial of degree n over F_p."""
        return _set(self.order, self.dimension)[0]

    @property
    def members(self) -> Array:
        """The set D in ascending order, then all other residues in ascending order."""
        return _set(self.order, self.dimension)[1]

    @cached_property
    def holds(self) -> Mask:
        """Whether each residue is in D."""
        held = np.zeros(self.points, dtype=np.bool_)
        held[self.members[: self.block]] = True
        held.setflags(write=False)
        return held

    @cached_property
    def digest(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of D: ascending, four bytes each, lowest first."""
        content = self.members[: self.block].astype("<u4").tobytes()
        return hashlib.sha256(content).hexdigest()[:_DIGITS]

    def correlation(self, counts: Floats, categories: int) -> Floats:
        """Return Σ_y counts[y]·[(x + y) mod K in D] for x = 0 … categories − 1, by Fourier transforms."""
        spectrum, size = _transform(self, categories)
        return np.fft.irfft(np.conj(np.fft.rfft(counts, size)) * spectrum, size)[:categories]


@lru_cache(maxsize=4)
def _transform(geometry: Geometry, categories: int) -> tuple[Array, int]:
    """Return the transform of D, continued around the cycle as far as needed, and its length.

    Lengths without prime factors above 5 are transformed fastest. Zeros pad D to the next such length.
    """
    needed = geometry.points + categories - 1
    held = np.concatenate([geometry.holds, geometry.holds[: categories - 1]]).astype(np.float64)
    size = min(
        2 ** max(0, (-(-needed // odd) - 1).bit_length()) * odd
        for odd in (3**three * 5**five for three in range(14) for five in range(10))
        if odd < 2 * needed
    )
    return np.fft.rfft(held, size), size


@lru_cache(maxsize=16)
def _set(order: int, dimension: int) -> tuple[tuple[int, ...], Array]:
    """Return the primitive polynomial, and D followed by its complement.

    With s_0 = … = s_(n−2) = 0, s_(n−1) = 1 and s_(i+n) = −Σ c_j·s_(i+j), s_i is the trace of c·α^i to F_p for
    a root α and some c ≠ 0. α^K generates F_q, whose basis over F_p is 1, α^K, …, α^((m−1)K). So the trace of
    c·α^i to F_q is 0 iff s_i = s_(i+K) = … = s_(i+(m−1)K) = 0, and these i form a hyperplane.
    """
    parts = prime_power(order)
    if parts is None:
        raise InvalidParameter(f"the order of a projective geometry must be a prime power, not {order}")
    prime, power = parts
    degree, points = power * dimension, Geometry(order, dimension).points
    field = Field(prime, first_primitive(prime, degree))
    sequence = field.sequence(points + degree)
    zero = np.flatnonzero(sequence[:points] == 0)
    for step in range(1, power):
        later = field.power_of_x(step * points)
        terms = sum(factor * sequence[zero + index] for index, factor in enumerate(later) if factor)
        zero = zero[np.asarray(terms) % prime == 0]
    others = np.ones(points, dtype=np.bool_)
    others[zero] = False
    members = np.concatenate([zero, np.flatnonzero(others)]).astype(np.uint32)
    members.setflags(write=False)
    return field.coefficients, members


_WORDS: Final = (64, 128)  # bits of the draw: the first that suffices for ε is used
_FINE: Final = 24  # weights of this many bits leave less than 2^−24 of ε unspent
_DIGIT: Final = 20  # bits of a count that are transformed together: rounding is exact


def _write_set(name: str, kernel: ProjectiveKernel) -> Data:
    return {"polynomial": list(kernel.geometry.polynomial), name: kernel.geometry.digest}


def _check_set(name: str, data: Data, known: Data) -> Data:
    geometry: Geometry = known["geometry"]
    if data["polynomial"] != list(geometry.polynomial) or data[name] != geometry.digest:
        raise MalformedReport("expected the polynomial and the digest of this geometry's set, got others")
    return {}


@dataclass(frozen=True)
class ProjectiveKernel(CodeKernel, CellKernel):
    """A report y < K of the code x: weight H if (x + y) mod K is in the difference set, L otherwise."""

    geometry: Geometry
    inside: int
    outside: int
    bits: int = 64

    kind: ClassVar[str] = "projective"
    fields = Fields(
        geometry=inline(Geometry),
        inside=HEXADECIMAL.member("own"),
        outside=HEXADECIMAL.member("other"),
        bits=WHOLE,
        set=Member(_write_set, _check_set),
    )

    def __post_init__(self) -> None:
        if self.bits not in _WORDS or not 1 <= self.outside < self.inside:
            raise InvalidParameter("expected 1 ≤ outside < inside, and 64 or 128 bits")
        if not 1 << (self.bits - 1) <= self.total <= 1 << self.bits:
            raise InvalidParameter(f"the total weight must be from 2^{self.bits - 1} to 2^{self.bits}")

    @staticmethod
    def largest(epsilon: float, geometry: Geometry) -> ProjectiveKernel:
        """Return the kernel with the largest ratio H/L that is certainly at most e^ε.

        L = ⌊2^bits/(w·E⁻ + K − w)⌋ and H = ⌊L·E⁻⌋ with E⁻ a lower bound of e^ε: H/L ≤ E⁻.
        """
        bound = exp_below(Fraction(epsilon))
        for bits in _WORDS:
            spread = geometry.block * bound + geometry.points - geometry.block
            outside = int((1 << bits) // spread)
            inside = int(outside * bound)
            if min(outside, inside - outside) >= 1 << _FINE:
                kernel = ProjectiveKernel(geometry, inside, outside, bits)
                if kernel.ratio <= bound:  # in integers: the proof of privacy
                    return kernel
        raise InvalidParameter(
            f"expected an ε that integers can represent with {geometry.points} points, got "
            f"{found(epsilon)}; choose an ε nearer to 1"
        )

    @property
    def outcomes(self) -> int:
        return self.geometry.points

    @cached_property
    def total(self) -> int:
        """The sum of all weights; it is the same for every input."""
        block = self.geometry.block
        return block * self.inside + (self.geometry.points - block) * self.outside

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        block, meeting = self.geometry.block, self.geometry.meeting
        other = meeting * self.inside + (block - meeting) * self.outside
        return Fraction(block * self.inside, self.total), Fraction(other, self.total)

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.inside, self.outside)

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """L for every cell; the sets of two inputs are hyperplanes, and meet in λ points (docs/crowd.md)."""
        points = self.geometry.points
        meet = Fraction(self.geometry.meeting, points)
        return Blanket.of_sets(self.ratio, Fraction(self.geometry.block, points), meet)

    @property
    def evidence(self) -> str:
        shape = self.geometry
        return (
            f"ln(H/L) with q = {shape.order}, t = {shape.dimension}, H = {self.inside}, L = {self.outside} "
            f"of 2^{self.bits}"
        )

    def probabilities(self, value: int) -> list[Fraction]:
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter(
                "expected at most 2^16 cells to list exact probabilities; choose fewer categories"
            )
        low, high = Fraction(self.outside, self.total), Fraction(self.inside, self.total)
        return [high if held else low for held in self._support_of(np.arange(self.outcomes), value).tolist()]

    def chances(self, value: int) -> Floats:
        return self.likelihoods(np.arange(self.outcomes), np.asarray(value))

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        high, low = float(Fraction(self.inside, self.total)), float(Fraction(self.outside, self.total))
        return np.where(self._support_of(reports, inputs), high, low)

    def _support_of(self, reports: Array, inputs: Any) -> Array:
        held: Array = self.geometry.holds[(reports.astype(np.int64) + inputs) % self.outcomes]
        return held

    def draw_one(self, value: int, source: Source) -> int:
        while True:  # only the word itself decides whether it is used
            word = int.from_bytes(source.take(self.bits >> 3), "little")
            if word < self.total:
                break
        block = self.geometry.block
        ends = block * self.inside
        outputs = word < ends
        index = outputs * (word // self.inside) + (1 - outputs) * (block + (word - ends) // self.outside)
        return (int(self.geometry.members[index]) - value) % self.outcomes

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        if self.bits > 64:
            reports[:] = [self.draw_one(int(code), source) for code in codes]
            return
        words = source.words(codes.size)
        ceiling = np.uint64(self.total - 1)
        while words.max() > ceiling:
            rejected = np.flatnonzero(words > ceiling)
            words[rejected] = source.words(rejected.size)
        block, points = self.geometry.block, self.geometry.points
        ends = np.uint64(block * self.inside)
        outputs = words < ends
        # Both indices are computed for every word, and the comparison keeps one: no branch on the outcome.
        position = (words - ends) // np.uint64(self.outside)
        position += np.uint64(block)
        words //= np.uint64(self.inside)
        words -= position
        words *= outputs
        words += position
        cells = self.geometry.members[words.view(np.int64)].view(np.int32)
        cells -= codes.astype(np.int32)
        cells += (cells < 0) * np.int32(points)
        np.copyto(reports, cells, casting="unsafe")

    def holds(self, categories: int) -> bool:
        return self.outcomes >= categories

    def support(self, reports: Array, categories: int) -> Array:
        return self._support_of(reports[..., None], np.arange(categories))

    def supports(self, counts: Integers, categories: int) -> Integers:
        """Return the exact number of counted reports that support each of the first `categories` categories.

        It is the correlation of the counts with the set, by Fourier transforms of numbers below 2^20. Their
        errors are below 0.01, so that rounding to integers is exact.
        """
        supported = np.zeros(categories, dtype=np.int64)
        rest, unit = counts.astype(np.int64), 0
        while rest.any():
            digit = (rest & ((1 << _DIGIT) - 1)).astype(np.float64)
            supported += np.rint(self.geometry.correlation(digit, categories)).astype(np.int64) << unit
            rest, unit = rest >> _DIGIT, unit + _DIGIT
        return supported
