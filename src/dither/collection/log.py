"""The log of a collector: events with public facts, one line of JSON each."""

from __future__ import annotations

import datetime
import json
import logging
import sys
import time
from collections.abc import Callable
from typing import Any, Final

_LOGGER: Final = logging.getLogger("dither.collection")


class LogLine(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(
            timespec="milliseconds"
        )
        facts = getattr(record, "facts", {})
        line = {"time": when, "level": record.levelname.lower(), "event": record.getMessage(), **facts}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__  # only the type: a message may quote a request
        return json.dumps(line, ensure_ascii=False)


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with public facts."""
    _LOGGER.log(level, event, extra={"facts": facts})


class FewLines(logging.Filter):
    """Limits the lines with the same text per minute, so that invalid requests do not fill the disk.

    The first line after a minute states the number of omitted lines.
    """

    def __init__(self, most: int = 10, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most, self._clock = most, clock
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        now, text = self._clock(), str(record.msg)
        begin, count = self._seen.get(text, (now, 0))
        if now - begin >= _MINUTE:
            if count > self._most:
                record.facts = {**getattr(record, "facts", {}), "left out": count - self._most}
            begin, count = now, 0
        self._seen[text] = (begin, count + 1)
        return count < self._most


_MINUTE: Final = 60.0


def to_stderr() -> None:
    """Write all logs, also those from the server, as JSON lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLine())
    handler.addFilter(FewLines())
    for name in ("dither.collection", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "dither.collection" else logging.WARNING)
