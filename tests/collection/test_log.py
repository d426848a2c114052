"""Whoever sends invalid requests does not fill the disk with log lines."""

from __future__ import annotations

import logging

from dither.collection.log import FewLines


def test_log_lines_of_one_text_are_limited() -> None:
    now = [0.0]
    few = FewLines(most=3, clock=lambda: now[0])

    def line() -> logging.LogRecord:
        return logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, "Invalid HTTP request", None, None)

    assert sum(few.filter(line()) for _ in range(1000)) == 3
    now[0] = 61.0
    said = line()
    assert few.filter(said)
    assert said.facts == {"left out": 997}  # type: ignore[attr-defined]
