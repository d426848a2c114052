"""The time of a window's draw in JavaScript tells neither the value nor whether the window was drawn."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest

from tests.conformance.test_javascript import CLIENT, node

MOST: Final = 4.5  # of |t|: a false alarm of one pair has probability 7e-6, and twice in succession 5e-11
CALLS: Final = 1_000_000


def measured(*words: str) -> list[dict[str, Any]]:
    """Return Welch's t of each mechanism and pair, of values or of constant random bytes."""
    done = subprocess.run(
        [node(), "timing.mjs", *words], cwd=CLIENT, capture_output=True, text=True, check=True
    )
    return list(map(json.loads, done.stdout.splitlines()))


def pair(one: dict[str, Any]) -> tuple[str, tuple[float, ...]]:
    """Return the mechanism and what differs between the two kinds of draws."""
    return one["name"], tuple(one.get("bytes", one["values"]))


def telling(found: list[dict[str, Any]]) -> set[tuple[str, tuple[float, ...]]]:
    """Return the mechanisms and pairs whose times differ."""
    return {pair(one) for one in found if abs(one["t"]) >= MOST}


@pytest.mark.slow
def test_the_time_of_a_draw_tells_nothing() -> None:
    found = measured(str(CALLS))
    assert len(found) == 18
    assert all(one["calls"] == CALLS for one in found)
    again = telling(found) and telling(found) & telling(measured(str(CALLS)))
    assert not again, found


@pytest.mark.slow
def test_a_draw_that_branches_is_seen() -> None:
    """Five square roots more for large values, and for large bytes: what differs is seen, nothing else is."""
    found = measured(str(CALLS), "twin")
    pairs = {one for one in map(pair, found) if len(set(one[1])) == 2}
    assert len(pairs) == 12
    assert telling(found) == pairs
