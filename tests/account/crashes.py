"""Copies of an account's folder at every step of a transaction: what kill -9 would leave there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dither as dt


@dataclass(frozen=True)
class Remains:
    """What a process leaves that is killed at a step, and the identities of the reports that it had sent."""

    folder: Path
    sent: frozenset[str]
    step: str


def remains_of(
    account: dt.Account, work: Callable[[Callable[[str], None]], None], folder: Path
) -> list[Remains]:
    """Do the work, which calls its argument with each identity that leaves; copy the folder at every step."""
    copies: list[Remains] = []
    sent: set[str] = set()
    path = account._store.path

    def copy(step: str) -> None:
        place = folder / f"step {len(copies)}"
        shutil.copytree(path.parent, place)
        copies.append(Remains(place, frozenset(sent), step))

    account._store.connection.set_trace_callback(copy)  # called before each statement runs
    work(lambda identity: (sent.add(identity), copy(f"sent {identity}"))[0])  # type: ignore[func-returns-value]
    account._store.connection.set_trace_callback(None)
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
