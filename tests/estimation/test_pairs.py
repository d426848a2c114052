"""Contingency tables: unbiased for every protocol, and a test of independence that keeps its level.

Covariance, correlation and regression of randomised numbers, against the truth and against numpy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from tests.support.budget import Meter

PET, HOME = dt.Categories(["cat", "dog", "none"]), dt.Categories(["flat", "house"])
SHARES = np.array([[0.3, 0.1], [0.05, 0.25], [0.2, 0.1]])
KINDS = [
    dt.KRR,
    dt.OUE,
    dt.rivals.SUE,
    dt.OLH,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
]


def people(rng, n, shares=SHARES):
    pairs = rng.choice(shares.size, n, p=shares.reshape(-1))
    return np.array(PET.labels)[pairs // 2].tolist(), np.array(HOME.labels)[pairs % 2].tolist()


def told(kind, rng, source, n, shares=SHARES, epsilon=2.0):
    both = dt.Each(pet=kind(PET, epsilon=epsilon), home=kind(HOME, epsilon=epsilon))
    pets, homes = people(rng, n, shares)
    records = both.perturb({"pet": pets, "home": homes}, source=source)
    return records["pet"], records["home"]


def test_tables_are_written_as_tables() -> None:
    two = dt.KRR(dt.Categories(["a_b", "c"]), epsilon=3)
    first, second = (two.perturb(["a_b", "c", "c"] * 100, source=dt.Seeded(seed)) for seed in (1, 2))
    table = dt.stats.crosstab(first, second)
    latex, html = table.to_latex().splitlines(), table.to_html()
    assert latex[:2] == [r"\begin{tabular}{lrr}", r"\toprule"]
    assert latex[2] == r" & a\_b & c \\"
    assert latex[4].startswith(r"a\_b & ")
    assert html.count("<tr>") == 3
    assert "<th>a_b</th>" in html
    assert table.within_rows().to_html() != html
    assert "shares of rows" in repr(table.within_rows())
    assert [line.count("&") for line in dt.frequencies(first).to_latex().splitlines()[4:6]] == [4, 4]
    assert dt.mean(dt.Podium(dt.Interval(0, 1), epsilon=1).perturb([0.5] * 9)).to_html().startswith("<table>")


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_table_is_unbiased_with_every_protocol(kind):
    table = dt.stats.crosstab(*told(kind, np.random.default_rng(2), dt.Seeded(2), 20_000))
    gaps = (np.asarray(table.value) - SHARES) / np.asarray(table.standard_error)
    assert np.abs(gaps).max() < 5.2  # 1e-6 for six cells
    flipped = (np.asarray(table.value) - SHARES[::-1]) / np.asarray(table.standard_error)
    assert np.abs(flipped).max() > 5.2
    assert table["cat", "house"].value == np.asarray(table.value)[0, 1]
    assert table["cat", "house"].interval() == pytest.approx([end[0, 1] for end in table.interval()])
    assert table.guarantee.epsilon == pytest.approx(4.0, abs=1e-6)


def test_exact_channels_are_inverted_exactly():
    first = dt.KRR(PET, epsilon=2).reports([0, 1, 2, 2, 1, 0])
    second = dt.KRR(HOME, epsilon=1).reports([0, 1, 1, 0, 0, 1])
    channels = [
        np.array([[float(p) for p in kind.probabilities(label)] for label in kind.domain.labels])
        for kind in (first.question, second.question)
    ]
    counts = np.zeros((3, 2))
    np.add.at(counts, (first.cells, second.cells), 1 / 6)
    expected = np.linalg.inv(channels[0]).T @ counts @ np.linalg.inv(channels[1])
    assert np.asarray(dt.stats.crosstab(first, second).value) == pytest.approx(expected)


@pytest.mark.slow
def test_independence_keeps_its_level_and_finds_dependence():
    rng, source, runs = np.random.default_rng(3), dt.Seeded(3), 120
    free = np.outer([0.5, 0.3, 0.2], [0.6, 0.4])
    wrong = sum(
        dt.stats.crosstab(*told(dt.OUE, rng, source, 400, free)).independence().p_value < 0.05
        for _ in range(runs)
    )
    assert wrong <= stats.binom.isf(1e-6, runs, 0.06)
    naive = 0
    for _ in range(40):  # the twin: the textbook test reads the noisy labels as independent people
        found = dt.stats.crosstab(*told(dt.OUE, rng, source, 3000)).independence()
        naive += found.p_value < 0.05
        assert found.freedom == 2
    assert naive >= 30


def test_the_order_of_categories_does_not_matter():
    first, second = told(dt.OUE, np.random.default_rng(5), dt.Seeded(5), 500)
    other = dt.OUE(dt.Categories(["none", "cat", "dog"]), epsilon=2)
    bits = np.unpackbits(first.cells, axis=1, count=3, bitorder="little")[:, [2, 0, 1]]
    turned = other.reports(np.packbits(bits, axis=1, bitorder="little"))
    p = dt.stats.crosstab(first, second).independence().p_value
    assert dt.stats.crosstab(turned, second).independence().p_value == pytest.approx(p)


def test_bad_pairs_are_refused():
    first, second = told(dt.KRR, np.random.default_rng(5), dt.Seeded(5), 50)
    with pytest.raises(InvalidParameter, match="without the order"):
        dt.stats.crosstab(dt.Counts.of(first), second)
    with pytest.raises(InvalidParameter, match="50 and 49"):
        dt.stats.crosstab(first, second[:49])
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.stats.crosstab(first, first)
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.stats.crosstab(first, Reports(first.question, first.cells))
    with pytest.raises(NotIdentifiable, match="at least three"):
        dt.stats.crosstab(first[:2], second[:2])
    with pytest.raises(InvalidParameter, match=r"dt\.stats\.correlation"):
        dt.stats.crosstab(dt.PM(dt.Interval(0, 1), epsilon=1).perturb([0.5] * 50), second)
    with pytest.raises(InvalidParameter, match="mean cat"):
        dt.stats.crosstab(first, second)["cats", "flat"]
    with pytest.raises(InvalidParameter, match="second question"):
        dt.stats.crosstab(first, second)["cat"]


FIRST, SECOND = dt.Interval(0, 10), dt.Interval(-1, 1)


def draw_people(rng, n):
    x = rng.beta(0.7, 0.7, n)
    return 10 * x, 1.2 * x - 0.6 + rng.uniform(-0.4, 0.4, n)  # slope 0.12, intercept −0.6


def reported(kind, epsilon, n=20_000, seed=1, **more):
    x, y = draw_people(np.random.default_rng(seed), n)
    source = dt.Seeded(seed)
    first, second = kind(FIRST, epsilon=epsilon, **more), kind(SECOND, epsilon=epsilon, **more)
    return first.perturb(x, source=source), second.perturb(y, source=source), x, y


VARIANCE = 1 / (4 * 2.4)  # of Beta(0.7, 0.7)
COVARIANCE = 10 * 1.2 * VARIANCE
CORRELATION = COVARIANCE / math.sqrt(100 * VARIANCE * (1.44 * VARIANCE + 0.16 / 3))


@pytest.mark.parametrize("kind", [dt.Podium, dt.Hybrid, dt.SW, dt.Laplace], ids=lambda kind: kind.__name__)
def test_noise_does_not_change_what_is_estimated(kind):
    first, second, *_ = reported(kind, 3.0)
    assert dt.stats.covariance(first, second).covers(COVARIANCE, 1 - 1e-6)
    assert dt.stats.correlation(first, second).covers(CORRELATION, 1 - 1e-6)
    line = dt.stats.regression(first, second)
    assert line.slope.covers(0.12, 1 - 1e-6)
    assert line.intercept.covers(-0.6, 1 - 1e-6)
    assert line.at(5).covers(0.0, 1 - 1e-6)
    flat = np.polyfit(np.asarray(first), np.asarray(second), 1)[0]  # the twin: the noise flattens the slope
    assert not line.slope.covers(flat, 1 - 1e-6)


def test_without_noise_it_is_numpys():
    first, second, x, y = reported(dt.PM, 40.0, 3000)
    slope, intercept = np.polyfit(x, y, 1)
    line = dt.stats.regression(first, second)
    assert (line.slope.value, line.intercept.value) == pytest.approx((slope, intercept), abs=2e-3)
    assert line.at(4.0).value == pytest.approx(intercept + 4 * slope, abs=2e-3)
    assert dt.stats.correlation(first, second).value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=2e-3)
    assert dt.stats.covariance(first, second).value == pytest.approx(np.cov(x, y)[0, 1], abs=2e-2)
    residual = y - slope * x - intercept
    error = math.sqrt(residual @ residual / 2998 / ((x - x.mean()) @ (x - x.mean())))
    assert line.slope.standard_error == pytest.approx(error, rel=0.1)


def test_many_cells_are_read_to_the_last_bit():
    first, second, *_ = reported(dt.Podium, 20.0, 500, cells=1 << 24)
    few, others, *_ = reported(dt.Podium, 20.0, 500)
    assert dt.stats.covariance(first, second).value == pytest.approx(
        dt.stats.covariance(few, others).value, rel=0.1
    )


def test_weak_reports_have_wide_intervals_or_no_answer():
    answers = 0
    for seed in range(12):
        first, second, *_ = reported(dt.Podium, 0.5, 300, seed)
        try:
            found = dt.stats.correlation(first, second)
        except NotIdentifiable:
            continue
        answers += 1
        assert found.interval() == (-1.0, 1.0)
        assert -1 <= found.value <= 1
    assert 0 < answers < 12
    assert dt.stats.regression(*reported(dt.Podium, 0.5, 300, seed=3)[:2]).slope.interval() == (
        -math.inf,
        math.inf,
    )


def test_bad_input_is_refused():
    first, second, *_ = reported(dt.Podium, 2.0, 50)
    pets = dt.KRR(dt.Categories(2), epsilon=1).perturb([0, 1] * 25)
    with pytest.raises(InvalidParameter, match=r"dt\.stats\.crosstab is for categories"):
        dt.stats.correlation(first, pets)
    with pytest.raises(InvalidParameter, match="50 and 20"):
        dt.stats.covariance(first, second[:20])
    angles = dt.OGPM(dt.Circle(360), epsilon=1).perturb([1.0] * 50)
    with pytest.raises(InvalidParameter, match="on an interval"):
        dt.stats.regression(angles, second)
    with pytest.raises(InvalidParameter, match="one finite number"):
        dt.stats.regression(*reported(dt.Podium, 4.0, 500)[:2]).at("5")
    with pytest.raises(NotIdentifiable, match="not affine"):
        dt.stats.covariance(first, dt.OGPM(SECOND, epsilon=1).perturb([0.0] * 50))


@pytest.mark.parametrize(("kind", "n"), [(dt.KRR, 20), (dt.KRR, 3000), (dt.OUE, 20_000), (dt.OLH, 20_000)])
def test_joint_counts_are_all_that_a_table_needs(kind: Any, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Different pairs of reports with their counts give the table that every person's reports give."""
    rng, kinds = np.random.default_rng(1), (dt.Categories(8), dt.Categories(6))
    told = [
        kind(answers, epsilon=2).perturb(rng.integers(0, len(answers), n), source=dt.Seeded(seed))
        for seed, answers in enumerate(kinds)
    ]
    table = dt.stats.crosstab(*told)
    monkeypatch.setattr("dither.estimation.pairs._PAIRS", 0)
    each = dt.stats.crosstab(*told)
    np.testing.assert_allclose(table.value, each.value, atol=1e-12)
    np.testing.assert_allclose(table.standard_error, each.standard_error, atol=1e-12)
    assert table.independence().statistic == pytest.approx(each.independence().statistic)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [dt.KRR, dt.OUE, dt.SubsetSelection, dt.ProjectiveResponse, dt.OLH])
def test_a_table_of_a_million_people_takes_a_tenth_of_a_second(kind: Any) -> None:
    rng = np.random.default_rng(1)
    told = [kind(dt.Categories(k), epsilon=2).perturb(rng.integers(0, k, 10**6)) for k in (8, 6)]
    dt.stats.crosstab(told[0][:100], told[1][:100])
    meter = Meter()
    meter.start()
    dt.stats.crosstab(*told)
    assert meter.stop() <= 10  # loops, a hundred of which take a second
