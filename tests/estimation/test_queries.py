"""Cumulative shares: isotonic regression against its definition, quantiles, scales, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import isotonic_regression

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.queries import isotonic

N = 100_000


def test_isotonic_regression_is_scipys() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 9, 100):
        values = rng.normal(size=size) + np.linspace(0, 1, size)
        assert isotonic(values) == pytest.approx(isotonic_regression(values).x)


def _shapes(rng: np.random.Generator) -> dict[str, np.ndarray]:
    two = np.where(rng.random(N) < 0.5, rng.normal(0.3, 0.08, N), rng.normal(0.7, 0.05, N))
    return {
        "Beta(2, 5)": rng.beta(2, 5, N),
        "bimodal": np.clip(two, 0, 1),
        "spike and uniform": np.where(rng.random(N) < 0.3, 0.5, rng.random(N)),
    }


def test_the_errors_of_the_page() -> None:
    """n = 10^5, ε = 1, 12 runs, at 32 edges: W1 ≤ 7·10⁻³ and KS ≤ 21·10⁻³ on all three shapes."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1)
    errors: dict[str, list[tuple[float, float]]] = {}
    for run in range(12):
        for name, values in _shapes(np.random.default_rng(run)).items():
            found = dt.cumulative(question.perturb(values, source=dt.Seeded(run)))
            truth = [float((values < edge).mean()) for edge in question.edges[1:-1]] + [1.0]
            gaps = np.abs(np.asarray(found.value) - truth)
            errors.setdefault(name, []).append((float(gaps.mean()), float(gaps.max())))
    for name, pairs in errors.items():
        distance, largest = np.mean(pairs, axis=0)
        print(f"{name}: W1 {1e3 * distance:.2f}, KS {1e3 * largest:.1f}")
        assert distance <= 7e-3
        assert largest <= 21e-3


def test_monotone_is_a_choice_and_never_worse_in_squares() -> None:
    question = dt.optimal.Cumulative(dt.Interval(0, 10), epsilon=1, cells=16)
    values = np.full(4_000, 3.3)
    reports = question.perturb(values, source=dt.Seeded(3))
    free, kept = dt.cumulative(reports, monotone=False), dt.cumulative(reports)
    truth = (question.edges[1:] > 3.3).astype(float)
    assert (np.diff(kept.value) >= 0).all()
    assert not (np.diff(free.value) >= 0).all()
    assert ((kept.value - truth) ** 2).sum() <= ((np.asarray(free.value) - truth) ** 2).sum()
    assert kept.probabilities.sum() == pytest.approx(1.0)
    assert kept.value[-1] == 1.0


def test_a_smooth_reading_is_closer_and_covers() -> None:
    """Cells about a smooth curve: closer than isotonic regression, and 95 % intervals hold on average."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1)
    truth = stats.beta(2, 5).cdf(question.edges[1:])
    squares, held, halved = {"linear": 0.0, "smooth": 0.0}, [], []
    for run in range(12):
        values = np.random.default_rng(run).beta(2, 5, 20_000)
        summary = dt.Counts.of(question.perturb(values, source=dt.Seeded(run)))
        smooth = dt.cumulative(summary, method="empirical bayes")
        squares["linear"] += float(np.square(dt.cumulative(summary).value - truth).sum())
        squares["smooth"] += float(np.square(smooth.value - truth).sum())
        low, high = smooth.interval()
        held.append(np.mean((low <= truth) & (truth <= high)))
        halved.append(np.mean(np.abs(truth - (low + high) / 2) <= (high - low) / 4))
        assert (np.diff(smooth.value) >= 0).all()
        assert smooth.value[-1] == 1.0
    assert squares["smooth"] < 0.85 * squares["linear"]
    assert np.mean(held) > 0.88 > np.mean(halved)
    scale = dt.optimal.Cumulative(dt.Categories(["no", "maybe", "yes"]), epsilon=2)
    few = dt.cumulative(scale.perturb(["no", "yes", "yes", "maybe"] * 500), method="empirical bayes")
    assert few.cdf("no").covers(0.25, 0.99999)
    with pytest.raises(InvalidParameter, match="there is no method"):
        dt.cumulative(summary, method="likelihood")


def test_quantiles_and_shares_cover() -> None:
    """300 runs of 2 000 people: 95 % intervals of the median and of a share; one too narrow is seen."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=2, cells=16)
    covered = {"median": 0, "share": 0, "half as wide": 0}
    for run in range(300):
        values = np.random.default_rng(run).beta(2, 3, 2_000)
        found = dt.cumulative(question.perturb(values, source=dt.Seeded(run)))
        low, high = found.quantile(0.5).interval()
        covered["median"] += bool(low <= 0.3857 <= high)
        share = found.cdf(0.5)
        covered["share"] += bool(share.covers(0.6875))
        covered["half as wide"] += bool(abs(share.value - 0.6875) <= share.half_width() / 2)
    assert covered["median"] / 300 >= 0.92  # whole cells, so more than 95 %
    assert high - low <= 3 / 16
    assert 0.92 <= covered["share"] / 300 <= 0.98
    assert covered["half as wide"] / 300 < 0.85


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_a_quantile_holds_where_half_of_the_people_are_at_an_end(epsilon: float) -> None:
    """Interpolated within its cell and made symmetric, the interval of the median held in 0 of 200 runs."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=epsilon, cells=16)
    held = 0
    for run in range(40):
        random = np.random.default_rng(run)
        values = np.where(random.random(1_000) < 0.55, 0.0, random.random(1_000))
        median = dt.cumulative(question.perturb(values, source=dt.Seeded(run))).quantile(0.5)
        held += bool(median.covers(0.0))
        low, high = median.interval()
        assert low <= median.value <= high
        assert median.interval(0.5)[1] <= high
    assert held >= 36


def test_a_density_that_rises_to_both_ends_is_not_extrapolated() -> None:
    """The first and last edge of the arcsine distribution held in 73 to 80 % of the runs."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1.5)
    truth = 2 / np.pi * np.arcsin(np.sqrt(question.edges[[1, -2]]))
    held, gaps = [], []
    for run in range(25):
        values = np.sin(np.pi / 2 * np.random.default_rng(run).random(3_000)) ** 2
        reports = question.perturb(values, source=dt.Seeded(run))
        shares = dt.cumulative(reports, method="empirical bayes")
        low, high = (np.asarray(end)[[0, -2]] for end in shares.interval())
        held += list((low <= truth) & (truth <= high))
        gaps.append(np.asarray(shares.value)[[0, -2]] - truth)
    assert np.mean(held) >= 0.88
    assert np.abs(np.mean(gaps, axis=0)).max() < 0.014  # 0.026 by extrapolation


def test_a_share_between_two_edges_says_what_it_assumes() -> None:
    """Half of the people are at 0: a straight line inside the first cell is far off, and its interval too."""
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=2, cells=4)
    random = np.random.default_rng(1)
    values = np.where(random.random(4_000) < 0.5, 0.0, random.random(4_000))
    reports = question.perturb(values, source=dt.Seeded(1))
    shares, smooth = dt.cumulative(reports), dt.cumulative(reports, method="empirical bayes")
    assert not shares.cdf(0.05).covers(0.525)
    assert shares.cdf(0.05).condition == " if even inside the cell"
    assert smooth.cdf(0.05).condition == " if neighbouring cells are alike and even inside the cell"
    assert shares.cdf(0.25).condition == shares.cdf(0.75 + 1e-12).condition == shares.cdf(2).condition == ""
    assert shares.cdf(0.25).covers(0.625)


def test_cumulative_shares_of_numbers_are_a_table_and_a_term() -> None:
    one = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=2, cells=4)
    first, second = (dt.cumulative(one.perturb(np.full(200, 0.3), source=dt.Seeded(seed))) for seed in (1, 2))
    ends = ["up to 0.25", "up to 0.5", "up to 0.75", "up to 1"]
    assert [row["answer"] for row in first.records()] == ends
    assert "cumulative" in first._repr_html_()
    assert np.asarray((first - second).value) == pytest.approx(first.value - second.value)


def test_an_ordinal_scale() -> None:
    scale = dt.optimal.Cumulative(dt.Categories(["never", "rarely", "often", "always"]), epsilon=2)
    answers = np.repeat(["never", "rarely", "often", "always"], [4000, 3000, 2000, 1000])
    found = dt.cumulative(scale.perturb(answers, source=dt.Seeded(1)))
    assert found.cdf("rarely").covers(0.7, level=0.9999)
    assert found.quantile(0.5).value in ("never", "rarely")
    with pytest.raises(InvalidParameter, match="answer of this scale"):
        found.cdf("sometimes")
    with pytest.raises(InvalidParameter, match="expected no cells"):
        dt.optimal.Cumulative(dt.Categories(4), epsilon=1, cells=8)


def test_what_cannot_be_read() -> None:
    question = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1, cells=8)
    with pytest.raises(NotIdentifiable):
        dt.cumulative(question.reports([]))
    with pytest.raises(InvalidParameter, match="Cumulative"):
        dt.cumulative(dt.SW(dt.Interval(0, 1), epsilon=1).perturb([0.5, 0.6]))
    workload = dt.optimal.Workload.of(np.tril(np.ones((4, 4))), 1)
    with pytest.raises(InvalidParameter, match=r"dt\.stats\.answers"):
        dt.cumulative(workload.perturb([0, 1, 2]))
    found = dt.cumulative(question.perturb([0.5] * 100))
    for share in (0, 1, "half", None):
        with pytest.raises(InvalidParameter):
            found.quantile(share)
    for cells in (1, 257, 2.5, True):
        with pytest.raises(InvalidParameter):
            dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=1, cells=cells)
