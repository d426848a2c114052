"""One bit out of 2^ℓ, without the giver learning which, nor the taker any other.

A table of 2^ℓ bits is masked by 2ℓ keys, two for each bit of an index: entry I by the keystreams, at I, of
the ℓ keys that the bits of I choose [Naor99]. The taker obtains one key of each two by ℓ transfers of one out
of two [Chou15], so can unmask one entry; every other is masked by at least one key that it does not have.
Keys are drawn anew for every table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dither.arrays import Bytes, Mask
from dither.errors import ExchangeFailed, MissingExtra
from dither.randomness import Source

POINT: Final = 32  # bytes of a group element
_KEY: Final = 16  # bytes of a key; also what one transfer carries
_SEALED: Final = 32  # bytes of a key under a transfer's encryption


def reply_size(bits: int) -> int:
    """Give the bytes with which one table of 2^bits entries is answered."""
    return 2 * bits * _SEALED + (1 << bits) // 8


@final
class Giver:
    """The side that has tables; one public key serves all transfers of an exchange."""

    def __init__(self, bits: int, source: Source) -> None:
        self._bits, self._source = bits, source
        self._send = _packages()[0].send()
        self._asked: set[bytes] = set()

    @property
    def public(self) -> bytes:
        """What the taker needs in order to ask."""
        return bytes(self._send.public)

    def reply(self, queries: bytes, tables: Mask) -> bytes:
        """Answer the queries for some tables, a row each."""
        answer = bytearray()
        points = [queries[at : at + POINT] for at in range(0, len(queries), POINT)]
        if len(set(points)) < len(points) or not self._asked.isdisjoint(points):
            raise ExchangeFailed("a query was repeated: every transfer needs its own")
        self._asked.update(points)
        for row, table in enumerate(tables):
            keys = [self._source.take(_KEY) for _ in range(2 * self._bits)]
            for place in range(self._bits):
                query = _point(points[row * self._bits + place])
                try:
                    sealed = self._send.reply(query, keys[2 * place], keys[2 * place + 1])
                except RuntimeError:
                    raise ExchangeFailed("a query is not an element of the group") from None
                answer += sealed[0] + sealed[1]
            masked = np.packbits(table, bitorder="little") ^ _mask(keys, self._bits)
            answer += masked.tobytes()
        return bytes(answer)


@final
class Taker:
    """The side that chooses: asks for one entry of each table, and reads it."""

    def __init__(self, bits: int, public: bytes) -> None:
        self._bits, self._public = bits, _point(public)
        try:  # a "public key" outside the group would make queries tell the choice
            _packages()[1].scalar.from_int(1) * self._public
        except RuntimeError:
            raise ExchangeFailed("a public key is not an element of the group") from None
        self._pending: list[tuple[int, list[Any]]] = []

    def query(self, choices: Sequence[int]) -> bytes:
        """Ask for one entry of each table that follows."""
        asked = bytearray()
        for choice in choices:
            receivers = [_packages()[0].receive() for _ in range(self._bits)]
            for place, receiver in enumerate(receivers):
                asked += receiver.query(self._public, choice >> place & 1)
            self._pending.append((choice, receivers))
        return bytes(asked)

    def read(self, reply: bytes) -> list[bool]:
        """Read the entries that were asked for."""
        pending, self._pending = self._pending, []
        size = reply_size(self._bits)
        return [
            self._entry(choice, receivers, reply[row * size : (row + 1) * size])
            for row, (choice, receivers) in enumerate(pending)
        ]

    def _entry(self, choice: int, receivers: list[Any], reply: bytes) -> bool:
        at, table = 2 * self._bits * _SEALED, 0
        for place, receiver in enumerate(receivers):
            bit = choice >> place & 1
            sealed = [reply[start : start + _SEALED] for start in _both(place)]
            try:
                key = receiver.elect(self._public, bit, *sealed)
            except RuntimeError:
                raise ExchangeFailed("a reply does not open: it was changed, or belongs elsewhere") from None
            table ^= _stream(key, choice >> 3, 1)[0] >> (choice & 7)
        table ^= reply[at + (choice >> 3)] >> (choice & 7)
        return bool(table & 1)


def _both(place: int) -> tuple[int, int]:
    return 2 * place * _SEALED, (2 * place + 1) * _SEALED


def _mask(keys: list[bytes], bits: int) -> Bytes:
    """Give what hides each entry: for each bit of its index the keystream of that bit's key, added up."""
    size = (1 << bits) // 8
    mask = np.zeros(size, dtype=np.uint8)
    for place, chosen in enumerate(_chosen(bits)):
        zero, one = (
            np.frombuffer(_stream(key, 0, size), np.uint8) for key in keys[2 * place : 2 * place + 2]
        )
        mask ^= zero ^ ((zero ^ one) & chosen)
    return mask


@lru_cache(maxsize=8)
def _chosen(bits: int) -> list[Bytes]:
    """Give, for each bit of an index, the indices that have it, packed as tables are."""
    index = np.arange(1 << bits)
    return [np.packbits((index >> place & 1).astype(bool), bitorder="little") for place in range(bits)]


def _stream(key: bytes, start: int, size: int) -> bytes:
    """Give bytes of AES-128's keystream in counter mode. No key is ever used for a second table."""
    block, skip = divmod(start, 16)
    stream = Cipher(algorithms.AES(key), modes.CTR(block.to_bytes(16, "big"))).encryptor()
    return stream.update(bytes(skip + size))[skip:]


def _point(raw: bytes) -> Any:
    if len(raw) != POINT:
        raise ExchangeFailed(f"an element of the group has {POINT} bytes")
    return _packages()[1].point(raw)


@lru_cache(maxsize=1)
def _packages() -> tuple[Any, Any]:
    try:
        import otc
        from oblivious import ristretto
    except ImportError:
        raise MissingExtra("tossing between devices", "protocols") from None
    return otc, ristretto
