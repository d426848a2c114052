"""Oblivious transfer of one bit out of a table of 2^ℓ bits [Naor99].

The sender masks the table with 2ℓ keys, two for each binary digit of an index. Entry I is masked by the sum
(XOR) of ℓ keystreams at position I: those of the keys that the digits of I choose. The receiver obtains one
key of each two by ℓ transfers of `base_transfer`, so it can unmask exactly one entry: every combination of
digits is an index, and every other entry is masked by at least one keystream that it cannot compute. Each key
masks one table, so no position of a keystream is used twice.

The sender does not learn which entry was read, whatever it does. The receiver learns no other entry, whatever
it does, if the base transfer holds and AES-128 is a pseudorandom function. The sender can put anything in its
table; nothing here notices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dither.arrays import Bytes, Mask
from dither.errors import ExchangeFailed
from dither.protocols.base_transfer import KeyReceiver, KeySender
from dither.protocols.group import POINT
from dither.randomness import Source

_BLOCK: Final = 16  # bytes of a block of AES


def query_size(bits: int) -> int:
    """Return the bytes with which one entry of a table of 2^bits is asked for."""
    return bits * POINT


def reply_size(bits: int) -> int:
    """Return the bytes of a masked table of 2^bits entries."""
    return (1 << bits) // 8


@final
class TableSender:
    """The side that has tables. One public key serves all tables of an exchange."""

    def __init__(self, bits: int, session: bytes, source: Source) -> None:
        self._bits = bits
        self._keys = KeySender(session, source)

    @property
    def public(self) -> bytes:
        """The public key, which the receiver needs before it can ask."""
        return self._keys.public

    def reply(self, queries: bytes, tables: Mask) -> bytes:
        """Return the masked tables, a row each, for the queries of as many tables."""
        if len(queries) != len(tables) * query_size(self._bits):
            raise ExchangeFailed(f"each table takes {self._bits} queries of {POINT} bytes")
        reply = bytearray()
        for row, table in enumerate(tables):
            start = row * query_size(self._bits)
            points = [queries[at : at + POINT] for at in range(start, start + query_size(self._bits), POINT)]
            keys = [self._keys.keys(point) for point in points]
            reply += (np.packbits(table, bitorder="little") ^ _mask(keys)).tobytes()
        return bytes(reply)


@final
class TableReceiver:
    """The side that chooses: asks for one entry of each table, and reads it."""

    def __init__(self, bits: int, session: bytes, public: bytes, source: Source) -> None:
        self._bits = bits
        self._keys = KeyReceiver(session, public, source)
        self._pending: list[tuple[int, list[bytes]]] = []

    def query(self, choices: Sequence[int]) -> bytes:
        """Return the queries for one entry of each table that follows, the choices being indices."""
        asked = bytearray()
        for choice in choices:
            pairs = [self._keys.query(choice >> place & 1) for place in range(self._bits)]
            asked += b"".join(point for point, _ in pairs)
            self._pending.append((choice, [key for _, key in pairs]))
        return bytes(asked)

    def read(self, reply: bytes) -> list[bool]:
        """Return the entries that were asked for.

        Any bytes of the right length can be read, so whether this raises does not depend on the choices.
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
    """Return what masks a table: for each digit, the keystream of key 0 where it is 0, of key 1 elsewhere."""
    size = reply_size(len(keys))
    mask = np.zeros(size, dtype=np.uint8)
    for pair, ones in zip(keys, _ones(len(keys)), strict=True):
        zero, one = (np.frombuffer(_stream(key, 0, size), np.uint8) for key in pair)
        mask ^= zero ^ ((zero ^ one) & ones)
    return mask


@lru_cache(maxsize=8)
def _ones(bits: int) -> list[Bytes]:
    """Return, for each digit, a 1 at the indices where this digit is 1, packed as tables are."""
    index = np.arange(1 << bits)
    return [np.packbits((index >> place & 1).astype(bool), bitorder="little") for place in range(bits)]


def _stream(key: bytes, start: int, size: int) -> bytes:
    """Return bytes of AES-128's keystream in counter mode, from byte `start` on."""
    block, skip = divmod(start, _BLOCK)
    # AES-CTR counts blocks as big-endian integers. The counter never leaves the device.
    stream = Cipher(algorithms.AES(key), modes.CTR(block.to_bytes(_BLOCK, "big"))).encryptor()
    return stream.update(bytes(skip + size))[skip:]
