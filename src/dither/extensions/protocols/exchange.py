"""The exchange of two partners who toss correlated coins, over any stream of bytes."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
import struct
import time
from collections.abc import Generator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.extensions.protocols.messages import NO_EXCHANGE, Address, ExpectedMessage, Kind, Reader, pack
from dither.extensions.protocols.terms import Terms
from dither.extensions.protocols.transfer import TableReceiver, TableSender, query_size, reply_size
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.joint.joint import Coin

_HELLO: Final = struct.Struct("<BBI32s16s")  # role, bits, tosses, digest of terms and context, nonce
_NONCE: Final = 16
TAG: Final = 16  # bytes of the tag at the end of every body
_BATCH: Final = 64  # largest number of tosses in one message
_ROOM: Final = 1 << 19  # bytes; approximate largest size of a message
MOST: Final = 1 << 20  # largest number of tosses of one exchange


class Role(IntEnum):
    """The role of this device in its pair; the pairing determines it."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Role:
        """The partner's role."""
        return Role(1 - self)


class Exchange:
    """Draws coins for this device together with its partner. An exchange is used once.

    After an error it cannot continue, and its draws are discarded. A new exchange draws everything again.
    Nothing is stored between two runs of a program, so no secret is used twice.
    """

    def __init__(
        self,
        terms: Terms,
        role: Role,
        count: int = 1,
        *,
        context: bytes = b"",
        secret: bytes = b"",
        source: Source | None = None,
    ) -> None:
        if (
            isinstance(count, bool)
            or not isinstance(count, int)
            or not 1 <= count * terms.mechanism.each <= MOST
        ):
            raise InvalidParameter(
                f"expected from 1 to {MOST} coins in one exchange; use several exchanges for more"
            )
        self._terms, self._role, self._count = terms, Role(role), count
        self._source = SYSTEM if source is None else source
        self._digest = hashlib.sha256(terms.digest + context).digest()
        self._key = hmac.digest(secret, b"dither exchange key", "sha256")
        self._reader, self._outbox = Reader(), bytearray()
        self._transcript = hashlib.sha256()  # hash of all bodies, in the order in which they were sent
        self._exchange, self._sent, self._read = NO_EXCHANGE, 0, 0
        self._tossed: list[bool] | None = None
        self._failed = self._fresh = False
        self._steps = self._run()
        self._expected: ExpectedMessage | None = None

    def start(self) -> bytes:
        """Begin, and return the bytes to send; the second device sends none, because it listens first."""
        if self._expected is not None or self._failed or self.done:
            raise ExchangeFailed("this exchange has begun already; create a new one for every toss")
        self._expected = next(self._steps)
        return self._drain()

    def receive(self, data: bytes) -> bytes:
        """Process bytes that arrived, in pieces of any size, and return the bytes to send."""
        if self._failed:
            raise ExchangeFailed("this exchange has failed; begin a new one")
        try:
            self._reader.feed(data)
            self._advance()
        except ExchangeFailed:
            self._drop()
            raise
        return self._drain()

    def lose_partner(self) -> None:
        """End the exchange because the other device is gone; this has no effect if the coins were dealt."""
        if not self.done:
            self._drop()

    @property
    def agreed(self) -> bool:
        """Whether the other device has the same terms and has proved that it has the pair's secret."""
        return self._fresh

    @property
    def done(self) -> bool:
        """Whether all coins were dealt, on both sides as far as this device knows."""
        return self._expected is None and self._tossed is not None and not self._failed

    def coins(self) -> list[Coin]:
        """Return the coins; this works only once."""
        if not self.done or self._tossed is None:
            raise ExchangeFailed("no coins were dealt: the exchange has not ended")
        tossed, self._tossed, self._failed = self._tossed, None, True
        return self._terms.coins(np.array(tossed).reshape(self._count, -1))

    # --- steps ---------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        while self._expected is not None:
            message = self._reader.take(self._expected)
            if message is None:
                return
            body, tag = message[:-TAG], message[-TAG:]
            if not hmac.compare_digest(
                tag, self._tag(self._role.other, self._expected.kind, self._read, body)
            ):
                raise ExchangeFailed(
                    "the other device does not have this pair's secret, or bytes were changed"
                )
            self._read += 1
            self._transcript.update(body)
            try:
                self._expected = self._steps.send(body)
            except StopIteration:
                self._expected = None
        self._reader.finish()

    def _run(self) -> Generator[ExpectedMessage, bytes, None]:
        bits, each = self._terms.bits, self._terms.mechanism.each
        tosses = self._count * each
        mine = _HELLO.pack(self._role, bits, tosses, self._digest, self._source.take(_NONCE))
        self._agree(mine, (yield from self._swap(Kind.HELLO, mine)))
        agreed = self._transcript.digest()
        self._exchange = agreed[:8]
        sender = TableSender(bits, self._bound(b"send", self._role, agreed), self._source)
        public = yield from self._swap(Kind.OFFER, sender.public)
        self._fresh = True  # the tag of OFFER depends on this device's nonce
        session = self._bound(b"send", self._role.other, agreed)
        receiver = TableReceiver(bits, session, public, self._source)
        coins = self._terms.says(self._role is not Role.FIRST)  # the other device's coin for each R
        batch = max(1, min(_BATCH, _ROOM // max(query_size(bits), reply_size(bits))))
        tossed: list[bool] = []
        while len(tossed) < tosses:
            size = min(batch, tosses - len(tossed))
            secrets = self._source.integers(1 << bits, size).tolist()
            queries = yield from self._swap(Kind.QUERY, receiver.query(secrets))
            tables = np.stack([np.roll(coins, -secret) for secret in secrets])
            reply = sender.reply(queries, tables)
            tossed += receiver.read((yield from self._swap(Kind.REPLY, reply)))
        seen = self._transcript.digest()
        theirs = yield from self._swap(Kind.DONE, self._bound(b"done", self._role, seen))
        if theirs != self._bound(b"done", self._role.other, seen):
            raise ExchangeFailed("the two devices have seen different bytes: a message was changed")
        self._tossed = tossed

    def _swap(self, kind: Kind, body: bytes) -> Generator[ExpectedMessage, bytes, bytes]:
        """Send a message and return the other device's, of the same length. The first device sends first."""
        size = len(body) + TAG
        expected = ExpectedMessage(kind, self._read, self._exchange, size, size)
        if self._role is Role.FIRST:
            self._send(kind, body)
            return (yield expected)
        theirs = yield expected
        self._send(kind, body)
        return theirs

    def _send(self, kind: Kind, body: bytes) -> None:
        tag = self._tag(self._role, kind, self._sent, body)
        self._outbox += pack(kind, self._sent, self._exchange, body + tag)
        self._transcript.update(body)
        self._sent += 1

    def _tag(self, role: Role, kind: Kind, number: int, body: bytes) -> bytes:
        """Return the tag of a message that the device with this role sends after all bodies so far."""
        message = self._transcript.digest() + pack(kind, number, self._exchange, body)
        return self._bound(b"mark", role, message)[:TAG]

    def _bound(self, purpose: bytes, role: Role, data: bytes) -> bytes:
        """Return HMAC-SHA256 of data for a purpose, of four bytes, and the device with a role.

        The role separates the two directions. Without it, a partner that returns a device's own public key
        and queries would make it derive the same keys in both directions.
        """
        return hmac.digest(self._key, b"dither exchange " + purpose + bytes([role]) + data, "sha256")

    def _agree(self, mine: bytes, theirs: bytes) -> None:
        """Raise ExchangeFailed unless the other device's HELLO fits this one's."""
        role, bits, tosses, digest, nonce = _HELLO.unpack(theirs)
        if role != self._role.other:
            raise ExchangeFailed("both devices claim the same role; the pairing says who is the first")
        if bits != self._terms.bits:
            raise ExchangeFailed(
                f"expected tosses of {self._terms.bits} bits, got {bits} from the other device; give both "
                "devices Terms with the same bits"
            )
        if digest != self._digest:
            raise ExchangeFailed("the other device tosses for another question, with other coins or partners")
        if tosses != self._count * self._terms.mechanism.each:
            raise ExchangeFailed("the other device wants another number of coins")
        if nonce == mine[-_NONCE:]:
            raise ExchangeFailed("the other device sends back this device's messages")

    def _drop(self) -> None:
        self._failed, self._expected, self._tossed = True, None, None
        self._outbox.clear()
        self._steps.close()

    def _drain(self) -> bytes:
        sent = bytes(self._outbox)
        self._outbox.clear()
        return sent


PIECE: Final = 1 << 16  # bytes read at once
_PAUSE: Final = 0.05  # seconds between two attempts to connect


@dataclass(frozen=True)
class Deadline:
    """A point in time, in seconds of the monotonic clock."""

    at: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        """Return the deadline `seconds` from now."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < 1e9:
            raise InvalidParameter(
                f"expected a timeout to be a positive number of seconds, got {found(seconds)}"
            )
        return Deadline(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The remaining seconds; raises ExchangeFailed if there are none."""
        left = self.at - time.monotonic()
        if left <= 0.0:
            raise ExchangeFailed("nothing came in time")
        return left

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.at


def run(exchange: Exchange, connection: socket.socket, deadline: Deadline) -> None:
    """Run an exchange over a connection until it has its coins; raise ExchangeFailed otherwise."""
    try:
        send(connection, exchange.start(), deadline)
        while not exchange.done:
            send(connection, exchange.receive(receive(connection, deadline)), deadline)
    except ExchangeFailed:
        exchange.lose_partner()
        raise


def send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    """Send bytes before the deadline, or raise ExchangeFailed."""
    try:
        connection.settimeout(deadline.left)
        connection.sendall(data)
    except OSError:
        raise ExchangeFailed("the other side hung up, or does not listen") from None


def receive(connection: socket.socket, deadline: Deadline) -> bytes:
    """Return bytes that arrive before the deadline, or raise ExchangeFailed."""
    try:
        connection.settimeout(deadline.left)
        data = connection.recv(PIECE)
    except TimeoutError:
        raise ExchangeFailed("nothing came in time") from None
    except OSError:
        raise ExchangeFailed("the connection broke") from None
    if not data:
        raise ExchangeFailed("the other side hung up")
    return data


def reach(address: Address, deadline: Deadline, tls: ssl.SSLContext | None = None) -> socket.socket:
    """Return a connection to an address as soon as it listens, before the deadline; with TLS if given."""
    while True:
        try:
            connection = socket.create_connection(address, timeout=deadline.left)
        except OSError:
            if deadline.at - time.monotonic() < 2 * _PAUSE:
                raise ExchangeFailed("nobody listens at this address") from None
            time.sleep(_PAUSE)
            continue
        return connection if tls is None else _wrap(connection, address[0], deadline, tls)


def _wrap(connection: socket.socket, host: str, deadline: Deadline, tls: ssl.SSLContext) -> socket.socket:
    try:
        connection.settimeout(deadline.left)
        return tls.wrap_socket(connection, server_hostname=host)
    except (OSError, ValueError):  # an SSLError is an OSError
        connection.close()
        raise ExchangeFailed(
            "no TLS connection with this address: is its certificate the right one?"
        ) from None
    except ExchangeFailed:
        connection.close()
        raise


def tell(connection: socket.socket, kind: Kind, body: bytes, deadline: Deadline) -> None:
    """Send one message that belongs to no exchange."""
    send(connection, pack(kind, 0, NO_EXCHANGE, body), deadline)


def hear(connection: socket.socket, kind: Kind, size: int, deadline: Deadline) -> bytes:
    """Return the body, of `size` bytes, of one message that belongs to no exchange."""
    reader, expected = Reader(), ExpectedMessage(kind, 0, NO_EXCHANGE, size, size)
    while (body := reader.take(expected)) is None:
        reader.feed(receive(connection, deadline))
    reader.finish()
    return body
