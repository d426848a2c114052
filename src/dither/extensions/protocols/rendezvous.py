"""The rendezvous server: devices enrol there and find their partners."""

from __future__ import annotations

import hashlib
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol

from dither.errors import DitherError, ExchangeFailed
from dither.extensions.protocols.exchange import PIECE, Deadline, Role, hear, reach, tell
from dither.extensions.protocols.messages import (
    ADDRESS,
    NO_EXCHANGE,
    Address,
    Certificates,
    ExpectedMessage,
    Kind,
    Reader,
    pack,
    pack_address,
    read_address,
)
from dither.extensions.protocols.pairing import check_number, deal_pairs
from dither.extensions.protocols.pairs import NUMBER, begin_share, check_servers, combine, end_share
from dither.foundation.randomness import SYSTEM

STRANGERS: Final = 256  # connections that have not yet followed the protocol
PATIENCE: Final = 5.0  # seconds in which a stranger must follow the protocol
_TICK: Final = 0.1  # seconds between two checks of the clock
_PAUSE: Final = 0.02  # seconds to wait if the system cannot accept another connection


class Conversation(Protocol):
    """The protocol of one connection. A DitherError closes the connection."""

    def receive(self, data: bytes) -> bytes:
        """Process bytes that arrived, and return the bytes to send."""

    def on_close(self, complete: bool) -> None:
        """React to the end of the connection; `complete` is True if all of the conversation was sent."""

    @property
    def known(self) -> bool:
        """Whether the other side has followed the protocol; then only the overall deadline applies."""

    @property
    def over(self) -> bool:
        """Whether the connection is closed as soon as everything is sent."""


class _Connection:
    def __init__(self, peer: socket.socket, said: Conversation, *, shaking: bool, end: float) -> None:
        self.socket, self.said, self.shaking, self.end = peer, said, shaking, end
        self.outbox = bytearray()
        self.open = True


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
        self._strangers: dict[_Connection, None] = {}  # in the order in which they connected
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
        """Serve until `finished` returns True; raise ExchangeFailed if the deadline passes first."""
        while not finished():
            for key, _ in self._selector.select(min(deadline.left, _TICK)):
                if key.data is None:
                    self._accept()
                elif key.data.open:
                    self._serve(key.data)
            self._expire()

    def send(self, said: Conversation, data: bytes) -> None:
        """Send bytes on a connection that is open: now as many as possible, and the rest during `run`."""
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
        except OSError:  # no resources, such as no free file descriptor
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
        """Do all work on a connection that needs no waiting; close it after an error of the other side."""
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
        """Close strangers whose time is over. All have the same time, so the first is the oldest."""
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
        connection.said.on_close(connection.said.over and not connection.outbox)


SECRET: Final = 32  # bytes
DEALT_SIZE: Final = 1 + ADDRESS + SECRET
SHARED_SIZE: Final = 2 * NUMBER
_ALONE: Final = 2  # instead of a role


@dataclass(frozen=True)
class DevicePair:
    """A device's pair: its own role, its partner's address, and the secret of the two devices."""

    role: Role
    partner: Address
    secret: bytes = field(repr=False)

    @property
    def tag(self) -> str:
        """Text that is the same for both partners and reveals nothing about the secret."""
        return hashlib.sha256(b"dither pair tag" + self.secret).hexdigest()[:16]


def pack_dealt(pair: DevicePair | None) -> bytes:
    """Return the body of a dealer's PLACE message; None means a device without a partner."""
    if pair is None:
        return bytes([_ALONE]) + bytes(ADDRESS + SECRET)
    return bytes([pair.role]) + pack_address(pair.partner) + pair.secret


def read_dealt(body: bytes) -> DevicePair | None:
    """Return the pair in a dealer's PLACE message, or None if this device has no partner."""
    if len(body) != DEALT_SIZE or body[0] > _ALONE:
        raise ExchangeFailed("expected a role, an address and a secret from a dealer")
    if body[0] == _ALONE:
        return None
    return DevicePair(Role(body[0]), read_address(body[1 : 1 + ADDRESS]), body[1 + ADDRESS :])


def read_shared(bodies: Sequence[bytes]) -> DevicePair | None:
    """Return the pair in three servers' PLACE messages, or None if this device has no partner."""
    if any(len(body) != SHARED_SIZE for body in bodies):
        raise ExchangeFailed("expected two shares from a server")
    numbers = [
        combine([int.from_bytes(body[start : start + NUMBER], "little") for body in bodies])
        for start in (0, NUMBER)
    ]
    position, secret = numbers
    record, role = position >> 1, Role(position & 1)
    if record == 0:
        return None
    if not record & 1 or record >> 1 >= 1 << 8 * ADDRESS:
        raise ExchangeFailed("expected an address from the three servers")
    return DevicePair(
        role, read_address((record >> 1).to_bytes(ADDRESS, "little")), secret.to_bytes(NUMBER, "little")
    )


def address_record(address: bytes) -> int:
    """Return the integer of a device's packed address for the servers' shuffle."""
    return 2 * int.from_bytes(address, "little") + 1


MEETING_NAME: Final = 16  # bytes of a device's name at the meeting point
_ENROL: Final = MEETING_NAME + ADDRESS


@dataclass(frozen=True, order=True)
class Enrolled:
    """A device that has enrolled: its name at the meeting point and its address."""

    name: bytes
    address: Address


PlaceBodies = Callable[[Sequence[Enrolled], Deadline], dict[int, bytes]]  # bodies of PLACE messages by index


def dealer(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
    """Return the body for each device; the trusted dealer draws, and so knows, pairs and secrets."""
    pairing = deal_pairs(len(devices))
    bodies = {slot: pack_dealt(None) for slot in pairing.alone}
    for pair in pairing.pairs:
        secret = SYSTEM.take(SECRET)
        for role, device in zip(Role, pair, strict=True):
            bodies[device] = pack_dealt(DevicePair(role, devices[pair[role.other]].address, secret))
    return bodies


def server(index: int, servers: Sequence[str], tls: Certificates | None = None) -> PlaceBodies:
    """Return the function by which one of three servers gets its shares; `tls` is between servers."""
    check_servers(index, servers)  # before any device enrols

    def shares(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
        names = [device.name.hex() for device in devices]
        records = [address_record(pack_address(device.address)) for device in devices]
        held = end_share(begin_share(names, records, index, servers, tls), len(names), deadline)
        return {
            slot: b"".join(share.to_bytes(NUMBER, "little") for share in both) for slot, both in held.items()
        }

    return shares


class _Enrolment:
    """The conversation with one device: its ENROL message, then nothing until it gets its slot."""

    def __init__(self, came: dict[bytes, tuple[Enrolled, _Enrolment]], most: int) -> None:
        self._came, self._most = came, most
        self._reader = Reader()
        self.known = self.over = self.gone = self.told = False

    def receive(self, data: bytes) -> bytes:
        self._reader.feed(data)
        if self.known:
            self._reader.finish()  # an enrolled device waits and sends nothing more
            return b""
        body = self._reader.take(ExpectedMessage(Kind.ENROL, 0, NO_EXCHANGE, _ENROL, _ENROL))
        if body is not None:
            self._reader.finish()
            self._enrol(read_enrol(body))
        return b""

    def on_close(self, complete: bool) -> None:
        self.gone, self.told = True, complete

    def _enrol(self, device: Enrolled) -> None:
        if device.name in self._came:
            raise ExchangeFailed("this device has enrolled already")
        if len(self._came) == self._most:
            raise ExchangeFailed("all devices have enrolled")
        self._came[device.name] = device, self
        self.known = True


def read_enrol(body: bytes) -> Enrolled:
    """Return the device that an ENROL message names."""
    if len(body) != _ENROL:
        raise ExchangeFailed("a device enrols with its name and its address")
    return Enrolled(body[:MEETING_NAME], read_address(body[MEETING_NAME:]))


def seat(
    listener: socket.socket,
    n: int,
    places: PlaceBodies,
    deadline: Deadline,
    *,
    tls: ssl.SSLContext | None = None,
    strangers: int = STRANGERS,
    patience: float = PATIENCE,
) -> int:
    """Let n devices enrol, send each its slot, and return the number of sent slots.

    A connection that does not follow the protocol is closed and does not count. A connection that has not
    enrolled after `patience` seconds is closed, and so is the oldest of more than `strangers` such
    connections. If fewer than n devices enrol before the deadline, ExchangeFailed is raised and no devices
    are paired.
    """
    check_number(n)
    came: dict[bytes, tuple[Enrolled, _Enrolment]] = {}
    with Desk(listener, lambda: _Enrolment(came, n), tls=tls, strangers=strangers, patience=patience) as desk:
        desk.run(lambda: len(came) == n, deadline)
        ordered = [came[name] for name in sorted(came)]
        bodies = places([device for device, _ in ordered], deadline)
        placed = [ordered[index][1] for index in bodies]
        for said, body in zip(placed, bodies.values(), strict=True):
            said.over = True  # the connection is closed as soon as the slot is sent
            desk.send(said, pack(Kind.PLACE, 0, NO_EXCHANGE, body))
        with suppress(ExchangeFailed):  # this device does not receive; its partner will toss alone
            desk.run(lambda: all(said.gone for said in placed), deadline)
        return sum(said.told for said in placed)


def find_place(
    meetings: Sequence[Address],
    name: bytes,
    here: Address,
    deadline: Deadline,
    tls: ssl.SSLContext | None = None,
) -> DevicePair | None:
    """Enrol at a dealer, or at three servers, and return this device's pair, or None."""
    with ExitStack() as open_:
        connections = []
        for address in meetings:
            connections.append(open_.enter_context(reach(address, deadline, tls)))
            tell(connections[-1], Kind.ENROL, name + pack_address(here), deadline)
        if len(connections) == 1:
            return read_dealt(hear(connections[0], Kind.PLACE, DEALT_SIZE, deadline))
        return read_shared(
            [hear(connection, Kind.PLACE, SHARED_SIZE, deadline) for connection in connections]
        )
