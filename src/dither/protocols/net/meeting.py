"""Where devices learn whom they toss with: they enrol, and when all have come each is told its own pair.

    ENROL   name 16 · address 18
    PLACE   the device's role, its partner's address and the pair's secret, or one share of them (see `place`)

Sizes are in bytes. A device draws its name for this meeting only: the collector never sees it. It is told
nothing about devices that are not its partner.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, final

from dither.errors import ExchangeFailed
from dither.protocols.exchange import Role
from dither.protocols.net.addresses import ADDRESS, Address, pack_address, read_address
from dither.protocols.net.desk import PATIENCE, STRANGERS, Desk
from dither.protocols.net.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack
from dither.protocols.net.place import (
    DEALT_SIZE,
    SECRET,
    SHARED_SIZE,
    DevicePair,
    address_record,
    pack_dealt,
    read_dealt,
    read_shared,
)
from dither.protocols.net.streams import Deadline, hear, reach, tell
from dither.protocols.net.tls import Certificates
from dither.protocols.pairing.grouping import check_number, deal_pairs
from dither.protocols.pairing.servers import begin_share, check_servers, end_share
from dither.protocols.pairing.shares import NUMBER
from dither.randomness import SYSTEM

MEETING_NAME: Final = 16  # bytes of a device's name at the meeting point
_ENROL: Final = MEETING_NAME + ADDRESS


@final
@dataclass(frozen=True, order=True)
class Enrolled:
    """A device that has enrolled: its name at the meeting point and its address."""

    name: bytes
    address: Address


PlaceBodies = Callable[[Sequence[Enrolled], Deadline], dict[int, bytes]]  # bodies of PLACE by index


def dealer(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
    """Return what each device is told, drawn here: the dealer is trusted, and knows pairs and secrets."""
    pairing = deal_pairs(len(devices))
    told = {one: pack_dealt(None) for one in pairing.alone}
    for pair in pairing.pairs:
        secret = SYSTEM.take(SECRET)
        for role, device in zip(Role, pair, strict=True):
            told[device] = pack_dealt(DevicePair(role, devices[pair[role.other]].address, secret))
    return told


def server(index: int, servers: Sequence[str], tls: Certificates | None = None) -> PlaceBodies:
    """Return the function with which one of three servers obtains its shares; `tls` is between servers."""
    check_servers(index, servers)  # before anybody enrols

    def shares(devices: Sequence[Enrolled], deadline: Deadline) -> dict[int, bytes]:
        names = [one.name.hex() for one in devices]
        records = [address_record(pack_address(one.address)) for one in devices]
        held = end_share(begin_share(names, records, index, servers, tls), len(names), deadline)
        return {
            one: b"".join(share.to_bytes(NUMBER, "little") for share in both) for one, both in held.items()
        }

    return shares


@final
class _Enrolment:
    """The conversation with one device: its ENROL, then silence until it is told its place."""

    def __init__(self, came: dict[bytes, tuple[Enrolled, _Enrolment]], most: int) -> None:
        self._came, self._most = came, most
        self._reader = Reader()
        self.known = self.over = self.gone = self.told = False

    def receive(self, data: bytes) -> bytes:
        self._reader.feed(data)
        if self.known:
            self._reader.finish()  # an enrolled device waits; it has nothing more to say
            return b""
        body = self._reader.take(ExpectedMessage(Kind.ENROL, 0, NO_EXCHANGE, _ENROL, _ENROL))
        if body is not None:
            self._reader.finish()
            self._enrol(read_enrol(body))
        return b""

    def closed(self, complete: bool) -> None:
        self.gone, self.told = True, complete

    def _enrol(self, device: Enrolled) -> None:
        if device.name in self._came:
            raise ExchangeFailed("this device has enrolled already")
        if len(self._came) == self._most:
            raise ExchangeFailed("all devices have enrolled")
        self._came[device.name] = device, self
        self.known = True


def read_enrol(body: bytes) -> Enrolled:
    """Return the device that this ENROL names."""
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
    """Let n devices enrol, tell each its place, and return how many could be told.

    A connection that does not follow the protocol is closed and does not count. One that has not enrolled
    after `patience` seconds is closed, and so is the oldest of more than `strangers` such connections. If
    fewer than n devices enrol before the deadline, ExchangeFailed is raised and nobody is paired.
    """
    check_number(n)
    came: dict[bytes, tuple[Enrolled, _Enrolment]] = {}
    with Desk(listener, lambda: _Enrolment(came, n), tls=tls, strangers=strangers, patience=patience) as desk:
        desk.run(lambda: len(came) == n, deadline)
        ordered = [came[name] for name in sorted(came)]
        bodies = places([device for device, _ in ordered], deadline)
        placed = [ordered[index][1] for index in bodies]
        for said, body in zip(placed, bodies.values(), strict=True):
            said.over = True  # the connection is closed as soon as the place is sent
            desk.send(said, pack(Kind.PLACE, 0, NO_EXCHANGE, body))
        with suppress(ExchangeFailed):  # a device that does not read: its partner will toss alone
            desk.run(lambda: all(said.gone for said in placed), deadline)
        return sum(said.told for said in placed)


def find_place(
    meetings: Sequence[Address],
    name: bytes,
    here: Address,
    deadline: Deadline,
    tls: ssl.SSLContext | None = None,
) -> DevicePair | None:
    """Enrol at a dealer, or at three servers, and return this device's pair; None if it stays alone."""
    with ExitStack() as open_:
        connections = []
        for address in meetings:
            connections.append(open_.enter_context(reach(address, deadline, tls)))
            tell(connections[-1], Kind.ENROL, name + pack_address(here), deadline)
        if len(connections) == 1:
            return read_dealt(hear(connections[0], Kind.PLACE, DEALT_SIZE, deadline))
        return read_shared([hear(one, Kind.PLACE, SHARED_SIZE, deadline) for one in connections])
