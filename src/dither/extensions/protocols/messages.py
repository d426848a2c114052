"""Messages between devices and servers: addresses, tagged messages, and TLS."""

from __future__ import annotations

import ipaddress
import ssl
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from dither.errors import ExchangeFailed, InvalidParameter

Address = tuple[str, int]
ADDRESS: Final = 18  # bytes
_HOST: Final = 16
_MAPPED: Final = bytes(10) + b"\xff\xff"  # prefix of the four bytes of an IPv4 address


def pack_address(address: Address) -> bytes:
    """Return an address as 18 bytes; raise InvalidParameter unless a partner could connect to it."""
    host, port = address
    try:
        read = ipaddress.ip_address(host)
    except ValueError:
        read = None
    if read is None or read.is_unspecified or "%" in host or not 0 < port < 1 << 16:
        raise InvalidParameter(
            "expected one IP address, without a zone, that its partner can reach; pass another host"
        )
    packed = read.packed if len(read.packed) == _HOST else _MAPPED + read.packed
    return packed + port.to_bytes(2, "little")


def read_address(data: bytes) -> Address:
    """Return host and port; raise ExchangeFailed if nobody could listen there."""
    if len(data) != ADDRESS:
        raise ExchangeFailed("an address has 18 bytes")
    complete = ipaddress.IPv6Address(data[:_HOST])
    read = complete if complete.ipv4_mapped is None else complete.ipv4_mapped
    port = int.from_bytes(data[_HOST:], "little")
    if read.is_unspecified or not port:
        raise ExchangeFailed("expected an address to be an IP address and a port")
    return str(read), port


VERSION: Final = 2
NO_EXCHANGE: Final = bytes(8)  # id of messages outside of an exchange
_MAGIC: Final = b"djrr"
_HEAD: Final = struct.Struct("<4sBBI8sI")


class Kind(IntEnum):
    """The purpose of a message."""

    HELLO = 1  # terms, role and a nonce
    OFFER = 2  # public key of the transfers
    QUERY = 3  # the chosen entries of tables, hidden
    REPLY = 4  # masked tables
    DONE = 5  # digest of the exchange, after the coins are decoded
    ENROL = 16  # a device asks for a partner
    PLACE = 17  # the role, the partner's address and the pair's secret, or shares of them
    REPORT = 18  # a device's reports, for the collector
    THANKS = 19  # the collector has stored the reports


def pack(kind: Kind, number: int, exchange: bytes, body: bytes) -> bytes:
    """Return a message as bytes."""
    return _HEAD.pack(_MAGIC, VERSION, kind, number, exchange, len(body)) + body


@dataclass(frozen=True)
class ExpectedMessage:
    """The message that must come next: its kind, number and exchange, and the range of its body's length."""

    kind: Kind
    number: int
    exchange: bytes
    least: int
    most: int


class Reader:
    """Collects bytes as they arrive, in pieces of any size, and returns the body of the expected message."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived."""
        self._bytes += data

    def take(self, expected: ExpectedMessage) -> bytes | None:
        """Return the body of the expected message, or None while part of it is missing."""
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
        """Raise ExchangeFailed if more bytes arrived than expected."""
        if self._bytes:
            raise ExchangeFailed("more bytes came than the protocol allows")

    @property
    def empty(self) -> bool:
        """Whether all bytes that arrived were used."""
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


@dataclass(frozen=True)
class DeviceTLS:
    """The TLS contexts of a device's sockets; None means a plain socket.

    servers     for connections to the dealer or the three servers, and to the collector
    partner     for the connection to the partner, if this device is the first of the two
    listener    for connections from the partner, if this device is the second

    Devices are reached at IP addresses. If their certificates do not contain these, set `check_hostname` of
    `partner` to False: the pair's secret already shows that the other device is the partner.
    """

    servers: ssl.SSLContext | None = None
    partner: ssl.SSLContext | None = None
    listener: ssl.SSLContext | None = None


@dataclass(frozen=True)
class Certificates:
    """PEM files: a certificate, its private key, and the authority that signs all certificates."""

    certificate: Path
    key: Path
    authority: Path

    def client(self, *, check_hostname: bool = True) -> ssl.SSLContext:
        """Return a context for connections that are opened: both sides show a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = check_hostname
        return self._load(context)

    def server(self) -> ssl.SSLContext:
        """Return a context for connections that are accepted: both sides show a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return self._load(context)

    def device(self) -> DeviceTLS:
        """Return the contexts of a device; the name in the partner's certificate is not checked."""
        return DeviceTLS(self.client(), self.client(check_hostname=False), self.server())

    def _load(self, context: ssl.SSLContext) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password="")
            context.load_verify_locations(self.authority)
        except (OSError, ValueError):  # an SSLError is an OSError; its text could quote the key's file
            raise InvalidParameter(
                "expected PEM files of a certificate, its key without a password, and the authority; "
                "check the three paths"
            ) from None
        return context
