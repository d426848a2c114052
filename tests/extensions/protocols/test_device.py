"""Devices over TCP on this machine: they find each other, toss, report; and get by if somebody vanishes."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

import dither as dt
from dither import results
from dither.errors import ExchangeFailed
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.device import report
from dither.extensions.protocols.exchange import Deadline, run
from dither.extensions.protocols.messages import NO_EXCHANGE, Kind, pack
from dither.extensions.protocols.rendezvous import DevicePair, dealer, find_place, seat
from dither.results import Standing
from tests.extensions.protocols.network import at, beside, listening

pytest.importorskip("nacl")
JRR = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=4)
TERMS = Terms(JRR, bits=4)


# --- a whole small collection ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5])
def test_a_collection(n: int) -> None:
    jrr = dt.JRR(JRR.domain, p=0.7, rho=-0.4, n=n)
    terms, answers = Terms(jrr, bits=4), ["yes", "no", "yes"]

    def one(number: int) -> results.Tossed:
        tossed = protocols.toss(terms, 3, [at(meeting)], timeout=20)
        told = [coin.apply(answer) for coin, answer in zip(tossed.coins, answers, strict=True)]
        report(terms, tossed, dt.Reports.concatenate(told), at(desk), timeout=20)
        return tossed

    with (
        listening() as meeting,
        listening() as desk,
        ThreadPoolExecutor(n + 2) as pool,
    ):
        seated = pool.submit(seat, meeting, n, dealer, Deadline.after(20))
        collected = pool.submit(protocols.collect, desk, terms, rounds=3, timeout=20)
        outcomes = list(pool.map(one, range(n)))
        came = collected.result()
        assert seated.result() == n
    assert came.cells.shape == (n, 3)
    assert came.paired == n - n % 2
    pairs = [one.pair for one in outcomes if one.pair is not None]
    assert len(pairs) == n - n % 2
    assert all(pairs.count(pair) == 2 for pair in pairs)
    assert set(came.names) == {one.name.hex() for one in outcomes}
    assert list(came.names) == sorted(came.names)  # not in the order of arrival, which could show partners
    assert sum(one.standing is Standing.ALONE for one in outcomes) == n % 2
    told = came.frequencies(2)
    assert told.n == n
    assert told.guarantee == terms.guarantee
    assert came.guarantee.epsilon == pytest.approx(3 * terms.guarantee.epsilon)
    assert ("had no partner" in str(came)) == (n % 2 == 1)
    assert "plain randomized response" in str(came) or n % 2 == 0


# --- somebody vanishes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "hello", "middle", "silent"])
def test_a_partner_that_vanishes(when: str) -> None:
    """The other device tosses alone and says so; it does not wait for a partner that stays silent."""
    tossed_alone, waited_for = threading.Event(), []

    def vanishing(pair: DevicePair, here: socket.socket) -> None:
        if when == "before":
            here.close()
            return
        exchange = Exchange(TERMS, pair.role, 2, secret=pair.secret)
        first = pair.role is Role.FIRST
        connection = socket.create_connection(pair.partner) if first else here.accept()[0]
        with connection:
            connection.settimeout(5)
            connection.sendall(exchange.start())
            if when == "silent":
                waited_for.append(not tossed_alone.wait(15))
            if when == "middle":
                for _ in range(2):
                    connection.sendall(exchange.receive(connection.recv(1 << 16)))

    def leave() -> None:
        with listening() as here:
            pair = find_place([at(meeting)], b"a" * 16, at(here), Deadline.after(5))
            assert pair is not None
            vanishing(pair, here)

    with (
        listening() as meeting,
        beside(lambda: seat(meeting, 2, dealer, Deadline.after(5))),
        beside(leave),
    ):
        tossed = protocols.toss(TERMS, 2, [at(meeting)], timeout=2)
        tossed_alone.set()
    assert waited_for == ([False] if when == "silent" else [])
    assert tossed.standing is Standing.LOST
    assert tossed.reason
    assert len(tossed.coins) == 2
    assert "coins" not in repr(tossed)


def test_a_device_without_a_dealer_tosses_without_a_partner() -> None:
    with listening() as nobody:
        address = at(nobody)
    tossed = protocols.toss(TERMS, 1, [address], timeout=0.3)
    assert tossed.standing is Standing.UNPLACED
    with listening() as meeting:
        assert protocols.toss(TERMS, 1, [at(meeting)], timeout=0.3).standing is Standing.UNPLACED
        with pytest.raises(ExchangeFailed, match="in time"):
            seat(meeting, 3, dealer, Deadline.after(0.3))


def test_strangers_do_not_spoil_a_toss() -> None:
    """Whoever connects to a waiting device and is not its partner is ignored, also while it stays."""
    with listening() as here, ExitStack() as open_:
        secret = bytes(range(32))

        def partner() -> list[dt.jrr.Coin]:
            for noise in (b"GET / HTTP/1.1\r\n\r\n", b"", pack(Kind.HELLO, 0, NO_EXCHANGE, bytes(70)), b"dj"):
                open_.enter_context(socket.create_connection(at(here))).sendall(noise)
            exchange = Exchange(TERMS, Role.FIRST, secret=secret)
            with socket.create_connection(at(here)) as connection:
                run(exchange, connection, Deadline.after(5))
            return exchange.coins()

        def exchange() -> Exchange:
            return Exchange(TERMS, Role.SECOND, secret=secret)

        with beside(partner) as result:
            coins = protocols.device.toss_with_caller(
                exchange, here, Deadline.after(5), protocols.DeviceTLS()
            )
        assert len(coins) == 1
        assert len(result[0]) == 1


def test_a_slow_partner_does_not_hang_a_device() -> None:
    """One byte at a time, for ever: the time is over all the same."""
    ours, theirs = socket.socketpair()
    stop = threading.Event()

    def drip() -> None:
        for byte in pack(Kind.HELLO, 0, NO_EXCHANGE, bytes(70)):
            if stop.wait(0.1):
                return
            theirs.sendall(bytes([byte]))

    with ours, theirs, beside(drip):
        exchange = Exchange(TERMS, Role.SECOND)
        with pytest.raises(ExchangeFailed, match="in time"):
            run(exchange, ours, Deadline.after(0.5))
        stop.set()
        with pytest.raises(ExchangeFailed):
            exchange.coins()


@pytest.mark.slow
def test_nothing_is_drawn_again_after_a_restart_or_in_a_child() -> None:
    """Two processes and a child of each begin an exchange: four nonces, four keys, four queries."""
    code = """
import os
import dither as dt
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.transfer import TableReceiver, TableSender
session, system = bytes(32), dt.randomness.SYSTEM
terms = Terms(dt.JRR(dt.Categories(2), p=0.7, rho=-0.4, n=2), bits=4)
Exchange(terms, Role.FIRST).start(), TableSender(4, session, system)  # something was drawn before the fork
child = os.fork()
sender = TableSender(4, session, system)
receiver = TableReceiver(4, session, sender.public, system)
parts = Exchange(terms, Role.FIRST).start(), sender.public, receiver.query([3])
os.write(1, (" ".join(part.hex() for part in parts) + chr(10)).encode())
if child:
    os.waitpid(child, 0)
"""
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(2)]
    lines = [line.split() for done in runs for line in done.stdout.splitlines()]
    assert len(lines) == 4, runs[0].stderr
    for same in zip(*lines, strict=True):
        assert len(set(same)) == 4
