"""The proxies of examples/collector end TLS, pass reports on, and write no address anywhere."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from itertools import islice
from pathlib import Path

import pytest

from dither.collection.campaign import Campaign
from dither.core.batch import PACKED
from tests.collection.load import batches, send
from tests.collection.serving import OPEN, Process
from tests.support.repository import ROOT

FOLDER = ROOT / "examples" / "collector"
CONTRACT = Campaign.from_toml(OPEN)
PATH = f"/v1/campaigns/{CONTRACT.id}/batches"
PERSON = "127.0.0.77"  # the address of a person, which nobody may write down

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Proxy:
    """A proxy with the file of the example, on free ports, in a folder of its own."""

    def __init__(
        self, name: str, folder: Path, inside: int, file: str | None = None, **changes: tuple[str, str]
    ) -> None:
        program = shutil.which(name)
        if program is None:
            pytest.skip(f"{name} is not installed")
        self.port = free_port()
        self.folder = folder
        file = file or {"nginx": "nginx.conf", "caddy": "Caddyfile"}[name]
        text = (FOLDER / file).read_text(encoding="utf-8")
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{inside}")
        text = text.replace("https://city.example", f"http://127.0.0.1:{inside}")
        for before, after in changes.values():
            assert before in text
            text = text.replace(before, after)
        command = self._nginx(text) if name == "nginx" else self._caddy(text)
        errors = (folder / "stderr").open("wb")
        self.process = subprocess.Popen(
            [program, *command],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            stdout=errors,
            stderr=errors,
        )
        errors.close()

    def _nginx(self, text: str) -> list[str]:
        made = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=city.example -keyout k.key -out k.pem"
        made += " -addext subjectAltName=IP:127.0.0.1"
        subprocess.run(made.split(), cwd=self.folder, check=True, capture_output=True)
        text = re.sub(r"/etc/ssl/\w+\.example", str(self.folder / "k"), text)
        text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl")
        text = text.replace("/var/log/nginx", str(self.folder))
        inner = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        outer = f"pid {self.folder}/pid;\ndaemon off;\nmaster_process off;\nevents {{}}\n"
        (self.folder / "nginx.conf").write_text(f"{outer}http {{\n{inner}{text}\n}}\n")
        return [
            "-p",
            str(self.folder),
            "-e",
            str(self.folder / "start"),
            "-c",
            str(self.folder / "nginx.conf"),
        ]

    def _caddy(self, text: str) -> list[str]:
        assert "city.example {" in text
        text = text.replace("city.example {", f"https://127.0.0.1:{self.port} {{\n\ttls internal")
        head, brace, rest = text.partition("{\n")  # the global options
        mine = "\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n"
        (self.folder / "Caddyfile").write_text(head + brace + mine + rest, encoding="utf-8")
        return ["run", "--config", str(self.folder / "Caddyfile"), "--adapter", "caddyfile"]

    def connect(self, source: str = PERSON) -> HTTPSConnection:
        """Return a connection that comes from an address."""
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        return HTTPSConnection(
            "127.0.0.1", self.port, source_address=(source, 0), context=trusting, timeout=20
        )

    def ask(self, method: str, path: str, body: bytes = b"", source: str = PERSON) -> tuple[int, str]:
        """Return status and text of the answer to a request."""
        with closing(self.connect(source)) as link:
            link.request(method, path, body, {"content-type": PACKED} if body else {})
            answer = link.getresponse()
            return answer.status, answer.read().decode()

    def wait(self) -> None:
        for _ in range(200):
            try:
                self.ask("GET", "/metrics", source="127.0.0.1")
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "stderr").read_text())

    def written(self) -> str:
        """Return all that the proxy wrote into files and streams."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return "".join(path.read_bytes().decode("latin-1") for path in files)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@pytest.fixture(params=["nginx", "caddy"])
def proxied(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Process, Proxy]]:
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    limits = tmp_path / "limits.toml"
    limits.write_text('proxies = ["127.0.0.1"]\nrate = 0.001\nburst = 3\n', encoding="utf-8")
    (tmp_path / "proxy").mkdir()
    with Process(tmp_path, str(tmp_path / "store.sqlite"), "--settings", str(limits)) as process:
        proxy = Proxy(name, tmp_path / "proxy", process.port)
        try:
            proxy.wait()
            yield process, proxy
        finally:
            proxy.stop()


def test_reports_pass_and_the_rate_is_of_the_person(proxied: tuple[Process, Proxy]) -> None:
    process, proxy = proxied
    several = [body for _, body in islice(batches(CONTRACT, 5), 30)]
    bodies = [body for body in several if len(body) == min(map(len, several))]  # of one report each
    assert [proxy.ask("POST", PATH, body)[0] for body in bodies[:4]] == [200, 200, 200, 429]
    assert proxy.ask("POST", PATH, bodies[4], source="127.0.0.78")[0] == 200  # somebody else
    sent = sum(len(body) for body in [*bodies[:3], bodies[4]])
    assert 4 <= json.loads(urllib.request.urlopen(process.address + "/health").read())["reports"] < sent
    assert "minutes" in proxy.ask("GET", "/")[1]
    for inside in ("/metrics", "/v1/admin/reload"):
        assert proxy.ask("GET", inside)[0] == 404


def test_a_live_page_is_passed_on_at_once(proxied: tuple[Process, Proxy]) -> None:
    process, proxy = proxied
    with closing(proxy.connect()) as link:
        link.request("GET", f"/v1/campaigns/{CONTRACT.id}/events")
        stream = link.getresponse()
        assert stream.getheader("content-type", "").startswith("text/event-stream")
        told = asyncio.run(send(process.port, PATH, islice(batches(CONTRACT, 6), 2), connections=1))
        assert told.statuses == {200: 2}
        assert stream.readline()  # within the time that the connection allows


def test_a_body_that_is_too_long_is_refused_for_good(proxied: tuple[Process, Proxy]) -> None:
    _, proxy = proxied
    assert proxy.ask("POST", PATH, bytes((1 << 20) + 1))[0] == 413


def test_no_address_is_written_even_when_the_collector_is_down(proxied: tuple[Process, Proxy]) -> None:
    process, proxy = proxied
    body = next(batches(CONTRACT, 7))[1]
    assert proxy.ask("POST", PATH, body)[0] == 200
    process.stop()
    assert proxy.ask("POST", PATH, body)[0] in (502, 503, 504)
    with socket.create_connection(("127.0.0.1", proxy.port), source_address=(PERSON, 0)) as link:
        link.sendall(b"no TLS at all\r\n\r\n")
        link.settimeout(5)
        link.recv(100)
    proxy.stop()
    assert PERSON not in proxy.written()
