"""Messages between devices, servers and collectors, changed at random."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.fuzz import mutations
from tests.fuzz.limits import MANY, SOME, fuzz

pytest.importorskip("nacl")

from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.messages import NO_EXCHANGE, ExpectedMessage, Kind, Reader, pack
from dither.extensions.protocols.report_body import pack_report, read_report
from dither.results import Standing


@cache
def terms() -> Terms:
    return Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2), bits=4)


def message(random: Random) -> None:
    """A reader that waits for one message gets another, in pieces."""
    body = random.randbytes(random.choice((0, 1, 20)))
    data = mutations.bits(pack(Kind.REPORT, 1, NO_EXCHANGE, body), random)
    reader, expected = Reader(), ExpectedMessage(Kind.REPORT, 1, NO_EXCHANGE, 0, 20)
    cut = random.randrange(len(data) + 1)
    for piece in (data[:cut], data[cut:]):
        reader.feed(piece)
        taken = reader.take(expected)
        if taken is not None:
            assert len(taken) <= 20
            return


def report(random: Random) -> None:
    cells = np.array([[1], [0]], dtype=terms().mechanism.question.layout.base).reshape(
        2, *terms().mechanism.question.layout.shape
    )
    body = pack_report(bytes(16), terms(), Standing.PAIRED, cells)
    _, _, read = read_report(terms(), 2, mutations.bits(body, random))
    assert read.max() < 2


def exchange(random: Random) -> None:
    """One of two devices sends changed bytes; the other ends with an error, or never notices."""
    first, second = (Exchange(terms(), role, 1) for role in (Role.FIRST, Role.SECOND))
    sides: list[Any] = [first, second]
    waiting = [first.start(), second.start()]
    damaged = random.randrange(8)
    for turn in range(16):
        side = turn % 2
        data, waiting[1 - side] = waiting[1 - side], b""
        if turn == damaged:
            data = mutations.bits(data, random)
        waiting[side] += sides[side].receive(data)


WAYS = {"message": message, "report": report, "exchange": exchange}


@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out_of_messages(way: str) -> None:
    fuzz(WAYS[way], SOME)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out_of_very_many_messages(way: str) -> None:
    fuzz(WAYS[way], MANY)


def test_an_exchange_without_damage_ends_with_coins() -> None:
    """The test above begins at an exchange that works."""
    first, second = (Exchange(terms(), role, 1) for role in (Role.FIRST, Role.SECOND))
    to_second, to_first = first.start(), second.start()
    for _ in range(10):
        to_second, to_first = first.receive(to_first), second.receive(to_second)
    assert first.done
    assert second.done
