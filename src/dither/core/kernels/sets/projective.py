"""Projective response: points and hyperplanes of a finite geometry.

Hadamard response, and arithmetic of finite fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.core.domains import Domain
from dither.core.kernels.codes import CodeKernel
from dither.core.kernels.coin import BiasedCoin, read_coin, truth
from dither.core.kernels.kernel import BLOCK, MOST_LISTED, CellKernel
from dither.core.kernels.window.integers import MOST_CELLS
from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import from_hexadecimal, hexadecimal, whole
from dither.foundation.randomness import Source
from dither.privacy.guarantee import exp_below
from dither.privacy.shuffling import Blanket

MOST_POINTS: Final = 1 << 21
_LEAST_ORDER: Final = 2
_DIGITS: Final = 32  # hexadecimal digits of a set's digest


@dataclass(frozen=True)
class Geometry:
    """The projective geometry of dimension t − 1 over the field of q elements, as residues modulo K."""

    order: int  # q, a prime power
    dimension: int  # t, of the vector space

    def __post_init__(self) -> None:
        if self.order < _LEAST_ORDER or self.dimension < 2 or not self.dimension <= MOST_POINTS.bit_length():
            raise InvalidParameter(
                "a projective geometry needs an order and a dimension of at least 2, "
                f"not {found(self.order)} and {found(self.dimension)}"
            )
        if not self.points <= MOST_POINTS:
            raise InvalidParameter(f"a projective geometry may have up to {MOST_POINTS} points")
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
    """Return the transform of D, written out once around the cycle and as far as is needed, and its length.

    Lengths without prime factors above 5 are transformed fastest; zeros fill up to the next one.
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
    field = _Field(prime, first_primitive(prime, degree))
    sequence = field.sequence(points + degree)
    zero = np.flatnonzero(sequence[:points] == 0)
    for step in range(1, power):
        later = field.power_of_x(step * points)
        terms = sum(factor * sequence[zero + place] for place, factor in enumerate(later) if factor)
        zero = zero[np.asarray(terms) % prime == 0]
    others = np.ones(points, dtype=np.bool_)
    others[zero] = False
    members = np.concatenate([zero, np.flatnonzero(others)]).astype(np.uint32)
    members.setflags(write=False)
    return field.coefficients, members


@dataclass(frozen=True)
class _Field:
    """Polynomials over F_p modulo x^n + Σ c_j x^j, as lists of n coefficients, the constant first."""

    prime: int
    coefficients: tuple[int, ...]

    def times(self, first: list[int], second: list[int]) -> list[int]:
        degree, prime = len(self.coefficients), self.prime
        product = [0] * (2 * degree - 1)
        for place, factor in enumerate(first):
            if factor:
                for other, value in enumerate(second):
                    product[place + other] += factor * value
        for place in range(2 * degree - 2, degree - 1, -1):
            lead = product[place] % prime
            if lead:
                for other, value in enumerate(self.coefficients):
                    product[place - degree + other] -= lead * value
        return [value % prime for value in product[:degree]]

    def power_of_x(self, exponent: int) -> list[int]:
        """Return x^exponent."""
        degree = len(self.coefficients)
        unit = [1] + [0] * (degree - 1)
        x = [0, 1] + [0] * (degree - 2) if degree > 1 else [-self.coefficients[0] % self.prime]
        result = unit
        for bit in f"{exponent:b}":
            result = self.times(result, result)
            if bit == "1":
                result = self.times(result, x)
        return result

    def sequence(self, size: int) -> Integers:
        """Return s_0 … s_(size−1), doubling: s_(i+L) = Σ a_j·s_(i+j) where x^L = Σ a_j x^j."""
        degree = len(self.coefficients)
        out = np.zeros(size, dtype=np.int64)
        out[degree - 1] = 1
        known = degree
        while known < size:
            count = min(known - degree + 1, size - known)
            block = np.zeros(count, dtype=np.int64)
            for place, factor in enumerate(self.power_of_x(known)):
                if factor:
                    block += factor * out[place : place + count]
            out[known : known + count] = block % self.prime
            known += count
        return out


def first_primitive(prime: int, degree: int) -> tuple[int, ...]:
    """Return c_0 … c_(n−1) of the first primitive polynomial: the least Σ c_j·p^j, the leading one left out.

    The polynomial is primitive iff x has the order p^n − 1 modulo it.
    """
    order = prime**degree - 1
    divisors = [order // factor for factor in prime_factors(order)]
    number = prime - 1  # x^n + c is never primitive: x^n is a constant
    while True:
        number += 1
        coefficients = tuple(number // prime**place % prime for place in range(degree))
        if not coefficients[0]:
            continue
        field = _Field(prime, coefficients)
        unit = [1] + [0] * (degree - 1)
        if field.power_of_x(order) == unit and all(field.power_of_x(part) != unit for part in divisors):
            return coefficients


def prime_factors(number: int) -> list[int]:
    """Return the different prime factors of a number, by trial division."""
    factors = []
    trial = 2
    while trial * trial <= number:
        if number % trial == 0:
            factors.append(trial)
            while number % trial == 0:
                number //= trial
        trial += 1 if trial == 2 else 2
    return [*factors, number] if number > 1 else factors


def prime_power(number: int) -> tuple[int, int] | None:
    """Return the prime p and the exponent m of a number p^m; None if the number is no prime power."""
    factors = prime_factors(number) if number > 1 else []
    if len(factors) != 1:
        return None
    power = 1
    while factors[0] ** power < number:
        power += 1
    return factors[0], power


_WORDS: Final = (64, 128)  # bits of the draw: the first that suffices for ε is used
_FINE: Final = 24  # weights of this many bits leave less than 2^−24 of ε unspent
_DIGIT: Final = 20  # bits of a count that are transformed together: rounding is exact


@dataclass(frozen=True)
class ProjectiveKernel(CodeKernel, CellKernel):
    """A report y < K of the code x: weight H if (x + y) mod K is in the difference set, L otherwise."""

    geometry: Geometry
    inside: int
    outside: int
    bits: int = 64

    kind: ClassVar[str] = "projective"

    def __post_init__(self) -> None:
        if self.bits not in _WORDS or not 1 <= self.outside < self.inside:
            raise InvalidParameter("a projective kernel needs 1 ≤ outside < inside, and 64 or 128 bits")
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
        raise InvalidParameter(f"ε = {found(epsilon)} is too small or too large for {geometry.points} points")

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
            raise InvalidParameter("exact probabilities are listed for up to 2^16 cells")
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
        while True:  # whether the word is used depends on the word alone
            word = int.from_bytes(source.take(self.bits >> 3), "little")
            if word < self.total:
                break
        block = self.geometry.block
        ends = block * self.inside
        told = word < ends
        place = told * (word // self.inside) + (1 - told) * (block + (word - ends) // self.outside)
        return (int(self.geometry.members[place]) - value) % self.outcomes

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
        told = words < ends
        # Both places are computed for every word, and the comparison keeps one: no branch on the outcome.
        place = (words - ends) // np.uint64(self.outside)
        place += np.uint64(block)
        words //= np.uint64(self.inside)
        words -= place
        words *= told
        words += place
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

    def device(self) -> dict[str, Any]:
        shape = self.geometry
        return {
            "draw": self.kind,
            "order": shape.order,
            "dimension": shape.dimension,
            "polynomial": list(shape.polynomial),
            "set": shape.digest,
            "own": hexadecimal(self.inside),
            "other": hexadecimal(self.outside),
            "bits": self.bits,
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        geometry = Geometry(whole(device["order"]), whole(device["dimension"]))
        own, other = (from_hexadecimal(device[name]) for name in ("own", "other"))
        kernel = cls(geometry, own, other, whole(device["bits"]))
        if device["polynomial"] != list(geometry.polynomial) or device["set"] != geometry.digest:
            raise MalformedReport("the polynomial or the digest is not that of this geometry's set")
        return kernel


@dataclass(frozen=True)
class Columns(CodeKernel, CellKernel):
    """A uniform column with +1 in the input's row if the coin shows heads, else a uniform column with −1.

    The input x has row x + 1, because all entries of row 0 are +1.
    """

    order: int
    coin: BiasedCoin

    kind: ClassVar[str] = "hadamard"

    def __post_init__(self) -> None:
        if not 2 <= self.order <= MOST_CELLS or self.order & (self.order - 1):
            raise InvalidParameter(
                f"the order of the matrix must be a power of two from 2 to 2^32, not {found(self.order)}"
            )
        if not self.coin.odds > 1:
            raise InvalidParameter("the probability of +1 must be above 1/2")

    @staticmethod
    def largest(epsilon: float, rows: int) -> Columns:
        """Return the smallest matrix with more than `rows` rows; the coin has the largest odds up to e^ε."""
        return Columns(1 << rows.bit_length(), truth(epsilon))

    @property
    def outcomes(self) -> int:
        return self.order

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        return self.coin.probability, Fraction(1, 2)  # any two rows agree in half of the columns

    @property
    def ratio(self) -> Fraction:
        return self.coin.odds

    @property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The probability of −1 for every column; any two rows are both +1 in a quarter of the columns."""
        return Blanket.of_sets(self.ratio, Fraction(1, 2), Fraction(1, 4))

    @property
    def evidence(self) -> str:
        return f"ln p/(1−p) with K = {self.order}, p = {self.coin.heads} of 2^{self.coin.bits}"

    def holds(self, categories: int) -> bool:
        return self.order == 1 << categories.bit_length()

    def support(self, reports: Array, categories: int) -> Array:
        minus: Array = np.bitwise_count(reports[..., None] & np.arange(1, categories + 1)) & np.uint8(1)
        return np.asarray(minus == 0)

    def supports(self, counts: Integers, categories: int) -> Integers:
        """Return the number of reports that support each category, by one fast Walsh–Hadamard transform."""
        return self.pluses(counts)[1 : categories + 1]

    def probabilities(self, value: int) -> list[Fraction]:
        plus = 2 * self.coin.probability / self.order
        minus = Fraction(2, self.order) - plus
        row = value + 1
        return [minus if (row & column).bit_count() & 1 else plus for column in range(self.order)]

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        plus = float(2 * self.coin.probability / self.order)
        minus = np.bitwise_count(reports.astype(np.int64) & (np.asarray(inputs) + 1)) & np.uint8(1)
        return np.where(minus, 2.0 / self.order - plus, plus)

    def draw_one(self, value: int, source: Source) -> int:
        row, column = value + 1, source.bits(self.order.bit_length() - 1)
        wrong = bool((row & column).bit_count() & 1) == self.coin.toss_one(source)
        return column ^ (row & -row) if wrong else column

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, "order": self.order, "heads": hexadecimal(self.coin.heads)}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        return cls(whole(device["order"]), read_coin(device["heads"]))

    def write(self, codes: Array, reports: Array, source: Source) -> None:
        random = np.empty(min(codes.size, BLOCK), dtype=reports.dtype)
        for begin in range(0, codes.size, BLOCK):
            row = (codes[begin : begin + BLOCK] + 1).astype(reports.dtype)
            column = random[: row.size]
            source.fill(column.data)
            column &= reports.dtype.type(self.order - 1)
            # A uniform column with the wrong sign is replaced by a partner with the right one: flipping the
            # lowest bit of the row in the column flips the sign.
            wrong = np.bitwise_count(row & column) & np.uint8(1)
            wrong ^= ~self.coin.toss(row.size, source)
            np.bitwise_xor(column, (row & -row) * wrong, out=reports[begin : begin + BLOCK])

    @staticmethod
    def pluses(counts: Integers) -> Integers:
        """Return for each row the number of counted columns with +1, by one fast Walsh–Hadamard transform."""
        doubled: Integers = walsh_hadamard(counts) + counts.sum()
        return doubled >> 1


def walsh_hadamard(counts: Integers) -> Integers:
    """Return the product of the Hadamard matrix and a vector, in integers."""
    out = counts.astype(np.int64)
    half = 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return out


@lru_cache(maxsize=16)
def tables(order: int) -> tuple[Integers, Integers]:
    """Return the tables of sums and of products of a field of `order` elements."""
    found = prime_power(order)
    if found is None or order > 1 << 8:
        raise InvalidParameter("a field has a prime power of elements, up to 256")
    prime, power = found
    numbers = np.arange(order)
    digits = numbers[:, None] // prime ** np.arange(power) % prime
    weights = prime ** np.arange(power)
    sums = (digits[:, None, :] + digits[None, :, :]) % prime @ weights
    # x·a shifts the digits and subtracts the leading one times the polynomial; b adds such shifts of a.
    polynomial = np.array(first_primitive(prime, power) if power > 1 else [0])
    products = np.zeros((order, order), dtype=np.int64)
    shifted = digits.copy()
    total = np.zeros((order, order, power), dtype=np.int64)
    for place in range(power):
        total += digits[None, :, place, None] * shifted[:, None, :]
        lead = shifted[:, -1:]
        shifted = (np.concatenate([np.zeros_like(lead), shifted[:, :-1]], axis=1) - lead * polynomial) % prime
    products = total % prime @ weights
    return np.asarray(sums), np.asarray(products)


def least_order(size: int) -> int:
    """Return the least prime power that is at least `size`."""
    order = max(size, 2)
    while prime_power(order) is None:
        order += 1
    return order
