"""Chromium without a window, driven by the DevTools protocol over pipes: scripts, keys, screenshots."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

AXE = "axe-core@4.10.3"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Browser:
    """One page of a browser."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Log"):
            self.call(f"{room}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a command; events that arrive before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._writing.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = self._reading.read(1 << 16)
            if not more:
                raise RuntimeError("the browser has closed its pipe")
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def close(self) -> None:
        """Close the pipes."""
        self._reading.close()
        self._writing.close()

    def look(self, *, width: int = 1000, height: int = 800, dark: bool = False) -> None:
        """Set the size of the page and the colours that the person prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str, ready: str, seconds: float = 60.0) -> None:
        """Open an address and wait until an expression is true."""
        self.call("Page.navigate", url=address)
        self.wait(ready, seconds)

    def wait(self, ready: str, seconds: float = 60.0) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.value(f"Boolean(document.documentElement && {ready})"):
                return
            time.sleep(0.05)
        raise TimeoutError(ready)

    def value(self, expression: str) -> Any:
        """Return what an expression evaluates to, awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(str(done["exceptionDetails"].get("exception", {}).get("description")))
        return done["result"].get("value")

    def problems(self) -> list[str]:
        """Return the errors and warnings that the console has shown since the last time."""
        found = []
        for event in self.events:
            terms = event.get("params", {})
            if event.get("method") == "Log.entryAdded" and terms["entry"]["level"] in ("error", "warning"):
                found.append(str(terms["entry"]["text"]))
            if event.get("method") == "Runtime.consoleAPICalled" and terms["type"] in ("error", "warning"):
                found.append(str(terms["args"]))
            if event.get("method") == "Runtime.exceptionThrown":
                details = terms["exceptionDetails"]
                found.append(str(details.get("exception", {}).get("description") or details.get("text")))
        self.events.clear()
        return found

    def key(self, name: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=code,
                text=text,
            )

    def screenshot(self, file: Path) -> None:
        """Save the whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(shot))


@contextmanager
def temporary_files() -> Iterator[dict[str, str]]:
    """Yield an environment whose temporary files are deleted at the end; a killed browser leaves some.

    The folder has a short name, because sockets are in it.
    """
    with tempfile.TemporaryDirectory(prefix="dither-", ignore_cleanup_errors=True) as folder:
        yield {**os.environ, "TMPDIR": folder}


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Start a browser; skip the test where there is none. It and all its processes are killed at the end."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    to_browser, from_browser = os.pipe(), os.pipe()

    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
    # The browser reads its descriptor 3 and writes its descriptor 4.
    begin = (
        "import fcntl, os, sys; pair = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]; "
        "[os.dup2(one, place) for place, one in enumerate(pair, 3)]; os.execv(sys.argv[3], sys.argv[3:])"
    )
    shell = [sys.executable, "-S", "-c", begin, str(to_browser[0]), str(from_browser[1]), found]
    with temporary_files() as environment:
        started = subprocess.Popen(
            [*shell, *options, f"--user-data-dir={profile}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_browser[0], from_browser[1]),
            start_new_session=True,
            env=environment,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        page = None
        try:
            page = Browser(from_browser[0], to_browser[1])
            yield page
        finally:
            if page is not None:
                page.close()
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def axe_script(folder: Path) -> str:
    """Return the text of axe-core, which finds what a screen reader or a keyboard cannot use, or skip."""
    npm = shutil.which("npm", path=f"{os.environ['PATH']}:{Path(sys.executable).parent}")
    if npm is None:
        pytest.skip("there is no npm on this machine")
    packed = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip("npm found no registry")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()
