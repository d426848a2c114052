"""The finite field of q = p^m elements as tables: element a has the digits of a in base p as coefficients."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dither.arrays import Integers
from dither.errors import InvalidParameter
from dither.kernels.window.geometry import first_primitive, prime_power


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
