"""Slow heads and many connections of one address: neither keeps a collector busy."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dither.collection.server import Connections, _protocol
from dither.collection.settings import Settings


@pytest.fixture
def place() -> Iterator[tuple[str, int]]:
    """Serve a word with a deadline of half a second and three connections of one address."""

    async def word(request: object) -> PlainTextResponse:
        return PlainTextResponse("here")

    settings = Settings(patience=0.5, connections=3)
    bound = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", word)])
    server = uvicorn.Server(uvicorn.Config(app, http=_protocol(settings), log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield bound.getsockname()
    server.should_exit = True
    thread.join()


def test_slow_heads_are_let_go_and_others_are_served(place: tuple[str, int]) -> None:
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


def test_a_connection_that_is_used_again_stays(place: tuple[str, int]) -> None:
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
