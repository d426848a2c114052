"""Messages and exchanges over a socket that this device opened, each with a deadline."""

from __future__ import annotations

import socket
import ssl
import time
from dataclasses import dataclass
from typing import Final, final

from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.protocols.exchange import Exchange
from dither.protocols.net.addresses import Address
from dither.protocols.net.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack

PIECE: Final = 1 << 16  # bytes read at once
_PAUSE: Final = 0.05  # seconds between two attempts to connect


@final
@dataclass(frozen=True)
class Deadline:
    """A point in time, in seconds of the monotonic clock."""

    at: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        """Return the deadline `seconds` from now."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < 1e9:
            raise InvalidParameter(f"a timeout is a positive number of seconds, not {found(seconds)}")
        return Deadline(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds left; raises ExchangeFailed when there are none."""
        left = self.at - time.monotonic()
        if left <= 0.0:
            raise ExchangeFailed("nothing came in time")
        return left

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self.at


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
        data = connection.recv(PIECE)
    except TimeoutError:
        raise ExchangeFailed("nothing came in time") from None
    except OSError:
        raise ExchangeFailed("the connection broke") from None
    if not data:
        raise ExchangeFailed("the other side hung up")
    return data


def reach(address: Address, deadline: Deadline, tls: ssl.SSLContext | None = None) -> socket.socket:
    """Return a connection to an address where somebody listens before the deadline, inside TLS if given."""
    while True:
        try:
            connection = socket.create_connection(address, timeout=deadline.left)
        except OSError:
            if deadline.at - time.monotonic() < 2 * _PAUSE:
                raise ExchangeFailed("nobody listens at this address") from None
            time.sleep(_PAUSE)
            continue
        return connection if tls is None else _wrapped(connection, address[0], deadline, tls)


def _wrapped(connection: socket.socket, host: str, deadline: Deadline, tls: ssl.SSLContext) -> socket.socket:
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
