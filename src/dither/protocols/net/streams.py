"""Tossing over a socket, with a time by which it has ended one way or the other.

Nothing here encrypts or authenticates. An `ssl.SSLSocket` is a socket: wrap the connection before it comes
here.
"""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any, Final, final

from dither.errors import ExchangeFailed, InvalidParameter
from dither.protocols.exchange import Exchange
from dither.protocols.net.messages import NOBODY, Expected, Kind, Reader, pack

Address = tuple[str, int]
_PIECE: Final = 1 << 16
_PAUSE: Final = 0.05  # seconds between two attempts to reach somebody who does not listen yet


@final
@dataclass(frozen=True)
class Deadline:
    """A moment at which patience ends."""

    at: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        """Give the moment so many seconds from now."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < 1e9:
            raise InvalidParameter("a timeout is a positive number of seconds")
        return Deadline(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds left; raises when there are none."""
        left = self.at - time.monotonic()
        if left <= 0.0:
            raise ExchangeFailed("nothing came in time")
        return left

    def within(self, seconds: float) -> Deadline:
        """Give the earlier of this and so many seconds from now."""
        return Deadline(min(self.at, time.monotonic() + seconds))


def run(exchange: Exchange, connection: socket.socket, deadline: Deadline) -> None:
    """Toss over a connection; afterwards the exchange has its coins, or ExchangeFailed was raised."""
    try:
        send(connection, exchange.start(), deadline)
        while not exchange.done:
            send(connection, exchange.receive(receive(connection, deadline)), deadline)
    except ExchangeFailed:
        exchange.lost()
        raise


def send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    """Send bytes, or fail in time."""
    try:
        connection.settimeout(deadline.left)
        connection.sendall(data)
    except OSError:
        raise ExchangeFailed("the other side hung up, or does not listen") from None


def receive(connection: socket.socket, deadline: Deadline) -> bytes:
    """Give some bytes that arrived, or fail in time."""
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
    """Connect to somebody who may not listen yet."""
    while True:
        try:
            return socket.create_connection(address, timeout=deadline.left)
        except OSError:
            if deadline.left < 2 * _PAUSE:
                raise ExchangeFailed("nobody listens there") from None
            time.sleep(_PAUSE)


def accept(listener: socket.socket, deadline: Deadline) -> socket.socket:
    """Wait for somebody to connect."""
    try:
        listener.settimeout(deadline.left)
        return listener.accept()[0]
    except OSError:
        raise ExchangeFailed("nobody came in time") from None


def tell(connection: socket.socket, kind: Kind, body: bytes, deadline: Deadline) -> None:
    """Send one message that belongs to no exchange."""
    send(connection, pack(kind, 0, NOBODY, body), deadline)


def hear(connection: socket.socket, kind: Kind, most: int, deadline: Deadline) -> bytes:
    """Wait for one message that belongs to no exchange, and give its body."""
    reader, expected = Reader(), Expected(kind, 0, NOBODY, 0, most)
    while (body := reader.take(expected)) is None:
        reader.feed(receive(connection, deadline))
    reader.finish()
    return body


def read_object(body: bytes) -> dict[str, Any]:
    """Read a body that is a JSON object."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise ExchangeFailed("the message is not a JSON object")
    return read
