"""Silent, slow, half-open and many connections: they are closed in time, and nobody waits for them."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

import dither as dt
from dither.errors import ExchangeFailed
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms
from dither.extensions.protocols.exchange import Deadline
from dither.extensions.protocols.messages import NO_EXCHANGE, Kind, pack, pack_address
from dither.extensions.protocols.rendezvous import Desk, dealer, seat
from dither.extensions.protocols.report_body import pack_report
from dither.results import Standing
from tests.extensions.protocols.network import at, beside, listening

pytest.importorskip("nacl")
TERMS = Terms(dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2), bits=4)
ENROL = pack(Kind.ENROL, 0, NO_EXCHANGE, b"e" * 16 + pack_address(("127.0.0.1", 9)))
CELLS = TERMS.mechanism.reports([0]).cells
REPORT = pack(Kind.REPORT, 0, NO_EXCHANGE, pack_report(b"r" * 16, TERMS, Standing.ALONE, CELLS))
HELLO = Exchange(TERMS, Role.FIRST, secret=b"secret").start()
SECONDS, LONG = 20.0, 100.0


@contextmanager
def dripping(address: tuple[str, int], message: bytes, every: float) -> Iterator[threading.Event]:
    """Send a message one byte at a time; the event is set when the other side has closed the connection."""
    stop, closed = threading.Event(), threading.Event()

    def drip(connection: socket.socket) -> None:
        try:
            for byte in message:
                connection.sendall(bytes([byte]))
                if stop.wait(every):
                    return
        except OSError:
            closed.set()

    with socket.create_connection(address) as connection:
        thread = threading.Thread(target=drip, args=(connection,))
        thread.start()
        try:
            yield closed
        finally:
            stop.set()
            thread.join(SECONDS)


@contextmanager
def crowd(address: tuple[str, int], message: bytes) -> Iterator[list[socket.socket]]:
    """Connections that stay: silent ones, ones with half a message, half-closed ones, and ones reset."""
    with ExitStack() as open_:

        def connect() -> socket.socket:
            return open_.enter_context(socket.create_connection(address, timeout=SECONDS))

        silent = [connect() for _ in range(8)]
        for size in (1, 5, 22, len(message) - 1):
            connect().sendall(message[:size])
            half = connect()
            half.sendall(message[:size])
            half.shutdown(socket.SHUT_WR)
            reset = connect()
            reset.sendall(message[:size])
            reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reset.close()
        open_.enter_context(dripping(address, message, 0.2))
        yield silent


def device(meeting: tuple[str, int], desk: tuple[str, int]) -> Standing:
    tossed = protocols.toss(TERMS, 1, [meeting], timeout=SECONDS)
    protocols.report(TERMS, tossed, tossed.coins[0].apply("yes"), desk, timeout=SECONDS)
    return tossed.standing


def test_a_collection_goes_on_beside_silent_connections() -> None:
    """All of them connect first and stay. Whoever waited for one would keep the devices beyond their time."""
    with ExitStack() as open_:
        meeting, desk, pool = map(open_.enter_context, (listening(), listening(), ThreadPoolExecutor(4)))
        with crowd(at(meeting), ENROL), crowd(at(desk), REPORT):
            seated = pool.submit(seat, meeting, 2, dealer, Deadline.after(SECONDS), patience=LONG)
            collected = pool.submit(protocols.collect, desk, TERMS, timeout=SECONDS, patience=LONG)
            devices = [pool.submit(device, at(meeting), at(desk)) for _ in range(2)]
            assert [one.result() for one in devices] == [Standing.PAIRED] * 2
            assert seated.result() == 2
            assert collected.result().paired == 2


def test_a_waiting_device_goes_on_beside_silent_connections() -> None:
    """Whoever knows a waiting device's address and connects first does not keep its partner out."""

    def partner() -> None:
        exchange = Exchange(TERMS, Role.FIRST, secret=b"secret")
        with socket.create_connection(at(here)) as connection:
            protocols.device.run(exchange, connection, Deadline.after(SECONDS))

    with listening() as here, crowd(at(here), HELLO), beside(partner):
        coins = protocols.device.toss_with_caller(
            lambda: Exchange(TERMS, Role.SECOND, secret=b"secret"),
            here,
            Deadline.after(SECONDS),
            protocols.DeviceTLS(),
        )
    assert len(coins) == 1


SERVERS: dict[str, Callable[..., object]] = {
    "meeting": lambda here, **more: seat(here, 2, dealer, Deadline.after(1.5), **more),
    "collector": lambda here, **more: protocols.collect(here, TERMS, timeout=1.5, **more),
}


@pytest.mark.parametrize("name", SERVERS)
def test_silent_and_slow_connections_are_closed_in_time(name: str) -> None:
    """The time counts from the first byte: bytes that keep coming do not extend it."""
    message = ENROL if name == "meeting" else REPORT
    ended: list[float] = []

    def serve() -> None:
        with pytest.raises(ExchangeFailed, match="in time"):
            SERVERS[name](here, patience=0.2)
        ended.append(time.monotonic())

    with (
        listening() as here,
        beside(serve),
        dripping(at(here), message, 0.05) as closed,
        socket.create_connection(at(here)) as silent,
    ):
        silent.settimeout(SECONDS)
        assert silent.recv(1) == b""
        assert closed.wait(SECONDS)
        both = time.monotonic()
    assert both < ended[0]  # each by its own time, not when the server ended


@pytest.mark.parametrize("name", SERVERS)
def test_the_overall_deadline_holds_whatever_comes(name: str) -> None:
    with listening() as here, crowd(at(here), ENROL):
        begin = time.monotonic()
        with pytest.raises(ExchangeFailed, match="in time"):
            SERVERS[name](here, patience=LONG)
        assert time.monotonic() - begin < LONG / 2


@pytest.mark.parametrize("name", SERVERS)
def test_the_number_of_strangers_is_bounded(name: str) -> None:
    """Of ten silent connections four may stay: the six that came first are closed at once."""

    def serve() -> None:
        with pytest.raises(ExchangeFailed, match="in time"):
            SERVERS[name](here, strangers=4, patience=SECONDS)

    with listening() as here, ExitStack() as open_:
        many = [open_.enter_context(socket.create_connection(at(here))) for _ in range(10)]
        with beside(serve):
            for one in many[:6]:
                one.settimeout(1.2)
                assert one.recv(1) == b""
            for one in many[6:]:
                one.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    one.recv(1)


@pytest.mark.parametrize("kind", [Kind.ENROL, Kind.REPORT])
def test_a_message_that_is_too_long_is_refused_at_its_head(kind: Kind) -> None:
    name = "meeting" if kind is Kind.ENROL else "collector"

    def serve() -> None:
        with pytest.raises(ExchangeFailed, match="in time"):
            SERVERS[name](here, patience=SECONDS)

    with listening() as here, beside(serve), socket.create_connection(at(here)) as connection:
        connection.settimeout(1.2)
        connection.sendall(struct.pack("<4sBBI8sI", b"djrr", 2, kind, 0, NO_EXCHANGE, 1 << 31))
        assert connection.recv(1) == b""


def test_serving_goes_on_without_a_free_file_descriptor() -> None:
    """If the system has no free file descriptor, the oldest stranger is closed, and serving goes on."""

    class Full:
        """A listener whose third connection fails once."""

        def __init__(self, listener: socket.socket) -> None:
            self._listener, self._calls = listener, 0

        def accept(self) -> tuple[socket.socket, object]:
            self._calls += 1
            if self._calls == 3:
                raise OSError(24, "Too many open files")
            return self._listener.accept()

        def __getattr__(self, name: str) -> object:
            return getattr(self._listener, name)

    def serve() -> int:
        return seat(Full(here), 2, dealer, Deadline.after(SECONDS), patience=SECONDS)  # type: ignore[arg-type]

    with listening() as here, ExitStack() as open_:
        silent = [open_.enter_context(socket.create_connection(at(here))) for _ in range(2)]
        with beside(serve) as told, ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: protocols.toss(TERMS, 1, [at(here)], timeout=SECONDS), range(2)))
            silent[0].settimeout(1.0)
            assert silent[0].recv(1) == b""
    assert told == [2]


def test_a_desk_closes_everything_at_its_end() -> None:
    class Mute:
        known = over = False
        ended: bool | None = None

        def receive(self, data: bytes) -> bytes:
            return b""

        def on_close(self, complete: bool) -> None:
            self.ended = complete

    talks: list[Mute] = []

    def begin() -> Mute:
        talks.append(Mute())
        return talks[-1]

    with listening() as here, socket.create_connection(at(here)) as connection:
        with Desk(here, begin) as desk:
            desk.run(lambda: bool(talks), Deadline.after(SECONDS))
        connection.settimeout(SECONDS)
        assert connection.recv(1) == b""
    assert [one.ended for one in talks] == [False]
