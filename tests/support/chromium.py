"""A real Chromium, driven over its debugging pipe: pages, console messages, scripts, pictures."""

from __future__ import annotations

import base64
import json
import os
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
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
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
