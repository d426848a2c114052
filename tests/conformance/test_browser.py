"""The client in real browsers: the same draws, service workers, an account that survives `kill -9`.

Every test that needs a browser is skipped where there is none.
"""

from __future__ import annotations

import json
import os
import queue
import random
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from dither.collection.conformance import vectors as read
from dither.collection.ohttp import configuration
from dither.collection.secrets import make_sealing_key
from dither.core.batch import BatchBody
from tests.collection.serving import OPEN, Process
from tests.conformance.draws import FILE, known_to_javascript, text
from tests.support.chromium import temporary_files
from tests.support.repository import ROOT

BROWSERS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome", "chrome"),
    "firefox": ("firefox", "firefox-esr"),
}
ROUNDS = 25


def command(browser: str, profile: Path) -> list[str]:
    """Return the command of a browser without a window, or skip."""
    found = next((path for name in BROWSERS[browser] if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"there is no {browser} on this machine")
    profile.mkdir(exist_ok=True)
    if browser == "firefox":
        return [found, "--headless", "--no-remote", "--profile", str(profile)]
    return [
        found,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        f"--user-data-dir={profile}",
    ]


class Pages(ThreadingHTTPServer):
    """Files of the repository, vectors, and what pages tell."""

    def __init__(self, vectors_text: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vectors_text = vectors_text
        self.told: queue.Queue[dict[str, Any]] = queue.Queue()
        self.batches: dict[str, bytes] = {}
        self.changed = 0  # batches that came again with other bytes
        self.refusing = random.Random("refusing")

    @staticmethod
    def read(body: bytes) -> BatchBody:
        """Return a batch: JSON, or packed as the worker sends it."""
        return BatchBody.from_json(body.decode()) if body[:1] == b"{" else BatchBody.from_bytes(body)

    def address(self, page: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/tests/conformance/browser/{page}"


class _Handler(SimpleHTTPRequestHandler):
    server: Pages

    def __init__(self, *words: Any) -> None:
        super().__init__(*words, directory=str(ROOT))

    def do_GET(self) -> None:
        if self.path != "/vectors.json":
            super().do_GET()
            return
        body = self.server.vectors_text.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status, answer = 204, b""
        if self.path == "/told":
            self.server.told.put(json.loads(body))
        else:
            batch = self.server.read(body)
            self.server.changed += self.server.batches.setdefault(batch.id, body) != body
            status, answer = 200, json.dumps({"batch": batch.id}).encode()
            if self.server.refusing.random() < 0.3:
                status, answer = 503, b""  # kept, and not acknowledged
        self.send_response(status)
        if status == 200:
            self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def pages(vectors_text: str) -> Iterator[Pages]:
    with Pages(vectors_text) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a killed browser breaks its pipes
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:  # a test that skips or fails: a server whose socket is closed would poll it for ever
            server.shutdown()


@contextmanager
def opened(words: list[str], address: str) -> Iterator[None]:
    """Open a page; at the end the browser and all its processes are killed as by `kill -9`."""
    with temporary_files() as environment:
        started = subprocess.Popen(
            [*words, address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
        try:
            yield
        finally:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def differing(browser: str, profile: Path, made: str) -> dict[str, Any]:
    """Return what a browser tells of vectors: how many draws, and how many differ."""
    with pages(made) as server, opened(command(browser, profile), server.address("draws.html")):
        return server.told.get(timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_browsers_draw_what_python_draws(browser: str, tmp_path: Path) -> None:
    made = [one for one in read("draws")["questions"] if known_to_javascript(one["specification"])]
    count = sum(len(one["draws"]) for one in made)
    told = differing(browser, tmp_path, text(made))
    assert told == {"draws": count, "differences": 0, "questions": len(made)}


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_a_service_worker_answers_and_sends(browser: str, tmp_path: Path) -> None:
    with (
        pages(FILE.read_text(encoding="utf-8")) as server,
        opened(command(browser, tmp_path), server.address("worker.html")),
    ):
        told = server.told.get(timeout=240)
    assert told == {"outcomes": ["drawn", "drawn", "refused"], "sent": 2, "page": "undefined"}
    assert len(server.batches) == 2  # one report to a question in a batch


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_a_page_shows_and_forgets_an_account_and_sends_by_itself(browser: str, tmp_path: Path) -> None:
    with (
        pages(FILE.read_text(encoding="utf-8")) as server,
        opened(command(browser, tmp_path), server.address("element.html")),
    ):
        told = server.told.get(timeout=240)
    assert told == {
        "nothing": True,
        "rows": [["city.example", "<b>minutes</b>", "2", "2"]],
        "left": True,
        "escaped": True,
        "sent": 2,
        "asks": True,
        "forgotten": ["forgotten", "forgotten"],
        "after": [1, 2, 1],
        "global": ["function"] * 4,
    }


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_a_page_sends_encrypted_requests_to_a_collector(browser: str, tmp_path: Path) -> None:
    """The vectors of Oblivious HTTP, and a campaign at another origin, with its preflight requests."""
    words = command(browser, tmp_path / "profile")
    folder = tmp_path / "collector"
    folder.mkdir()
    key = configuration(make_sealing_key(folder / "sealing.key"))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"')
    with pages("{}") as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        options = ("--sealing-key", str(folder / "sealing.key"), "--origin", origin)
        with Process(folder, str(folder / "store.sqlite"), *options, toml=toml) as process:
            signed = json.loads(urllib.request.urlopen(process.campaign).read())
            asked = urlencode({"address": process.campaign, "key": signed["key"], "sealing": key})
            with opened(words, server.address(f"relayed.html?{asked}")):
                told = server.told.get(timeout=240)
            metrics = urllib.request.urlopen(process.address + "/metrics").read().decode()
    count = len(read("ohttp")["exchanges"])
    assert told == {"vectors": count, "differences": 0, "small": "key", "sent": 22, "large": "body"}
    # The campaign twice, its list twice, one report to a question in a batch, and a large body.
    assert "dither_opened_total 25\n" in metrics


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_a_private_window_answers(browser: str, tmp_path: Path) -> None:
    words = [*command(browser, tmp_path), *(["--incognito"] if browser == "chromium" else [])]
    if browser == "firefox":
        (tmp_path / "user.js").write_text('user_pref("browser.privatebrowsing.autostart", true);\n')
    with pages(FILE.read_text(encoding="utf-8")) as server, opened(words, server.address("account.html")):
        told = [server.told.get(timeout=240)["is"] for _ in range(2)]
    assert told == ["opened", "drawn"]


@pytest.mark.slow
@pytest.mark.parametrize("browser", BROWSERS)
def test_an_account_whose_database_is_deleted_goes_on_from_its_copy(browser: str, tmp_path: Path) -> None:
    """Chromium deletes a damaged database. Nothing is drawn again, nothing that waits is lost."""
    with (
        pages(FILE.read_text(encoding="utf-8")) as server,
        opened(command(browser, tmp_path), server.address("deleted.html")),
    ):
        told = server.told.get(timeout=240)
    assert told == {
        "before": ["drawn", "drawn"],
        "kept": True,
        "again": "resent",
        "third": "refused budget",
        "damaged": "account",
        "cleared": "drawn",
    }


def tear(profile: Path) -> bool:
    """Leave in Chromium's database what a kill between two writes leaves: a header without content.

    Return whether the database was made at the last start: the one before was deleted.
    """
    for log in profile.glob("*/IndexedDB/*/*.log"):
        with log.open("ab") as file:
            file.write(b"\x12\x34\x56\x78" + (1000).to_bytes(2, "little") + b"\x01")
    return any(b"Creating DB" in words.read_bytes() for words in profile.glob("*/IndexedDB/*/LOG"))


@pytest.mark.slow
@pytest.mark.parametrize("torn", [False, True], ids=["killed", "torn"])
def test_an_account_survives_kill_9(torn: bool, tmp_path: Path) -> None:
    """With `torn`, Chromium deletes the database again and again; the account goes on from its copy."""
    words, picked = command("chromium", tmp_path), random.Random("kill")
    drawn: dict[str, str] = {}
    entries: list[str] = []
    others: Counter[str] = Counter()
    with pages(FILE.read_text(encoding="utf-8")) as server:

        def hear(one: dict[str, Any]) -> None:
            others[one["is"]] += 1
            if one["is"] == "drawn":
                drawn[one["id"]] = one["report"]
            elif one["is"] in ("opened", "closed"):
                kept = set(one["entries"])
                assert set(entries) <= kept, "a spend was lost"
                assert drawn.keys() <= kept, "an answer was told and is not in the account"
                entries[:] = one["entries"]
                for waiting in one["queue"]:
                    assert drawn.get(waiting["id"], waiting["report"]) == waiting["report"], "drawn twice"

        for _ in range(ROUNDS):
            with opened(words, server.address("account.html")):
                hear(server.told.get(timeout=240))
                time.sleep(picked.uniform(0, 0.4))
            while not server.told.empty():
                hear(server.told.get())
            if torn:
                others["made"] += tear(tmp_path)
        with opened(words, server.address("account.html?last")):
            while others["closed"] == 0:
                hear(server.told.get(timeout=240))
    assert others["opened"] == ROUNDS + 1
    assert others["error"] == others["second draw"] == others["refused"] == 0
    assert server.changed == 0
    received: Counter[str] = Counter()
    for body in server.batches.values():
        for reports in server.read(body).reports.values():
            received.update(one.hex() for one in reports)
    assert received.total() == len(entries) >= ROUNDS, "a report was lost, or sent twice"
    assert Counter(drawn.values()) <= received
    if torn and others["made"] < 2:
        pytest.skip("this Chromium keeps a database whose log is torn")
