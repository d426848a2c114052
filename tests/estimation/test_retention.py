"""Retention from permanent labels: exact where nothing is random, and coverage where it is."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.results import PresenceCounts, Retention

MONDAY = datetime.date(2026, 1, 5)
WEEKS = [MONDAY + datetime.timedelta(7 * place) for place in range(16)]
LABELS = [
    day.isoformat() for day in (MONDAY - datetime.timedelta(7), *WEEKS, WEEKS[-1] + datetime.timedelta(7))
]


def population(size: int, stays: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the week of installation of devices, and in which weeks they are active: leaving is for good."""
    installed = np.concatenate([np.full(size, -1), np.repeat(np.arange(16), int(size * (1 - stays)))])
    life = rng.geometric(1.0 - stays, installed.size)
    since = np.arange(16) - np.maximum(installed, 0)[:, None]
    return installed, (since >= 0) & (since < life[:, None])


def counted(
    asked: Any, installed: Any, active: Any, share: float, rng: np.random.Generator
) -> PresenceCounts:
    """Return the counts of a collector: the coin and the label of a device are the same in every week."""
    marked = rng.random(installed.size) < share
    seed = dt.Seeded(int(rng.integers(2**31)))
    cells = asked.perturb(np.array(LABELS)[installed[marked] + 1], source=seed).cells.reshape(-1)
    size = asked.question.outcomes
    rows = [np.bincount(cells[active[marked, week]], minlength=size) for week in range(16)]
    messages = active.sum(axis=0).tolist()
    public = [total - int(row.sum()) for total, row in zip(messages, rows, strict=True)]
    labels = {"1.0": public[:8] + [0] * 8, "1.1": [0] * 8 + public[8:]}
    return PresenceCounts("week", WEEKS, messages, public, labels, asked, rows, people=20)


def true_share(installed: Any, active: Any, after: int) -> float:
    used = (installed >= 0) & (installed < 15 - after + 1)
    return float(active[np.flatnonzero(used), installed[used] + after].mean())


def test_without_noise_the_curve_is_that_of_the_devices() -> None:
    rng = np.random.default_rng(1)
    asked = dt.KRR(dt.Categories(LABELS), epsilon=40)
    installed, active = population(3000, 0.9, rng)
    found = dt.retention(counted(asked, installed, active, 1.0, rng))
    assert isinstance(found, Retention)
    for after in (1, 4, 8):
        row = found.after(after)
        assert row["value"] == pytest.approx(true_share(installed, active, after), abs=1e-3)
        assert row["low"] <= row["value"] <= row["high"]
        assert row["churn"] == pytest.approx(1 - row["value"])
        assert row["cohorts"] == 16 - after
    assert [row["devices"] for row in found.actives] == active.sum(axis=0).tolist()
    cells = {(row["installed"], row["after"]): row["value"] for row in found.cohorts}
    assert cells[WEEKS[3].isoformat(), 0] == pytest.approx(300, abs=1)
    assert {row["label"] for row in found.labels} == set()  # all devices carry the permanent label


@pytest.mark.parametrize("epsilon", [1, 2])
def test_intervals_cover_and_are_no_wider_than_they_must_be(epsilon: int) -> None:
    rng = np.random.default_rng(7)
    asked = dt.ProjectiveResponse(dt.Categories(LABELS), epsilon=epsilon)
    installed, active = population(2000, 0.9, rng)
    truth = true_share(installed, active, 4)
    rows = [dt.retention(counted(asked, installed, active, 0.7, rng)).after(4) for _ in range(40)]
    inside = sum(row["low"] <= truth <= row["high"] for row in rows)
    assert inside >= 31  # 4 standard deviations below 95 %
    halves = np.mean([(row["high"] - row["low"]) / 2 for row in rows])
    spread = 1.96 * np.std([row["value"] for row in rows], ddof=1)
    assert 0.6 < halves / spread < 2.2


def test_weeks_taken_as_independent_would_not_be_right() -> None:
    """Interval of the ratio as if the counts of two weeks were independent: several times too wide."""
    rng = np.random.default_rng(3)
    asked = dt.ProjectiveResponse(dt.Categories(LABELS), epsilon=1)
    installed, active = population(5000, 0.98, rng)
    found = dt.retention(counted(asked, installed, active, 1.0, rng))
    table = {(row["installed"], row["after"]): row for row in found.cohorts}
    pairs = [(table[day.isoformat(), 0], table[day.isoformat(), 1]) for day in WEEKS[1:15]]
    error = np.sqrt(sum((row["high"] - row["value"]) ** 2 for pair in pairs for row in pair))
    independent = error / sum(first["value"] for first, _ in pairs)
    row = found.after(1)
    assert independent > 1.5 * (row["high"] - row["low"]) / 2


def test_shares_of_versions_come_from_the_other_devices() -> None:
    rng = np.random.default_rng(5)
    asked = dt.KRR(dt.Categories(LABELS), epsilon=2)
    installed, active = population(500, 0.9, rng)
    counts = counted(asked, installed, active, 0.5, rng)
    found = dt.retention(counts)
    assert [row["label"] for row in found.labels] == ["1.0"] * 8 + ["1.1"] * 8
    assert found.labels.rows[0]["low"] < found.labels.rows[0]["value"] == 1.0
    assert dt.retention(PresenceCounts.from_json(counts.to_json())).records() == found.records()


def test_what_cannot_be_said_yet_is_said() -> None:
    rng = np.random.default_rng(5)
    asked = dt.ProjectiveResponse(dt.Categories(LABELS), epsilon=0.1)
    installed, active = population(60, 0.9, rng)
    found = dt.retention(counted(asked, installed, active, 0.5, rng))
    assert not found.rows or found.missing
    alone = dt.retention(PresenceCounts("week", WEEKS[:2], [None, 40], [0, 40], people=20))
    assert "1 periods have fewer than 20 devices" in alone.missing
    assert len(alone.actives) == 1
    with pytest.raises(dt.errors.NotIdentifiable, match="after 4"):
        alone.after(4)
    other = dt.KRR(dt.Categories(["linux", "mac"]), epsilon=2)
    with pytest.raises(dt.errors.NotIdentifiable, match="installed = true"):
        dt.retention(PresenceCounts("week", WEEKS[:1], [40], [30], {}, other, [[5, 5]]))
    with pytest.raises(dt.errors.InvalidParameter):
        dt.retention([1, 2])  # type: ignore[arg-type]


def test_counts_of_two_collectors_add() -> None:
    """A device sends to one of them: the sum is what one collector of all would have."""
    rng = np.random.default_rng(4)
    asked = dt.ProjectiveResponse(dt.Categories(LABELS), epsilon=4)
    installed, active = population(2000, 0.9, rng)
    here = rng.random(installed.size) < 0.4
    first, second = (counted(asked, installed[some], active[some], 0.7, rng) for some in (here, ~here))
    total = sum([first, second])
    assert isinstance(total, PresenceCounts)
    assert list(total.messages) == active.sum(axis=0).tolist()
    assert total.public == tuple(np.add(first.public, second.public))
    assert total.labels["1.0"][:8] == total.public[:8]
    one, both = (dt.retention(part).after(4) for part in (first, total))
    assert both["high"] - both["low"] < one["high"] - one["low"]
    assert both["value"] == pytest.approx(true_share(installed, active, 4), abs=0.08)
    hidden = replace(first, messages=[None, *list(first.messages)[1:]])
    assert (hidden + second).messages[0] is None  # a number that is not shown is not in a sum
    assert (hidden + second).public[0] == 0
    unmarked = replace(first, counts=[[0] * asked.question.outcomes] * 16)
    assert not (unmarked + second).of_period(3).n  # devices with the label came, and are not shown
    more = {"messages": second.messages[2:], "public": second.public[2:], "labels": {}}
    late = replace(second, periods=WEEKS[2:], counts=np.asarray(second.counts)[2:], **more)
    assert (first + late).periods == WEEKS[2:]
    other = dt.KRR(dt.Categories(LABELS), epsilon=1)
    with pytest.raises(dt.errors.Mismatch):
        _ = first + replace(second, question=other, counts=[[0] * 18] * 16)
    with pytest.raises(TypeError):
        _ = first + 1  # type: ignore[operator]


def test_cohorts_of_months_have_no_retention_by_week_and_the_reason_is_said() -> None:
    months = ["2025-12-01", "2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"]
    asked = dt.KRR(dt.Categories(months), epsilon=4)
    rng = np.random.default_rng(5)
    seed = dt.Seeded(5)
    drawn = [asked.perturb(rng.choice(months[:4], 400), source=seed).cells for _ in WEEKS]
    rows = [np.bincount(cells, minlength=5) for cells in drawn]
    found = dt.retention(PresenceCounts("week", WEEKS, [400] * 16, question=asked, counts=rows))
    assert not found.rows
    assert 'every = "month"' in found.missing
    assert {row["installed"] for row in found.cohorts} == set(months[2:4])  # January began before these weeks
    begun = [datetime.date(2026, month, 1) for month in (1, 2, 3)]
    by_month = PresenceCounts("month", begun, [400] * 3, question=asked, counts=rows[:3])
    assert "months of installation that are over" in dt.retention(by_month).missing
