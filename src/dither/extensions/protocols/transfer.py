"""Oblivious transfer between two devices: the group, base transfers, and their extension to tables."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dither.errors import ExchangeFailed, MissingExtra
from dither.foundation.arrays import Bytes, Mask
from dither.foundation.randomness import Source

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


def check_point(point: bytes) -> None:
    """Raise ExchangeFailed unless these bytes are the canonical encoding of a point of order L."""
    if len(point) != POINT or not libsodium().crypto_core_ed25519_is_valid_point(point):
        raise ExchangeFailed(_REFUSED)


def generate_point(scalar: bytes) -> bytes:
    """Return scalar times the generator."""
    return bytes(libsodium().crypto_scalarmult_ed25519_base_noclamp(scalar))


def multiply_point(scalar: bytes, point: bytes) -> bytes:
    """Return scalar times a point; raise ExchangeFailed if `check_point` would.

    libsodium makes the same checks before it multiplies, so `check_point` would only repeat them.
    """
    if len(point) != POINT:
        raise ExchangeFailed(_REFUSED)
    try:
        return bytes(libsodium().crypto_scalarmult_ed25519_noclamp(scalar, point))
    except RuntimeError:
        raise ExchangeFailed(_REFUSED) from None


def add_points(point: bytes, other: bytes) -> bytes:
    """Return the sum of two checked points."""
    return bytes(libsodium().crypto_core_ed25519_add(point, other))


def subtract_points(point: bytes, other: bytes) -> bytes:
    """Return the difference of two checked points."""
    return bytes(libsodium().crypto_core_ed25519_sub(point, other))


@lru_cache(maxsize=1)
def libsodium() -> ModuleType:
    """Return PyNaCl's bindings after a test that its libsodium refuses invalid points."""
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
    libsodium. With such a point as public key, every query would reveal the choice that it must hide.
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


KEY: Final = 16  # bytes of a key
SESSION: Final = 32  # bytes of a session
_PURPOSE: Final = b"dither transfer2"  # separates this use of BLAKE2b from every other; at most 16 bytes


class KeySender:
    """The side that gets both keys of every transfer."""

    def __init__(self, session: bytes, source: Source) -> None:
        self._session, self._count = session, 0
        self._secret = draw_scalar(source)
        self.public = generate_point(self._secret)
        self._square = multiply_point(self._secret, self.public)  # a·A

    def keys(self, query: bytes) -> tuple[bytes, bytes]:
        """Return both keys of the next transfer; raise ExchangeFailed if the query is not a valid point."""
        if query == self.public:
            # B − A would be the identity. A receiver that follows the protocol draws b ≠ 0.
            raise ExchangeFailed(
                "expected a query that differs from the public key; end the exchange and begin another"
            )
        zero = multiply_point(self._secret, query)
        if_one = subtract_points(zero, self._square)
        first, second = (
            _key(self._session, self.public, query, self._count, point) for point in (zero, if_one)
        )
        self._count += 1
        return first, second


class KeyReceiver:
    """The side that gets one key of every transfer; the sender does not learn which key."""

    def __init__(self, session: bytes, public: bytes, source: Source) -> None:
        check_point(public)  # with a point outside the group, queries would reveal the bit
        self._session, self._public, self._source, self._count = session, public, source, 0

    def query(self, bit: int) -> tuple[bytes, bytes]:
        """Return the query of the next transfer, to send, and the key of this bit, to keep secret."""
        secret = draw_scalar(self._source)
        plain = generate_point(secret)
        query = _select(bit, plain, add_points(plain, self._public))
        key = _key(self._session, self._public, query, self._count, multiply_point(secret, self._public))
        self._count += 1
        return query, key


def _key(session: bytes, public: bytes, query: bytes, count: int, shared: bytes) -> bytes:
    # Every field has a fixed width, so two different inputs never have the same bytes.
    fields = session + public + query + count.to_bytes(8, "little") + shared
    return hashlib.blake2b(fields, digest_size=KEY, person=_PURPOSE).digest()


def _select(bit: int, zero: bytes, if_one: bytes) -> bytes:
    """Return `if_one` if the bit is 1, else `zero`; the running time does not depend on the bit."""
    mask = np.uint8(-bit & 0xFF)
    first, second = np.frombuffer(zero, np.uint8), np.frombuffer(if_one, np.uint8)
    return (first ^ ((first ^ second) & mask)).tobytes()


_BLOCK: Final = 16  # bytes of a block of AES


def query_size(bits: int) -> int:
    """Return the number of bytes of a request for one entry of a table of 2^bits."""
    return bits * POINT


def reply_size(bits: int) -> int:
    """Return the number of bytes of a masked table of 2^bits entries."""
    return (1 << bits) // 8


class TableSender:
    """The side with the tables. All tables of an exchange use one public key."""

    def __init__(self, bits: int, session: bytes, source: Source) -> None:
        self._bits = bits
        self._keys = KeySender(session, source)

    @property
    def public(self) -> bytes:
        """The public key; the receiver needs it for its requests."""
        return self._keys.public

    def reply(self, queries: bytes, tables: Mask) -> bytes:
        """Return the masked tables, one a row, for the queries of these tables."""
        if len(queries) != len(tables) * query_size(self._bits):
            raise ExchangeFailed(f"each table takes {self._bits} queries of {POINT} bytes")
        reply = bytearray()
        for row, table in enumerate(tables):
            start = row * query_size(self._bits)
            points = [queries[at : at + POINT] for at in range(start, start + query_size(self._bits), POINT)]
            keys = [self._keys.keys(point) for point in points]
            reply += (np.packbits(table, bitorder="little") ^ _mask(keys)).tobytes()
        return bytes(reply)


class TableReceiver:
    """The side that requests and decrypts one entry of each table."""

    def __init__(self, bits: int, session: bytes, public: bytes, source: Source) -> None:
        self._bits = bits
        self._keys = KeyReceiver(session, public, source)
        self._pending: list[tuple[int, list[bytes]]] = []

    def query(self, choices: Sequence[int]) -> bytes:
        """Return the queries for one entry of each of the next tables; choices are indices."""
        request = bytearray()
        for choice in choices:
            pairs = [self._keys.query(choice >> index & 1) for index in range(self._bits)]
            request += b"".join(point for point, _ in pairs)
            self._pending.append((choice, [key for _, key in pairs]))
        return bytes(request)

    def read(self, reply: bytes) -> list[bool]:
        """Return the requested entries.

        Any bytes of the right length can be decrypted, so errors do not depend on the choices.
        """
        pending, self._pending = self._pending, []
        size = reply_size(self._bits)
        if len(reply) != len(pending) * size:
            raise ExchangeFailed(f"each masked table has {size} bytes")
        return [
            _entry(choice, keys, reply[row * size : (row + 1) * size])
            for row, (choice, keys) in enumerate(pending)
        ]


def _entry(choice: int, keys: list[bytes], masked: bytes) -> bool:
    byte, digit = divmod(choice, 8)
    entry = masked[byte] >> digit
    for key in keys:
        entry ^= _stream(key, byte, 1)[0] >> digit
    return bool(entry & 1)


def _mask(keys: Sequence[tuple[bytes, bytes]]) -> Bytes:
    """Return the mask of a table: for each digit, the keystream of key 0 if it is 0, of key 1 otherwise."""
    size = reply_size(len(keys))
    mask = np.zeros(size, dtype=np.uint8)
    for pair, ones in zip(keys, _ones(len(keys)), strict=True):
        zero, if_one = (np.frombuffer(_stream(key, 0, size), np.uint8) for key in pair)
        mask ^= zero ^ ((zero ^ if_one) & ones)
    return mask


@lru_cache(maxsize=8)
def _ones(bits: int) -> list[Bytes]:
    """Return, for each digit, a 1 at the indices with this digit 1, packed in the same way as tables."""
    index = np.arange(1 << bits)
    return [np.packbits((index >> bit & 1).astype(bool), bitorder="little") for bit in range(bits)]


def _stream(key: bytes, start: int, size: int) -> bytes:
    """Return bytes of the AES-128 keystream in counter mode, from byte `start` on."""
    block, skip = divmod(start, _BLOCK)
    # AES-CTR counts blocks as big-endian integers. The counter never leaves the device.
    stream = Cipher(algorithms.AES(key), modes.CTR(block.to_bytes(_BLOCK, "big"))).encryptor()
    return stream.update(bytes(skip + size))[skip:]
