"""The time of a window's draw in JavaScript does not tell the value."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Final

import pytest

from tests.conformance.test_javascript import CLIENT, node

MOST: Final = 4.5  # of |t|: a false alarm of one pair has probability 7e-6, and twice in succession 5e-11
CALLS: Final = 1_000_000


def measured(*words: str) -> list[dict[str, Any]]:
    """Return Welch's t of each mechanism and pair of values.

    `timing.mjs` also compares draws of the window with others; docs/devices.md says what is left of that.
    """
    done = subprocess.run(
        [node(), "timing.mjs", *words], cwd=CLIENT, capture_output=True, text=True, check=True
    )
    return [one for one in map(json.loads, done.stdout.splitlines()) if "bytes" not in one]


def telling(found: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return the mechanisms and pairs whose times differ."""
    return {(one["name"], str(one["values"])) for one in found if abs(one["t"]) >= MOST}


@pytest.mark.slow
def test_the_time_of_a_draw_does_not_tell_the_value() -> None:
    found = measured(str(CALLS))
    assert len(found) == 9
    assert all(one["calls"] == CALLS for one in found)
    again = telling(found) and telling(found) & telling(measured(str(CALLS)))
    assert not again, found


@pytest.mark.slow
def test_a_draw_that_branches_on_the_value_is_seen() -> None:
    """Five square roots more for values above 2: two values differ, and a value from itself does not."""
    found = measured(str(CALLS), "twin")
    pairs = {(one["name"], str(one["values"])) for one in found if len(set(one["values"])) == 2}
    assert len(pairs) == 6
    assert telling(found) == pairs
