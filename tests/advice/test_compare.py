"""The table of every mechanism: complete, right, printable, readable as a data frame."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice import simulation
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.frequency.base import CategoryMechanism
from tests.support.repository import reference

REFERENCE: dict[str, Any] = reference("optimal")
UNIT = dt.Interval(0, 1)


@pytest.fixture(scope="module")
def table() -> Any:
    return dt.compare(UNIT, epsilon=1)


def plainly_made(base: type, domain: Any) -> set[str]:
    """The public mechanisms of a kind that take a domain and a budget and promise pure ε to everybody."""
    found = set()
    for name, kind in [
        (name, getattr(room, name)) for room in (dt, dt.rivals, dt.optimal) for name in room.__all__
    ]:
        if isinstance(kind, type) and issubclass(kind, base) and type(domain) in kind._takes:
            try:
                promise = kind(domain, epsilon=1).guarantee
            except (TypeError, dt.errors.DitherError):  # it needs more, or other categories
                continue
            if isinstance(promise.bound, dt.privacy.Pure) and not promise.assumes:
                found.add(name)
    return found


def test_every_public_mechanism_is_there(table: Any) -> None:
    """A mechanism that is added later is compared without another line of code."""
    names = {str(row["mechanism"]).split("(")[0].split(".")[0] for row in table}
    assert names == plainly_made(Analysis, UNIT)
    assert len(names) >= 9
    assert {"PM.truncated()", "PM.compressed()", "SW.truncated()", "SW.redesigned()"} <= {
        row["mechanism"] for row in table
    }
    protocols = {row["mechanism"] for row in dt.compare(dt.Categories(2), epsilon=1)}
    assert protocols == plainly_made(CategoryMechanism, dt.Categories(2))
    assert len(protocols) >= 8


def test_numbers_agree_with_the_reference(table: Any) -> None:
    row = next(row for row in REFERENCE["lp_global_optimum_01"] if row["loss"] == "l1" and row["eps"] == 1)
    assert table["OGPM(loss=absolute)"]["worst absolute"] == pytest.approx(row["ogpm_worst"], abs=1e-6)
    assert table["OGPM(loss=absolute)"]["average absolute"] == pytest.approx(row["ogpm_avg"], abs=1e-6)
    unbiased = next(row for row in REFERENCE["ldp_worst_case_variance_Delta1"] if row["eps"] == 1)
    for name, key in (("Podium", "podium"), ("Duchi", "duchi"), ("Hybrid", "hybrid"), ("PM", "pm_wang")):
        assert table[name]["variance"] == pytest.approx(unbiased[key], rel=1e-9)
        assert table[name]["bias"] < 1e-12
        assert table[name]["worst squared"] == pytest.approx(unbiased[key], rel=1e-9)


def never_below_the_bound(table: Any) -> None:
    for name in table.columns:
        if name.startswith("relative "):
            ratios = [row[name] for row in table if row[name] is not None]
            assert min(ratios) >= 1 - 1e-9, name


def test_nothing_is_better_than_the_best(table: Any) -> None:
    never_below_the_bound(table)
    assert table["TwoPoint"]["relative worst squared"] == pytest.approx(1, rel=1e-9)
    biased = [row for row in table if row["bias"] > 1e-3]
    assert biased
    assert all(row["relative variance"] is None for row in biased)
    assert table["OGPMU"]["relative variance"] > 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "epsilon", [0.25, 4.0, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.1, 2.0, 6.0, 8.0))]
)
def test_no_mechanism_is_better_than_the_solved_bound(epsilon: float) -> None:
    """The bound holds for all that are compared, and the solved ones reach it within their gaps."""
    table = dt.compare(dt.Interval(-3, 7), epsilon=epsilon)
    never_below_the_bound(table)
    for row in table:
        if row["mechanism"].startswith("Optimal") and "unbiased" not in row["mechanism"]:
            assert min(row[name] for name in row if name.startswith("relative ") and row[name]) <= 1.006
    # The broken twin: a bound from another budget would be undercut.
    better = dt.Optimal(dt.Interval(-3, 7), epsilon=0.9 * epsilon, unbiased=True).certificate.bound
    assert min(row["variance"] for row in table if row["relative variance"]) < better


def test_solved_mechanisms_are_rows_and_their_bounds_the_measure(table: Any) -> None:
    own = {
        "Optimal(loss=absolute)": "worst absolute",
        "Optimal(loss=squared)": "worst squared",
        "Optimal(loss=absolute, criterion=average)": "average absolute",
        "Optimal(loss=squared, criterion=average)": "average squared",
        "Optimal(unbiased=True)": "variance",
    }
    made = {one.name: one.mechanism for one in table.candidates}
    for name, column in own.items():
        certificate = made[name].certificate
        row = table[name]
        assert row[column] == pytest.approx(certificate.error, rel=2e-5)
        if name != "Optimal(loss=squared)":  # there the optimum itself is known in closed form
            assert row[f"relative {column}"] == pytest.approx(row[column] / certificate.bound, rel=1e-9)
        assert 1 <= row[f"relative {column}"] <= 1.005
        rivals = [other[column] for other in table if other["bias"] <= max(row["bias"], 1e-9)]
        assert row[column] <= min(rivals) * (1 + 1.5e-4)
    for name in ("Optimal(unbiased=True)", "Optimal(unbiased=True, criterion=average)"):
        assert table[name]["bias"] <= 1e-9
    averaged = table["Optimal(unbiased=True, criterion=average)"]
    straight = [row for row in table if row["bias"] <= 1e-9]
    assert averaged["average squared"] == min(row["average squared"] for row in straight)
    assert repr(table).splitlines()[0].endswith("relative to the best possible")
    beyond = dt.compare(UNIT, epsilon=9, losses=["absolute"])
    assert repr(beyond).splitlines()[0].endswith("the best found")
    assert not any(row["mechanism"].startswith("Optimal") for row in beyond)


@pytest.mark.slow
def test_the_best_comes_first_and_units_scale(table: Any) -> None:
    errors = [row["worst absolute"] for row in table]
    assert errors == sorted(errors)
    wide = dt.compare(dt.Interval(-3, 7), epsilon=1)
    for row in table:
        other = wide[row["mechanism"]]
        assert other["worst absolute"] == pytest.approx(10 * row["worst absolute"], rel=1e-9)
        assert other["average squared"] == pytest.approx(100 * row["average squared"], rel=1e-9)
        assert other["bias"] == pytest.approx(10 * row["bias"], rel=1e-9, abs=1e-9)
        assert other["relative worst squared"] == pytest.approx(row["relative worst squared"], rel=1e-9)


def test_on_a_circle_ogpm_is_the_optimum() -> None:
    table = dt.compare(dt.Circle(360), epsilon=2, losses=["squared", 0.5])
    for given, loss in (("squared", "squared"), (0.5, "power(0.5)")):
        row = table[f"OGPM(loss={given})"]
        assert row[f"relative worst {loss}"] == pytest.approx(1, rel=1e-9)
        assert row[f"relative average {loss}"] == pytest.approx(1, rel=1e-9)
    assert all(row["bias"] == 0 for row in table)


def test_frequency_protocols() -> None:
    k, epsilon = 20, 1.0
    ratio = math.exp(epsilon)
    table = dt.compare(dt.Categories(k), epsilon=epsilon)
    krr, oue = table["KRR"], table["OUE"]
    assert krr["variance if rare"] == pytest.approx((ratio + k - 2) / (ratio - 1) ** 2, rel=1e-9)
    assert oue["variance if rare"] == pytest.approx(4 * ratio / (ratio - 1) ** 2, rel=1e-6)
    p, q = ratio / (ratio + k - 1), 1 / (ratio + k - 1)
    average = (p * (1 - p) + (k - 1) * q * (1 - q)) / (k * (p - q) ** 2)
    assert krr["average variance"] == pytest.approx(average, rel=1e-9)
    few = dt.compare(dt.Categories(3), epsilon=1)
    assert few["KRR"]["relative average variance"] == pytest.approx(1, abs=0.05)


def test_the_text(table: Any) -> None:
    text = repr(table)
    lines = text.splitlines()
    assert lines[0].startswith("ε = 1 on [0, 1]")
    assert "worst absolute" in lines[2]
    assert "relative" not in lines[2]
    assert len(lines) == len(table) + 3
    assert all(len(line) <= 140 for line in lines)
    assert "(×1.00)" in text
    assert next(iter(table)) is table[0]
    with pytest.raises(dt.errors.InvalidParameter, match="there is no row"):
        table["Nonsense"]


def test_data_frames_read_the_table(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.table(table)
    assert frame.column_names == table.columns
    assert frame.num_rows == len(table)
    assert frame.column("worst absolute").to_pylist() == [row["worst absolute"] for row in table]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(dt.errors.MissingExtra, match=r"\.\[frames\]"):
        table.__arrow_c_stream__()


@pytest.mark.slow
def test_pictures(table: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    left, right = table.plot(count=2, loss="squared")
    assert [line.get_label() for line in left.lines] == [row["mechanism"] for row in list(table)[:2]]
    x, y = left.lines[0].get_data()
    assert (x[0], x[-1]) == (0.0, 1.0)
    assert y[0] == pytest.approx(table.candidates[0].mechanism.error("squared", 0.0))
    budgets, errors = right.lines[0].get_data()
    assert np.all(np.diff(errors) < 0)
    assert budgets[0] == 0.25
    left.figure.savefig(tmp_path / "comparison.png")
    protocols = dt.compare(dt.Categories(5), epsilon=1)
    left, _ = protocols.plot(ax=[left, right])
    with pytest.raises(dt.errors.InvalidParameter, match=r"plt\.subplots\(1, 2\)"):
        protocols.plot(ax=[left])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(dt.errors.MissingExtra, match=r"\.\[plot\]"):
        protocols.plot()


@pytest.mark.slow
def test_a_goal_is_drawn() -> None:
    """As bars of its errors, the best first: not the errors of single values, which were not asked for."""
    pytest.importorskip("matplotlib")
    for domain, goal in ((UNIT, dt.goals.Mean(n=500)), (dt.Categories(4), dt.goals.Ranges(n=500))):
        table = dt.compare(domain, epsilon=1, goal=goal)
        (axes,) = table.plot(count=3)
        errors = [row["error"] for row in table if row["error"] is not None][:6]
        assert [bar.get_width() for bar in axes.patches] == pytest.approx(errors)
        assert axes.get_yticklabels()[0].get_text() == table[0]["mechanism"]
        assert type(goal).__name__ in axes.get_title()
        assert axes.get_xlabel() == "predicted error"


@pytest.mark.parametrize("domain", [UNIT, dt.Circle(), dt.Categories(4)], ids=str)
@pytest.mark.parametrize("epsilon", [pytest.param(1e-6, marks=pytest.mark.slow), 50.0])
def test_extreme_budgets(domain: Any, epsilon: float) -> None:
    table = dt.compare(domain, epsilon=epsilon)
    assert len(table) >= 3
    for row in table:
        assert all(np.isfinite(value) for value in row.values() if isinstance(value, float))


def test_what_is_refused() -> None:
    with pytest.raises(dt.errors.InvalidParameter, match="Disk"):
        dt.compare(dt.Disk(1), epsilon=1)
    with pytest.raises(dt.errors.InvalidParameter, match="loss"):
        dt.compare(UNIT, epsilon=1, losses=[])
    with pytest.raises(dt.errors.InvalidParameter, match="loss"):
        dt.compare(UNIT, epsilon=1, losses=["absolut"])  # type: ignore[list-item]
    with pytest.raises(dt.errors.InvalidParameter, match="epsilon"):
        dt.compare(UNIT, epsilon=0)


@pytest.mark.slow
def test_what_serves_a_goal_alone_is_a_row_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(mechanism: Any, question: Any, n: int, *more: Any) -> Any:
        return simulation.Simulated(0.01 + 0.001 * isinstance(mechanism, dt.SW), 0.0, 0, 12)

    monkeypatch.setattr(simulation, "simulate", quick)
    table = dt.compare(UNIT, epsilon=1, goal=dt.goals.Distribution(3000))
    row = table["Cumulative"]
    assert (row["W1"], row["KS"], row["bytes"]) == (0.01, 0.01, 1)
    assert row["worst absolute"] is None  # it tells no single values
    assert table[0]["W1"] == 0.01
    assert "Cumulative" in repr(table)
    assert all("Cumulative" not in str(one) for one in table.plot(count=3))
    angles = dt.compare(dt.Circle(), epsilon=1, goal=dt.goals.Distribution(3000))
    assert "Cumulative" not in [row["mechanism"] for row in angles]
