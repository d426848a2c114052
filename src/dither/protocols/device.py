"""A device takes part: finds its partner, tosses, and goes on alone where there is none."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, final

from dither.errors import ExchangeFailed, InvalidParameter
from dither.mechanisms.joint.coin import Coin
from dither.protocols.exchange import Exchange, Role
from dither.protocols.net.meeting import Place, find_place
from dither.protocols.net.messages import Kind
from dither.protocols.net.streams import Address, Deadline, accept, hear, reach, run, tell
from dither.protocols.terms import Terms
from dither.randomness import SYSTEM, Source
from dither.reports import Reports

HEAD: Final = struct.Struct(">16s32sB")  # of a report to the collector: name, terms, standing


class Standing(IntEnum):
    """How a device got its coins; all but the first are plain randomized response."""

    PAIRED = 0  # tossed with a partner
    ALONE = 1  # was the odd one out
    LOST = 2  # the partner was not there, vanished, or did not follow the protocol
    UNPLACED = 3  # nobody said who the partner is


@final
@dataclass(frozen=True)
class Tossed:
    """Coins, how they were got, and why not with a partner if they were not."""

    coins: list[Coin] = field(repr=False)
    standing: Standing
    partner: str | None = None
    reason: str = ""


def toss(
    terms: Terms,
    count: int,
    meetings: Sequence[Address],
    *,
    timeout: float = 60.0,
    host: str = "127.0.0.1",
    name: bytes | None = None,
    source: Source | None = None,
) -> Tossed:
    """Get coins together with whomever the pairing names; without a partner, toss alone with the same p.

    `meetings` is one dealer, or three servers. Whatever goes wrong with the others ends, at the latest after
    the timeout, in coins tossed alone: the estimate stays unbiased, and `standing` says what happened.
    """
    if len(meetings) not in (1, 3):
        raise InvalidParameter("a device enrols at one dealer or at three servers")
    randomness = SYSTEM if source is None else source
    called = (randomness.take(16) if name is None else name).hex()
    deadline = Deadline.after(timeout)
    with ExitStack() as open_:
        listener = open_.enter_context(socket.create_server((host, 0)))
        try:
            connections = [open_.enter_context(reach(address, deadline)) for address in meetings]
            place = find_place(connections, called, listener.getsockname()[:2], deadline)
        except ExchangeFailed as error:
            return Tossed(terms.alone(count, source=source), Standing.UNPLACED, reason=str(error))
        if place.alone:
            return Tossed(terms.alone(count, source=source), Standing.ALONE)
        partner = place.names[place.partner]
        try:
            coins = _together(terms, count, place, listener, deadline, randomness)
        except ExchangeFailed as error:
            return Tossed(terms.alone(count, source=source), Standing.LOST, partner, str(error))
        return Tossed(coins, Standing.PAIRED, partner)


def _together(
    terms: Terms, count: int, place: Place, listener: socket.socket, deadline: Deadline, source: Source
) -> list[Coin]:
    if place.index < place.partner:
        exchange = Exchange(terms, Role.FIRST, count, context=place.context, source=source)
        with reach(place.addresses[place.partner], deadline) as connection:
            run(exchange, connection, deadline)
        return exchange.coins()
    while True:  # whoever connects may be a stranger; each gets an exchange of its own, and fresh secrets
        exchange = Exchange(terms, Role.SECOND, count, context=place.context, source=source)
        with accept(listener, deadline) as connection:
            try:
                run(exchange, connection, deadline)
                return exchange.coins()
            except ExchangeFailed:
                if exchange.agreed:
                    raise


def report(
    terms: Terms, tossed: Tossed, reports: Reports, collector: Address, *, name: bytes, timeout: float = 60.0
) -> None:
    """Send reports to the collector, and wait until it has them; sent again, they must be the same.

    It learns whether this device had a partner, not which.
    """
    deadline = Deadline.after(timeout)
    body = HEAD.pack(name, terms.digest, tossed.standing) + reports.cells.tobytes()
    with reach(collector, deadline) as connection:
        tell(connection, Kind.REPORT, body, deadline)
        hear(connection, Kind.THANKS, 0, deadline)
