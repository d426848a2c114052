"""A device: finds its partner, tosses with it, and tosses alone where there is none."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import final

from dither.errors import ExchangeFailed, InvalidParameter
from dither.mechanisms.joint.coin import Coin
from dither.protocols.exchange import Exchange, Role
from dither.protocols.net.meeting import Place, find_place
from dither.protocols.net.messages import Kind
from dither.protocols.net.report_body import NAME, Standing, pack_report
from dither.protocols.net.streams import Address, Deadline, accept, hear, reach, run, tell
from dither.protocols.terms import Terms
from dither.randomness import SYSTEM, Source
from dither.reports import Reports


@final
@dataclass(frozen=True)
class Tossed:
    """A device's coins, its standing, its partner's name if it has one, and why it tossed alone if it did."""

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
    """Return coins tossed with the partner that the pairing names; without a partner, coins tossed alone.

    `meetings` is one dealer, or three servers; `timeout` is in seconds. If anything goes wrong with other
    devices, this returns before the timeout with coins tossed alone, of the same p. The estimate stays
    unbiased, and `standing` says what happened.
    """
    if len(meetings) not in (1, 3):
        raise InvalidParameter("a device enrols at one dealer or at three servers")
    randomness = SYSTEM if source is None else source
    if not randomness.private:
        raise InvalidParameter("devices toss with a private source; use Exchange to toss with a seeded one")
    if name is not None and len(name) != NAME:
        raise InvalidParameter(f"the name of a device has {NAME} bytes")
    called = (randomness.take(NAME) if name is None else name).hex()
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
    while True:  # whoever connects may be a stranger, so each connection gets its own exchange and secrets
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
    """Send reports to the collector, and wait at most `timeout` seconds until it has stored them.

    Reports that are sent again must be the same. The collector learns whether this device had a partner, not
    which.
    """
    deadline = Deadline.after(timeout)
    body = pack_report(name, terms, tossed.standing, reports.cells)
    with reach(collector, deadline) as connection:
        tell(connection, Kind.REPORT, body, deadline)
        hear(connection, Kind.THANKS, 0, deadline)
