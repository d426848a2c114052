"""Durations are compared apart from ε: a difference is told, and does not refute anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.audits import finding as timing
from dither.advice.audits.black_box.calls import Calls

UNIT = dt.Interval(0, 1)


class Clock:
    """A clock that moves by what a call is said to take."""

    def __init__(self) -> None:
        self.now = 0
        self.rng = np.random.default_rng(1)

    def perf_counter_ns(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now * 1e-9


@pytest.mark.parametrize(("extra", "differs"), [(0, False), (3000, True)])
def test_a_difference_of_durations_is_seen(
    extra: int, differs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is the test's own: 20 µs a call, with a noise of 2 µs, and `extra` for the upper end."""
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)

    def randomise(values: Any) -> Any:
        clock.now += int(20_000 + clock.rng.exponential(2000) + extra * (values[0] == 1.0))
        return values

    found = timing.time_calls(Calls(randomise, dt.audits.Neighbours.of(UNIT)), np.random.default_rng(2))
    assert found is not None
    assert found.differs is differs
    assert "no part of ε" in str(found)


def test_durations_are_no_part_of_the_verdict() -> None:
    rng = np.random.default_rng(3)
    finding = dt.audit_function(
        lambda values: np.round(64 * values + rng.laplace(scale=64, size=len(values))),
        UNIT,
        epsilon=1,
        samples=2000,
    )
    assert finding.ok
    assert finding.timing is not None
    assert str(finding.timing) in str(finding)


def test_a_randomiser_that_fails_has_no_durations() -> None:
    assert (
        timing.time_calls(
            Calls(lambda values: 1 / 0, dt.audits.Neighbours.of(UNIT)), np.random.default_rng(2)
        )
        is None
    )
