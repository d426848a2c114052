"""Presence of many devices: an attacker who links messages, and a store that is counted again."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector, check
from dither.collection.presence import present_counts
from dither.collection.published import Published
from dither.collection.settings import Settings
from dither.collection.store.sqlite import SqliteStore
from dither.core.batch import BatchBody, ReadBatch
from dither.core.presence import PresenceCounts
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.rules import Policy, decide
from dither_device.state import State
from tests.collection.account.events import opened
from tests.collection.collectors import KEY, MONDAY

WEEKS = 16
LABELS = [(MONDAY + datetime.timedelta(7 * place)).isoformat() for place in range(-1, WEEKS + 1)]
START = (MONDAY - datetime.date(1970, 1, 1)).days * 86_400
TERMS: dict[str, Any] = {
    **{"name": "presence", "version": 1, "asker": "tool.example", "contact": "a@tool.example"},
    **{"purpose": "How many come back.", "people": 20, "repeat": "present", "every": "week"},
    **{"begins": MONDAY, "ends": MONDAY + datetime.timedelta(7 * WEEKS - 1), "label_share": 0.7},
}


class Person:
    """A device by the rules of the account, without a file: what it sends in a week."""

    def __init__(self, asked: DeviceCampaign, week: int, source: random.Random) -> None:
        self.state = State({**opened(9, "year"), "born": START, "clock": at(week)})
        self._asked, self._source, self._first = asked, source, LABELS[week + 1]

    def use(self, week: int) -> tuple[str, bool, tuple[tuple[str, bytes], ...]] | None:
        """Use the tool in a week; return the message: its identity, whether it is public, its reports."""
        terms, label = self._asked.presence()
        facts = None if label is None else label.facts
        told = {"presence": terms, "question": facts, "at": at(week)}
        event = {"do": "present", "id": self._source.randbytes(16).hex(), **told}
        decision = decide(self.state, event, Policy(epsilon=50), self._source.randbytes)
        if decision.draws and label is not None:
            drawn = label.question.draw(label.place(self._first), self._source.randbytes)
            decision = decision.with_report(drawn.hex())
        self.state.apply(decision.effect)
        message = decide(self.state, {"do": "message", **told}, Policy()).outcome
        if message["is"] == "empty":
            return None
        self.state.apply(decide(self.state, {"do": "acknowledge", "id": message["id"]}, Policy()).effect)
        reports = tuple((mark, bytes.fromhex(report)) for mark, report in message["reports"])
        return message["id"], message["public"], reports


def at(week: int) -> dict[str, Any]:
    return {"wall": START + week * 604_800, "boot": "one", "elapsed": week * 604_800, "ahead": 0}


def campaign(expects: int, labels: tuple[str, ...], asked: Any) -> tuple[Published, DeviceCampaign]:
    more = {"expects": expects, "labels": labels, "questions": {"since": asked}}
    published = Published.sign(Campaign(**{**TERMS, **more}), KEY)
    return published, DeviceCampaign(published.to_json())


def alone(classes: Counter[Any]) -> int:
    return sum(count for count in classes.values() if count == 1)


def test_messages_single_out_no_device_at_500_actives() -> None:
    """The attacker links messages with the same bytes; with both labels together 40 % would be alone."""
    source, seed = random.Random(59), dt.Seeded(59)
    asked = dt.KRR(dt.Categories(LABELS[:16]), epsilon=1)
    versions = tuple(f"{version} {platform}" for version in range(5) for platform in ("linux", "mac", "win"))
    _, known = campaign(500, versions, asked)
    sent: Counter[Any] = Counter()
    both: Counter[Any] = Counter()
    for _ in range(500):
        week = source.randrange(14)
        device, public = Person(known, week, source), source.choice(versions)
        messages = [device.use(week), device.use(week), device.use(week + 1)]
        first, silent, second = messages
        assert first is not None
        assert second is not None
        assert silent is None
        assert first[1:] == second[1:]  # the label is the same ever after
        assert first[0] != second[0]
        assert not (first[1] and first[2])
        sent[first[2] or public] += 1
        both[asked.perturb([LABELS[week + 1]], source=seed).cells.tobytes(), public] += 1
    assert alone(sent) == 0
    assert alone(both) > 50  # the twin that carries both


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2])
def test_a_cell_through_accounts_batches_and_a_store(epsilon: float, tmp_path: Path) -> None:
    """1 500 weekly actives, of whom a tenth leaves in each week; actives are exact through retries."""
    rng, source = np.random.default_rng(3), random.Random(3)
    asked = dt.ProjectiveResponse(dt.Categories(LABELS), epsilon=epsilon)
    published, known = campaign(1500, ("1.0",), asked)
    inside, halves, spread = 0, [], []
    rounds = 8
    for number in range(rounds):
        installed = np.concatenate([np.full(1500, -1), np.repeat(np.arange(WEEKS), 150)])
        life = rng.geometric(0.1, installed.size)
        since = np.arange(WEEKS) - np.maximum(installed, 0)[:, None]
        active = (since >= 0) & (since < life[:, None])
        devices = [Person(known, int(week), source) for week in installed]
        store = SqliteStore(tmp_path / f"{number}.sqlite", synchronous="OFF")
        collector = Collector(store, Settings())
        collector.publish(published)
        for week in range(WEEKS):
            day = MONDAY + datetime.timedelta(7 * week)
            collector.day = lambda day=day: day  # type: ignore[misc]
            arrived = []
            for place in np.flatnonzero(active[:, week]):
                message = devices[place].use(week)
                assert message is not None
                body = BatchBody.of(message[0], message[2], "1.0" if message[1] else "").to_bytes()
                arrived.append(check(collector, published.id, ReadBatch.from_bytes(body)))
            store.append(arrived)
            store.append(arrived[:50])  # retries
            collector.catch_up()
        counts = present_counts(published.contract, collector.live, MONDAY + datetime.timedelta(7 * WEEKS))
        assert list(counts.messages) == active.sum(axis=0).tolist()  # exact
        again = PresenceCounts.from_json(counts.to_json())
        row = dt.retention(again).after(4)
        used = (installed >= 0) & (installed < WEEKS - 4)
        truth = active[np.flatnonzero(used), installed[used] + 4].mean()
        inside += row["low"] <= truth <= row["high"]
        halves.append((row["high"] - row["low"]) / 2)
        spread += [redrawn(rng, asked, installed, active) - truth for _ in range(40)]
        store.close()
    assert inside >= rounds - 1
    assert 0.8 <= np.mean(halves) / (1.96 * np.std(spread)) <= 1.5


def redrawn(rng: np.random.Generator, asked: Any, installed: Any, active: Any) -> float:
    """Return the retention after 4 weeks of the same use, where coins and labels are drawn anew."""
    marked = rng.random(installed.size) < TERMS["label_share"]
    seed = dt.Seeded(int(rng.integers(2**31)))
    cells = asked.perturb([LABELS[week + 1] for week in installed], source=seed).cells
    outcomes = asked.question.outcomes
    counts = [np.bincount(cells[marked & active[:, week]], minlength=outcomes) for week in range(WEEKS)]
    days = [MONDAY + datetime.timedelta(7 * week) for week in range(WEEKS)]
    messages = [int(count) for count in active.sum(axis=0)]
    public = [int(count) for count in active[~marked].sum(axis=0)]
    known = PresenceCounts("week", days, messages, public, question=asked, counts=counts)
    return float(dt.retention(known).after(4)["value"])
