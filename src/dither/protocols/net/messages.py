"""Messages between devices: a version, a kind, a number, the exchange they belong to, a length, a body.

    magic 4 · version 1 · kind 1 · number 4 · exchange 8 · length 4 · body        integers: big endian

The reader is told what must come next, kind and length, so nothing else is ever kept in memory. It does not
encrypt and does not authenticate: run it inside TLS, or whatever else binds a stream to a device.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, final

from dither.errors import ExchangeFailed

VERSION: Final = 1
NOBODY: Final = bytes(8)  # the exchange of messages that come before there is one
_MAGIC: Final = b"djrr"
_HEAD: Final = struct.Struct(">4sBBI8sI")


class Kind(IntEnum):
    """What a message is for."""

    HELLO = 1  # terms, role and a nonce
    OFFER = 2  # the public key of the giver
    QUERY = 3  # which entries, hidden
    REPLY = 4  # masked tables
    DONE = 5  # the coins have been read
    ENROL = 16  # a device asks for a partner
    PLACE = 17  # whom it tosses with
    REPORT = 18  # what a device tells the collector
    THANKS = 19  # the collector has it


def pack(kind: Kind, number: int, exchange: bytes, body: bytes) -> bytes:
    """Give a message as bytes."""
    return _HEAD.pack(_MAGIC, VERSION, kind, number, exchange, len(body)) + body


@final
@dataclass(frozen=True)
class Expected:
    """What must come next: a kind, its number, its exchange, and how long its body may be."""

    kind: Kind
    number: int
    exchange: bytes
    least: int
    most: int


@final
class Reader:
    """Takes bytes as they arrive, in any pieces, and gives the body of the message that must come next."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived."""
        self._bytes += data

    def take(self, expected: Expected) -> bytes | None:
        """Give the body of the expected message, or None as long as part of it is missing."""
        if len(self._bytes) < _HEAD.size:
            self._doubt(expected)
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
        """Raise if more arrived than was expected."""
        if self._bytes:
            raise ExchangeFailed("more came than the protocol allows")

    @property
    def empty(self) -> bool:
        """Whether nothing is left over."""
        return not self._bytes

    def _doubt(self, expected: Expected) -> None:
        """Raise as soon as the first bytes show that this is no message of ours."""
        start = _MAGIC + bytes([VERSION, expected.kind])
        if not start.startswith(self._bytes[: len(start)]):
            raise ExchangeFailed("what came is not a message of this protocol and version, or out of turn")


def _check(
    expected: Expected, magic: bytes, version: int, kind: int, number: int, exchange: bytes, length: int
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
        raise ExchangeFailed(f"a {expected.kind.name} has another length than this")
