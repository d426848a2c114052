"""Copies of an account's folder at every step of a transaction: what kill -9 would leave there."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import dither as dt


@dataclass(frozen=True)
class Remains:
    """What a process leaves that is killed at a step, and the identities of the reports that it had sent."""

    folder: Path
    sent: frozenset[str]
    step: str


@contextmanager
def connections() -> Iterator[list[sqlite3.Connection]]:
    """Yield the list to which every connection to a database is added that is made while the block runs."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*args: Any, **more: Any) -> sqlite3.Connection:
        made.append(connect(*args, **more))
        return made[-1]

    with mock.patch.object(sqlite3, "connect", noted):
        yield made


def remains_of(
    connection: sqlite3.Connection, live: Path, work: Callable[[Callable[[str], None]], None], folder: Path
) -> list[Remains]:
    """Do the work on the account in the folder `live`; copy that folder at every step of the connection.

    The work calls its argument with each identity that leaves.
    """
    copies: list[Remains] = []
    sent: set[str] = set()

    def copy(step: str) -> None:
        place = folder / f"step {len(copies)}"
        shutil.copytree(live, place)
        copies.append(Remains(place, frozenset(sent), step))

    connection.set_trace_callback(copy)  # called before each statement runs
    work(lambda identity: (sent.add(identity), copy(f"sent {identity}"))[0])  # type: ignore[func-returns-value]
    connection.set_trace_callback(None)
    copy("done")
    return copies


def losses(copies: list[Remains], name: str = "me.account") -> list[str]:
    """Return the steps after which a report was sent that the file does not know."""
    found = []
    for one in copies:
        with dt.Account.open(one.folder / name) as account:
            recorded = {entry["id"] for entry in account.wire()["entries"]}
        if not one.sent <= recorded:
            found.append(one.step)
    return found
