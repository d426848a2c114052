"""The collector: receives the reports of devices with and without partners, and estimates from them."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import ExchangeFailed, InvalidParameter, found
from dither.estimation.frequency import EstimatedFrequencies
from dither.estimation.verbs import frequencies
from dither.extensions.protocols.exchange import Deadline
from dither.extensions.protocols.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack
from dither.extensions.protocols.rendezvous import STRANGERS, Desk
from dither.extensions.protocols.report_body import Standing, read_report, report_size
from dither.extensions.protocols.terms import Terms
from dither.foundation.arrays import Array
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee

_QUICK: Final = 10.0  # seconds in which a connected device must send its reports


@dataclass(frozen=True, eq=False)
class Collection:
    """The reports of all devices, one row a device and one column a question, and their standings."""

    terms: Terms
    cells: Array
    standings: tuple[Standing, ...]
    names: tuple[str, ...] = ()  # drawn at random by the devices, anew for each collection

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.standings) or not len(self.cells):
            raise InvalidParameter(
                "expected one row of reports and one standing for each device; give both the same length"
            )
        if len(self.cells) > self.terms.mechanism.n:
            raise InvalidParameter(
                f"expected reports of at most {self.terms.mechanism.n} people, for whom these coins "
                "are; "
                "remove the others"
            )

    @property
    def rounds(self) -> int:
        """The number of answers of each device."""
        return int(self.cells.shape[1])

    @property
    def paired(self) -> int:
        """The number of devices that tossed with a partner."""
        return self.standings.count(Standing.PAIRED)

    @cached_property
    def reading(self) -> Joint:
        """The mechanism for estimation: the same reports, with the number of formed pairs.

        Two of n reports come from partners with probability 2·pairs/(n(n−1)). This mechanism has n people and
        a ρ that is smaller in the same proportion.
        """
        rule, n = self.terms.mechanism, len(self.standings)
        formed = 2 * (self.paired // 2)
        crowd = max(n, 2)
        share = type(rule.correlation)(formed * (crowd + crowd % 2 - 1), crowd * (crowd - 1))
        return replace(rule, rho=rule.correlation * (rule.symbols - 1) * share, n=crowd)

    def frequencies(self, question: int = 0) -> EstimatedFrequencies:
        """Estimate the frequency of every category from the answers to one question, counted from 0."""
        if not 0 <= question < self.rounds:
            raise InvalidParameter(f"expected a question from 0 to {self.rounds - 1}, got {found(question)}")
        reported = frequencies(Reports(self.reading.question, self.cells[:, question]))
        return replace(reported, guarantee=self.terms.guarantee)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who gave all these answers; it also holds without a partner."""
        return self.terms.guarantee.repeated(self.rounds)

    def __str__(self) -> str:
        facts = {
            Standing.PAIRED: "tossed with a partner",
            Standing.ALONE: "had no partner because the number is odd",
            Standing.LOST: "lost their partner",
            Standing.UNPLACED: "received no partner",
        }
        parts = [
            f"{self.standings.count(standing)} {text}"
            for standing, text in facts.items()
            if standing in self.standings
        ]
        plain = "" if self.paired == len(self.standings) else "; without a partner: plain randomized response"
        return f"{len(self.standings)} devices of {self.terms.mechanism.n}: {', '.join(parts)}{plain}"


class _Delivery:
    """The conversation with one device: its REPORT, and THANKS once the reports are stored."""

    known = False  # no more time than for a stranger: a device sends everything at once

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
            raise ExchangeFailed(
                f"expected reports of {self._terms.mechanism.n} devices, got one more; start another round"
            )
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
    """Return the reports when every device has reported, or after `timeout` seconds.

    Reports that no device could have sent are refused: the connection is closed without THANKS. Of two
    reports under one name the first counts. The second is acknowledged if it is the same, and refused
    otherwise. A connection without a complete report after `patience` seconds is closed, and so is the oldest
    of more than `strangers` connections. Rows are in the order of the devices' random names, not of arrival.
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
