"""The collector: campaigns, a store, live counts and counts of refusals, without a word of HTTP."""

from __future__ import annotations

import datetime
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, final

from dither.service.contract import Published
from dither.service.live import LiveCounts
from dither.service.refusal import Reason
from dither.service.settings import Settings
from dither.service.store.store import CollectorStore, RefusedKey

_START: Final = "open"


def today() -> datetime.date:
    """Return the present day, in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


@final
class Collector:
    """What a campaign is collected with. The parts over HTTP and the page read it; the writer adds to it.

    `campaigns` are the published ones by identity, `live` are the counts, `refused` the counts of refusals.
    """

    def __init__(
        self, store: CollectorStore, settings: Settings, day: Callable[[], datetime.date] = today
    ) -> None:
        self.store, self.settings, self.day = store, settings, day
        self.live = LiveCounts()
        self.began = time.monotonic()
        self._campaigns: dict[str, Published] = {}
        self._refused: Counter[RefusedKey] = Counter(store.refused())
        self._lock = threading.Lock()
        for published in store.campaigns():
            self._know(published)
        for slot, counts, n in store.counted():
            self.live.add_counts(slot, counts, n)
        self.catch_up()

    def _know(self, published: Published) -> None:
        self.live.know(published.contract)
        self._campaigns = {**self._campaigns, published.id: published}

    @property
    def campaigns(self) -> Mapping[str, Published]:
        """The published campaigns, by identity, retired ones included."""
        return MappingProxyType(self._campaigns)

    @property
    def refused(self) -> Mapping[RefusedKey, int]:
        """How many batches were refused, by campaign, day and reason."""
        with self._lock:
            return dict(self._refused)

    def publish(self, published: Published) -> None:
        """Take in a campaign, or its retirement; it is on disk when this returns."""
        self.store.publish(published)
        self._know(published)

    def refuse(self, reason: Reason, campaign: str = "") -> None:
        """Count a refusal."""
        with self._lock:
            self._refused[RefusedKey(campaign, self.day(), reason)] += 1

    def catch_up(self) -> None:
        """Count what others stored since the last time, or everything at the start."""
        for slot, reports in self.store.news():
            self.live.add(slot, reports)

    def health(self) -> dict[str, Any]:
        """Return the state of the collector, without a word about anybody's reports."""
        return {
            "ready": True,
            "seconds": int(time.monotonic() - self.began),
            "campaigns": len(self._campaigns),
            "reports": sum(
                self.live.n(one.id, name)
                for one in self._campaigns.values()
                for name in one.contract.questions
            ),
        }
