"""The collector: receives the reports of devices with and without partners, and estimates from them.

The body of a REPORT: what a device sends to the collector.

    name 16 · digest of the terms 32 · standing 1 · reports

Sizes are in bytes. The reports are those of all questions, in order, each as many bytes as the mechanism's
layout says. Their integers are little endian, whatever the byte order of the machine.
"""

from __future__ import annotations

import socket
import ssl
import struct
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, Final

import numpy as np

from dither.arrays import Array
from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.estimation.frequency import EstimatedFrequencies, frequencies
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee
from dither.protocols.exchange import Deadline
from dither.protocols.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack
from dither.protocols.rendezvous import STRANGERS, Desk
from dither.protocols.terms import Terms
from dither.reports import Reports

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
        parts = [f"{self.standings.count(one)} {text}" for one, text in told.items() if one in self.standings]
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

    def closed(self, complete: bool) -> None:
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
