"""Arithmetic of finite fields: primitive polynomials, prime powers, tables of sums and products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Integers


@dataclass(frozen=True)
class Field:
    """Polynomials over F_p modulo x^n + Σ c_j x^j, as lists of n coefficients, the constant first."""

    prime: int
    coefficients: tuple[int, ...]

    def times(self, first: list[int], second: list[int]) -> list[int]:
        """Return the product of two elements."""
        degree, prime = len(self.coefficients), self.prime
        product = [0] * (2 * degree - 1)
        for index, factor in enumerate(first):
            if factor:
                for other, value in enumerate(second):
                    product[index + other] += factor * value
        for index in range(2 * degree - 2, degree - 1, -1):
            lead = product[index] % prime
            if lead:
                for other, value in enumerate(self.coefficients):
                    product[index - degree + other] -= lead * value
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
            for index, factor in enumerate(self.power_of_x(known)):
                if factor:
                    block += factor * out[index : index + count]
            out[known : known + count] = block % self.prime
            known += count
        return out


def first_primitive(prime: int, degree: int) -> tuple[int, ...]:
    """Return c_0 … c_(n−1) of the primitive polynomial with the least Σ c_j·p^j, without the leading 1.

    The polynomial is primitive iff x has the order p^n − 1 modulo it.
    """
    order = prime**degree - 1
    divisors = [order // factor for factor in prime_factors(order)]
    number = prime - 1  # x^n + c is never primitive: x^n is a constant
    while True:
        number += 1
        coefficients = tuple(number // prime**index % prime for index in range(degree))
        if not coefficients[0]:
            continue
        field = Field(prime, coefficients)
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
    """Return the prime p and the exponent m of a number p^m; return None for any other number."""
    factors = prime_factors(number) if number > 1 else []
    if len(factors) != 1:
        return None
    power = 1
    while factors[0] ** power < number:
        power += 1
    return factors[0], power


@lru_cache(maxsize=16)
def tables(order: int) -> tuple[Integers, Integers]:
    """Return the tables of sums and of products of a field of `order` elements."""
    found = prime_power(order)
    if found is None or order > 1 << 8:
        raise InvalidParameter(
            "expected the order of a field to be a prime power up to 256; use least_order for the next one"
        )
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
    for index in range(power):
        total += digits[None, :, index, None] * shifted[:, None, :]
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


def least_prime(size: int) -> int:
    """Return the least prime that is at least `size`."""
    prime = max(size, 2)
    while prime_factors(prime) != [prime]:
        prime += 1
    return prime
