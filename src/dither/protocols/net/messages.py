"""Messages between devices: a version, a kind, a number, the exchange they belong to, a length, a body.

    magic 4 · version 1 · kind 1 · number 4 · exchange 8 · length 4 · body

Sizes are in bytes. Every integer is little endian, here and in the bodies. The reader is told the kind, the
number and the length of the next message, so it keeps nothing else in memory. It neither encrypts nor
authenticates; `exchange` authenticates what two partners send each other, and `tls` encrypts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, final

from dither.errors import ExchangeFailed

VERSION: Final = 2
NO_EXCHANGE: Final = bytes(8)  # of messages that belong to no exchange
_MAGIC: Final = b"djrr"
_HEAD: Final = struct.Struct("<4sBBI8sI")


class Kind(IntEnum):
    """What a message is for."""

    HELLO = 1  # terms, role and a nonce
    OFFER = 2  # public key of the transfers
    QUERY = 3  # which entries of tables are read, hidden
    REPLY = 4  # masked tables
    DONE = 5  # digest of the exchange; the coins have been read
    ENROL = 16  # a device asks for a partner
    PLACE = 17  # the role, the partner's address and the pair's secret, or shares of them
    REPORT = 18  # a device's reports, for the collector
    THANKS = 19  # the collector has stored the reports


def pack(kind: Kind, number: int, exchange: bytes, body: bytes) -> bytes:
    """Return a message as bytes."""
    return _HEAD.pack(_MAGIC, VERSION, kind, number, exchange, len(body)) + body


@final
@dataclass(frozen=True)
class ExpectedMessage:
    """The message that must come next: its kind, number and exchange, and the range of its body's length."""

    kind: Kind
    number: int
    exchange: bytes
    least: int
    most: int


@final
class Reader:
    """Takes bytes as they arrive, in pieces of any size, and returns the body of the expected message."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived."""
        self._bytes += data

    def take(self, expected: ExpectedMessage) -> bytes | None:
        """Return the body of the expected message, or None as long as part of it is missing."""
        if len(self._bytes) < _HEAD.size:
            self._check_beginning(expected)
            return None
        magic, version, kind, number, exchange, length = _HEAD.unpack_from(self._bytes)
        _check(expected, magic, version, kind, number, exchange, length)
        end = _HEAD.size + length
        if len(self._bytes) < end:
            return None
        body = bytes(self._bytes[_HEAD.size : end])
        del self._bytes[:end]
        return body

    def finish(self) -> None:
        """Raise ExchangeFailed if more arrived than was expected."""
        if self._bytes:
            raise ExchangeFailed("more bytes came than the protocol allows")

    @property
    def empty(self) -> bool:
        """Whether all bytes have been read."""
        return not self._bytes

    def _check_beginning(self, expected: ExpectedMessage) -> None:
        """Raise ExchangeFailed as soon as the first bytes show that this is not the expected message."""
        start = _MAGIC + bytes([VERSION, expected.kind])
        if not start.startswith(self._bytes[: len(start)]):
            raise ExchangeFailed(
                f"what came is not a message of this protocol in version {VERSION}, or came out of turn"
            )


def _check(
    expected: ExpectedMessage,
    magic: bytes,
    version: int,
    kind: int,
    number: int,
    exchange: bytes,
    length: int,
) -> None:
    if magic != _MAGIC:
        raise ExchangeFailed("what came is not a message of this protocol")
    if version != VERSION:
        raise ExchangeFailed(f"the message has version {version}; this device speaks version {VERSION}")
    if kind != expected.kind or number != expected.number:
        raise ExchangeFailed(f"a message came out of turn: {expected.kind.name} was expected")
    if exchange != expected.exchange:
        raise ExchangeFailed("the message belongs to another exchange")
    if not expected.least <= length <= expected.most:
        raise ExchangeFailed(f"the length of this {expected.kind.name} is not the expected one")
