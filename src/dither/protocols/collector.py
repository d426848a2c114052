"""The collector's side: reports from devices that may or may not have found a partner, and what they say."""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np

from dither.arrays import Array
from dither.errors import DitherError, ExchangeFailed, InvalidParameter
from dither.estimation.frequency import EstimatedFrequencies, frequencies
from dither.mechanisms.joint.joint import Joint
from dither.privacy import Guarantee
from dither.protocols.device import HEAD, Standing
from dither.protocols.net.messages import Kind
from dither.protocols.net.streams import Deadline, accept, hear, tell
from dither.protocols.terms import Terms
from dither.reports import Reports

_LARGE: Final = 1 << 24
_QUICK: Final = 10.0  # seconds in which whoever connects must have sent their reports


@final
@dataclass(frozen=True, eq=False)
class Collection:
    """What devices sent: a row of reports each, one for every question asked, and how each got its coins."""

    terms: Terms
    cells: Array
    standings: tuple[Standing, ...]
    names: tuple[str, ...] = ()  # drawn at random by the devices, anew for each collection

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.standings) or not len(self.cells):
            raise InvalidParameter("a collection has reports, and how each device got its coins")
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
        """The mechanism that reads these reports: the same reports, but only as many pairs as were formed.

        Two reports are partners' with probability 2·pairs/(n(n−1)); a smaller ρ among n people says that.
        """
        rule, n = self.terms.mechanism, len(self.standings)
        formed = 2 * (self.paired // 2)
        crowd = max(n, 2)
        share = type(rule.correlation)(formed * (crowd + crowd % 2 - 1), crowd * (crowd - 1))
        return replace(rule, rho=rule.correlation * (rule.symbols - 1) * share, n=crowd)

    def frequencies(self, question: int = 0) -> EstimatedFrequencies:
        """Estimate how frequent every category is, from the answers to one of the questions."""
        if not 0 <= question < self.rounds:
            raise InvalidParameter(f"questions are counted from 0 to {self.rounds - 1}")
        told = frequencies(Reports(self.reading, self.cells[:, question]))
        return replace(told, guarantee=self.terms.guarantee)

    @property
    def guarantee(self) -> Guarantee:
        """What each person is promised who gave all these answers; tossing alone never spends more."""
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


def collect(listener: socket.socket, terms: Terms, *, rounds: int = 1, timeout: float = 60.0) -> Collection:
    """Wait until every device has reported, or until the time is over, and take what came.

    What no device could have sent is turned away; of two reports under one name the first counts, and the
    second is thanked for if it is the same.
    """
    deadline = Deadline.after(timeout)
    came: dict[bytes, tuple[Standing, Array]] = {}
    while len(came) < terms.mechanism.n:
        try:
            connection = accept(listener, deadline)
        except ExchangeFailed:
            break
        with connection:
            try:
                name, standing, cells = _read(terms, rounds, _heard(connection, deadline.within(_QUICK)))
                before = came.setdefault(name, (standing, cells))
                if before[0] is standing and np.array_equal(before[1], cells):
                    tell(connection, Kind.THANKS, b"", deadline.within(_QUICK))
            except DitherError:
                continue  # the connection is closed without thanks
    if not came:
        raise ExchangeFailed("no device reported in time")
    rows = np.stack([cells for _, cells in came.values()])
    standings = tuple(standing for standing, _ in came.values())
    return Collection(terms, rows, standings, tuple(name.hex() for name in came))


def _heard(connection: socket.socket, deadline: Deadline) -> bytes:
    return hear(connection, Kind.REPORT, _LARGE, deadline)


def _read(terms: Terms, rounds: int, body: bytes) -> tuple[bytes, Standing, Array]:
    rule = terms.mechanism
    if len(body) != HEAD.size + rounds * rule.layout.itemsize:
        raise ExchangeFailed("a device reports once for each question")
    name, digest, standing = HEAD.unpack_from(body)
    if digest != terms.digest or standing not in set(Standing):
        raise ExchangeFailed("the device answers another question, or tossed otherwise")
    flat = np.frombuffer(body, dtype=rule.layout.base, offset=HEAD.size)
    return name, Standing(standing), rule.reports(flat.reshape(rounds, *rule.layout.shape)).cells
