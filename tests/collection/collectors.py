"""A collector without a disk, for tests of what it says."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.live import Slot
from dither.collection.published import Published
from dither.collection.settings import Settings

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
MONDAY = datetime.date(2026, 5, 4)
TUESDAY = MONDAY + datetime.timedelta(1)
TERMS: dict[str, Any] = {
    "name": "commute",
    "version": 1,
    "asker": "city.example",
    "contact": "data@city.example",
    "purpose": "How long people travel, and in which browser they say so.",
    "begins": datetime.date(2026, 5, 1),
    "ends": datetime.date(2026, 5, 31),
    "people": 100,
    "labels": ("1.0", "1.1"),
    "questions": {
        "minutes": dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 12),
        "browser": dt.KRR(dt.Categories(["firefox", "chrome", "safari", "other"]), epsilon=1),
    },
}


class NoDisk:
    """A store that holds campaigns and nothing else."""

    def __init__(self) -> None:
        self._campaigns: list[Published] = []

    def publish(self, published: Published) -> None:
        self._campaigns.append(published)

    def campaigns(self) -> list[Published]:
        return self._campaigns

    def refusals(self) -> dict[Any, int]:
        return {}

    def folded_counts(self) -> list[Any]:
        return []

    def news(self) -> list[Any]:
        return []

    def reload(self) -> bool:
        return False


def make(day: datetime.date = TUESDAY, **changes: Any) -> tuple[Collector, Published]:
    """Return a collector with one campaign, and the campaign."""
    store: Any = NoDisk()
    collector = Collector(store, Settings(), lambda: day)
    published = Published.sign(Campaign(**{**TERMS, **changes}), KEY)
    collector.publish(published)
    return collector, published


def send(
    collector: Collector,
    published: Published,
    question: str,
    values: Any,
    day: datetime.date = MONDAY,
    label: str = "",
    seed: int = 1,
) -> dt.Reports:
    """Add the reports of some people; return them."""
    reports = published.contract.questions[question].perturb(values, source=dt.Seeded(seed))
    layout = reports.cells.dtype.newbyteorder("<")
    collector.live.add(
        Slot(published.id, question, day, label), np.asarray(reports.cells, dtype=layout).tobytes()
    )
    return reports


def people(n: int, seed: int = 3) -> tuple[Any, list[str]]:
    """Return the minutes and the browsers of n people."""
    rng = np.random.default_rng(seed)
    return 180 * rng.beta(2, 5, n), ["firefox", "chrome", "safari", "other"] * (n // 4) + ["other"] * (n % 4)


class Asked:
    """Requests to an application in memory."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def get(self, path: str, **more: Any) -> Any:
        import httpx

        async def ask() -> Any:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
                return await client.get(path, **more)

        return asyncio.run(ask())
