"""Ed25519 is verified as RFC 8032 says, with one verdict where libraries differ."""

from __future__ import annotations

import os
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dither.collection import signatures
from dither.errors import MalformedReport
from dither_device.ed25519 import _BASE, ORDER, P, _combine, is_sound_key, verify
from dither_device.text import sha512
from tests.conformance.ports import RFC

EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303021403  # y of order 8
SMALL = [0, 1, P - 1, EIGHTH, P - EIGHTH]


def encode(y: int, sign: int = 0) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


def accepted(key: bytes, signature: bytes, message: bytes) -> bool:
    """Return the verdict of `dither`, which verifies by `cryptography`."""
    try:
        signatures.verify(key.hex(), signature.hex(), message)
    except MalformedReport:
        return False
    return True


def test_vectors_of_the_rfc() -> None:
    for key, message, signature in RFC:
        told = bytes.fromhex(key), bytes.fromhex(signature), bytes.fromhex(message)
        assert verify(*told)
        assert not verify(told[0], told[1], told[2] + b"!")
        for at in (0, 31, 32, 63):
            broken = bytearray(told[1])
            broken[at] ^= 1
            assert not verify(told[0], bytes(broken), told[2])


def test_it_agrees_with_cryptography() -> None:
    for size in range(8):
        private = Ed25519PrivateKey.generate()
        key, message = private.public_key().public_bytes_raw(), os.urandom(31 * size)
        signature = private.sign(message)
        assert verify(key, signature, message)
        assert not verify(key, signature[::-1], message)
        assert not verify(os.urandom(32), signature, message)


def test_a_signature_whose_s_is_not_below_the_order_is_refused() -> None:
    key, message, signature = (bytes.fromhex(part) for part in RFC[1])
    larger = int.from_bytes(signature[32:], "little") + ORDER
    malleable = signature[:32] + larger.to_bytes(32, "little")
    assert not verify(key, malleable, message)
    assert not accepted(key, malleable, message)


def everything_signed(key: bytes) -> bytes:
    """Return a signature that [S]B = R + [h]A accepts for every message, if A is of order 1."""
    x, y, z, _ = _combine(7, _BASE, 0, _BASE)
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return encode(y, x & 1) + (7).to_bytes(32, "little")


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", [*SMALL, *(P + y for y in SMALL if P + y < 1 << 255)])
def test_keys_of_small_order_are_refused_by_both(y: int, sign: int) -> None:
    key, message = encode(y, sign), b"any text"
    signature = everything_signed(key)
    assert not is_sound_key(key)
    assert not verify(key, signature, message)
    assert not accepted(key, signature, message)


def test_a_library_alone_would_accept_one() -> None:
    """So the rule has a reason: with the key 1, OpenSSL accepts one signature for every text."""
    key = encode(1)
    Ed25519PublicKey.from_public_bytes(key).verify(everything_signed(key), b"any text")


def test_an_r_that_is_not_canonical_is_refused_by_both() -> None:
    """R = (0, 1) for a key of which the signer knows the scalar: S = h·a, and R written as 1 + p."""
    scalar = 12345
    x, y, z, _ = _combine(scalar, _BASE, 0, _BASE)
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    key, message = encode(y, x & 1), b"text"

    def signed(r: bytes) -> bytes:
        told = int.from_bytes(sha512(r + key + message).digest(), "little") % ORDER
        return r + (told * scalar % ORDER).to_bytes(32, "little")

    for r, fine in ((encode(1), True), (encode(1 + P), False), (encode(1, 1), False)):
        assert verify(key, signed(r), message) is fine
        assert accepted(key, signed(r), message) is fine


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), encode(2), encode(P), b"\xff" * 32])
def test_an_invalid_point_is_refused_as_a_key(key: bytes) -> None:
    assert not is_sound_key(key)
    assert not verify(key, bytes(64), b"")


def test_a_sum_with_a_point_of_small_order_has_one_verdict() -> None:
    """A key A + T, T of order 2: without the cofactor a signature of A does for even h alone."""
    scalar = 99
    base: Any = _combine(scalar, _BASE, 0, _BASE)
    from dither_device.ed25519 import _add

    x, y, z, _ = _add(base, (0, P - 1, 1, 0))
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    key = encode(y, x & 1)
    verdicts = set()
    for number in range(8):
        message = b"%d" % number
        nonce: Any = _combine(5, _BASE, 0, _BASE)
        inverse = pow(nonce[2], P - 2, P)
        r = encode(nonce[1] * inverse % P, nonce[0] * inverse % P & 1)
        told = int.from_bytes(sha512(r + key + message).digest(), "little") % ORDER
        signature = r + ((5 + told * scalar) % ORDER).to_bytes(32, "little")
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
            theirs = True
        except InvalidSignature:
            theirs = False
        assert verify(key, signature, message) is theirs
        verdicts.add(theirs)
    assert verdicts == {True, False}
