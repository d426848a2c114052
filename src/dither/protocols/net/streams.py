"""Messages and exchanges over a socket, each with a deadline.

Nothing here encrypts or authenticates. An `ssl.SSLSocket` is a socket, so connections can be wrapped in TLS.
"""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any, Final, final

from dither.errors import ExchangeFailed, InvalidParameter
from dither.protocols.exchange import Exchange
from dither.protocols.net.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack

Address = tuple[str, int]
_PIECE: Final = 1 << 16  # bytes read at once
_PAUSE: Final = 0.05  # seconds between two attempts to connect


@final
@dataclass(frozen=True)
class Deadline:
    """A point in time, in seconds of the monotonic clock."""

    at: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        """Return the deadline so many seconds from now."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < 1e9:
            raise InvalidParameter("a timeout is a positive number of seconds")
        return Deadline(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds left; raises ExchangeFailed when there are none."""
        left = self.at - time.monotonic()
        if left <= 0.0:
            raise ExchangeFailed("nothing came in time")
        return left

    def within(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and so many seconds from now."""
        return Deadline(min(self.at, time.monotonic() + seconds))


def run(exchange: Exchange, connection: socket.socket, deadline: Deadline) -> None:
    """Run an exchange over a connection until it has its coins; raise ExchangeFailed otherwise."""
    try:
        send(connection, exchange.start(), deadline)
        while not exchange.done:
            send(connection, exchange.receive(receive(connection, deadline)), deadline)
    except ExchangeFailed:
        exchange.lost()
        raise


def send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    """Send bytes before the deadline, or raise ExchangeFailed."""
    try:
        connection.settimeout(deadline.left)
        connection.sendall(data)
    except OSError:
        raise ExchangeFailed("the other side hung up, or does not listen") from None


def receive(connection: socket.socket, deadline: Deadline) -> bytes:
    """Return some bytes that arrived before the deadline, or raise ExchangeFailed."""
    try:
        connection.settimeout(deadline.left)
        data = connection.recv(_PIECE)
    except TimeoutError:
        raise ExchangeFailed("nothing came in time") from None
    except OSError:
        raise ExchangeFailed("the connection broke") from None
    if not data:
        raise ExchangeFailed("the other side hung up")
    return data


def reach(address: Address, deadline: Deadline) -> socket.socket:
    """Return a connection to an address where somebody listens before the deadline."""
    while True:
        try:
            return socket.create_connection(address, timeout=deadline.left)
        except OSError:
            if deadline.left < 2 * _PAUSE:
                raise ExchangeFailed("nobody listens at this address") from None
            time.sleep(_PAUSE)


def accept(listener: socket.socket, deadline: Deadline) -> socket.socket:
    """Return the next connection that is made before the deadline."""
    try:
        listener.settimeout(deadline.left)
        return listener.accept()[0]
    except OSError:
        raise ExchangeFailed("nobody came in time") from None


def tell(connection: socket.socket, kind: Kind, body: bytes, deadline: Deadline) -> None:
    """Send one message that belongs to no exchange."""
    send(connection, pack(kind, 0, NO_EXCHANGE, body), deadline)


def hear(connection: socket.socket, kind: Kind, most: int, deadline: Deadline) -> bytes:
    """Return the body of one message that belongs to no exchange, of at most `most` bytes."""
    reader, expected = Reader(), ExpectedMessage(kind, 0, NO_EXCHANGE, 0, most)
    while (body := reader.take(expected)) is None:
        reader.feed(receive(connection, deadline))
    reader.finish()
    return body


def read_object(body: bytes) -> dict[str, Any]:
    """Return a body that is a JSON object as a dictionary."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise ExchangeFailed("the message is not a JSON object")
    return read
