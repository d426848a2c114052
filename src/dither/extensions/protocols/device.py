"""A device's side of the protocol, and a run of all devices in one process."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle

from dither.core.reports import Reports
from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.extensions.protocols.exchange import Deadline, Exchange, Role, hear, reach, run, tell
from dither.extensions.protocols.messages import Address, DeviceTLS, Kind, pack_address
from dither.extensions.protocols.pairing import check_number
from dither.extensions.protocols.rendezvous import MEETING_NAME, Desk, DevicePair, find_place
from dither.extensions.protocols.report_body import NAME, Standing, pack_report
from dither.extensions.protocols.terms import BITS, Terms
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.joint.joint import Coin, Joint


@dataclass(frozen=True)
class Tossed:
    """A device's coins, its standing, and the reason if it tossed without a partner.

    `name` is the device's random name at the collector; it differs from its name at the meeting point. `pair`
    is a text that is the same for both partners, or None. Equal texts of two devices reveal that they are
    partners.
    """

    coins: list[Coin] = field(repr=False)
    standing: Standing
    reason: str = ""
    name: bytes = field(default_factory=partial(SYSTEM.take, NAME), repr=False)
    pair: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.name) != NAME:
            raise InvalidParameter(
                f"expected the name of a device to have {NAME} bytes; leave it out to draw one"
            )


def toss(
    terms: Terms,
    count: int,
    meetings: Sequence[Address],
    *,
    timeout: float = 60.0,
    host: str = "127.0.0.1",
    tls: DeviceTLS | None = None,
    source: Source | None = None,
) -> Tossed:
    """Return coins tossed with the partner from the pairing; without a partner, independent coins.

    `meetings` is one dealer, or three servers; `timeout` is in seconds; `host` is this device's IP address
    for its partner. After an error of another device or a server, this returns independent coins of the same
    p before the timeout. The estimate stays unbiased, and `standing` gives the reason.
    """
    if len(meetings) not in (1, 3):
        raise InvalidParameter("expected one dealer or three servers to enrol at; give one address or three")
    randomness = SYSTEM if source is None else source
    if not randomness.private:
        raise InvalidParameter(
            "expected a private source of the device; use Exchange to toss with a seeded one"
        )
    contexts = DeviceTLS() if tls is None else tls
    deadline = Deadline.after(timeout)
    with _listener(host) as listener:
        here, name = listener.getsockname()[:2], randomness.take(MEETING_NAME)
        try:
            pair = find_place(meetings, name, here, deadline, contexts.servers)
        except ExchangeFailed as error:
            return Tossed(terms.alone(count, source=source), Standing.UNPLACED, str(error))
        if pair is None:
            return Tossed(terms.alone(count, source=source), Standing.ALONE)
        exchange = partial(Exchange, terms, pair.role, count, secret=pair.secret, source=randomness)
        try:
            if pair.role is Role.FIRST:
                coins = _calling(exchange(), pair, deadline, contexts)
            else:
                coins = toss_with_caller(exchange, listener, deadline, contexts)
        except ExchangeFailed as error:
            return Tossed(terms.alone(count, source=source), Standing.LOST, str(error), pair=pair.tag)
        return Tossed(coins, Standing.PAIRED, pair=pair.tag)


def _listener(host: str) -> socket.socket:
    pack_address((host, 1))  # raises an error if no partner could connect
    try:
        return socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError:
        raise InvalidParameter(
            f"expected an IP address of this machine, got {host}; pass another host"
        ) from None


def _calling(exchange: Exchange, pair: DevicePair, deadline: Deadline, tls: DeviceTLS) -> list[Coin]:
    with reach(pair.partner, deadline, tls.partner) as connection:
        run(exchange, connection, deadline)
    return exchange.coins()


class _Answered:
    """The conversation with a connected device, which may be a stranger; each has its own exchange."""

    def __init__(self, exchange: Exchange, ended: list[_Answered]) -> None:
        self.exchange, self.reason = exchange, "the other side hung up"
        self._ended = ended  # receives the conversation with the partner when it is over
        exchange.start()

    def receive(self, data: bytes) -> bytes:
        try:
            return self.exchange.receive(data)
        except ExchangeFailed as error:
            self.reason = str(error)
            raise

    def on_close(self, complete: bool) -> None:
        if complete or self.exchange.agreed:
            self._ended.append(self)
        self.exchange.lose_partner()

    @property
    def known(self) -> bool:
        return self.exchange.agreed

    @property
    def over(self) -> bool:
        return self.exchange.done


def toss_with_caller(
    exchange: Callable[[], Exchange], listener: socket.socket, deadline: Deadline, tls: DeviceTLS
) -> list[Coin]:
    """Return the coins tossed with the device that connects and has the pair's secret."""
    ended: list[_Answered] = []
    with Desk(listener, lambda: _Answered(exchange(), ended), tls=tls.listener) as desk:
        desk.run(lambda: bool(ended), deadline)
    if not ended[0].exchange.done:
        raise ExchangeFailed(ended[0].reason)
    return ended[0].exchange.coins()


def report(
    terms: Terms,
    tossed: Tossed,
    reports: Reports,
    collector: Address,
    *,
    timeout: float = 60.0,
    delay: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Send reports to the collector, and wait at most `timeout` seconds until it has stored them.

    Two partners finish their toss at the same moment. Set `delay` to prevent the collector from recognising
    partners by the time: the device then waits for a uniform random time up to `delay` seconds before it
    connects. A repeated report must be the same as the first. The collector learns whether this device had a
    partner, but not which device.
    """
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0.0 <= delay < 1e9:
        raise InvalidParameter(f"expected a delay to be a number of seconds, 0 or more, got {found(delay)}")
    body = pack_report(tossed.name, terms, tossed.standing, reports.cells)
    Deadline.after(timeout)  # raises an error before any waiting
    time.sleep(delay * int.from_bytes(SYSTEM.take(4), "little") / (1 << 32))
    deadline = Deadline.after(timeout)
    with reach(collector, deadline, tls) as connection:
        tell(connection, Kind.REPORT, body, deadline)
        hear(connection, Kind.THANKS, 0, deadline)


def local_pairs(
    jrr: Joint, n: int | None = None, *, bits: int = BITS, source: Source | None = None
) -> list[Coin]:
    """Return n coins; 0 and 1, 2 and 3, … are partners, and for odd n the last device has no partner.

    All devices are in this process and run the real protocol, with the coins of `Terms(jrr, bits)`. The
    mechanism is for n people, by default the number in `jrr`.
    """
    if not isinstance(jrr, Joint):
        raise InvalidParameter(
            f"expected a JRR or JRR.over(...), whose coins devices toss, got {type(jrr).__name__}"
        )
    people = jrr.n if n is None else n
    check_number(people)
    terms = Terms(replace(jrr, n=people), bits)
    coins: list[Coin] = []
    for _ in range(people // 2):
        first, other = (Exchange(terms, role, source=source) for role in Role)
        converse(first, other)
        coins += first.coins() + other.coins()
    return coins if people % 2 == 0 else coins + terms.alone(source=source)


def converse(first: Exchange, second: Exchange) -> int:
    """Carry messages between two devices until both are done, and return the number of bytes sent."""
    said, carried = second.start() + first.start(), 0
    turns = cycle((second, first))
    while said:
        carried += len(said)
        said = next(turns).receive(said)
    return carried
