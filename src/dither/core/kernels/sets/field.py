"""Polynomials over a prime field: packed into bytes, evaluated and interpolated, for arrays of reports.

Numbers below the prime p are doubles. A product is below p² < 2^42, and the sum of n of them below 2^52, so
all operations are exact. For an integer x below 2^52/p, ⌊(x + ½)/p⌋ is computed exactly: (x + ½)/p is at
least 1/(2p) away from every integer, and its rounding error is below x/p · 2^−51.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, MalformedReport, found
from dither.foundation.arrays import Array, Bytes, Floats, Integers, Mask, Words
from dither.foundation.numerics.finite_fields import prime_factors

MOST_PRIME: Final = 1 << 21
MOST_BYTES: Final = 256  # bytes of a packed polynomial
_ROWS: Final = 1 << 11  # polynomials unpacked together, so that their values stay in the cache
MOST_PRODUCTS: Final = 1 << 18  # multiplications of a product: for more, BLAS starts threads that wait
_POINTS: Final = 8  # the least number of points at which polynomials are evaluated together


@dataclass(frozen=True)
class Polynomials:
    """Polynomials with `terms` coefficients c₀, c₁, … below a prime p; one is the number Σ cᵢ·pⁱ."""

    prime: int
    terms: int

    def __post_init__(self) -> None:
        if not 2 <= self.prime < MOST_PRIME or prime_factors(self.prime) != [self.prime]:
            raise InvalidParameter(f"expected a prime number below {MOST_PRIME}, got {found(self.prime)}")
        if not 1 <= self.terms <= 8 * MOST_BYTES or self.length > MOST_BYTES:
            raise InvalidParameter(
                f"expected 1 or more coefficients in at most {MOST_BYTES} bytes, "
                f"got {found(self.terms)} coefficients"
            )

    @property
    def count(self) -> int:
        """The number of polynomials."""
        return int(self.prime**self.terms)

    @property
    def length(self) -> int:
        """The number of bytes of a packed polynomial."""
        return ((self.count - 1).bit_length() + 7) >> 3

    @cached_property
    def _together(self) -> int:
        """The number of coefficients that a digit below 2^32 holds."""
        together = 1
        while self.prime ** (together + 1) < 1 << 32:
            together += 1
        return together

    # --- one polynomial, in Python integers

    def pack_one(self, coefficients: Sequence[int]) -> bytes:
        """Return a polynomial as bytes, the lowest first."""
        number = 0
        for coefficient in reversed(coefficients):
            number = number * self.prime + coefficient
        return number.to_bytes(self.length, "little")

    def interpolate_one(self, points: Sequence[int], values: Sequence[int], free: Sequence[int]) -> list[int]:
        """Return N(x) + F(x)·Π(x − point): N has the values at the points, F has the coefficients `free`."""
        prime, newton = self.prime, list(values)
        for at in range(1, len(points)):
            for index in range(len(points) - 1, at - 1, -1):
                step = points[index] - points[index - at]
                newton[index] = (newton[index] - newton[index - 1]) * pow(step, -1, prime) % prime
        terms = list(free)
        for point, value in zip(reversed(points), reversed(newton), strict=True):
            shifted = [0, *terms]
            terms = [(up - point * own) % prime for up, own in zip(shifted, [*terms, 0], strict=True)]
            terms[0] = (terms[0] + value) % prime
        return terms

    # --- arrays

    def check(self, raw: Array) -> Bytes:
        """Return raw integers as packed polynomials; raise MalformedReport if a number is too large."""
        if raw.size == 0:
            return np.zeros((0, self.length), dtype=np.uint8)
        if raw.ndim < 1 or raw.shape[-1] != self.length:
            raise MalformedReport(
                f"expected the last axis of the array to have length {self.length}, the number of bytes "
                "of a report"
            )
        if int(raw.min()) < 0 or int(raw.max()) > 255:
            raise MalformedReport(
                "expected reports of bytes from 0 to 255, got another number; pass the reports of this "
                "question"
            )
        reports: Bytes = raw.astype(np.uint8, copy=False)
        largest = (self.count - 1).to_bytes(self.length, "little")
        tied = np.ones(reports.shape[:-1], dtype=np.bool_)
        for index in range(self.length - 1, -1, -1):
            column = reports[..., index]
            if bool((tied & (column > largest[index])).any()):
                raise MalformedReport(
                    f"expected reports to be numbers below {self.prime}^{self.terms}, got a larger one; "
                    "pass the reports of this question"
                )
            tied &= column == largest[index]
        return reports

    def unpack(self, rows: Bytes) -> list[Floats]:
        """Return the coefficients of packed polynomials, a column each, the lowest first."""
        limbs = _limbs(rows)
        divisor = np.uint64(self.prime**self._together)
        columns: list[Floats] = []
        while len(columns) < self.terms:
            rest = np.zeros(len(rows), dtype=np.uint64)
            for at in range(len(limbs) - 1, -1, -1):
                rest = rest << np.uint64(32) | limbs[at]
                limbs[at] = rest // divisor
                rest -= limbs[at] * divisor
            digit = rest.astype(np.float64)
            for _ in range(min(self._together, self.terms - len(columns))):
                above = np.floor((digit + 0.5) / self.prime)
                columns.append(digit - above * self.prime)
                digit = above
        return columns

    def pack(self, columns: Sequence[Array], rows: Bytes) -> None:
        """Write columns of coefficients to packed polynomials."""
        limbs = [np.zeros(len(rows), dtype=np.uint64) for _ in range(-(-self.length // 4))]
        for begin in reversed(range(0, self.terms, self._together)):
            part = columns[begin : begin + self._together]
            factor, carry = np.uint64(self.prime ** len(part)), np.zeros(len(rows), dtype=np.uint64)
            for column in reversed(part):
                carry = carry * np.uint64(self.prime) + column.astype(np.uint64)
            for at, limb in enumerate(limbs):
                carry += limb * factor
                limbs[at] = carry & np.uint64(0xFFFFFFFF)
                carry >>= np.uint64(32)
        packed = np.stack(limbs, axis=1).astype("<u4").view(np.uint8)
        rows[:] = packed[:, : self.length]

    def modulo(self, numbers: Floats) -> Floats:
        """Return integers modulo the prime, from 0 to p − 1; the given integers may be negative."""
        above = numbers + 0.5
        above *= 1.0 / self.prime
        np.floor(above, out=above)
        above *= self.prime
        return np.subtract(numbers, above, out=above)

    def values(self, columns: Sequence[Floats], points: Floats) -> Floats:
        """Return the values of polynomials at points, element by element after broadcasting."""
        total: Floats = columns[-1]
        for column in reversed(columns[:-1]):
            total = self.modulo(total * points + column)
        return np.asarray(total + 0.0 * points)

    def _shares(self, rows: Bytes, points: Array) -> Iterator[tuple[slice, slice, Floats]]:
        """Yield the fractions of (value + ½)/p of some polynomials at some points: a row for each point.

        The array of a step is overwritten by the next.
        """
        powers = np.ones((len(points), self.terms))
        for index in range(1, self.terms):
            powers[:, index] = self.modulo(powers[:, index - 1] * points)
        width = min(_ROWS, MOST_PRODUCTS // (_POINTS * self.terms))
        together = MOST_PRODUCTS // (width * self.terms)
        products, floors = np.empty((2, together, width))  # new memory costs more than a product
        for begin in range(0, len(rows), _ROWS):
            columns = np.stack(self.unpack(rows[begin : begin + _ROWS]))
            columns[0] += 0.5  # away from the integers: see above
            for own in range(0, columns.shape[1], width):
                part = columns[:, own : own + width]
                at = slice(begin + own, begin + own + part.shape[1])
                for first in range(0, len(points), together):
                    some = powers[first : first + together]
                    share, floor = (kept[: len(some), : part.shape[1]] for kept in (products, floors))
                    np.matmul(some, part, out=share)
                    share *= 1.0 / self.prime
                    share -= np.floor(share, out=floor)
                    yield at, slice(first, first + together), share

    def below(self, rows: Bytes, points: Array, bound: int) -> Mask:
        """Return where the values at points are below a bound: a row for each polynomial."""
        found = np.empty((len(rows), len(points)), dtype=np.bool_)
        for own, at, share in self._shares(rows, points):
            found[own, at] = (share < bound / self.prime).T
        return found

    def count_below(self, rows: Bytes, points: Array, bound: int) -> Integers:
        """Return for each point the number of polynomials whose value there is below a bound."""
        counts = np.zeros(len(points), dtype=np.int64)
        for _, at, share in self._shares(rows, points):
            counts[at] += [np.count_nonzero(row) for row in share < bound / self.prime]
        return counts

    def interpolate(
        self, points: Sequence[Floats], values: Sequence[Floats], free: Sequence[Floats]
    ) -> list[Floats]:
        """Return the coefficients of `interpolate_one` for columns of points, values and free terms."""
        newton: list[Floats] = []
        for at, point in enumerate(points):
            value, product = np.zeros_like(point), np.ones_like(point)
            for index in range(at):  # in Newton's form, and the product of the steps
                value = value + newton[index] * product
                value = self.modulo(value)
                product = self.modulo(product * (point - points[index]))
            inverse = _inverses(self.prime)[product.astype(np.int64)]
            newton.append(self.modulo((values[at] - value) * inverse))
        terms = list(free)
        for point, value in zip(reversed(points), reversed(newton), strict=True):
            shifted = [value, *terms]
            terms = [self.modulo(up - point * own) for up, own in zip(shifted, terms, strict=False)] + terms[
                -1:
            ]
        return terms


def _limbs(rows: Bytes) -> list[Words]:
    """Return the bytes of rows as columns of 32 bits, the lowest first."""
    length = rows.shape[-1]
    words = np.zeros((len(rows), -(-length // 4)), dtype="<u4")
    words.view(np.uint8)[:, :length] = rows
    return [column.astype(np.uint64) for column in words.T]


@lru_cache(maxsize=4)
def _inverses(prime: int) -> Floats:
    """Return the inverse of each number below a prime, a^(p − 2); 0 for 0."""
    field = Polynomials(prime, 1)
    base = np.arange(prime, dtype=np.float64)
    power, exponent = np.ones(prime), prime - 2
    while exponent:
        if exponent & 1:
            power = field.modulo(power * base)
        base = field.modulo(base * base)
        exponent >>= 1
    power[0] = 0.0
    return power
