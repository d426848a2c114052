"""`dt.bounds`, and the named quantity of clipped values wherever an estimate is shown."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.counts import Counts
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.bounds import Bounds

WIDE = dt.Interval(0, 1440, unit="minutes").on_scale("log")
CLIPPED = dt.Interval(10, 100, unit="minutes", clipped_from=(0.012, 0.004, 0.02))
NAME = "mean of values clipped to [10, 100]"


def told(values: Any, epsilon: float = 2.0, line: dt.Interval = WIDE, seed: int = 1) -> dt.Reports:
    return dt.SW(line, epsilon=epsilon).perturb(line.positions(values), source=dt.Seeded(seed))


def normal(n: int, seed: int = 1) -> Any:
    return np.clip(np.random.default_rng(seed).normal(44, 12, n), 0, 1440)


@pytest.fixture(scope="module")
def found() -> Bounds:
    return dt.bounds(told(normal(40_000)))


def test_both_quantiles_and_an_interval_a_little_wider(found: Bounds) -> None:
    true = np.quantile(normal(40_000), [0.02, 0.98])
    low, high = found.over_looks(100).interval()
    assert (low <= true).all()
    assert (true <= high).all()
    assert found.widest[0] <= found.low < true[0] < true[1] < found.high <= found.widest[1]
    assert found.narrowest[1] - found.narrowest[0] >= (found.widest[1] - found.widest[0]) / 2
    assert found.ready
    assert found.missing == 0
    assert {found.low, found.high} == {round(found.low), round(found.high)}  # two digits
    share, least, most = found.outside
    assert least <= np.mean((normal(40_000) < found.low) | (normal(40_000) > found.high)) <= most
    domain = found.interval_domain()
    assert domain == dt.Interval(found.low, found.high)
    assert domain.clipping is not None
    assert domain.clipping.outside == (share, least, most)
    assert domain.unit == "minutes"
    assert "quantile 0.02" in repr(found)
    assert found["quantile 0.98"].unit == "minutes"


def test_few_people_are_refused_and_told_how_many_are_missing() -> None:
    few = dt.bounds(told(normal(2_000), epsilon=0.5))
    assert not few.ready
    assert few.missing > 2_000
    with pytest.raises(NotIdentifiable, match="more people have to answer"):
        few.interval_domain()
    assert "more people have to answer" in repr(few)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (np.full(8_000, 44.0), WIDE),  # all equal
        (np.where(np.arange(8_000) % 2, 0.0, normal(8_000)), WIDE),  # half at one end
        (np.zeros(8_000), WIDE),
        (normal(8_000) - 44.0, dt.Interval(-1000, 1000).on_scale("log")),  # both signs
        (-normal(8_000), dt.Interval(-1000, 0).on_scale("log")),
        (np.round(normal(8_000)), dt.Interval(0, 1440)),  # integers, and no scale
        (1000.0 + normal(8_000), dt.Interval(0, 20_000).on_scale("linear")),
        (np.round(-300.0 * normal(8_000)), dt.Dates("1900-01-01", "2026-12-31").on_scale("linear")),
    ],
)
def test_bounds_of_hard_shapes_hold_nearly_all(values: Any, line: dt.Interval) -> None:
    made = dt.bounds(told(values, 4.0, line))
    assert line.shown.low <= made.low < made.high <= line.shown.high
    outside = float(np.mean((values < made.low) | (values > made.high)))
    assert outside < 0.06
    assert made.outside[1] <= outside <= made.outside[2]


def test_bounds_of_dates_are_dates() -> None:
    line = dt.Dates("1900-01-01", "2026-12-31").on_scale("linear")
    days = np.random.default_rng(2).normal(7_000, 2_000, 20_000).clip(line.low, line.high).round()
    reports = told(days, 4.0, line)
    found = dt.bounds(reports)
    assert found.low == round(found.low)
    assert repr(found) == repr(dt.estimate(reports))
    assert "]: [19" not in repr(found)
    ends = [line.unit.text(end) for end in (found.low, found.high)]  # type: ignore[attr-defined]
    assert f"[{ends[0]}, {ends[1]}], " in repr(found)
    narrow = found.interval_domain()
    assert repr(narrow).startswith(f"Dates('{ends[0]}', '{ends[1]}', clipped_from=(")
    assert (
        narrow.words()
        == f"a date; one before {ends[0]} counts as {ends[0]}, one after {ends[1]} as {ends[1]}"
    )
    mean = dt.mean(dt.Podium(narrow, epsilon=4).perturb(narrow.clip(days), source=dt.Seeded(2)))
    assert f"mean of values clipped to [{ends[0]}, {ends[1]}]" in repr(mean)
    given = dt.Dates(*ends, clipped_from=found.outside)
    assert (given, given.clipping) == (narrow, narrow.clipping)
    with pytest.raises(InvalidParameter, match="linear"):
        dt.Dates("1900-01-01", "2026-12-31").on_scale("log")
    few = dt.bounds(told(days[:300], 0.5, line))
    with pytest.raises(NotIdentifiable, match=r"to \[19\d\d-.*more people have to answer"):
        few.check()


def test_wrong_shares_and_reports_are_refused() -> None:
    reports = told(normal(500))
    for q in (0.5, (0.98, 0.02), (0.0, 0.9), (0.1,), ("a", "b"), (True, 0.5)):
        with pytest.raises(InvalidParameter, match="two shares"):
            dt.bounds(reports, q)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        dt.bounds(dt.KRR(dt.Categories(["a", "b"]), epsilon=1).perturb(["a"] * 9, source=dt.Seeded(1)))
    with pytest.raises(NotIdentifiable, match="SW"):
        dt.bounds(dt.Duchi(dt.Interval(0, 9), epsilon=1).perturb([1.0] * 90, source=dt.Seeded(1)))
    with pytest.raises(NotIdentifiable, match="SW"):
        dt.bounds(dt.OGPM(dt.Circle(360), epsilon=1).perturb([1.0] * 90, source=dt.Seeded(1)))


def test_on_a_scale_there_are_quantiles_and_no_mean() -> None:
    reports = told(normal(20_000))
    assert repr(dt.estimate(reports)) == repr(dt.bounds(Counts.of(reports)))
    assert float(dt.quantile(reports, 0.5)) == pytest.approx(44, rel=0.15)
    shape = dt.distribution(reports)
    assert float(shape.cdf(44)) == pytest.approx(0.5, abs=0.15)
    assert shape.edges[-1] == 1440.0
    inside = np.linspace(0.0, 1440.0, 200_001)
    assert np.trapezoid(shape.pdf(inside), inside) == pytest.approx(1.0, abs=0.02)
    other = dt.Podium(dt.Interval(0, 9), epsilon=2).perturb([1.0] * 20_000, source=dt.Seeded(1))
    for quantity in (
        dt.mean,
        dt.variance,
        lambda given: dt.distribution(given).mean(),
        lambda given: dt.stats.correlation(given, other),
        lambda given: dt.stats.regression(given, other),
        lambda given: dt.stats.regression(other, given),
    ):
        with pytest.raises(NotIdentifiable, match="scale"):
            quantity(reports)
    with pytest.raises(InvalidParameter, match="empirical bayes"):
        dt.quantile(reports, 0.5, method="likelihood")


@pytest.fixture(scope="module")
def clipped() -> dt.Reports:
    return dt.Podium(CLIPPED, epsilon=2).perturb(normal(4_000), source=dt.Seeded(1))


def test_the_word_mean_never_stands_alone(clipped: dt.Reports) -> None:
    mean = dt.mean(clipped)
    groups = dt.estimate(clipped, by=["a", "b"] * 2_000)
    private = dt.KRR(dt.Categories(["a", "b"]), epsilon=8).perturb(["a", "b"] * 2_000, source=dt.Seeded(2))
    kept = dt.Reports(clipped.question, clipped.cells)
    shown = [
        mean,
        mean.at_any_time(),
        mean.over_looks(9),
        mean.if_lying(0.01),
        mean + 1,
        mean * 2.0,
        mean - mean,
        dt.estimate(clipped),
        dt.mean(clipped, weights=np.ones(4_000)),
        groups["a"],
        groups["a"] - groups["b"],
        dt.estimate(kept, by=private)["a"],
    ]
    for each in shown:
        assert "of values clipped to [10, 100]" in repr(each)
        assert "0.4 – 2 % outside" in repr(each)
        assert "values clipped" in each._repr_html_()
    assert NAME in f"{mean:.1f}"
    row = mean.records()[0]
    assert (row["of"], row["outside low"], row["outside high"]) == (NAME, 0.004, 0.02)
    assert groups.records()[0]["of"] == NAME
    assert NAME in groups.title
    assert "variance of values clipped" in repr(dt.variance(clipped))
    assert "quantile of values clipped" in repr(dt.quantile(clipped, 0.5))
    assert "values clipped" in repr(dt.distribution(clipped))
    plain = dt.Podium(dt.Interval(10, 100), epsilon=2).perturb([44.0] * 99, source=dt.Seeded(1))
    assert "clipped" not in repr(dt.mean(plain))
    assert "of" not in dt.mean(plain).records()[0]


def test_estimates_from_two_numbers_name_the_clipped_ones(clipped: dt.Reports) -> None:
    plain = dt.Podium(dt.Interval(0, 9), epsilon=4).perturb(np.linspace(0, 9, 4_000), source=dt.Seeded(3))
    fit = dt.stats.regression({"minutes": clipped}, plain)
    name = "minutes clipped to [10, 100], 0.4 – 2 % outside (estimate 1.2 %)"
    assert repr(fit).endswith(f"; {name}")
    assert repr(fit).count("clipped") == 1
    for each in (fit.slope, fit.at(44.0), fit.r_squared):
        assert name in repr(each)
    assert fit.records()[0]["of"] == "minutes clipped to [10, 100]"
    both = dt.stats.regression({"minutes": clipped}, dt.Podium(CLIPPED, epsilon=2).perturb(normal(4_000, 2)))
    assert "; the response clipped to [10, 100], " in repr(both)
    assert both.records()[0]["of"] == "minutes clipped to [10, 100] and the response clipped to [10, 100]"
    assert "outside" not in both.records()[0]
    for pair in ((clipped, plain), (plain, clipped)):
        which = "the first number" if pair[0] is clipped else "the second"
        assert f"covariance of {which} clipped to [10, 100]" in repr(dt.stats.covariance(*pair))
    assert "clipped" not in repr(dt.stats.regression({"x": plain}, np.arange(4_000.0)))
    box = dt.Box({"minutes": CLIPPED, "age": dt.Interval(0, 99)})
    together = dt.optimal.JointMoments(box, epsilon=4)
    people = {"minutes": CLIPPED.clip(normal(4_000)), "age": [40.0, 50.0] * 2_000}
    reports = together.perturb(people, source=dt.Seeded(4))
    assert "moments of minutes clipped to [10, 100]" in repr(dt.estimate(reports))


def test_pictures_name_it(clipped: dt.Reports) -> None:
    pytest.importorskip("matplotlib")
    axes = dt.mean(clipped).plot(title="minutes")
    assert NAME in axes.get_title() + axes.get_title(loc="left")
    assert NAME in axes.get_xlabel()
    assert NAME in dt.estimate(clipped, by=["a", "b"] * 2_000).plot().get_ylabel()
    head = dt.distribution(clipped).plot()
    assert "values clipped" in head.get_title() + head.get_title(loc="left")


@pytest.mark.slow
def test_a_million_reports_take_a_second() -> None:
    summary = Counts.of(told(normal(1_000_000), 1.0))
    dt.bounds(summary)
    began = time.process_time()
    dt.bounds(summary)
    assert time.process_time() - began <= 1.0
