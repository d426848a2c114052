"""How an estimate is written."""

from __future__ import annotations

import pytest

from dither.estimation.estimate import show_interval


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((63, 59, 89), "63 (59 – 89)"),
        ((63, 48, 78), "63 ± 15"),
        ((5, 4, 6.05), "5.0 ± 1.0"),
        ((0.00012, 0.0001, 0.0009), "0.00012 (0.00010 – 0.00090)"),
        ((0.0, 0.0, 0.3), "0.00 (0.00 – 0.30)"),
        ((-1, float("-inf"), 2), "-1 ± inf"),
    ],
)
def test_sides_that_differ_are_not_written_as_one(ends: tuple[float, float, float], shown: str) -> None:
    assert show_interval(*ends) == shown
