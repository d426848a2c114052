"""Hostile connections: slow, endless or many heads, trailers and requests do not keep a collector busy."""

from __future__ import annotations

import asyncio
import contextlib
import random
import resource
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dither.collection.connections import FIELDS, HEAD, Connections, protocol
from dither.collection.settings import Settings
from tests.collection.serving import Process

Place = tuple[str, int]

GET = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n"
CHUNKED = b"POST /body HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n"
OFFER = b"connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\n"
LONG = PlainTextResponse("x" * (64 << 20))


@contextlib.contextmanager
def served(settings: Settings) -> Iterator[Place]:
    """Serve a word, the size of a body, a word that ignores the body, and a long answer."""

    async def word(request: Request) -> PlainTextResponse:
        return PlainTextResponse("here")

    async def size(request: Request) -> PlainTextResponse:
        await asyncio.sleep(0.01)
        return PlainTextResponse(f"{len(await request.body())} bytes")

    async def long(request: Request) -> PlainTextResponse:
        return LONG

    routes = [
        Route("/", word),
        Route("/ignored", word, methods=["POST"]),
        Route("/body", size, methods=["GET", "POST"]),
        Route("/long", long),
    ]
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=routes), http=protocol(settings), log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield bound.getsockname()
    server.should_exit = True
    thread.join()


@pytest.fixture
def place() -> Iterator[Place]:
    """Serve with a deadline of half a second and three connections of one address."""
    with served(Settings(patience=0.5, connections=3)) as found:
        yield found


@pytest.fixture
def patient() -> Iterator[Place]:
    """Serve with a deadline that no test waits for."""
    with served(Settings(patience=60)) as found:
        yield found


def send(one: socket.socket, data: bytes) -> bool:
    """Send; return False if the other side has ended the connection."""
    try:
        one.sendall(data)
    except ConnectionError:
        return False
    return True


def received(one: socket.socket, answers: int | None = None) -> bytes:
    """Return what arrives until the end, or until so many answers have begun and the last was read."""
    told = b""
    with suppress(ConnectionError):
        while answers is None or told.count(b"HTTP/1.1 ") < answers or told.endswith(b"\r\n"):
            more = one.recv(1 << 16)
            if not more:
                break
            told += more
    return told


def test_slow_heads_are_disconnected_and_others_are_served(place: Place) -> None:
    slow = [socket.create_connection(place, timeout=10) for _ in range(3)]
    for one in slow:
        one.sendall(b"GET / HTTP/1.1\r\nhost: here\r\nx-slow: ")
    with socket.create_connection(place, timeout=10) as more, suppress(ConnectionError):
        more.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
        assert not more.recv(100)  # one too many: it is ended at once
    for one in slow:
        assert one.recv(100) == b""  # after the deadline
        one.close()
    address = f"http://{place[0]}:{place[1]}/"
    with urllib.request.urlopen(address, timeout=10) as told:
        assert told.read() == b"here"


def test_a_connection_that_is_used_again_stays(place: Place) -> None:
    with socket.create_connection(place, timeout=10) as one:
        for _ in range(3):
            one.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
            told = b""
            while not told.endswith(b"here"):
                told += one.recv(1000)


def test_proxies_and_relays_are_not_counted() -> None:
    counted = Connections(Settings(connections=1, proxies=("10.0.0.1",), relays=("10.0.0.2",)))
    assert [counted.enter("9.9.9.9") for _ in range(2)] == [True, False]
    counted.leave("9.9.9.9")
    counted.leave("9.9.9.9")
    assert counted.enter("9.9.9.9")
    for address in ("10.0.0.1", "10.0.0.2"):
        assert all(counted.enter(address) for _ in range(5))


def lines(size: int, line: bytes = b"x-pad: " + b"p" * 991 + b"\r\n") -> bytes:
    """Return header lines of that many bytes in all."""
    return line * (size // len(line))


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET / HTTP/1.1\r\nhost: here\r\n",
        b"GET /",
        b"GET / HTTP/1.1\r\nhost: here\r\nx-one: ",
        CHUNKED + b"3\r\nabc\r\n0\r\n",
        CHUNKED + b"3\r\nabc\r\n0\r\nx-one: ",
        CHUNKED.replace(b"/body", b"/ignored") + b"3\r\nabc\r\n0\r\n",
    ],
    ids=["head", "target", "line", "trailers", "trailer", "answered"],
)
def test_heads_and_trailers_end_at_64_kib(patient: Place, beginning: bytes) -> None:
    """Lines without end, or one line without end: the connection is closed long before a megabyte."""
    endless = b"p" * 4000 if beginning.endswith((b"/", b": ")) else lines(4000)
    with socket.create_connection(patient, timeout=10) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
        assert send(one, beginning)
        sent = 0
        while sent < 400 and send(one, endless):
            time.sleep(0.001)
            sent += 1
        assert 10 <= sent < 400


def test_a_head_of_nearly_64_kib_is_answered(patient: Place) -> None:
    head = b"GET / HTTP/1.1\r\nhost: here\r\n" + lines(HEAD - 100) + b"\r\n"
    trailers = CHUNKED + b"3\r\nabc\r\n0\r\n" + lines(HEAD - 100) + b"\r\n"
    with socket.create_connection(patient, timeout=10) as one:
        for _ in range(2):  # counted from zero for each request
            one.sendall(head)
            assert received(one, 1).endswith(b"here")
            one.sendall(trailers)
            assert received(one, 1).endswith(b"3 bytes")


def test_many_short_fields_are_refused(patient: Place) -> None:
    short = b"GET / HTTP/1.1\r\n" + b"".join(b"a%d:\r\n" % number for number in range(FIELDS)) + b"\r\n"
    with socket.create_connection(patient, timeout=10) as one:
        one.sendall(short)
        assert received(one, 1).startswith(b"HTTP/1.1 200")
        one.sendall(short.replace(b"a0:", b"a0:\r\na:"))
        assert received(one).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("path", [b"/ignored", b"/body", b"/nowhere"])
@pytest.mark.parametrize("framing", [b"transfer-encoding: chunked", b"content-length: 1000000"])
def test_an_answer_does_not_restart_the_deadline(place: Place, path: bytes, framing: bytes) -> None:
    """A request that is answered before it is complete has no more time than one that is not."""
    piece = b"3\r\nabc\r\n" if b"chunked" in framing else b"abc"
    began = time.monotonic()
    with socket.create_connection(place, timeout=10) as one:
        one.sendall(b"POST " + path + b" HTTP/1.1\r\nhost: here\r\n" + framing + b"\r\n\r\n")
        while send(one, piece) and time.monotonic() - began < 5:
            time.sleep(0.1)
    assert 0.9 < time.monotonic() - began < 2.0  # the deadline of the body is twice half a second


@pytest.mark.parametrize("pieces", [1, 2, 7, 40])
def test_pipelined_requests_that_offer_http_2_are_answered(patient: Place, pieces: int) -> None:
    body = b"b\nUpgrade: h2c\r\n\r\nb"
    stated = b"content-length: %d\r\n\r\n" % len(body) + body
    chunked = b"transfer-encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\nx: y\r\n\r\n"
    head = b"POST /body HTTP/1.1\r\nhost: here\r\n" + OFFER
    asked = [GET.replace(b"\r\n\r\n", b"\r\n" + OFFER + b"\r\n"), head + stated, head + chunked]
    whole = b"".join(asked * 2) + b"\r\n" + head + stated  # some send a line's end after a body
    size = -(-len(whole) // pieces)
    with socket.create_connection(patient, timeout=10) as one:
        for at in range(0, len(whole), size):
            one.sendall(whole[at : at + size])
            time.sleep(0.002 if pieces > 1 else 0)
        told = received(one, 7)
    assert told.count(b"HTTP/1.1 200 OK") == 7
    assert told.count(b"here") == 2
    assert told.count(b"%d bytes" % len(body)) == 5


def test_a_crowd_of_pipelined_requests_ends_with_an_answer(patient: Place) -> None:
    slow = b"GET /body HTTP/1.1\r\nhost: here\r\n\r\n"
    with socket.create_connection(patient, timeout=10) as one:
        one.sendall(slow + GET * (3 * HEAD // len(GET)))
        assert 0 < received(one).count(b"HTTP/1.1 200 OK") < 10_000


def test_a_client_that_reads_nothing_is_disconnected(place: Place) -> None:
    with socket.create_connection(place, timeout=10) as one:
        one.sendall(b"GET /long HTTP/1.1\r\nhost: here\r\n\r\n")
        time.sleep(1.6)
        assert len(received(one)) < len(LONG.body)


def test_garbage_is_answered_at_once(patient: Place) -> None:
    for garbage in (b"\x16\x03\x01", b"GET\r\n", b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\r\n bad\r\n"):
        with socket.create_connection(patient, timeout=10) as one:
            one.sendall(garbage)
            assert received(one).startswith(b"HTTP/1.1 400"), garbage


def fuzzed(random_source: random.Random) -> bytes:
    """Return a request whose parts are drawn at random, most of them wrong."""
    ends = (b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"")
    words = (b"GET", b"POST", b"/", b"/body", b"HTTP/1.1", b"HTTP/1.0", b"upgrade:", b"connection: close",
             b"transfer-encoding: chunked", b"content-length: 3", b"content-length: 99999999", b"0", b"abc",
             b"expect: 100-continue", b"x: y", b"\x00", b"ffffffffffffffff", b"3;x=" + b"y" * 99)  # fmt: skip
    base = random_source.choice((b"", GET[:-2], CHUNKED, CHUNKED + b"3\r\nabc\r\n0\r\n"))
    parts = (
        random_source.choice(words) + random_source.choice(ends) for _ in range(random_source.randrange(20))
    )
    return base + b"".join(parts) + random_source.choice((b"", b"\r\n", b"\r\n\r\n"))


def fuzz(place: Place, count: int, seed: int) -> None:
    """Send fuzzed requests in random pieces; the server answers a right one afterwards."""
    source = random.Random(seed)
    for _ in range(count):
        data = fuzzed(source)
        with socket.create_connection(place, timeout=10) as one:
            cut = source.randrange(len(data) + 1)
            send(one, data[:cut])
            send(one, data[cut:])
            with suppress(OSError):  # the other side may have ended it
                one.shutdown(socket.SHUT_WR)
    with socket.create_connection(place, timeout=10) as one:
        one.sendall(GET)
        assert received(one, 1).endswith(b"here")


def test_fuzzed_heads_and_trailers(patient: Place) -> None:
    fuzz(patient, 200, 1)


@pytest.mark.slow
def test_ten_thousand_fuzzed_heads_and_trailers(patient: Place) -> None:
    fuzz(patient, 10_000, random.randrange(2**32))


PATH = "/v1/campaigns/{}/batches"
HOSTILE = {
    "head": lambda path: b"POST " + path + b" HTTP/1.1\r\nhost: x\r\n" + lines(HEAD - 2000) + b"x-more: ",
    "line": lambda path: b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + b"p" * (HEAD - 100),
    "fields": lambda path: (
        b"POST " + path + b" HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n"
        + b"a:\r\n" * 240 + b"\r\n"
    ),
    "trailers": lambda path: (
        b"POST " + path + b" HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        + b"a:\r\n" * ((HEAD - 100) // 4)
    ),
    "body": lambda path: (
        b"POST " + path + b" HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n"
        b"content-type: application/vnd.dither.batch\r\n\r\n" + bytes(999_000)
    ),
    "pipeline": lambda path: GET * 12_000,
    "unread": lambda path: b"GET /client/dither.js HTTP/1.1\r\nhost: x\r\n\r\n" * 500,
}  # fmt: skip


def memory(process: int) -> int:
    """Return the resident megabytes of a process."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def attack(folder: Path, kind: str, count: int) -> int:
    """Open hostile connections, from ten to an address; return by how many megabytes the peak grew."""
    limits = folder / "limits.toml"
    limits.write_text("patience = 30", encoding="utf-8")
    with Process(folder, str(folder / "store.sqlite"), "--settings", str(limits)) as collector:
        before = memory(collector.process.pid)
        campaign = collector.campaign.rpartition("/")[2]
        data = HOSTILE[kind](PATH.format(campaign).encode())

        async def one(number: int) -> asyncio.StreamWriter | None:
            address = ("127.0.0.1", collector.port)
            source = (f"127.0.1.{1 + number // 10}", 0)
            _, writer = await asyncio.open_connection(*address, limit=1, local_addr=source)
            writer.write(data)
            with suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(writer.drain(), 2)
            return writer

        async def all_of_them() -> None:
            opened = await asyncio.gather(*(one(number) for number in range(count)))
            await asyncio.sleep(1 + count / 500)
            for writer in opened:
                if writer is not None:
                    writer.transport.abort()

        asyncio.run(all_of_them())
        with urllib.request.urlopen(collector.address + "/health", timeout=20) as told:
            assert told.status == 200
        return memory(collector.process.pid) - before


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
def test_hostile_connections_need_little_memory(tmp_path: Path) -> None:
    assert attack(tmp_path, "trailers", 40) <= 8


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_thousand_hostile_connections_need_less_than_200_mb(tmp_path: Path, kind: str) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    assert attack(tmp_path, kind, 1000) <= 200
