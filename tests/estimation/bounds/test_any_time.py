"""Intervals for any time: exact by enumeration, and measured over a hundred looks."""

import math

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.bounds.any_time import BoundedNumbers, level_of_one
from tools.coverage import lowest
from tools.repetitions import KINDS, UNIT, held, looked_at, mechanism, sizes_of_looks


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
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_hundred_looks_hold_together_at_length(kind, epsilon):
    plain, wide = _held_together(kind, epsilon, 300, sizes_of_looks(100, 20_000), 6)
    assert wide >= lowest(0.95, 300)
    assert plain < lowest(0.95, 300)


@pytest.mark.slow
def test_a_hundred_looks_at_a_quantile_hold_together():
    median, runs, held_all = 0.26444998329566005, 40, 0
    one = dt.SW(UNIT, epsilon=2.0, cells=1 << 10)
    for seen, _ in looked_at(
        one,
        sizes=sizes_of_looks(500, 20_000),
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
    low, high = one.unbiased_reading().span
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
    one = dt.Cumulative(dt.Interval(0, 1), epsilon=2, cells=8)
    values = np.random.default_rng(3).beta(2, 5, 20_000)
    answers = dt.answers(one.perturb(values, source=dt.Seeded(2)))
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
    for estimate in (dt.variance(reports), dt.quantile(reports, 0.5), dt.mean(reports) - 1.0):
        with pytest.raises(NotIdentifiable, match="over_looks"):
            estimate.at_any_time()
    pairs = dt.JRR(dt.Categories(["a", "b"]), p=0.8, rho=-0.2, n=100)
    with pytest.raises(NotIdentifiable, match="over_looks"):
        dt.frequencies(pairs.perturb(["a", "b"] * 50, source=dt.Seeded(1))).at_any_time()
