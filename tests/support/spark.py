"""The end of a Spark session that tests started: its context, its Java process and its threads."""

from __future__ import annotations

from typing import Any


def end_session(session: Any) -> None:
    """Stop a session, and close the connection to Java, whose threads would outlive the tests."""
    from pyspark import SparkContext

    session.stop()
    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None  # the next session starts a process of its own
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
