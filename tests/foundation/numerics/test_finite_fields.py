"""Primitive polynomials, factors and prime powers, by brute force."""

from __future__ import annotations

from itertools import product

import pytest

from dither.foundation.numerics.finite_fields import first_primitive, prime_factors, prime_power


@pytest.mark.parametrize(
    ("prime", "degree"), [(2, 2), (2, 3), (2, 4), (2, 8), (3, 2), (3, 4), (5, 2), (7, 3)]
)
def test_the_first_primitive_polynomial_by_brute_force(prime: int, degree: int) -> None:
    """Its root takes every nonzero value; no earlier polynomial's does."""

    def order(c: tuple[int, ...]) -> int:
        state, steps = (1, *[0] * (degree - 1)), 0
        seen = state
        while True:
            lead = state[-1]
            state = tuple((a - lead * b) % prime for a, b in zip((0, *state[:-1]), c, strict=True))
            steps += 1
            if state == seen or not any(state) or steps > prime**degree:
                return steps

    for digits in product(range(prime), repeat=degree):
        c = digits[::-1]
        if c[0] and order(c) == prime**degree - 1:
            assert first_primitive(prime, degree) == c
            return


def test_factors_and_prime_powers() -> None:
    assert prime_factors(2**20 - 1) == [3, 5, 11, 31, 41]
    assert prime_factors(97) == [97]
    powers = [n for n in range(2, 60) if prime_power(n)]
    assert powers == [
        2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49, 53, 59,
    ]  # fmt: skip
    assert prime_power(125) == (5, 3)
    assert prime_power(1) is None
