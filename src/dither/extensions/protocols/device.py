"""The part of a device in the protocol, and a run of all devices in one process.

The collector: receives the reports of devices with and without partners, and estimates from them.

The body of a REPORT: what a device sends to the collector.

    name 16 · digest of the terms 32 · standing 1 · reports

Sizes are in bytes. The reports are those of all questions, in order, each as many bytes as the mechanism's
layout says. Their integers are little endian, whatever the byte order of the machine.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, partial
from itertools import cycle
from typing import Any, Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.estimation.frequency import EstimatedFrequencies, frequencies
from dither.extensions.protocols.exchange import Deadline, Exchange, Role, hear, reach, run, tell
from dither.extensions.protocols.messages import (
    BITS,
    NO_EXCHANGE,
    Address,
    DeviceTLS,
    ExpectedMessage,
    Kind,
    Reader,
    Terms,
    check_number,
    pack,
    pack_address,
)
from dither.extensions.protocols.rendezvous import MEETING_NAME, STRANGERS, Desk, DevicePair, find_place
from dither.foundation.arrays import Array
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.joint.joint import Coin, Joint
from dither.privacy import Guarantee

NAME: Final = 16  # bytes of a device's name
_HEAD: Final = struct.Struct("<16s32sB")


class Standing(IntEnum):
    """How a device got its coins. Without a partner they are those of plain randomized response."""

    PAIRED = 0  # tossed with a partner
    ALONE = 1  # the number of devices was odd, and this one was left over
    LOST = 2  # the partner was not there, vanished, or did not follow the protocol
    UNPLACED = 3  # nobody named a partner


def report_size(terms: Terms, rounds: int) -> int:
    """Return the number of bytes of a body with one report for each of `rounds` questions."""
    return _HEAD.size + rounds * terms.mechanism.layout.itemsize


def pack_report(name: bytes, terms: Terms, standing: Standing, cells: Array) -> bytes:
    """Return the body with these reports, `cells` having one row for each question."""
    if len(name) != NAME:
        raise InvalidParameter(f"the name of a device has {NAME} bytes")
    return _HEAD.pack(name, terms.digest, standing) + cells.astype(_travelling(terms.mechanism)).tobytes()


def read_report(terms: Terms, rounds: int, body: bytes) -> tuple[bytes, Standing, Array]:
    """Return name, standing and checked reports; raise a DitherError if no device could have sent them."""
    rule = terms.mechanism
    if len(body) != report_size(terms, rounds):
        raise ExchangeFailed("a device sends one report for each question")
    name, digest, standing = _HEAD.unpack_from(body)
    if digest != terms.digest or standing not in set(Standing):
        raise ExchangeFailed("the device answers another question, or has an unknown standing")
    flat = np.frombuffer(body, dtype=_travelling(rule), offset=_HEAD.size).astype(rule.layout.base)
    return name, Standing(standing), rule.reports(flat.reshape(rounds, *rule.layout.shape)).cells


def _travelling(rule: Joint) -> np.dtype[Any]:
    """Return the type of one integer of a report on the wire."""
    return rule.layout.base.newbyteorder("<")


_QUICK: Final = 10.0  # seconds within which a device that has connected must have sent its reports


@dataclass(frozen=True, eq=False)
class Collection:
    """The reports of all devices, a row each with one report for every question, and their standings."""

    terms: Terms
    cells: Array
    standings: tuple[Standing, ...]
    names: tuple[str, ...] = ()  # drawn at random by the devices, anew for each collection

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.standings) or not len(self.cells):
            raise InvalidParameter("a collection has a row of reports and a standing for each device")
        if len(self.cells) > self.terms.mechanism.n:
            raise InvalidParameter(f"these coins are for {self.terms.mechanism.n} people; more have reported")

    @property
    def rounds(self) -> int:
        """How many answers each device gave."""
        return int(self.cells.shape[1])

    @property
    def paired(self) -> int:
        """How many devices tossed with a partner."""
        return self.standings.count(Standing.PAIRED)

    @cached_property
    def reading(self) -> Joint:
        """The mechanism for estimation: the same reports, with as many pairs as were formed.

        Two of n reports are partners' with probability 2·pairs/(n(n−1)). This mechanism has n people and a ρ
        that is smaller in the same proportion.
        """
        rule, n = self.terms.mechanism, len(self.standings)
        formed = 2 * (self.paired // 2)
        crowd = max(n, 2)
        share = type(rule.correlation)(formed * (crowd + crowd % 2 - 1), crowd * (crowd - 1))
        return replace(rule, rho=rule.correlation * (rule.symbols - 1) * share, n=crowd)

    def frequencies(self, question: int = 0) -> EstimatedFrequencies:
        """Estimate the frequency of every category from the answers to one question, counted from 0."""
        if not 0 <= question < self.rounds:
            raise InvalidParameter(
                f"questions are counted from 0 to {self.rounds - 1}; there is no question {found(question)}"
            )
        told = frequencies(Reports(self.reading.question, self.cells[:, question]))
        return replace(told, guarantee=self.terms.guarantee)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who gave all these answers; without a partner it is no larger."""
        return self.terms.guarantee.repeated(self.rounds)

    def __str__(self) -> str:
        told = {
            Standing.PAIRED: "tossed with a partner",
            Standing.ALONE: "stayed alone, their number being odd",
            Standing.LOST: "lost their partner",
            Standing.UNPLACED: "were told of no partner",
        }
        parts = [
            f"{self.standings.count(standing)} {text}"
            for standing, text in told.items()
            if standing in self.standings
        ]
        plain = "" if self.paired == len(self.standings) else "; without a partner: plain randomized response"
        return f"{len(self.standings)} devices of {self.terms.mechanism.n}: {', '.join(parts)}{plain}"


class _Delivery:
    """The conversation with one device: its REPORT, and THANKS once the reports are stored."""

    known = False  # a device sends everything at once, so it needs no more time than a stranger

    def __init__(self, terms: Terms, rounds: int, came: dict[bytes, tuple[Standing, Array]]) -> None:
        self._terms, self._rounds, self._came = terms, rounds, came
        self._reader, self.over = Reader(), False

    def receive(self, data: bytes) -> bytes:
        self._reader.feed(data)
        size = report_size(self._terms, self._rounds)
        body = self._reader.take(ExpectedMessage(Kind.REPORT, 0, NO_EXCHANGE, size, size))
        if body is None:
            return b""
        self._reader.finish()
        name, standing, cells = read_report(self._terms, self._rounds, body)
        if name not in self._came and len(self._came) == self._terms.mechanism.n:
            raise ExchangeFailed("every device has reported already")
        before = self._came.setdefault(name, (standing, cells))
        if before[0] is not standing or not np.array_equal(before[1], cells):
            raise ExchangeFailed("this device has sent other reports before")
        self.over = True
        return pack(Kind.THANKS, 0, NO_EXCHANGE, b"")

    def on_close(self, complete: bool) -> None:
        pass


def collect(
    listener: socket.socket,
    terms: Terms,
    *,
    rounds: int = 1,
    timeout: float = 60.0,
    tls: ssl.SSLContext | None = None,
    strangers: int = STRANGERS,
    patience: float = _QUICK,
) -> Collection:
    """Wait until every device has reported, or for `timeout` seconds, and return what came.

    Reports that no device could have sent are refused: the device sees the connection closed without THANKS.
    Of two reports under one name the first counts. The second is acknowledged if it is the same, and refused
    otherwise. A connection without a whole report after `patience` seconds is closed, and so is the oldest of
    more than `strangers` connections. Rows are in the order of the devices' random names, not of arrival.
    """
    deadline = Deadline.after(timeout)
    came: dict[bytes, tuple[Standing, Array]] = {}
    with (
        Desk(
            listener,
            lambda: _Delivery(terms, rounds, came),
            tls=tls,
            strangers=strangers,
            patience=patience,
        ) as desk,
        suppress(ExchangeFailed),
    ):
        desk.run(lambda: len(came) == terms.mechanism.n, deadline)
    if not came:
        raise ExchangeFailed("no device reported in time")
    names = sorted(came)
    rows = np.stack([came[name][1] for name in names])
    standings = tuple(came[name][0] for name in names)
    return Collection(terms, rows, standings, tuple(name.hex() for name in names))


@dataclass(frozen=True)
class Tossed:
    """A device's coins, its standing, and why it tossed alone if it did.

    `name` is the device's name at the collector. It is random, and not the name at the meeting point. `pair`
    is a text that is the same for both partners, or None; whoever sees it for two devices knows that they are
    partners.
    """

    coins: list[Coin] = field(repr=False)
    standing: Standing
    reason: str = ""
    name: bytes = field(default_factory=partial(SYSTEM.take, NAME), repr=False)
    pair: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.name) != NAME:
            raise InvalidParameter(f"the name of a device has {NAME} bytes")


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
    """Return coins tossed with the partner that the pairing names; without a partner, coins tossed alone.

    `meetings` is one dealer, or three servers; `timeout` is in seconds; `host` is this device's IP address,
    at which its partner can reach it. If anything goes wrong with other devices, this returns before the
    timeout with coins tossed alone, of the same p. The estimate stays unbiased, and `standing` says what
    happened.
    """
    if len(meetings) not in (1, 3):
        raise InvalidParameter("a device enrols at one dealer or at three servers")
    randomness = SYSTEM if source is None else source
    if not randomness.private:
        raise InvalidParameter("devices toss with a private source; use Exchange to toss with a seeded one")
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
    pack_address((host, 1))  # raises if a partner could not connect
    try:
        return socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError:
        raise InvalidParameter(f"the IP address {host} does not belong to this machine") from None


def _calling(exchange: Exchange, pair: DevicePair, deadline: Deadline, tls: DeviceTLS) -> list[Coin]:
    with reach(pair.partner, deadline, tls.partner) as connection:
        run(exchange, connection, deadline)
    return exchange.coins()


class _Answered:
    """The conversation with whoever connects: maybe a stranger, so each has its own exchange and secrets."""

    def __init__(self, exchange: Exchange, ended: list[_Answered]) -> None:
        self.exchange, self.reason = exchange, "the other side hung up"
        self._ended = ended  # takes the conversation with the partner when it is over
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
    """Return the coins tossed with the one who connects and has the pair's secret."""
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

    Two partners finish their toss at the same moment. So that the collector cannot tell partners by the time,
    set `delay`: the device then waits for a random time, uniform from 0 to `delay` seconds, and connects.
    Reports that are sent again must be the same. The collector learns whether this device had a partner, not
    which.
    """
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0.0 <= delay < 1e9:
        raise InvalidParameter(f"a delay is a number of seconds, 0 or more, not {found(delay)}")
    body = pack_report(tossed.name, terms, tossed.standing, reports.cells)
    Deadline.after(timeout)  # raises before anything is waited for
    time.sleep(delay * int.from_bytes(SYSTEM.take(4), "little") / (1 << 32))
    deadline = Deadline.after(timeout)
    with reach(collector, deadline, tls) as connection:
        tell(connection, Kind.REPORT, body, deadline)
        hear(connection, Kind.THANKS, 0, deadline)


def local_pairs(
    jrr: Joint, n: int | None = None, *, bits: int = BITS, source: Source | None = None
) -> list[Coin]:
    """Return n coins, partners next to each other: 0 and 1, 2 and 3, …; if n is odd, the last is alone.

    All devices are in this process and run the real protocol. The coins are those of `Terms(jrr, bits)`.
    Their mechanism is for n people, by default as many as `jrr` is for.
    """
    if not isinstance(jrr, Joint):
        raise InvalidParameter(f"devices toss for a JRR or JRR.over(...), not {type(jrr).__name__}")
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
    """Carry messages between two devices until both are done, and return the number of bytes."""
    said, carried = second.start() + first.start(), 0
    turns = cycle((second, first))
    while said:
        carried += len(said)
        said = next(turns).receive(said)
    return carried
