"""Answers of a collector against the library's calls for the same numbers, in processor time of one run.

python -m tools.benchmarks.answers
python -m tools.benchmarks.answers page      a page of 20 questions, 90 days and 6 labels

The call is the estimate and the interval that the row shows, of a summary that exists. The answer is what
`GET …/answers.json` computes when the number of reports has changed: it adds up the live counts as well.
"""

from __future__ import annotations

import asyncio
import datetime
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import dither as dt


def main() -> None:
    """Print the table; goals are in tools/benchmarks/answers.md."""
    with TemporaryDirectory() as folder:
        _measure(Path(folder) / "store")


def _measure(path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dither.collection.campaign import Campaign
    from dither.collection.collector import Collector
    from dither.collection.live import Slot
    from dither.collection.published import Published
    from dither.collection.settings import Settings
    from dither.collection.store.sqlite import SqliteStore
    from dither.collection.web.answers import Answers
    from dither.collection.web.query import Query, What

    questions: dict[str, dt.Podium | dt.SW | dt.KRR | dt.OLH] = {
        "Podium, 2^16 cells": dt.Podium(dt.Interval(0, 180), epsilon=1),
        "SW, 2^16 cells": dt.SW(dt.Interval(0, 180), epsilon=1),
        "KRR, 4 categories": dt.KRR(dt.Categories(4), epsilon=1),
        "OLH, 1 000 categories": dt.OLH(dt.Categories(1000), epsilon=1),
    }
    day = datetime.date(2026, 5, 4)
    asked = {name: made.question for name, made in questions.items()}
    contract = Campaign("speed", 1, "a", "b", "c", day, day, asked, people=2)
    published = Published.sign(contract, Ed25519PrivateKey.from_private_bytes(bytes(32)))
    store = SqliteStore(path)
    collector = Collector(store, Settings(), lambda: day)
    collector.publish(published)
    rng = np.random.default_rng(1)
    for name, mechanism in questions.items():
        people = 180 * rng.beta(2, 5, 100_000) if "cells" in name else rng.integers(0, 4, 100_000)
        collector.live.add(
            Slot(published.id, name, day, ""), mechanism.perturb(people, source=dt.Seeded(1)).cells.tobytes()
        )
    answers = Answers(collector)
    print("| question | quantity | library, ms | answer, ms | ratio |\n|---|---|---|---|---|")
    for name, what, call in _calls(What):
        summary, query = collector.live.summary(published.id, name), [Query(name, what)]

        def answer(asked: list[Query] = query) -> None:
            answers._kept.clear()
            answers._looks.clear()
            answers.compute(published.id, asked)

        def anew(summary: dt.Counts = summary) -> dt.Counts:
            return dt.Counts(summary.question, summary.counts, summary.n)  # that remembers nothing

        library, answered = _least((anew, call), (list, lambda _, answer=answer: answer()))
        times = f"{1e3 * library:.2f} | {1e3 * answered:.2f} | {answered / library:.2f}"
        print(f"| {name} | {what.value} | {times} |")
    answers.close()
    store.close()


def page(count: int = 20, days: int = 90, labels: int = 6) -> None:
    """Print the milliseconds of a page of many questions, days and labels: wall and processor time."""
    with TemporaryDirectory() as folder:
        _measure_page(Path(folder) / "store", count, days, labels)


def _measure_page(path: Path, count: int, days: int, labels: int) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dither.collection.campaign import Campaign
    from dither.collection.collector import Collector
    from dither.collection.live import Slot
    from dither.collection.published import Published
    from dither.collection.settings import Settings
    from dither.collection.store.sqlite import SqliteStore
    from dither.collection.web.answers import Answers
    from dither.collection.web.pages import Pages
    from dither.collection.web.views import USUAL

    first = datetime.date(2026, 5, 4)
    last = first + datetime.timedelta(days - 1)
    names = tuple(f"v{number}" for number in range(labels))
    kinds: list[Callable[[float], Any]] = [
        lambda epsilon: dt.Podium(dt.Interval(0, 180), epsilon=epsilon),
        lambda epsilon: dt.SW(dt.Interval(0, 180), epsilon=epsilon),
        lambda epsilon: dt.KRR(dt.Categories(["a", "b", "c", "d"]), epsilon=epsilon),
        lambda epsilon: dt.Podium(dt.Interval(1, 5, step=1), epsilon=epsilon + 1),
    ]
    questions = {f"q{number}": kinds[number % 4](1 + number / 100) for number in range(count)}
    asked = {name: made.question for name, made in questions.items()}
    contract = Campaign("page", 1, "a", "b", "c", first, last, asked, people=50, labels=names)
    published = Published.sign(contract, Ed25519PrivateKey.from_private_bytes(bytes(32)))
    store = SqliteStore(path)
    collector = Collector(store, Settings(), lambda: last)
    collector.publish(published)
    rng = np.random.default_rng(1)
    values = [180 * rng.beta(2, 5, 20_000)] * 2 + [
        rng.choice(list("abcd"), 20_000),
        rng.integers(1, 6, 20_000),
    ]
    for number, (name, mechanism) in enumerate(questions.items()):
        cells = mechanism.perturb(values[number % 4], source=dt.Seeded(1)).cells
        for day in range(days):
            for label in names:
                begin = int(rng.integers(0, 19_900))
                slot = Slot(published.id, name, first + datetime.timedelta(day), label)
                collector.live.add(slot, cells[begin : begin + 100].tobytes())

    async def steps() -> None:
        print("| page | wall, ms | processor, ms | bytes, compressed |\n|---|---|---|---|")
        for begin in ("in the second after a restart", "some seconds after a restart"):
            answers = Answers(collector)
            pages = Pages(collector, answers)
            if begin.startswith("some"):  # a collector draws its pages one second after a start
                pages._draw_early()
                await asyncio.to_thread(pages._coming[published.id, USUAL].result)
            for step in (begin, "all of it is there", "again", "drawn again"):
                wall, processor = time.perf_counter(), time.process_time()
                if step == "drawn again":
                    pages._drawn.clear()
                size = len(await pages.page(published, USUAL))
                while step.startswith("all") and not (await pages._now(published, USUAL)).complete:
                    await asyncio.sleep(0.05)
                wall, processor = time.perf_counter() - wall, time.process_time() - processor
                print(f"| {step} | {1e3 * wall:.0f} | {1e3 * processor:.0f} | {size} |", flush=True)
            answers.close()
            pages.close()

    asyncio.run(steps())
    store.close()


def _calls(what: Any) -> list[tuple[str, Any, Callable[[dt.Counts], Any]]]:
    return [
        ("Podium, 2^16 cells", what.USUAL, lambda summary: dt.mean(summary).at_any_time().interval()),
        ("KRR, 4 categories", what.USUAL, lambda summary: dt.frequencies(summary).at_any_time().interval()),
        (
            "OLH, 1 000 categories",
            what.USUAL,
            lambda summary: dt.frequencies(summary).at_any_time().interval(),
        ),
        (
            "SW, 2^16 cells",
            what.QUANTILE,
            lambda summary: dt.quantile(summary, 0.5).over_looks(100).interval(),
        ),
        ("SW, 2^16 cells", what.DISTRIBUTION, lambda summary: dt.distribution(summary).bands(0.9995)),
    ]


def _least(
    *calls: tuple[Callable[[], Any], Callable[[Any], Any]], rounds: int = 9, seconds: float = 0.5
) -> list[float]:
    """Return the least processor time of each call; the calls take turns, so that both meet the same load.

    Each call is given what the function before it returns; making that does not count.
    Short calls are repeated for half a second: the least of nine times of 0.2 ms is mostly noise.
    """
    least = [float("inf")] * len(calls)
    until, done = time.process_time() + seconds, 0
    while done < rounds or time.process_time() < until:
        done += 1
        for place, (make, call) in enumerate(calls):
            made = make()
            began = time.process_time()
            call(made)
            least[place] = min(least[place], time.process_time() - began)
    return least


if __name__ == "__main__":
    page() if sys.argv[1:] == ["page"] else main()
