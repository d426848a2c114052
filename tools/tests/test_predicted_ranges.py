"""Ranges of predicted errors contain the errors of other shapes: the record, and other seeds at length."""

from __future__ import annotations

import pytest

from dither.advice.catalogue import Candidate
from tests.support.repository import ROOT
from tools.predicted_ranges import _MECHANISMS, OTHERS, QUESTIONS, SETTINGS, held, inside, measured, recorded


def test_the_recorded_ranges_hold_90_per_cent_and_are_those_of_today() -> None:
    kept, page = recorded(), (ROOT / "docs" / "rankings.md").read_text(encoding="utf-8")
    found = inside(kept)
    assert set(found) == {*QUESTIONS, "map"}
    for what, cells in found.items():
        assert len(cells) >= 84
        assert held(cells) >= 0.9
        assert f"| {what} | {len(cells)} | {100 * held(cells):.0f} % |" in page
    for n, epsilon in SETTINGS:
        for share in ("0.1", "0.5"):
            what, mechanism = f"quantile {share}", _MECHANISMS["SW"](epsilon)
            _, (row,) = QUESTIONS[what](n).columns([Candidate("", mechanism)])
            stated = kept[f"{what} of {OTHERS[0]}, SW, n = {n}, ε = {epsilon:g}"][:3]
            assert list(row.values()) == pytest.approx(stated, rel=1e-3)


@pytest.mark.slow
def test_ranges_hold_with_other_seeds() -> None:
    found = inside(dict(measured(first=500, runs=4, square_runs=1, settings=2)))
    for cells in found.values():
        assert held(cells) >= 0.88  # fewer runs
