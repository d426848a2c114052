"""What the tests of the client share: campaigns, a stub of a collector, and processes of their own."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.signer import Signer
from dither.core.batch import BatchBody

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "clients" / "python" / "src"
TOML = """
[campaign]
name = "usage"
asker = "mytool"
contact = "https://mytool.example"
purpose = "Which commands are used."
begins = 2020-01-01
ends = 2120-01-01
people = 10
repeat = "fresh"
labels = ["1.2"]

[questions.command]
categories = ["build", "test", "other"]
mechanism = "KRR"
epsilon = 1

[questions.seconds]
interval = [0, 60]
mechanism = "Podium"
epsilon = 0.5

[questions.features]
several = ["colour", "cache", "plugins", "remote"]
most = 2
epsilon = 1
"""


def publish(folder: Path, toml: str = TOML) -> Published:
    """Write campaign.json, signed with asker.key, both in a folder."""
    published = Signer(folder / "asker.key", make=True).publish(Campaign.from_toml(toml))
    (folder / "campaign.json").write_text(published.to_json(), encoding="utf-8")
    return published


def python(
    code: str, *words: str, home: Path | None = None, interpreter: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run some lines in a process of its own that has the client and no site packages."""
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "LANG": "C.UTF-8"}
    if home is not None:
        base["HOME"] = str(home)
    return subprocess.run(
        [interpreter, "-S", "-W", "error", "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**base, **environment},
        check=False,
    )


def today() -> int:
    """The number of the present day since 1970, in UTC."""
    return (datetime.datetime.now(datetime.UTC).date() - datetime.date(1970, 1, 1)).days


class Stub:
    """A server in a thread that keeps the batches it is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.batches: list[BatchBody] = []
        self.bodies: list[bytes] = []
        self.withdrawn: list[tuple[str, str]] = []  # paths and identities
        self.answers: list[tuple[int, dict[str, str], bytes]] = []  # one each; then all is well
        self.address = ""

    def take(self, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return the answer to a request."""
        self.bodies.append(body)
        if self.answers:
            return self.answers.pop(0)
        if path.endswith("/withdrawals"):
            self.withdrawn.append((path, json.loads(body)["withdraw"]))
            return 200, {}, json.dumps({"withdrawn": self.withdrawn[-1][1]}).encode()
        batch = BatchBody.from_bytes(body)
        if batch.id not in [known.id for known in self.batches]:
            self.batches.append(batch)
        return 201, {}, json.dumps({"batch": batch.id}).encode()


@contextmanager
def stub() -> Iterator[Stub]:
    """A stub of a collector."""
    made = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, fields, text = made.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            for name, value in {**fields, "content-length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
