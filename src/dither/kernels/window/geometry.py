"""Singer difference sets: the hyperplanes of a projective geometry as translates of one set of residues.

The points of the geometry PG(t − 1, q) are the residues modulo K = (q^t − 1)/(q − 1). Its hyperplanes are the
translates D − x of one set D of w = (q^(t−1) − 1)/(q − 1) residues. Any two of them share exactly
λ = (q^(t−2) − 1)/(q − 1) points [Singer38].
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.errors import InvalidParameter, found

MOST_POINTS: Final = 1 << 21
_LEAST_ORDER: Final = 2
_DIGITS: Final = 32  # hexadecimal digits of a set's digest


@final
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


@final
@dataclass(frozen=True)
class _Field:
    """Polynomials over F_p modulo x^n + Σ c_j x^j, as lists of n coefficients, the constant first."""

    prime: int
    coefficients: tuple[int, ...]

    def times(self, one: list[int], two: list[int]) -> list[int]:
        degree, prime = len(self.coefficients), self.prime
        product = [0] * (2 * degree - 1)
        for place, factor in enumerate(one):
            if factor:
                for other, value in enumerate(two):
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
        one = [1] + [0] * (degree - 1)
        x = [0, 1] + [0] * (degree - 2) if degree > 1 else [-self.coefficients[0] % self.prime]
        result = one
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
        one = [1] + [0] * (degree - 1)
        if field.power_of_x(order) == one and all(field.power_of_x(part) != one for part in divisors):
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
