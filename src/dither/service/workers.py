"""Several processes on one socket: started, started again when they die, and stopped together.

`python -m dither.service.workers FD` is one of them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Final

from dither.service.logs import log

_LEAST: Final = 1.0  # seconds between two starts of a process


def supervise(bound: socket.socket, count: int) -> None:
    """Run processes on a listening socket until SIGTERM or SIGINT; SIGHUP is passed on to them."""
    stopping = False
    running: list[subprocess.Popen[bytes]] = []

    def passed_on(number: int, _: object) -> None:
        nonlocal stopping
        stopping = stopping or number != signal.SIGHUP
        for one in running:
            one.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, passed_on)
    while not stopping or running:
        running[:] = [one for one in running if one.poll() is None]
        while not stopping and len(running) < count:
            running.append(_start(bound))
        time.sleep(0.2 if len(running) == count or stopping else _LEAST)


def _start(bound: socket.socket) -> subprocess.Popen[bytes]:
    handle = bound.fileno()
    words = [sys.executable, "-m", "dither.service.workers", str(handle)]
    started = subprocess.Popen(words, pass_fds=[handle], start_new_session=True)
    log("started a process", process=started.pid)
    return started


def _work(handle: int) -> None:
    from dither.service.server import from_environment, run

    run(socket.socket(fileno=handle), from_environment())


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _work(int(sys.argv[1]))
