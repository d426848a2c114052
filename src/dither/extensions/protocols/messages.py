"""What travels between devices and servers: addresses, messages with tags, and TLS.

The terms of a collection with shared coins, and the grouping of people into pairs.
"""

from __future__ import annotations

import hashlib
import ipaddress
import ssl
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Final, Literal

import numpy as np

from dither.core.kernels.coin import PairedCoins
from dither.core.kernels.joint import DEALER
from dither.core.question import Question
from dither.errors import ExchangeFailed, InvalidParameter, check_choice, found
from dither.foundation.arrays import Mask
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.joint.accounting import UNPAIRED, Mode, revealed_epsilon
from dither.mechanisms.joint.joint import Coin, Joint
from dither.privacy import Guarantee

Address = tuple[str, int]
ADDRESS: Final = 18  # bytes
_HOST: Final = 16
_MAPPED: Final = bytes(10) + b"\xff\xff"  # before the four bytes of an IPv4 address


def pack_address(address: Address) -> bytes:
    """Return the 18 bytes; raise InvalidParameter unless a partner could connect to this address."""
    host, port = address
    try:
        read = ipaddress.ip_address(host)
    except ValueError:
        read = None
    if read is None or read.is_unspecified or "%" in host or not 0 < port < 1 << 16:
        raise InvalidParameter(
            "a device listens at one IP address, without a zone, that its partner can reach"
        )
    packed = read.packed if len(read.packed) == _HOST else _MAPPED + read.packed
    return packed + port.to_bytes(2, "little")


def read_address(data: bytes) -> Address:
    """Return host and port; raise ExchangeFailed if nobody could listen there."""
    if len(data) != ADDRESS:
        raise ExchangeFailed("an address has 18 bytes")
    whole = ipaddress.IPv6Address(data[:_HOST])
    read = whole if whole.ipv4_mapped is None else whole.ipv4_mapped
    port = int.from_bytes(data[_HOST:], "little")
    if read.is_unspecified or not port:
        raise ExchangeFailed("an address is an IP address and a port")
    return str(read), port


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


@dataclass(frozen=True)
class ExpectedMessage:
    """The message that must come next: its kind, number and exchange, and the range of its body's length."""

    kind: Kind
    number: int
    exchange: bytes
    least: int
    most: int


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


@dataclass(frozen=True)
class DeviceTLS:
    """The contexts of a device's sockets; None means a plain socket.

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
    """Files in PEM: a certificate, its private key, and the authority that signs everybody's certificates."""

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
                "the certificate, its key without a password, or the authority cannot be read as PEM files"
            ) from None
        return context


Grouping = Literal["dealt", "shuffled"]  # how pairs are drawn
ASSUMES: Final[dict[Grouping, tuple[str, ...]]] = {  # by a way of drawing pairs, one a line
    "dealt": ("whoever pairs the devices draws at random, and keeps the pairs from the collector",),
    "shuffled": (
        "no two of the three servers that pair the devices put together what they hold",
        "the three servers follow their protocol",
    ),
}


@dataclass(frozen=True)
class Pairing:
    """The partner of each of n devices. If n is odd, one device is its own partner and tosses alone.

    >>> Pairing((2, 1, 0)).pairs, Pairing((2, 1, 0)).alone
    (((0, 2),), (1,))
    """

    partners: tuple[int, ...]
    grouping: Grouping = "dealt"

    def __post_init__(self) -> None:
        size = len(self.partners)
        fits = all(type(partner) is int and 0 <= partner < size for partner in self.partners)
        if not fits or any(self.partners[other] != device for device, other in enumerate(self.partners)):
            raise InvalidParameter("a pairing names a partner for each device, and partners name each other")
        if len(self.alone) != size % 2:
            raise InvalidParameter("one device stays alone if their number is odd, and none otherwise")

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs, the smaller index first."""
        return tuple((device, other) for device, other in enumerate(self.partners) if device < other)

    @property
    def alone(self) -> tuple[int, ...]:
        """The device without a partner, if there is one."""
        return tuple(device for device, other in enumerate(self.partners) if device == other)


def deal_pairs(n: int, *, source: Source | None = None) -> Pairing:
    """Return a uniform random pairing of n devices. Whoever runs this knows the pairs: a trusted dealer."""
    check_number(n)
    order = (SYSTEM if source is None else source).permutation(n).tolist()
    return Pairing(from_order(order))


def from_order(order: Sequence[int]) -> tuple[int, ...]:
    """Return the partner of each device if neighbours in this order are paired."""
    partners = list(range(len(order)))
    for first, second in zip(order[::2], order[1::2], strict=False):
        partners[first], partners[second] = second, first
    return tuple(partners)


def check_number(n: object) -> None:
    """Raise InvalidParameter unless n is an integer of at least 2."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise InvalidParameter(f"the number of devices is a whole number of at least 2, not {found(n)}")


BITS: Final = 16
SEMI_HONEST: Final = "partners follow the protocol: one who does not can fix or learn the other's coin"
HARD: Final = (
    "oblivious transfer holds: Diffie-Hellman on edwards25519 is hard, BLAKE2b and AES-128 behave as random"
)
UNSEEN: Final = "nobody but the partner learns who is paired with whom, from the traffic either"
_NEAR: Final = 4  # largest distance of an integer weight from the exact one


@dataclass(frozen=True)
class Terms:
    """How two devices toss: by one random integer of `bits` bits, of which each device holds a share.

    The coins are those asked for, with probabilities rounded to multiples of 2^−bits so that the privacy loss
    is never larger, whether the partner's coin is known or not. `mechanism` has exactly these coins, and
    every guarantee is computed from them.

    >>> from dither.core.domains import Categories
    >>> from dither import JRR
    >>> terms = Terms(JRR(Categories(2), p=0.7, rho=-0.2, n=2), bits=8)
    >>> terms.thresholds
    (115, 179, 243)
    >>> terms.mechanism.guarantee.epsilon <= terms.asked.guarantee.epsilon
    True
    """

    asked: Joint
    bits: int = BITS
    grouping: Grouping = "dealt"

    def __post_init__(self) -> None:
        given: object = self.asked
        if isinstance(given, Question):  # as it was read; coins need the design
            object.__setattr__(self, "asked", given.design())
        if not isinstance(self.asked, Joint):
            raise InvalidParameter(
                f"devices toss for a JRR or JRR.over(...), not {type(self.asked).__name__}"
            )
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 4 <= self.bits <= 20:
            raise InvalidParameter(f"bits is a whole number from 4 to 20, not {found(self.bits)}")
        check_choice("grouping", self.grouping, Grouping)
        _ = self.mechanism

    @cached_property
    def mechanism(self) -> Joint:
        """The mechanism with exactly the coins that are tossed."""
        table = _settle(self.asked.pairs, self.bits, self.asked.symbols - 1)
        p = table.chance
        if p * self.asked.symbols <= 1:
            raise InvalidParameter(
                f"with {self.bits} bits the truth is no likelier than a lie; use more bits"
            )
        return replace(self.asked, p=p, rho=table.covariance * (self.asked.symbols - 1) / (p * (1 - p)))

    @cached_property
    def thresholds(self) -> tuple[int, int, int]:
        """R₁ ≤ R₂ ≤ R₃: R < R₁ means truth for both, else R < R₂ for the first, R < R₃ for the second."""
        return self.mechanism.pairs.thresholds(self.bits)

    def says(self, first: bool) -> Mask:
        """Return, for every R from 0 to 2^bits − 1, the coin of the first device, or of the second."""
        low, middle, high = self.thresholds
        number = np.arange(1 << self.bits)
        return number < middle if first else (number < low) | ((number >= middle) & (number < high))

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the question and the coins. Two devices toss only if theirs are equal."""
        text = f"dither toss\0{self.mechanism.fingerprint}\0{self.bits}\0{self.thresholds}"
        return hashlib.sha256(text.encode()).digest()

    def alone(self, count: int = 1, *, source: Source | None = None) -> list[Coin]:
        """Return coins tossed without a partner, with the same p: plain randomized response."""
        randomness = SYSTEM if source is None else source
        each, chance = self.mechanism.kernel.each, self.mechanism.pairs.chance
        tossed = randomness.coins(chance.numerator, chance.denominator, count * each).reshape(count, each)
        return self.coins(tossed)

    def coins(self, tossed: Mask) -> list[Coin]:
        """Return the rows of an array of truth values as coins."""
        return [Coin(self.mechanism, tuple(map(bool, row))) for row in tossed]

    def accounting(self, mode: Mode, *, colluders: int = 0, delta: float | None = None) -> Guarantee:
        """Return the guarantee of these coins in a mode, with all that it assumes.

        A device knows whom it tosses with, so colluders know their partners. "hidden" allows no colluders.
        """
        if mode == "hidden" and colluders:
            raise InvalidParameter(
                "colluders know whom they tossed with, which 'hidden' excludes; use 'partner revealed', delta"
            )
        promised = self.mechanism.accounting(mode, colluders=colluders, delta=delta)
        kept = [line for line in promised.assumes if line not in (DEALER, UNPAIRED)]
        pairing = list(ASSUMES[self.grouping])
        hidden = [UNSEEN] if UNPAIRED in promised.assumes else []
        return replace(promised, assumes=(SEMI_HONEST, HARD, *pairing, *hidden, *kept))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee if the partner publishes its coin."""
        return self.accounting("partner revealed")


def _settle(asked: PairedCoins, bits: int, lies: int) -> PairedCoins:
    """Return the nearest pair table in multiples of 2^−bits whose loss is no larger, partner known or not."""
    whole = 1 << bits
    exact = [Fraction(weight * whole, asked.total) for weight in (asked.both, asked.one, asked.neither)]
    allowed = revealed_epsilon(asked, lies)
    near = range(-_NEAR, _NEAR + 1)
    best: tuple[Fraction, PairedCoins] | None = None
    for single in (round(exact[1]) + step for step in near):
        for neither in (round(exact[2]) + step for step in near):
            weights = (whole - 2 * single - neither, single, neither)
            # A probability is zero after rounding if and only if it was zero before.
            if min(weights) < 0 or any(
                (new == 0) != (old == 0) for new, old in zip(weights, exact, strict=True)
            ):
                continue
            factor = gcd(*weights)
            table = PairedCoins(*(weight // factor for weight in weights))
            distance = sum((abs(new - old) for new, old in zip(weights, exact, strict=True)), Fraction(0))
            if table.chance > asked.chance or (best is not None and distance >= best[0]):
                continue
            if revealed_epsilon(table, lies) <= allowed:
                best = distance, table
    if best is None:
        raise InvalidParameter(f"these coins cannot be rounded to {bits} bits; use more bits")
    return best[1]
