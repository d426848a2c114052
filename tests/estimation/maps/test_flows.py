"""Flows between cells, and synthetic paths that follow them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation import maps
from tests.support.repository import DATA

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def commuters(count: int) -> np.ndarray:
    """Paths of three places, from the left to the upper right, or within the lower right."""
    random = np.random.default_rng(3)
    west, east, south = (
        random.random((count, 2)) * 0.5 + corner for corner in ((0, 0.25), (0.5, 0.5), (0.5, 0))
    )
    other = random.random((count, 1)) < 0.3
    first, last = np.where(other, south, west), np.where(other, south[::-1], east)
    return np.stack([first, (first + last) / 2, last], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [(dt.TraCSC, 4_000), (dt.TraCSD, 1_500)])
def test_flows(kind: Any, count: int) -> None:
    true = commuters(count)
    mechanism = kind(SQUARE, epsilon=6.0)
    reports = mechanism.perturb(true, source=dt.Seeded(1))
    found, counted = maps.flows(reports, 2, 2), maps.flows_between(true, SQUARE, 2, 2)
    told = maps.flows_between(mechanism.paths(reports), SQUARE, 2, 2)
    assert counted.counts.sum() == found.paths == count
    assert found.counts.sum() == pytest.approx(count)
    likely = counted.counts > count / 10
    assert likely.sum() == 3
    off = np.abs(found.counts - counted.counts)[likely]
    assert (off < 6 * found.standard_errors[likely]).all()
    # taken at their word, reports show many that go where nobody goes
    assert (np.abs(told.counts - counted.counts)[likely] > 6 * found.standard_errors[likely]).any()
    assert found.counts[found.cell((0.9, 0.1)), found.cell((0.9, 0.1))] > 0.2 * count
    assert repr(found).startswith("Flows(2 × 2 cells of [0, 1] × [0, 1], ")


def test_what_no_flows_are_made_of() -> None:
    mechanism = dt.TraCSC(SQUARE, epsilon=4.0)
    with pytest.raises(InvalidParameter, match="two locations"):
        maps.flows(mechanism.perturb([[(0.2, 0.3)]] * 4))
    with pytest.raises(InvalidParameter, match="grid"):
        maps.flows(mechanism.perturb([[(0.2, 0.3)] * 4]), 9, 2)


def test_synthetic_paths_go_where_the_flows_go() -> None:
    area = dt.Rectangle(dt.Interval(-1, 3), dt.Interval(10, 12))
    there = [[(-0.5, 10.5), (2.5, 11.5)]] * 3 + [[(2.5, 11.5), (2.5, 11.5)]]
    seen = maps.flows_between(there, area, 4, 2)
    drawn = maps.synthesise(seen, 4_000, length=4, source=dt.Seeded(3))
    assert len(drawn) == 4_000
    assert set(drawn.lengths.tolist()) == {4}
    area.check(drawn.points)
    again = maps.flows_between(drawn, area, 4, 2).counts
    assert (again > 0).sum() == 2
    assert again.max() / 4_000 == pytest.approx(0.75, abs=0.03)
    steps = np.diff(drawn.points.reshape(-1, 4, 2), axis=1)
    assert steps == pytest.approx(np.repeat(steps[:, :1], 3, axis=1))  # straight, at equal steps
    starts = drawn.points.reshape(-1, 4, 2)[:, 0] % 1.0
    assert np.histogram(starts[:, 0], 4, (0, 1))[0] == pytest.approx(1_000, rel=0.15)  # evenly in a cell


@pytest.mark.parametrize(
    "arguments",
    [{"n": 0}, {"n": 1.5}, {"n": True}, {"n": 5, "length": 1}, {"n": 10_000_000, "length": 2}],
)
def test_what_no_paths_are_drawn_from(arguments: dict[str, Any]) -> None:
    seen = maps.flows_between([[(0, 0), (1, 1)]], SQUARE, 2, 2)
    with pytest.raises(InvalidParameter):
        maps.synthesise(seen, **arguments)
    with pytest.raises(InvalidParameter, match="flows"):
        maps.synthesise(seen.counts, 5)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "most"), [(4.0, 0.2), (8.0, 0.1)])
def test_synthetic_paths_of_chicago_are_better_than_independent_places(epsilon: float, most: float) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = DATA / "tracs_chi_trajectories_timeordered.parquet"
    if not file.exists():
        pytest.skip("the papers' data are not here")
    table = parquet.read_table(file)
    trip, u, v = (table[name].to_numpy() for name in ("traj", "u", "v"))
    first, last = (
        np.flatnonzero(np.r_[True, np.diff(trip) != 0]),
        np.flatnonzero(np.r_[np.diff(trip) != 0, True]),
    )
    places = np.clip(np.stack([u, v], axis=1), 0.0, 1.0)
    ends = [places[[a, b]] for a, b in zip(first, last, strict=True) if b > a]
    truth = maps.flows_between(ends, SQUARE, 3, 3).counts / len(ends)
    found = maps.flows(dt.TraCSC(SQUARE, epsilon=epsilon).perturb(ends, source=dt.Seeded(1)), 3, 3)
    drawn = (
        maps.flows_between(maps.synthesise(found, 20_000, source=dt.Seeded(2)), SQUARE, 3, 3).counts / 20_000
    )
    independent = np.outer(drawn.sum(axis=1), drawn.sum(axis=0))
    assert np.abs(drawn - truth).sum() / 2 < most
    assert np.abs(independent - truth).sum() / 2 > 0.3
