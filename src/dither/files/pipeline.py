"""Drawing and writing at the same time, each in a thread of its own, in order, with few items ahead.

Readers and writers release the interpreter's lock while they work. One thread draws: a draw is many short
operations, so that two drawing threads wait for each other's lock, and take longer than one (measured in
benchmarks/warehouse.md). What is written, and in which order, is the same as without threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

Given = TypeVar("Given")

DEPTH: Final = 2  # items that wait between two threads
_PATIENCE: Final = 0.1  # seconds after which a waiting thread looks whether it should end


def run_ahead(items: Iterator[Given]) -> Iterator[Given]:
    """Yield the items of an iterator that a thread of its own runs, up to `DEPTH` items ahead.

    An error of the iterator is raised here, after the items before it. The iterator is closed by its own
    thread, also if the caller stops early.
    """
    # Two simple queues, of items and of free places: `Queue` runs in Python, and every switch costs more.
    waiting: SimpleQueue[tuple[Given] | BaseException | None] = SimpleQueue()
    places: SimpleQueue[None] = SimpleQueue()
    for _ in range(DEPTH):
        places.put(None)
    ended = threading.Event()

    def put(item: tuple[Given] | BaseException | None) -> bool:
        while not ended.is_set():
            try:
                places.get(timeout=_PATIENCE)
            except Empty:
                continue
            waiting.put(item)
            return True
        return False

    def run() -> None:
        last: BaseException | None = None
        try:
            for item in items:
                if not put((item,)):
                    break
        except BaseException as error:
            last = error
        try:
            close = getattr(items, "close", None)
            if close is not None:
                close()
        except BaseException as error:
            last = last or error
        put(last)

    thread = threading.Thread(target=run, name="dither-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            places.put(None)
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        ended.set()
        while True:  # what waits is dropped, so that its memory is free before the thread has ended
            try:
                waiting.get_nowait()
            except Empty:
                break
        thread.join()
