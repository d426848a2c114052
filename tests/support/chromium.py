<<<<<<< HEAD
"""A real Chromium, driven over its debugging pipe: pages, console messages, scripts, pictures."""
=======
"""Chromium without a window, driven by the DevTools protocol over pipes: scripts, keys, screenshots."""
>>>>>>> main

from __future__ import annotations

import base64
import json
import os
<<<<<<< HEAD
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds for an answer of the browser


def program() -> str | None:
    """Return the path of Chromium or Chrome; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for found in map(shutil.which, names) if found), None)


class Chromium:
    """A headless browser. Use it as a context; `console` collects errors and warnings of the page."""

    def __init__(self) -> None:
        path = program()
        assert path is not None
        self._folder = tempfile.mkdtemp(prefix="dither-chromium")
        to_browser, ours = os.pipe()
        answers, from_browser = os.pipe()
        command = (
            f"exec {path} --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run "
            f"--disable-dev-shm-usage --remote-debugging-pipe --user-data-dir={self._folder} about:blank "
            f"3<&{to_browser} 4>&{from_browser}"
        )
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._in, self._rest, self._last = ours, answers, b"", 0
        self.console: list[str] = []
        self._events: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for end in (self._out, self._in):
            os.close(end)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **terms: Any) -> Any:
        """Send a command of the protocol to the page; return its result."""
        return self._call(method, self._session, **terms)

    def _call(self, method: str, session: str | None = None, **terms: Any) -> Any:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": terms}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self, patience: float = PATIENCE) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], patience)
            if not ready:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise TimeoutError("Chromium has ended")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, terms = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded" and terms["entry"]["level"] in ("error", "warning"):
            self.console.append(terms["entry"]["text"])
        if method == "Runtime.consoleAPICalled" and terms["type"] in ("error", "warning", "assert"):
            self.console.append(str(terms["args"]))
        if method == "Runtime.exceptionThrown":
            self.console.append(str(terms["exceptionDetails"].get("text")))
        if method is not None:
            self._events.append(message)

    def look(self, width: int, *, dark: bool = False, height: int = 900) -> None:
        """Set the width of the window and the colours that the person prefers."""
=======
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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
>>>>>>> main
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
<<<<<<< HEAD
            mobile=width < 500,
        )
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def open(self, address: str) -> None:
        """Load a page, and wait for it."""
        self._events.clear()
        self.call("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while not any(one["method"] == "Page.loadEventFired" for one in self._events):
            self._read(max(until - time.monotonic(), 0.1))

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, patience: float = PATIENCE) -> bool:
        """Return whether an expression becomes true in time."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self.run(script):
                return True
            time.sleep(0.2)
        return False

    def press(self, key: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            terms = (
                {"windowsVirtualKeyCode": 9} if key == "Tab" else {"text": "\r", "windowsVirtualKeyCode": 13}
            )
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **terms)

    def picture(self, path: Path) -> Path:
        """Write the whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path
=======
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
    started = subprocess.Popen(
        [*shell, *options, f"--user-data-dir={profile}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(to_browser[0], from_browser[1]),
        start_new_session=True,
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
>>>>>>> main
