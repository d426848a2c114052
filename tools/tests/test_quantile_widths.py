"""The default interval of a quantile holds, and is not much wider than needed: the record, and one cell."""

from __future__ import annotations

import pytest

from tests.support.repository import ROOT
from tools.quantile_widths import METHODS, RUNS, SETTINGS, measure, overall, recorded, shapes


def test_the_recorded_default_is_at_most_1_4_times_as_wide_as_needed() -> None:
    kept = recorded()
    assert {key.split(", n = ")[0] for key in kept} == set(shapes())
    held, width = overall(METHODS[0], list(kept.values()))
    assert held >= 0.93
    assert width <= 1.4
    page = (ROOT / "docs" / "coverage_few.md").read_text(encoding="utf-8")
    assert f"| all 22 shapes | {100 * held:.1f} %, {width:.2f} times |" in page


@pytest.mark.slow
def test_a_cell_is_measured_as_it_is_recorded() -> None:
    number, name = 2, "shape 2"
    seeds = [1000 * number + run for run in range(RUNS)]
    n, epsilon = SETTINGS[1]
    for share, cell in measure(shapes()[name], n, epsilon, seeds).items():
        kept = recorded()[f"{name}, n = {n}, ε = {epsilon:g}, share {share:g}"]
        for method, (held, width) in cell.items():
            assert kept[method] == pytest.approx([held, width], rel=1e-2)
