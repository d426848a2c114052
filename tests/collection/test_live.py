"""Live counts equal the summary of the same reports, however they came."""

from __future__ import annotations

import datetime
import tracemalloc
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.live import FoldedCounts, LiveCounts, Slot, count_sorted
from dither.core.counts import Counts
from dither.errors import InvalidParameter
from dither.mechanisms.mechanism import Mechanism
from tests.collection.campaigns import DAY, contract, hashed

MECHANISMS: dict[str, Mechanism[Any]] = {
    "window": dt.Podium(dt.Interval(0, 1), epsilon=1),
    "table": dt.KRR(dt.Categories(list("abcd")), epsilon=1),
    "bits": dt.OUE(dt.Categories([str(one) for one in range(20)]), epsilon=1),
    "hashed": hashed(),
}


def values(mechanism: Mechanism[Any], n: int) -> Any:
    random = np.random.default_rng(7)
    if isinstance(mechanism.domain, dt.Categories):
        return random.choice(np.array(mechanism.domain.labels), n)
    return random.random(n)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_counts_equal_the_summary(kind: str) -> None:
    mechanism = MECHANISMS[kind]
    made = contract(questions={"q": mechanism})
    live = LiveCounts()
    live.know(made)
    reports = mechanism.perturb(values(mechanism, 20_000), source=dt.Seeded(3))
    days = [DAY, DAY + datetime.timedelta(1)]
    cells = reports.cells
    for place in range(0, 20_000, 500):
        slot = Slot(made.id, "q", days[place >= 10_000], ("", "1.0")[place % 1000 == 0])
        live.add(slot, cells[place : place + 500].tobytes())
        if place % 3000 == 0:
            live.summary(made.id, "q")
    assert live.summary(made.id, "q") == Counts.of(reports)
    assert live.n(made.id, "q") == 20_000
    assert live.summary(made.id, "q", day=days[1]) == Counts.of(reports[10_000:])
    assert live.summary(made.id, "q", label="1.0").n == 10_000
    assert live.days(made.id, "q") == days
    assert live.labels(made.id, "q") == ["", "1.0"]


def test_reports_of_a_test_are_left_out_unless_they_are_asked_for() -> None:
    mechanism = MECHANISMS["table"]
    made = contract(questions={"q": mechanism}, labels=("1.0", "test"))
    live = LiveCounts()
    live.know(made)
    cells = mechanism.perturb(["a"] * 300, source=dt.Seeded(3)).cells
    for label, some in (("", cells[:100]), ("test", cells[100:])):
        live.add(Slot(made.id, "q", DAY, label), some.tobytes())
    assert (live.n(made.id, "q"), live.summary(made.id, "q").n, live.n(made.id, "q", DAY)) == (100, 100, 100)
    assert live.labels(made.id, "q") == [""]
    assert live.n(made.id, "q", label="test") == 200


def test_counts_that_were_folded_are_added() -> None:
    mechanism = MECHANISMS["window"]
    made = contract(questions={"q": mechanism})
    live = LiveCounts()
    live.know(made)
    reports = mechanism.perturb(values(mechanism, 1000), source=dt.Seeded(3))
    first = Counts.of(reports[:400])
    slot = Slot(made.id, "q", DAY, "")
    live.add(slot, reports.cells[400:].tobytes())
    live.add_counts(FoldedCounts(slot, first.counts, first.n, shown=True))
    assert live.summary(made.id, "q") == Counts.of(reports)
    live.clear(made.id)
    assert live.n(made.id, "q") == 0


def test_a_question_of_65_536_cells_needs_at_most_0_6_MB() -> None:
    mechanism = MECHANISMS["window"]
    made = contract(questions={"q": mechanism})
    live = LiveCounts()
    live.know(made)
    data = mechanism.perturb(values(mechanism, 10_000), source=dt.Seeded(3)).cells.tobytes()
    live.summary(made.id, "q")
    tracemalloc.start()
    for _ in range(100):
        live.add(Slot(made.id, "q", DAY, ""), bytes(bytearray(data)))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert live.n(made.id, "q") == 1_000_000
    assert held <= 600_000 + (1 << 18)  # the vector, and bytes that wait to be counted


def test_counts_that_rest_are_held_in_few_bytes_and_stay_the_same() -> None:
    mechanism = MECHANISMS["window"]
    made = contract(questions={"q": mechanism})
    live = LiveCounts()
    live.know(made)
    reports = mechanism.perturb(values(mechanism, 300_000), source=dt.Seeded(3))
    slot = Slot(made.id, "q", DAY, "")
    tracemalloc.start()
    live.add(slot, reports.cells[:200_000].tobytes())
    before, _ = tracemalloc.get_traced_memory()
    live.shrink()
    live.shrink()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert before - after > 400_000
    assert live.summary(made.id, "q") == Counts.of(reports[:200_000])
    live.add(slot, reports.cells[200_000:].tobytes())
    folded = Counts.of(mechanism.perturb(values(mechanism, 1000), source=dt.Seeded(4)))
    live.add_counts(FoldedCounts(slot, folded.counts, 1000, shown=True))
    assert live.summary(made.id, "q") == Counts.of(reports) + folded


def test_unknown_names() -> None:
    live = LiveCounts()
    with pytest.raises(InvalidParameter, match="campaign"):
        live.summary("x", "q")
    made = contract()
    live.know(made)
    with pytest.raises(InvalidParameter, match="minutes"):
        live.n(made.id, "minute")


def test_many_sorted_reports_are_counted_as_others_are() -> None:
    question = dt.Podium(dt.Interval(0, 180), epsilon=1).question
    cells = np.random.default_rng(4).integers(0, 1 << 16, 150_000, dtype=np.uint16)
    parts = [
        np.sort(part.astype("<u2").view(">u2")).tobytes() for part in np.array_split(cells, 5)
    ]  # as batches list them
    counts = np.zeros(1 << 16, dtype=np.int64)
    count_sorted(question, counts, parts)
    count_sorted(question, counts, parts[:1])
    few = np.bincount(np.frombuffer(parts[0], "<u2"), minlength=1 << 16)
    assert np.array_equal(counts, np.bincount(cells, minlength=1 << 16) + few)
