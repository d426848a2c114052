"""Few cells: errors and predictions are those of the cells, not of the continuous mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import Infeasible, InvalidParameter

UNIT = dt.Interval(0, 1)
WEEK = dt.Interval(0, 180)


@pytest.mark.parametrize("cells", [4, 8, 64, 256])
@pytest.mark.parametrize("design", [dt.Podium, dt.PM, dt.SW, dt.OGPM])
def test_errors_are_those_of_the_cells(design: Any, cells: int) -> None:
    mechanism = design(UNIT, epsilon=1, cells=cells)
    numbers = mechanism.question.decoder(np.arange(cells))
    inputs = np.linspace(0, 1, 41)
    chances = np.stack([mechanism.question.kernel.chances(x) for x in inputs])
    means = chances @ numbers
    squares = chances @ numbers**2 - 2 * means * inputs + inputs**2
    assert mechanism.variance(inputs) == pytest.approx(chances @ numbers**2 - means**2, rel=1e-9)
    assert mechanism.bias(inputs) == pytest.approx(means - inputs, abs=1e-9)
    assert mechanism.worst_error("squared") >= squares.max() * (1 - 1e-9)


def test_the_stated_variance_is_the_measured_one() -> None:
    eight = dt.Podium(UNIT, epsilon=1, cells=8)
    reports = eight.perturb(np.zeros(400_000), source=dt.Seeded(1))
    measured = float(np.var(eight.question.decoder(reports.cells)))
    assert measured == pytest.approx(eight.variance(0.0), rel=0.006)  # the kurtosis is small
    assert measured != pytest.approx(dt.Podium(UNIT, epsilon=1).variance(0.0), rel=0.01)


def test_designs_with_cells_of_their_own_keep_their_formula() -> None:
    assert dt.Duchi(UNIT, epsilon=1).law is not dt.Duchi(UNIT, epsilon=1).sampled.law
    assert not dt.Optimal._chooses_cells()


@pytest.mark.slow
def test_errors_of_means_of_few_cells_are_right() -> None:
    eight = dt.Podium(UNIT, epsilon=1, cells=8)
    values = np.random.default_rng(1).beta(2, 5, 2_000)
    found = [dt.mean(eight.perturb(values, source=dt.Seeded(seed))) for seed in range(300)]
    missed = np.array([float(one.value) - values.mean() for one in found])
    ends = np.array([one.interval(0.95) for one in found])
    assert ((ends[:, 0] <= values.mean()) & (values.mean() <= ends[:, 1])).mean() > 0.91
    assert abs(missed.mean()) < 4 * missed.std() / np.sqrt(300)


@pytest.mark.slow
def test_reports_of_one_byte_are_recommended() -> None:
    goal = dt.goals.Mean(n=10_000)
    short = dt.recommend(WEEK, goal, epsilon=4, most_bytes=1)
    assert {one.report_bytes for one in short.mechanisms} == {1}
    assert short[0]["mechanism"] == "Optimal(unbiased=True, outputs=64)"
    assert "Podium(cells=64)" in [row["mechanism"] for row in short]
    assert short[0]["error"] <= 1.02 * goal.error(dt.Podium(WEEK, epsilon=4))  # type: ignore[operator]
    listed = dt.recommend(dt.Categories(range(50)), dt.goals.Frequencies(n=100), epsilon=1, most_bytes=1)
    assert {one.report_bytes for one in listed.mechanisms} == {1}
    for wrong in (0, 1.5, True, "1"):
        with pytest.raises(InvalidParameter, match="bytes"):
            dt.recommend(WEEK, goal, epsilon=1, most_bytes=wrong)  # type: ignore[arg-type]
    with pytest.raises(Infeasible, match="1 bytes"):
        dt.recommend(dt.Rectangle(UNIT, UNIT), dt.goals.Locations(), epsilon=1, most_bytes=1)
