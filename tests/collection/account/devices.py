"""Clocks that tests set, and accounts and questions that many of them use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dither as dt
from dither.collection.account import ClockReading

DAY = 86_400
NOON = 20_000 * DAY + DAY // 2  # 2024-10-04 12:00 UTC, a Friday


class SetClock:
    """The clocks of a device: one shows the time and may be wrong, one is steady until a restart."""

    def __init__(self, wall: int = NOON) -> None:
        self.wall, self.boot, self.elapsed = wall, "first", 100

    def __call__(self) -> ClockReading:
        return ClockReading(self.wall, self.boot, self.elapsed)

    def pass_(self, seconds: int) -> None:
        self.wall += seconds
        self.elapsed += seconds

    def jump(self, seconds: int) -> None:
        self.wall += seconds

    def restart(self) -> None:
        self.boot, self.elapsed = self.boot + "'", 0


def number(name: str = "age", epsilon: float = 0.5, **more: Any) -> dt.Inquiry:
    return dt.Inquiry(name, dt.KRR(dt.Categories(4), epsilon=epsilon), **more)


def label(name: str = "browser", epsilon: float = 0.5, **more: Any) -> dt.Inquiry:
    return dt.Inquiry(name, dt.KRR(dt.Categories(["fire", "chrome", "other"]), epsilon=epsilon), **more)


def make(folder: Path, clock: SetClock | None = None, name: str = "me.account", **more: Any) -> dt.Account:
    return dt.Account.create(folder / name, now=clock or SetClock(), **{"epsilon": 1, **more})
