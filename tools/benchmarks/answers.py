"""Answers of a collector against the library's calls for the same numbers, in processor time of one run.

python -m tools.benchmarks.answers

The call is the estimate and the interval that the row shows, of a summary that exists. The answer is what
`GET …/answers.json` computes when the number of reports has changed: it adds up the live counts as well.
"""

from __future__ import annotations

import datetime
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

    from dither.collection.campaign import Campaign, Published
    from dither.collection.collector import Collector
    from dither.collection.live import Slot
    from dither.collection.settings import Settings
    from dither.collection.store.sqlite import SqliteStore
    from dither.collection.web.answers import Answers, Query, What

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
    main()
