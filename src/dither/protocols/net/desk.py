"""Accepts many connections at once, so that no connection has to wait for another one.

One thread serves all of them with non-blocking sockets. A stranger, that is a connection that has not yet
shown that it follows the protocol, has a few seconds from its first to its last byte, however slowly the
bytes come. The number of strangers is bounded: if one more connects, the one that connected first is closed.
A conversation refuses a message that is too long at its head, so the memory for a connection is bounded too.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, final

from dither.errors import DitherError, ExchangeFailed
from dither.protocols.net.streams import PIECE, Deadline

STRANGERS: Final = 256  # connections that have not yet followed the protocol
PATIENCE: Final = 5.0  # seconds that a stranger has
_TICK: Final = 0.1  # seconds between two looks at the clock
_PAUSE: Final = 0.02  # seconds to wait if the system has no room for another connection


class Conversation(Protocol):
    """What is said on one connection. A DitherError closes the connection."""

    def receive(self, data: bytes) -> bytes:
        """Take bytes that arrived, and return the bytes to send."""

    def closed(self, complete: bool) -> None:
        """Take note that the connection is closed, and whether it was over and everything was sent."""

    @property
    def known(self) -> bool:
        """Whether the other side has followed the protocol: from then on only the overall deadline holds."""

    @property
    def over(self) -> bool:
        """Whether the connection is closed as soon as everything is sent."""


@final
class _Connection:
    def __init__(self, peer: socket.socket, said: Conversation, *, shaking: bool, end: float) -> None:
        self.socket, self.said, self.shaking, self.end = peer, said, shaking, end
        self.outbox = bytearray()
        self.open = True


@final
class Desk:
    """Accepts connections at a listener while `run` is called, and closes all of them at the end."""

    def __init__(
        self,
        listener: socket.socket,
        begin: Callable[[], Conversation],
        *,
        tls: ssl.SSLContext | None = None,
        strangers: int = STRANGERS,
        patience: float = PATIENCE,
    ) -> None:
        self._listener, self._begin, self._tls = listener, begin, tls
        self._most, self._patience = strangers, patience
        self._strangers: dict[_Connection, None] = {}  # the one that connected first comes first
        self._connections: dict[Conversation, _Connection] = {}
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Desk:
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in list(self._connections.values()):
            self._close(connection)
        self._selector.close()

    def run(self, finished: Callable[[], bool], deadline: Deadline) -> None:
        """Serve until this is finished; raise ExchangeFailed if the deadline passes before."""
        while not finished():
            for key, _ in self._selector.select(min(deadline.left, _TICK)):
                if key.data is None:
                    self._accept()
                elif key.data.open:
                    self._serve(key.data)
            self._expire()

    def send(self, said: Conversation, data: bytes) -> None:
        """Send bytes on a connection that is still open, as far as possible now and the rest during `run`."""
        connection = self._connections.get(said)
        if connection is not None:
            connection.outbox += data
            self._serve(connection)

    # --- one connection ------------------------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            peer = self._listener.accept()[0]
        except (BlockingIOError, InterruptedError, ConnectionError):
            return
        except OSError:  # no room, such as no free file descriptor
            self._make_room(len(self._strangers) - 1)
            time.sleep(_PAUSE)
            return
        self._make_room(self._most - 1)
        try:
            peer.setblocking(False)
            if self._tls is not None:
                peer = self._tls.wrap_socket(peer, server_side=True, do_handshake_on_connect=False)
        except (OSError, ValueError):
            peer.close()
            return
        shaking, end = self._tls is not None, time.monotonic() + self._patience
        connection = _Connection(peer, self._begin(), shaking=shaking, end=end)
        self._strangers[connection] = None
        self._connections[connection.said] = connection
        self._selector.register(peer, selectors.EVENT_READ, connection)
        self._serve(connection)

    def _serve(self, connection: _Connection) -> None:
        """Do all that can be done on a connection without waiting; close it if the other side is wrong."""
        try:
            self._talk(connection)
            events = selectors.EVENT_READ
        except BlockingIOError:
            events = selectors.EVENT_WRITE if connection.outbox else selectors.EVENT_READ
        except ssl.SSLWantReadError:
            events = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            events = selectors.EVENT_WRITE
        except (OSError, DitherError):
            self._close(connection)
            return
        if connection.said.over and not connection.outbox:
            self._close(connection)
            return
        if connection.said.known:
            self._strangers.pop(connection, None)
        self._selector.modify(connection.socket, events, connection)

    @staticmethod
    def _talk(connection: _Connection) -> None:
        if connection.shaking:
            if isinstance(connection.socket, ssl.SSLSocket):
                connection.socket.do_handshake()
            connection.shaking = False
        while True:
            while connection.outbox:
                sent = connection.socket.send(connection.outbox)
                del connection.outbox[:sent]
            if connection.said.over:
                return
            data = connection.socket.recv(PIECE)
            if not data:
                raise ExchangeFailed("the other side hung up")
            connection.outbox += connection.said.receive(data)

    def _expire(self) -> None:
        """Close strangers whose time is over: all have the same time, so the first one is the oldest."""
        now = time.monotonic()
        while self._strangers and next(iter(self._strangers)).end <= now:
            self._close(next(iter(self._strangers)))

    def _make_room(self, most: int) -> None:
        while self._strangers and len(self._strangers) > most:
            self._close(next(iter(self._strangers)))

    def _close(self, connection: _Connection) -> None:
        connection.open = False
        self._strangers.pop(connection, None)
        self._connections.pop(connection.said, None)
        self._selector.unregister(connection.socket)
        connection.socket.close()
        connection.said.closed(connection.said.over and not connection.outbox)
