"""Structured logs: one JSON object a line, with events and public facts, never with a value or an address."""

from __future__ import annotations

import datetime
import json
import logging
import sys
from typing import Any, Final, final

_LOGGER: Final = logging.getLogger("dither.service")


@final
class LogLine(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(
            timespec="milliseconds"
        )
        facts = getattr(record, "facts", {})
        line = {"time": when, "level": record.levelname.lower(), "event": record.getMessage(), **facts}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__  # the kind alone: a message may quote what was sent
        return json.dumps(line, ensure_ascii=False)


def log(event: str, *, level: int = logging.INFO, **facts: Any) -> None:
    """Log an event with public facts."""
    _LOGGER.log(level, event, extra={"facts": facts})


def to_stderr() -> None:
    """Write logs as JSON lines to standard error, those of the server included."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLine())
    for name in ("dither.service", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "dither.service" else logging.WARNING)
