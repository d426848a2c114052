"""A batch is given up in time if the store hangs, whatever waits beside it; one timer serves all batches."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.collection.store.store import StoreUnavailable
from dither.collection.writer import Writer
from tests.collection.campaigns import published
from tests.collection.test_store import arrived

PATIENCE = 0.3


@pytest.fixture
def hanging(tmp_path: Path) -> Any:
    """A writer whose store hangs in `append` while an event is not set, and the event."""
    store = open_store(str(tmp_path / "store.sqlite"))
    goes, append = threading.Event(), store.append
    goes.set()

    def wait(batches: Any) -> Any:
        goes.wait(20)
        return append(batches)

    store.append = wait  # type: ignore[method-assign]
    collector = Collector(store, Settings(patience=PATIENCE))
    collector.publish(published())
    writer = Writer(collector)
    yield writer, goes
    goes.set()
    writer.close()
    store.close()


def test_a_batch_is_given_up_when_the_store_hangs(hanging: Any) -> None:
    writer, goes = hanging

    async def send() -> tuple[list[object], float]:
        await _stored(writer, 0)  # the timer runs since
        goes.clear()
        began = time.monotonic()
        waiting = [asyncio.ensure_future(writer.store(arrived(seed))) for seed in range(1, 20)]
        await asyncio.sleep(PATIENCE / 2)
        assert not any(task.done() for task in waiting)
        waiting[3].cancel()  # a device that goes away
        found = await asyncio.gather(*waiting, return_exceptions=True)
        return found, time.monotonic() - began

    found, seconds = asyncio.run(send())
    assert [type(each) for each in found].count(StoreUnavailable) == 18
    assert PATIENCE * 0.9 <= seconds < 10
    goes.set()

    async def again() -> None:
        """What was given up is acknowledged when it comes again, in another loop."""
        await asyncio.gather(*(_stored(writer, seed) for seed in range(30)))

    asyncio.run(again())


async def _stored(writer: Writer, seed: int) -> None:
    """Send a batch until it is acknowledged, as devices do: a busy machine may be slow."""
    for _ in range(50):
        try:
            return await writer.store(arrived(seed))
        except StoreUnavailable:
            continue
    raise TimeoutError


def test_many_batches_have_one_timer(hanging: Any) -> None:
    writer, _ = hanging

    async def send() -> list[float]:
        loop = asyncio.get_running_loop()
        real, timers = loop.call_later, list[float]()

        def call_later(delay: float, *given: Any) -> Any:
            timers.append(delay)
            return real(delay, *given)

        loop.call_later = call_later  # type: ignore[method-assign, assignment]
        began = time.monotonic()
        await asyncio.gather(*(_stored(writer, seed) for seed in range(50)))
        looks = (time.monotonic() - began) / min(PATIENCE, 1.0)
        assert len(timers) <= 2 + looks
        return timers

    assert asyncio.run(send())
