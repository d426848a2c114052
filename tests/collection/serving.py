"""A collector as a process of its own, started by the command line, with a socket and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.collection.campaigns import TOML

OPEN = TOML.replace("begins = 2026-05-01", "begins = 2020-01-01").replace(
    "ends = 2026-05-31", "ends = 2120-01-01"
)


class Process:
    """`dither serve` with a campaign that never ends. `address` is that of the collector."""

    def __init__(self, folder: Path, store: str, *options: str, toml: str = OPEN, **more: Any) -> None:
        self.folder = folder
        self.file = folder / "campaign.toml"
        if not self.file.exists():
            self.file.write_text(toml, encoding="utf-8")
        words = [
            "serve",
            "--json",
            str(self.file),
            "--store",
            store,
            "--port",
            "0",
            "--key",
            str(folder / "asker.key"),
            "--new-key",
        ]
        self.errors = (folder / "errors.jsonl").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dither", *words, *options],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1"},
            **more,
        )
        places = json.loads(self._line())
        self.address = places["page"].rstrip("/")
        self.campaign, *self.others = places["campaigns"]  # others: of files among the options
        self.port = int(self.address.rpartition(":")[2])

    def _line(self) -> str:
        stream = self.process.stdout
        line = stream.readline().decode() if stream is not None else ""
        if not line:
            self.process.wait()
            told = (self.folder / "errors.jsonl").read_text(encoding="utf-8")
            raise RuntimeError(f"the collector did not start: {told[-600:]}")
        return line

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.errors.close()
        return code

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        elif self.process.stdout is not None:
            self.process.stdout.close()
            self.errors.close()
