"""Devices over TCP on this machine: they find each other, toss, report; and get by if somebody vanishes."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither import results
from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.device import read_report, report
from dither.extensions.protocols.exchange import Deadline, run
from dither.extensions.protocols.messages import NO_EXCHANGE, Kind, pack
from dither.extensions.protocols.rendezvous import DevicePair, dealer, find_place, seat
from dither.results import Collection, Standing
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
    assert ("stayed alone" in str(came)) == (n % 2 == 1)
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


def test_nobody_pairs() -> None:
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


@pytest.mark.slow
@pytest.mark.slow
def test_estimates_stay_unbiased_and_their_errors_right_whoever_vanishes() -> None:
    """Of 60 people some toss alone: the mean over many collections is the truth, the error the real one."""
    n, formed, size = 60, 10, 1_000
    jrr = dt.JRR(JRR.domain, p=Fraction(7, 10), rho=Fraction(-2, 5), n=n)
    terms = Terms(jrr, bits=10)
    source, holders = dt.Seeded(8), 57
    standings = (Standing.PAIRED,) * (2 * formed) + (Standing.LOST,) * (n - 2 * formed)
    values = np.array([1] * holders + [0] * (n - holders))
    told = []
    for _ in range(size):
        order = source.permutation(n)  # partners, and who loses one, do not depend on answers
        coins = np.empty(n, dtype=bool)
        coins[: 2 * formed] = terms.mechanism.pairs.draw(formed, source).reshape(-1)
        coins[2 * formed :] = [coin.truthful[0] for coin in terms.alone(n - 2 * formed, source=source)]
        cells = np.where(coins, values[order], 1 - values[order]).astype(np.uint8)
        told.append(float(Collection(terms, cells[:, None], standings).frequencies()["yes"].value))
    came = Collection(terms, cells[:, None], standings)
    variance = came.reading.count_variance(holders) / n**2
    assert abs(np.mean(told) - holders / n) < 4.9 * np.sqrt(variance / size)
    spread = np.sqrt(2.0 / size) * 4.9
    assert abs(np.var(told) / variance - 1.0) < spread
    full = terms.mechanism.count_variance(holders) / n**2
    assert abs(np.var(told) / full - 1.0) > spread  # as if all pairs had been formed: rejected


# --- what must not come in ---------------------------------------------------------------------------------


def test_the_collector_takes_each_device_once() -> None:
    jrr = dt.JRR(JRR.domain, p=0.7, rho=-0.4, n=2)
    terms = Terms(jrr, bits=4)
    tossed, other = (results.Tossed(terms.alone(1), Standing.ALONE, name=name * 16) for name in (b"a", b"b"))
    truth, lie = (terms.mechanism.reports(np.array([cell], dtype=np.uint8)) for cell in (0, 1))
    with listening() as desk, beside(lambda: protocols.collect(desk, terms, timeout=10)) as result:
        report(terms, tossed, truth, at(desk), timeout=5)
        report(terms, tossed, truth, at(desk), timeout=5)  # sent again: thanked again
        with pytest.raises(ExchangeFailed):
            report(terms, tossed, lie, at(desk), timeout=5)  # not another one
        with pytest.raises(ExchangeFailed):
            report(Terms(jrr, bits=5), other, lie, at(desk), timeout=5)
        report(terms, other, lie, at(desk), timeout=5)
    (came,) = result
    assert came.cells.tolist() == [[0], [1]]


def test_a_collection_that_nobody_joins() -> None:
    with listening() as desk, pytest.raises(ExchangeFailed, match="no device"):
        protocols.collect(desk, TERMS, timeout=0.2)


@given(st.binary(min_size=2, max_size=2), st.integers(0, 255))
def test_reports_that_no_device_could_send_are_refused(cells: bytes, standing: int) -> None:
    body = b"n" * 16 + TERMS.digest + bytes([standing]) + cells
    if standing < 4 and max(cells) < 2:
        assert read_report(TERMS, 2, body)[2].tolist() == list(cells)
    else:
        with pytest.raises((ExchangeFailed, dt.errors.MalformedReport)):
            read_report(TERMS, 2, body)


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="one dealer or at three"):
        protocols.toss(TERMS, 1, [("127.0.0.1", 1)] * 2)
    with pytest.raises(InvalidParameter, match="private source"):
        protocols.toss(TERMS, 1, [("127.0.0.1", 1)], source=dt.Seeded(1))
    for host in ("0.0.0.0", "::", "localhost", "fe80::1%lo"):
        with pytest.raises(InvalidParameter, match="its partner can reach"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], host=host)
    for host in ("203.0.113.1", "2001:db8::1"):
        with pytest.raises(InvalidParameter, match="does not belong to this machine"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], host=host)
    with pytest.raises(InvalidParameter, match="16 bytes"):
        results.Tossed(TERMS.alone(1), Standing.ALONE, name=b"x" * 17)
    alone = results.Tossed(TERMS.alone(1), Standing.ALONE)
    for delay in (-1, float("nan"), True, "1"):
        with pytest.raises(InvalidParameter, match="delay"):
            report(TERMS, alone, TERMS.mechanism.reports([0]), ("127.0.0.1", 1), delay=delay)
    for timeout in (0, -1, float("nan"), "5", True):
        with pytest.raises(InvalidParameter, match="timeout"):
            protocols.toss(TERMS, 1, [("127.0.0.1", 1)], timeout=timeout)
    with pytest.raises(InvalidParameter, match="more have reported"):
        Collection(TERMS, np.zeros((5, 1), dtype=np.uint8), (Standing.ALONE,) * 5)
    with pytest.raises(InvalidParameter, match="a standing for each device"):
        Collection(TERMS, np.zeros((2, 1), dtype=np.uint8), (Standing.ALONE,))
    came = Collection(TERMS, np.zeros((1, 1), dtype=np.uint8), (Standing.ALONE,))
    assert came.frequencies().n == 1
    with pytest.raises(InvalidParameter, match="from 0 to 0"):
        came.frequencies(1)
