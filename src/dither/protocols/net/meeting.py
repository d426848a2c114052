"""Where devices learn whom they toss with: they enrol, and when all have come each is told its place.

A dealer tells each device its partner. Each of three servers tells it a share of its partner's number; only
the device combines the three shares.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, final

from dither.errors import ExchangeFailed
from dither.protocols.net.messages import Kind
from dither.protocols.net.streams import Address, Deadline, accept, hear, read_object, tell
from dither.protocols.pairing.grouping import check_number, deal_pairs
from dither.protocols.pairing.servers import begin_share, check_servers, combine, end_share

_SMALL: Final = 1 << 10  # bytes of the largest ENROL
_LARGE: Final = 1 << 24  # bytes of the largest PLACE
_QUICK: Final = 5.0  # seconds within which a device that has connected must have enrolled
_NAME: Final = re.compile(r"[0-9a-f]{32}")

Places = Callable[[list[str], Deadline], list[int]]


@final
@dataclass(frozen=True)
class Place:
    """What a device is told: its own index, all names and addresses, and its partner's index."""

    index: int
    names: tuple[str, ...]
    addresses: tuple[Address, ...]
    partner: int

    @property
    def alone(self) -> bool:
        """Whether this device has no partner."""
        return self.partner == self.index

    @property
    def context(self) -> bytes:
        """SHA-256 of both partners' names, mixed into what they must agree on."""
        both = sorted((self.names[self.index], self.names[self.partner]))
        return hashlib.sha256(":".join(both).encode()).digest()


def dealer(names: list[str], deadline: Deadline) -> list[int]:
    """Return each device's partner, drawn here: the dealer is trusted."""
    return list(deal_pairs(len(names)).partners)


def server(index: int, servers: Sequence[str]) -> Places:
    """Return the function with which one of three servers obtains its shares of the devices' partners."""
    check_servers(index, servers)  # before anybody enrols

    def shares(names: list[str], deadline: Deadline) -> list[int]:
        return end_share(
            begin_share(len(names), index, servers, ":".join(names).encode()), len(names), deadline
        )

    return shares


def seat(listener: socket.socket, n: int, places: Places, deadline: Deadline) -> int:
    """Let n devices enrol, tell each its place, and return how many could be told.

    A connection that does not follow the protocol is closed and does not count. If fewer than n devices enrol
    before the deadline, ExchangeFailed is raised and nobody is paired.
    """
    check_number(n)
    came: dict[str, tuple[Address, socket.socket]] = {}
    with ExitStack() as open_:
        while len(came) < n:
            connection = open_.enter_context(accept(listener, deadline))
            try:
                name, address = _enrolled(hear(connection, Kind.ENROL, _SMALL, deadline.within(_QUICK)))
                if name in came:
                    raise ExchangeFailed("this device has enrolled already")
                came[name] = address, connection
            except ExchangeFailed:
                connection.close()
        names = sorted(came)
        told = 0
        everybody = [[name, *came[name][0]] for name in names]
        for index, held in enumerate(places(names, deadline)):
            body = json.dumps({"index": index, "devices": everybody, "held": held}).encode()
            try:
                tell(came[names[index]][1], Kind.PLACE, body, deadline)
                told += 1
            except ExchangeFailed:
                pass  # the device has gone; its partner will not reach it, and will toss alone
        return told


def find_place(connections: Sequence[socket.socket], name: str, here: Address, deadline: Deadline) -> Place:
    """Enrol at a dealer, or at three servers, and return this device's place."""
    for connection in connections:
        body = json.dumps({"name": name, "host": here[0], "port": here[1]}).encode()
        tell(connection, Kind.ENROL, body, deadline)
    told = [read_object(hear(connection, Kind.PLACE, _LARGE, deadline)) for connection in connections]
    if any(
        (one.get("index"), one.get("devices")) != (told[0].get("index"), told[0].get("devices"))
        for one in told
    ):
        raise ExchangeFailed("the three servers name different devices")
    held = [one.get("held") for one in told]
    return _place(told[0], name, held[0] if len(held) == 1 else combine(held))


def _enrolled(body: bytes) -> tuple[str, Address]:
    read = read_object(body)
    return _name(read.get("name")), _address([read.get("host"), read.get("port")])


def _place(read: dict[str, Any], name: str, partner: object) -> Place:
    index, devices = read.get("index"), read.get("devices")
    if not isinstance(devices, list) or not all(isinstance(one, list) and len(one) == 3 for one in devices):
        raise ExchangeFailed("a place comes with the list of devices")
    names = tuple(_name(one[0]) for one in devices)
    addresses = tuple(_address(one[1:]) for one in devices)
    if type(index) is not int or not 0 <= index < len(names) or names[index] != name:
        raise ExchangeFailed("the place is that of another device")
    if type(partner) is not int or not 0 <= partner < len(names) + len(names) % 2:
        raise ExchangeFailed("the partner is not one of the devices")
    return Place(index, names, addresses, partner if partner < len(names) else index)


def _name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ExchangeFailed("a device's name is 32 hexadecimal digits")
    return name


def _address(parts: list[object]) -> Address:
    host, port = parts
    if (
        not isinstance(host, str)
        or not 0 < len(host) < 256
        or type(port) is not int
        or not 0 < port < 1 << 16
    ):
        raise ExchangeFailed("an address is a host and a port")
    return host, port
