"""The prime-order group of the curve edwards25519, computed by libsodium through PyNaCl.

A point is 32 bytes as RFC 8032 encodes it. A scalar is 32 bytes, little endian, below the group's order
L = 2^252 + 27742317777372353535851937790883648493. The curve itself has 8·L points. Every point that another
device sends must pass `check` or `multiply`, which accept only the canonical encodings of the L − 1 points of
order L. They refuse what is not on the curve, the identity, and every point with a component of small order.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Final

from dither.errors import ExchangeFailed, MissingExtra
from dither.randomness import Source

POINT: Final = 32  # bytes of a point
_ONE: Final = (1).to_bytes(32, "little")
_ORDER_8: Final = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
_REFUSED: Final = "a point is not an element of the prime-order group of edwards25519"


def draw_scalar(source: Source) -> bytes:
    """Draw a secret scalar from 1 … L − 1. Reducing 512 bits is within 2^−250 of uniform."""
    while True:
        scalar = bytes(libsodium().crypto_core_ed25519_scalar_reduce(source.take(64)))
        if any(scalar):
            return scalar


def check(point: bytes) -> None:
    """Raise ExchangeFailed unless these bytes are the canonical encoding of a point of order L."""
    if len(point) != POINT or not libsodium().crypto_core_ed25519_is_valid_point(point):
        raise ExchangeFailed(_REFUSED)


def generate(scalar: bytes) -> bytes:
    """Return the multiple of the generator."""
    return bytes(libsodium().crypto_scalarmult_ed25519_base_noclamp(scalar))


def multiply(scalar: bytes, point: bytes) -> bytes:
    """Return the multiple of a point; raise ExchangeFailed where `check` would.

    libsodium makes the same checks before it multiplies, so a separate `check` would repeat them.
    """
    if len(point) != POINT:
        raise ExchangeFailed(_REFUSED)
    try:
        return bytes(libsodium().crypto_scalarmult_ed25519_noclamp(scalar, point))
    except RuntimeError:
        raise ExchangeFailed(_REFUSED) from None


def add(one: bytes, other: bytes) -> bytes:
    """Return the sum of two points that have been checked."""
    return bytes(libsodium().crypto_core_ed25519_add(one, other))


def subtract(one: bytes, other: bytes) -> bytes:
    """Return the difference of two points that have been checked."""
    return bytes(libsodium().crypto_core_ed25519_sub(one, other))


@lru_cache(maxsize=1)
def libsodium() -> ModuleType:
    """Return PyNaCl's bindings, after a test that their libsodium refuses what it must refuse."""
    try:
        from nacl import bindings
    except ImportError:
        raise MissingExtra("tossing between devices", "protocols") from None
    if not (bindings.has_crypto_core_ed25519 and bindings.has_crypto_scalarmult_ed25519):
        raise MissingExtra("tossing between devices with a complete build of libsodium", "protocols")
    if not refuses_small_components(bindings):
        raise MissingExtra("tossing between devices with libsodium 1.0.20-stable or later", "protocols")
    return bindings


def refuses_small_components(bindings: ModuleType) -> bool:
    """Return whether libsodium refuses the generator plus each of the seven other points of small order.

    libsodium before 31 December 2025 accepts one of them (CVE-2025-69277), and PyNaCl can be linked to any
    libsodium. With such a point as public key, every query would show the choice that it must hide.
    """
    point = generator = bytes(bindings.crypto_scalarmult_ed25519_base_noclamp(_ONE))
    for _ in range(7):
        point = bytes(bindings.crypto_core_ed25519_add(point, _ORDER_8))
        if bindings.crypto_core_ed25519_is_valid_point(point):
            return False
        try:
            bindings.crypto_scalarmult_ed25519_noclamp(_ONE, point)
        except RuntimeError:
            continue
        return False
    return bool(bindings.crypto_core_ed25519_is_valid_point(generator))
