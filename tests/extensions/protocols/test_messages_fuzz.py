"""Mutated messages on every connection: refused with an error of dither, in time, and nobody is disturbed."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dither as dt
from dither.errors import DitherError, ExchangeFailed
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.exchange import Deadline
from dither.extensions.protocols.messages import (
    NO_EXCHANGE,
    ExpectedMessage,
    Kind,
    Reader,
    pack,
    pack_address,
    read_address,
)
from dither.extensions.protocols.rendezvous import (
    DevicePair,
    dealer,
    find_place,
    pack_dealt,
    read_dealt,
    read_enrol,
    read_shared,
    seat,
)
from dither.extensions.protocols.report_body import pack_report, read_report
from dither.results import Standing
from tests.extensions.protocols.network import at, beside, listening

pytest.importorskip("nacl")
TERMS = Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2), bits=4)
ENROL = b"e" * 16 + pack_address(("127.0.0.1", 9))
PLACE = pack_dealt(DevicePair(Role.FIRST, ("127.0.0.1", 9), bytes(range(32))))
SHARES = bytes(64)
REPORT = pack_report(b"r" * 16, TERMS, Standing.ALONE, np.zeros(1, dtype=np.uint8))
SECONDS = 20.0
TIMES = 300


def mutated(message: bytes, draw: random.Random) -> bytes:
    """Return a message that was changed, cut, extended, repeated or replaced."""
    changed = bytearray(message)
    for _ in range(draw.choice((1, 1, 2, 5))):
        spot = draw.randrange(len(changed))
        way = draw.randrange(6)
        if way == 0:
            changed[spot] ^= 1 << draw.randrange(8)
        elif way == 1:
            changed[spot] = draw.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif way == 2:
            del changed[spot + 1 :]
        elif way == 3:
            changed += draw.randbytes(draw.choice((1, 40)))
        elif way == 4:
            changed[spot:spot] = changed[:spot][-20:]
        else:
            changed[spot:] = draw.randbytes(len(changed) - spot)
    return bytes(changed)


PARSERS: dict[str, tuple[bytes, Callable[[bytes], object]]] = {
    "enrol": (ENROL, read_enrol),
    "place": (PLACE, read_dealt),
    "shares": (SHARES, lambda body: read_shared([body, SHARES, SHARES])),
    "address": (ENROL[16:], read_address),
    "report": (REPORT, lambda body: read_report(TERMS, 1, body)),
}


@pytest.mark.parametrize("name", PARSERS)
def test_mutated_bodies_are_read_or_refused(name: str) -> None:
    whole, parse = PARSERS[name]
    parse(whole)
    draw, refused = random.Random(name), 0
    for _ in range(TIMES):
        try:
            parse(mutated(whole, draw))
        except DitherError:
            refused += 1
    assert refused > TIMES // 4


@settings(max_examples=60)
@given(st.binary(max_size=100), st.sampled_from(sorted(PARSERS)))
def test_random_bytes_are_refused_as_bodies(noise: bytes, name: str) -> None:
    whole, parse = PARSERS[name]
    if len(noise) == len(whole):
        noise += b"\0"
    with pytest.raises(ExchangeFailed):
        parse(noise)


def test_mutated_messages_are_read_or_refused() -> None:
    """Whatever arrives, in whatever pieces: the expected body, a wait for more bytes, or ExchangeFailed."""
    draw, outcomes = random.Random(3), set()
    whole = pack(Kind.ENROL, 0, NO_EXCHANGE, ENROL)
    for _ in range(TIMES):
        data, reader, at_ = mutated(whole, draw), Reader(), 0
        try:
            while at_ < len(data):
                size = draw.choice((1, 7, 1000))
                reader.feed(data[at_ : at_ + size])
                at_ += size
                body = reader.take(ExpectedMessage(Kind.ENROL, 0, NO_EXCHANGE, len(ENROL), len(ENROL)))
                if body is not None:
                    assert len(body) == len(ENROL)
                    reader.finish()
                    break
            outcomes.add("read" if body is not None else "waits")
        except ExchangeFailed:
            outcomes.add("refused")
    assert outcomes == {"read", "waits", "refused"}


def throw(address: tuple[str, int], message: bytes, seed: int, times: int) -> None:
    """Send mutated messages, each on a connection of its own, and do not wait for answers."""
    draw = random.Random(seed)
    with ExitStack() as open_:
        for number in range(times):
            connection = open_.enter_context(socket.create_connection(address, timeout=SECONDS))
            with suppress(OSError):
                connection.sendall(mutated(message, draw))
                if number % 3 == 0:
                    connection.close()


def test_a_collection_beside_mutated_messages() -> None:
    """Mutated ENROLs go to the meeting point and mutated REPORTs to the collector, while two devices toss.

    A mutated name or address is a device to the meeting point, and a mutated name a report to the collector:
    these mutations spare both.
    """
    head = pack(Kind.ENROL, 0, NO_EXCHANGE, ENROL)[:22], pack(Kind.REPORT, 0, NO_EXCHANGE, REPORT)[:22]

    def device() -> Standing:
        tossed = protocols.toss(TERMS, 1, [at(meeting)], timeout=SECONDS)
        protocols.report(TERMS, tossed, tossed.coins[0].apply("yes"), at(desk), timeout=SECONDS)
        return tossed.standing

    with listening() as meeting, listening() as desk, ThreadPoolExecutor(6) as pool:
        seated = pool.submit(seat, meeting, 2, dealer, Deadline.after(SECONDS), patience=2.0)
        collected = pool.submit(protocols.collect, desk, TERMS, timeout=SECONDS, patience=2.0)
        thrown = [
            pool.submit(throw, at(meeting), head[0], 1, 120),
            pool.submit(throw, at(desk), head[1], 2, 120),
        ]
        for one in thrown:
            one.result()
        devices = [pool.submit(device) for _ in range(2)]
        assert [one.result() for one in devices] == [Standing.PAIRED] * 2
        assert seated.result() == 2
        assert collected.result().paired == 2


def test_an_enrolment_with_more_bytes_does_not_count() -> None:
    """The connection is closed, so the device could not be told its place."""

    def serve() -> None:
        with pytest.raises(ExchangeFailed, match="in time"):
            seat(here, 2, dealer, Deadline.after(0.8))

    with listening() as here, beside(serve):
        for name in (b"a", b"b", b"c"):
            with socket.create_connection(at(here), timeout=SECONDS) as connection:
                connection.sendall(pack(Kind.ENROL, 0, NO_EXCHANGE, name * 16 + ENROL[16:]) + b"more")
                assert connection.recv(1) == b""


def test_a_meeting_point_that_sends_mutated_places() -> None:
    """A device is told its pair, or nothing that it can use."""
    draw, outcomes = random.Random(5), []
    whole = pack(Kind.PLACE, 0, NO_EXCHANGE, PLACE)

    def answer() -> None:
        for _ in range(60):
            with here.accept()[0] as connection:
                connection.settimeout(SECONDS)
                connection.recv(1 << 10)
                with suppress(OSError):
                    connection.sendall(mutated(whole, draw))

    with listening() as here, beside(answer):
        here.settimeout(SECONDS)
        for _ in range(60):
            try:
                outcomes.append(
                    find_place([at(here)], b"n" * 16, ("127.0.0.1", 9), Deadline.after(1.0)) is None
                )
            except ExchangeFailed:
                outcomes.append("refused")
    assert outcomes.count("refused") > 10


@pytest.mark.parametrize("role", Role)
def test_mutated_messages_of_an_exchange(role: Role) -> None:
    """A partner's messages, one of which is mutated: ExchangeFailed, or a wait for more; never coins."""
    draw = random.Random(int(role))
    for _ in range(60):
        mine, theirs = (Exchange(TERMS, one, secret=b"secret") for one in (role, role.other))
        said = theirs.start() + mine.start()
        step, spoilt = 0, draw.randrange(4)
        receiver, sender = (mine, theirs) if role is Role.SECOND else (theirs, mine)
        with suppress(ExchangeFailed):
            while said:
                if receiver is mine:
                    step += 1
                    if step == spoilt + 1:
                        changed = mutated(said, draw)
                        said = changed if changed != said else said[:-1]
                said, receiver, sender = receiver.receive(said), sender, receiver
        assert step > spoilt
        assert not mine.done
        with pytest.raises(ExchangeFailed):
            mine.coins()
