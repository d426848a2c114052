"""Intervals for any time: exact by enumeration, and measured over a hundred looks.

Estimates that allow for lies: every choice of liars, and the attack with the greatest gain.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.intervals import BoundedNumbers, level_of_one, liars_among
from dither.estimation.reading import least_variance_reading
from tools.coverage import lowest
from tools.repetitions import KINDS, UNIT, attacked, held, looked_at, mechanism, sizes_of_looks


def _ever_missed(share: float, most: int, interval) -> float:
    """Return the probability that an interval of a share misses it at some n up to `most`, exactly."""
    alive = np.array([1.0])  # by the number of supporting reports, of paths that have never missed
    missed = 0.0
    for n in range(1, most + 1):
        grown = np.zeros(n + 1)
        grown[:-1] += alive * (1 - share)
        grown[1:] += alive * share
        low, high = interval(np.arange(n + 1) / n, n)
        out = (low > share) | (share > high)
        missed += grown[out].sum()
        grown[out] = 0.0
        alive = grown
    return missed


def _sequence(share, n):
    return BoundedNumbers(share, n * share * (1 - share), n, 0.0, 1.0).interval(0.95)


def _fixed(share, n):
    z = 1.959964
    centre, half = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)


@pytest.mark.parametrize("share", [0.02, 0.27, 0.5, 0.9])
def test_a_share_is_missed_at_any_time_with_at_most_five_per_cent(share):
    """All paths of 100 reports, by dynamic programming; intervals for a fixed n miss far more often."""
    assert _ever_missed(share, 100, _sequence) <= 0.05
    assert _ever_missed(share, 100, _fixed) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [dt.Podium, dt.KRR])
def test_a_hundred_looks_hold_together_and_plain_ones_do_not(kind):
    plain, wide = _held_together(kind, 1.0, 50, sizes_of_looks(20, 8_000), 5)
    assert wide >= lowest(0.95, 50)
    assert plain < lowest(0.95, 50)


def _held_together(kind, epsilon: float, runs: int, sizes: np.ndarray, seed: int) -> tuple[int, int]:
    """Return in how many runs all plain intervals held the truth, and all intervals for any time."""
    plain, wide = np.ones(runs, dtype=bool), np.ones(runs, dtype=bool)
    means, squares = np.zeros((2, runs, sizes.size))
    for run, (seen, truth) in enumerate(
        looked_at(mechanism(kind, epsilon), sizes=sizes, repetitions=runs, seed=seed)
    ):
        value = float(np.atleast_1d(truth)[0])
        plain[run] = all(held(one, value) for one in seen)
        last = [one.at_any_time() for one in seen]
        means[run], squares[run] = (
            [np.atleast_1d(getattr(one.confidence.numbers, name))[0] for one in last]
            for name in ("mean", "squares")
        )
    one = last[-1]
    for look, n in enumerate(sizes.tolist()):  # all runs at once: an interval takes a while
        bounds, scale = one.confidence.numbers, one.confidence.scale
        numbers = BoundedNumbers(means[:, look], squares[:, look], n, bounds.low, bounds.high)
        low, high = ((end - scale[0]) / scale[1] for end in numbers.interval(0.95))
        wide &= (low <= value) & (value <= high)
    assert (low[-1], high[-1]) == pytest.approx([np.atleast_1d(end)[0] for end in one.interval()])
    return int(plain.sum()), int(wide.sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [pytest.param(kind, (0.5, 4.0)[at % 2], id=kind.__name__) for at, kind in enumerate(KINDS)],
)
def test_a_hundred_looks_hold_together_at_length(kind, epsilon):
    plain, wide = _held_together(kind, epsilon, 100, sizes_of_looks(100, 20_000), 6)
    assert wide >= lowest(0.95, 100)
    assert plain < lowest(0.95, 100)


@pytest.mark.slow
def test_a_hundred_looks_at_a_quantile_hold_together():
    median, runs, held_all = 0.26444998329566005, 10, 0
    one = dt.SW(UNIT, epsilon=2.0, cells=1 << 10)
    for seen, _ in looked_at(
        one,
        sizes=sizes_of_looks(500, 20_000, 40),  # of the hundred: neighbours see nearly the same reports
        repetitions=runs,
        seed=7,
        ask=lambda s: dt.quantile(s, 0.5).over_looks(100),
    ):
        held_all += all(estimate.covers(median) for estimate in seen)
    assert held_all >= lowest(0.95, runs)


def test_the_inequality_behind_it():
    """λx − ψ(λ)x² ≤ ln(1 + λx) for x from −1 on."""
    bets, x = np.linspace(0.001, 0.6, 60)[:, None], np.linspace(-1, 5, 2001)[None, :]
    cost = -np.log1p(-bets) - bets
    assert np.all(bets * x - cost * x**2 <= np.log1p(bets * x) + 1e-12)
    # Up to 1/2 the exponent rises over the whole range; a bet of 0.6 would not.
    assert 0.5 / (2 * (-math.log1p(-0.5) - 0.5)) >= 1 > 0.6 / (2 * (-math.log1p(-0.6) - 0.6))


def test_the_ends_are_where_the_capital_reaches_the_level():
    """By bisection in plain Python, of the sum as it is written in the proof."""
    bets = [0.5 / 2**j for j in range(20)]
    weights = [1 / (j + 2) for j in range(20)]

    def capital(m: float, mean: float, squares: float, n: int) -> float:
        gain, spread = n * (mean - m) / 3.0, (squares + n * (mean - m) ** 2) / 9.0
        parts = zip(bets, weights, strict=True)
        return sum(
            weight / sum(weights) * math.exp(min(bet * gain - (-math.log1p(-bet) - bet) * spread, 700))
            for bet, weight in parts
        )

    for n, mean, deviation in ((40, 0.3, 0.8), (3000, 0.1, 1.2), (70_000, -0.4, 0.9)):
        squares = n * deviation**2
        low, high = -1.0, mean
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if capital(middle, mean, squares, n) >= 40 else (low, middle)
        assert float(BoundedNumbers(mean, squares, n, -1.0, 2.0).interval(0.95)[0]) == pytest.approx(low)


def test_intervals_shrink_and_are_never_narrower_than_for_a_fixed_number():
    one = dt.Podium(UNIT, epsilon=1)
    reports = one.perturb(np.full(100_000, 0.3), source=dt.Seeded(1))
    halves = []
    for n in (1000, 10_000, 100_000):
        mean = dt.mean(reports[:n])
        ratio = mean.at_any_time().half_width() / mean.half_width()
        assert 1.5 < ratio < 2.2
        halves.append(mean.at_any_time().half_width())
    assert halves == sorted(halves, reverse=True)
    few = dt.mean(reports[:2]).at_any_time()
    low, high = least_variance_reading(one.question).span
    assert low <= few.interval()[0] < few.interval()[1] <= high
    assert few.interval() == pytest.approx((low, high))  # two reports exclude nothing


def test_frequencies_by_label_and_clipped():
    shares = dt.frequencies(
        dt.KRR(dt.Categories(["a", "b"]), epsilon=1).perturb(["a"] * 100, source=dt.Seeded(1))
    )
    timeless = shares.at_any_time()
    assert timeless["a"].interval() == pytest.approx([end[0] for end in timeless.interval()])
    low, high = shares.projected().at_any_time().interval()
    assert np.all((low >= 0) & (high <= 1))
    with pytest.raises(InvalidParameter):
        timeless["c"]
    assert [row["answer"] for row in shares.over_looks(10).records()] == ["a", "b"]


def test_cumulative_shares_hold_at_any_time():
    """The cdf at the edges of cells, by queries: not narrower than one look, and it holds the truth."""
    one = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=2, cells=8)
    values = np.random.default_rng(3).beta(2, 5, 20_000)
    answers = dt.stats.answers(one.perturb(values, source=dt.Seeded(2)))
    low, high = answers.at_any_time().interval()
    plain = answers.interval()
    inner = slice(0, -1)  # the last is 1 for everybody
    assert np.all(low[inner] < plain[0][inner])
    assert np.all(plain[1][inner] < high[inner])
    truth = [float(np.mean(values <= edge)) for edge in np.arange(1, 9) / 8]
    assert np.all((low - 1e-9 <= truth) & (truth <= high + 1e-9))


def test_over_looks_is_bonferroni():
    reports = dt.Podium(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1))
    median = dt.quantile(reports, 0.5)
    assert median.over_looks(20).interval(0.9) == median.interval(0.995)
    assert level_of_one(0.95, 100) == pytest.approx(0.9995)
    for looks in (0, -1, 2.5, True, 10**7, "ten"):
        with pytest.raises(InvalidParameter, match="number of looks"):
            median.over_looks(looks)
    assert "100 looks" in repr(median.over_looks(100))


def test_what_has_no_sequence_is_refused():
    reports = dt.Podium(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1))
    moved, mean = (dt.mean(reports) - 1.0).at_any_time(), dt.mean(reports).at_any_time()
    assert moved.interval() == pytest.approx([end - 1.0 for end in mean.interval()])
    for estimate in (dt.variance(reports), dt.quantile(reports, 0.5)):
        with pytest.raises(NotIdentifiable, match="over_looks"):
            estimate.at_any_time()
    pairs = dt.JRR(dt.Categories(["a", "b"]), p=0.8, rho=-0.2, n=100)
    with pytest.raises(NotIdentifiable, match="over_looks"):
        dt.frequencies(pairs.perturb(["a", "b"] * 50, source=dt.Seeded(1))).at_any_time()


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


@pytest.mark.some("*Podium")
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
                mechanism(kind, epsilon), n=10_000, share=share, upwards=upwards, repetitions=200, seed=8
            )
            assert sum(held(one.if_lying(share), value) for one, value in found) >= lowest(0.95, 200)


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


def test_what_is_not_derived_is_refused():
    reports = dt.Podium(UNIT, epsilon=1).perturb(np.full(500, 0.3), source=dt.Seeded(1))
    for estimate in (dt.variance(reports), dt.quantile(reports, 0.5), dt.mean(reports) - 1.0):
        with pytest.raises(NotIdentifiable, match="expected a mean"):
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
