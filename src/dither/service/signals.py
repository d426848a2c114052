"""SIGHUP: the campaigns are read again, while requests are answered."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from typing import Any


def on_hangup(act: Callable[[], Any]) -> None:
    """Call a function in a thread whenever SIGHUP comes, where a loop runs in the main thread."""
    loop = asyncio.get_running_loop()

    def safely() -> None:
        try:
            act()
        except Exception:  # such as a file that is not a campaign: what was published before goes on
            logging.getLogger("dither.service").exception("reloading failed")

    try:
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, safely))
    except (RuntimeError, ValueError, NotImplementedError):  # another thread, as in tests
        return
