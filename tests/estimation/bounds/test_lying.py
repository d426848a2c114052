"""Estimates that allow for lies: every choice of liars, and the attack with the greatest gain."""

from itertools import combinations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.bounds.lying import liars_among, reach_of_one
from tools.coverage import lowest
from tools.repetitions import KINDS, UNIT, attacked, held, mechanism


def test_no_choice_of_liars_leaves_a_mean_outside():
    one = dt.Podium(UNIT, epsilon=1, cells=8)
    cells = np.array([0, 1, 3, 3, 5, 6, 7, 7, 2])
    estimate = dt.mean(one.reports(cells)).if_lying(2 / 9)
    assert estimate.liars == 2
    left = [
        float(dt.mean(one.reports(np.delete(cells, list(gone)))).value) for gone in combinations(range(9), 2)
    ]
    down, up = estimate.moved
    assert float(estimate.value) - up == pytest.approx(min(left))
    assert float(estimate.value) - down == pytest.approx(max(left))
    low, high = estimate.interval()
    for gone in combinations(range(9), 2):
        ends = dt.mean(one.reports(np.delete(cells, list(gone))))
        reach = 2.364624 * float(ends.standard_error)  # Student's t with six degrees of freedom is larger
        assert low <= ends.value - reach
        assert ends.value + reach <= high


@pytest.mark.parametrize("kind", [dt.KRR, dt.OUE, dt.OLH])
def test_no_choice_of_liars_leaves_a_frequency_outside(kind):
    one = kind(dt.Categories(["a", "b", "c"]), epsilon=1)
    reports = one.perturb(["a", "a", "b", "c", "a", "b", "a"], source=dt.Seeded(5))
    estimate = dt.frequencies(reports).if_lying(2 / 7)
    low, high = estimate.interval()
    down, up = estimate.moved
    for gone in combinations(range(7), 2):
        kept = [place for place in range(7) if place not in gone]
        alone = dt.frequencies(one.reports(reports.cells[kept]))
        assert np.all(np.asarray(estimate.value) - up <= np.asarray(alone.value) + 1e-12)
        assert np.all(np.asarray(alone.value) <= np.asarray(estimate.value) - down + 1e-12)
        least, most = alone.interval()
        assert np.all(low <= least + 1e-12)
        assert np.all(most <= high + 1e-12)


@pytest.mark.parametrize("kind", [dt.Podium, dt.Laplace, dt.OLH])
@pytest.mark.parametrize("share", [0.01, 0.05])
def test_intervals_cover_under_attack_and_plain_ones_do_not(kind, share):
    runs, n = 100, 8000
    for upwards in (True, False):
        plain = wide = 0
        for found, value in attacked(
            mechanism(kind, 1.0), n=n, share=share, upwards=upwards, repetitions=runs, seed=7
        ):
            plain, wide = plain + held(found, value), wide + held(found.if_lying(share), value)
        assert wide >= lowest(0.95, runs)
        # The twin: an interval that knows no lies. One per cent moves the mean of Podium by 1.6 errors only.
        if share == 0.05:
            assert plain < lowest(0.95, runs)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_intervals_cover_under_attack_at_length(kind, epsilon):
    for share in (0.01, 0.05):
        for upwards in (True, False):
            found = attacked(
                mechanism(kind, epsilon), n=10_000, share=share, upwards=upwards, repetitions=400, seed=8
            )
            assert sum(held(one.if_lying(share), value) for one, value in found) >= lowest(0.95, 400)


def test_nobody_lies_is_the_plain_interval():
    mean = dt.mean(dt.Podium(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1)))
    assert mean.if_lying(0).interval() == mean.interval()
    assert mean.if_lying(0).moved == (0.0, 0.0)
    shares = dt.frequencies(
        dt.KRR(dt.Categories(["a", "b"]), epsilon=1).perturb(["a"] * 100, source=dt.Seeded(1))
    )
    for one, two in zip(shares.if_lying(0).interval(), shares.interval(), strict=True):
        assert np.allclose(one, two)


def test_more_liars_widen_every_interval():
    mean = dt.mean(dt.SW(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1)))
    widths = [mean.if_lying(share).half_width() for share in (0.0, 0.002, 0.01, 0.1, 0.5, 0.9)]
    assert widths == sorted(widths)
    assert mean.if_lying(0.9999).interval() == (-np.inf, np.inf)


def test_leading_bits_are_counted_with_slack():
    """With 2^24 cells only groups are counted; the bound is at least that of the cells themselves."""
    one = dt.Podium(UNIT, epsilon=1, cells=1 << 24)
    reports = one.perturb(np.full(200, 0.3), source=dt.Seeded(1))
    decoded = np.sort(reports.values)
    down, up = dt.mean(reports).if_lying(0.1).moved
    least, greatest = decoded[:-20].mean(), decoded[20:].mean()
    assert decoded.mean() - greatest == pytest.approx(down, abs=1e-5)
    assert down <= decoded.mean() - greatest
    assert up >= decoded.mean() - least


def test_one_report_moves_the_mean_by_the_distance_of_the_extremes():
    for kind in (dt.Podium, dt.Duchi, dt.Laplace):
        one = kind(UNIT, epsilon=1)
        values = one.unbiased_reading().values
        least, most = int(np.argmin(values)), int(np.argmax(values))
        cells = one.perturb(np.full(9, 0.5), source=dt.Seeded(2)).cells
        ends = [float(dt.mean(one.reports(np.append(cells, lie))).value) for lie in (least, most)]
        assert reach_of_one(one) == pytest.approx(10 * (ends[1] - ends[0]))


def test_what_is_not_derived_is_refused():
    reports = dt.Podium(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1))
    for estimate in (dt.variance(reports), dt.quantile(reports, 0.5), dt.mean(reports) - 1.0):
        with pytest.raises(NotIdentifiable, match="derived for means"):
            estimate.if_lying(0.01)
    for share in (-0.1, 1.0, float("nan"), "1 %", True, None):
        with pytest.raises(InvalidParameter, match="share of lies"):
            dt.mean(reports).if_lying(share)
    pairs = dt.JRR(dt.Categories(["a", "b"]), p=0.8, rho=-0.2, n=100)
    with pytest.raises(NotIdentifiable, match="share"):
        dt.frequencies(pairs.perturb(["a", "b"] * 50, source=dt.Seeded(1))).if_lying(0.01)


def test_what_it_prints():
    trips = dt.Podium(dt.Interval(0, 180), epsilon=1)
    mean = dt.mean(trips.perturb(np.full(40_000, 50), source=dt.Seeded(1)))
    assert "if 1 % lie" in repr(mean.if_lying(0.01))
    shares = dt.frequencies(
        dt.KRR(dt.Categories(["a", "b"]), epsilon=1).perturb(["a"] * 100, source=dt.Seeded(1))
    ).if_lying(0.05)
    assert [row["answer"] for row in shares.records()] == ["a", "b"]
    assert shares["a"].interval() == pytest.approx([end[0] for end in shares.interval()])
    with pytest.raises(InvalidParameter):
        mean.if_lying(0.01)["a"]


@pytest.mark.parametrize(
    ("n", "share", "liars"), [(100, 0.29, 29), (1000, 0.05, 50), (7, 1 / 7, 1), (10, 0.01, 1)]
)
def test_shares_become_whole_numbers(n, share, liars):
    assert liars_among(n, share) == liars
