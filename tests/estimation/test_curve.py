"""What is read off a curve: shares, quantiles, the mode and bands, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter

UNIT, ALARM = dt.Interval(0, 1), 1e-6
TRUTH = stats.beta(2, 5)


@pytest.fixture(scope="module")
def shape():
    values = 180 * np.random.default_rng(1).beta(2, 5, 50_000)
    return dt.distribution(dt.SW(dt.Interval(0, 180), epsilon=2).perturb(values, source=dt.Seeded(1)))


def test_answers_agree_with_each_other(shape):
    assert shape.cdf(180).value == 1
    assert shape.cdf(-1).value == shape.tail(180).value == 0
    assert shape.tail(60).value == pytest.approx(1 - shape.cdf(60).value)
    assert shape.share(30, 60).value == pytest.approx(shape.cdf(60).value - shape.cdf(30).value)
    assert shape.cdf(shape.quantile(0.3).value).value == pytest.approx(0.3, abs=1e-3)
    assert shape.probabilities.sum() == pytest.approx(1)
    places = np.linspace(0, 180, 4001)
    assert np.trapezoid(shape.pdf(places), places) == pytest.approx(1, abs=2e-3)
    assert shape.quantile(0.1).value < shape.quantile(0.5).value < shape.quantile(0.9).value


def test_answers_are_right_within_chance(shape):
    assert shape.cdf(60).covers(TRUTH.cdf(1 / 3), 0.9999)
    assert shape.tail(90).covers(TRUTH.sf(0.5), 0.9999)
    assert shape.quantile(0.5).covers(180 * TRUTH.ppf(0.5), 0.9999)
    assert shape.mode().covers(180 * 0.2)
    assert shape.mean().covers(180 * 2 / 7, 0.9999)
    assert shape.mode().half_width() < 30


def test_a_thin_tail_beside_a_narrow_majority_is_in_the_errors():
    # The log-density of the majority falls as a parabola: the tail was 0, with a band of no width.
    rng = np.random.default_rng(4)
    values = np.where(rng.random(3000) < 0.97, rng.normal(0.3, 0.02, 3000), rng.random(3000)).clip(0, 1)
    tail = dt.distribution(dt.SW(UNIT, epsilon=4).perturb(values, source=dt.Seeded(1))).tail(0.5)
    assert tail.covers(0.015)
    assert 0.005 < tail.value < 0.025
    alone = dt.SW(UNIT, epsilon=4).perturb(rng.normal(0.3, 0.02, 3000), source=dt.Seeded(1))
    assert 0 < dt.distribution(alone).tail(0.5).interval()[1] < 0.03


@pytest.mark.parametrize("question", [dt.SW(dt.Interval(0, 1), epsilon=2), dt.OGPM(dt.Circle(1), epsilon=2)])
def test_bands_of_a_narrow_majority_do_not_have_the_bias_of_its_tails(question):
    # The bias of smoothing is many times what little is in the tails; the majority's band was 0 to 1.
    values = np.random.default_rng(0).normal(0.3, 0.02, 4000)
    low, high = dt.distribution(question.perturb(values, source=dt.Seeded(0)), 6).bands()
    assert low[1] < stats.norm(0.3, 0.02).cdf(1 / 3) < high[1]
    assert high[1] - low[1] < 0.2


def test_bins_are_chosen_by_the_error(shape):
    few = dt.SW(UNIT, epsilon=1).perturb(TRUTH.rvs(300, random_state=1), source=dt.Seeded(2))
    many = dt.SW(UNIT, epsilon=6).perturb(TRUTH.rvs(400_000, random_state=1), source=dt.Seeded(2))
    assert dt.distribution(few).bins < shape.bins < dt.distribution(many).bins


@pytest.mark.parametrize("method", ["empirical bayes", "likelihood", "as reported"], ids=repr)
def test_unequal_bins(shape, method):
    edges = [0, 15, 30, 60, 180]
    shown = dt.distribution(shape.summary, edges, method=method)
    assert shown.edges.tolist() == edges
    assert shown.probabilities.sum() == pytest.approx(1)
    if method != "as reported":
        truth = np.diff(TRUTH.cdf(np.array(edges) / 180))
        assert np.abs(shown.probabilities - truth).sum() < (0.08 if method == "empirical bayes" else 0.2)
    assert shown.bands()[0].shape == (4,)
    for wrong in ([0, 10], [0, 10, 10, 180], [5, 180], [0, float("nan"), 180], "ab", [[0, 180]]):
        with pytest.raises(InvalidParameter):
            dt.distribution(shape.summary, wrong, method=method)


def test_bands_of_all_bins_at_once_are_wider_and_strict_ones_too(shape):
    low, high = shape.bands()
    all_low, all_high = shape.bands(simultaneous=True)
    assert ((all_low <= low) & (high <= all_high)).all()
    assert (all_high - all_low).mean() > 1.2 * (high - low).mean()
    coarse = dt.distribution(shape.summary, 6)
    strict = coarse.bands(strict=True)
    assert (strict[1] - strict[0]).mean() > (coarse.bands()[1] - coarse.bands()[0]).mean()
    truth = np.diff(TRUTH.cdf(np.linspace(0, 1, 7)))
    assert ((strict[0] <= truth) & (truth <= strict[1])).all()


def test_shares_on_a_circle_go_forward():
    values = np.degrees(np.random.default_rng(3).vonmises(0, 3, 30_000)) % 360
    shape = dt.distribution(dt.OGPM(dt.Circle(360), epsilon=2).perturb(values, source=dt.Seeded(3)))
    truth = stats.vonmises(3).cdf(np.radians(20)) - stats.vonmises(3).cdf(np.radians(-20))
    assert shape.share(340, 20).covers(truth, 0.9999)
    assert shape.share(20, 340).value == pytest.approx(1 - shape.share(340, 20).value)
    assert shape.mode().covers(0.0)
    mode = shape.mode()
    assert mode.half_width() < 45
    assert mode.interval()[1] < mode.interval()[0]  # it passes the end of the circle
    assert "-" not in repr(mode).split("(")[0]
    assert mode.over_looks(2).covers(0.0)
    with pytest.raises(InvalidParameter, match="directions"):
        mode - 1.0
    for ask in (shape.mean, lambda: shape.cdf(3), lambda: shape.tail(3), lambda: shape.quantile(0.5)):
        with pytest.raises(InvalidParameter, match="circle"):
            ask()


def hits(draw, epsilon, repetitions, asked):
    question, rng, source = dt.SW(UNIT, epsilon=epsilon), np.random.default_rng(7), dt.Seeded(7)
    return np.mean(
        [
            asked(dt.distribution(question.perturb(draw(rng, 10_000), source=source), 16))
            for _ in range(repetitions)
        ]
    )


def _in_bands(truth):
    def asked(shape):
        low, high = shape.bands()
        return np.mean((low <= truth) & (truth <= high))

    return asked


@pytest.mark.slow
def test_intervals_hold_on_a_smooth_shape():
    draw = lambda rng, n: rng.beta(2, 5, n)  # noqa: E731
    truth = np.diff(TRUTH.cdf(np.linspace(0, 1, 17)))
    assert hits(draw, 1.0, 25, _in_bands(truth)) > 0.88
    assert hits(draw, 1.0, 25, lambda shape: shape.quantile(0.5).covers(TRUTH.ppf(0.5))) >= 18 / 25

    def halved(shape):
        """The twin: half the band."""
        low, high = shape.bands()
        middle = (low + high) / 2
        return np.mean(np.abs(truth - middle) <= (high - low) / 4)

    assert hits(draw, 1.0, 25, halved) < 0.88


@pytest.mark.some("*likelihood*")
@pytest.mark.parametrize("method", ["empirical bayes", "likelihood"], ids=repr)
def test_a_cdf_beside_an_atom_holds(method):
    # Two point masses 0.0037 apart, and an edge between them: bins of 1/128 put people on the wrong side.
    rng = np.random.default_rng(8)
    question = dt.SW(UNIT, epsilon=4)
    held = []
    for seed in range(6):
        which = rng.random(30_000)
        values = np.where(which < 0.3, 0.31, np.where(which < 0.5, 0.3137, rng.random(30_000)))
        shape = dt.distribution(question.perturb(values, source=dt.Seeded(seed)), 16, method=method)
        held.append(shape.cdf(0.3125).covers(0.3 + 0.5 * 0.3125))
        held.append(shape.share(0.25, 0.3125).covers(0.3 + 0.5 * 0.0625))
    assert np.mean(held) > 0.7


def test_wrong_questions_are_refused(shape):
    for places in ((60, 30), ("a", 30), (1, None), (float("nan"), 3)):
        with pytest.raises(InvalidParameter):
            shape.share(*places)
    with pytest.raises(InvalidParameter, match="curve"):
        dt.distribution(shape.summary, 8, method="likelihood").mode()


@pytest.mark.slow
def test_the_mode_is_a_point_mass_with_the_uncertainty_of_its_place():
    question, rng, source = dt.SW(UNIT, epsilon=1), np.random.default_rng(5), dt.Seeded(5)
    held = []
    for _ in range(6):
        values = np.where(rng.random(20_000) < 0.3, 0.3, rng.random(20_000))
        mode = dt.distribution(question.perturb(values, source=source)).mode()
        held.append(mode.covers(0.3, 0.99))  # the interval was the place itself, and never held
        assert mode.half_width() < 0.1
    assert sum(held) >= 5


def test_the_mode_of_a_circle_may_be_everywhere():
    question = dt.OGPM(dt.Circle(360), epsilon=2)
    even = np.linspace(0, 360, 300, endpoint=False)
    mode = dt.distribution(question.perturb(even, source=dt.Seeded(41))).mode()
    assert mode.interval() == (0.0, 360.0)
    assert mode.half_width() == 180
    assert mode.standard_error > 90


def test_a_few_people_at_an_end_are_no_mode():
    rng = np.random.default_rng(7)
    values = np.where(rng.random(400_000) < 0.003, 1.0, TRUTH.rvs(400_000, random_state=7))
    shape = dt.distribution(dt.SW(UNIT, epsilon=4).perturb(values, source=dt.Seeded(7)))
    assert [round(one.place, 3) for one in shape.atoms] == [1.0]
    assert shape.mode().covers(0.2)


def test_bands_are_not_pinched_where_the_bias_changes_its_sign(monkeypatch):
    rng = np.random.default_rng(5)
    first = rng.random(100_000) < 0.6
    people = np.where(first, rng.normal(30, 8, first.size), rng.normal(85, 14, first.size)).clip(0, 180)
    reports = dt.SW(dt.Interval(0, 180), epsilon=1).perturb(people, source=dt.Seeded(2))
    found = dt.distribution(reports, 60)

    def jumps():
        low, high = found.bands()
        full = found.probabilities > 0.005
        return np.mean(np.abs(np.diff(np.log(((high - low) / found.probabilities)[full]))))

    assert jumps() < 0.15  # of the relative width, from one bin to the next
    monkeypatch.setattr(type(found.curve), "_bias_correction", lambda self, parts: 0.0)  # the broken twin
    assert jumps() > 0.25


def _clipped_incomes(n: int, seed: int) -> tuple[dt.Reports, float]:
    """Return reports of incomes, of which some are clipped to the upper end, and the share above 54 000."""
    question = dt.Hybrid(dt.Interval(0, 60_000), epsilon=2)
    incomes = np.clip(np.random.default_rng(seed).lognormal(10.3, 0.5, n), 0, 60_000)
    return question.perturb(incomes, source=dt.Seeded(seed)), float(np.mean(incomes > 54_000))


def test_the_bin_of_a_point_mass_has_an_interval() -> None:
    """Its interval had no width, because the bias of the bin was subtracted without that of the mass."""
    reports, truth = _clipped_incomes(30_000, 3)
    last = dt.distribution(reports, bins=10).records()[-1]
    assert last["low"] < truth < last["high"]
    assert last["high"] - last["low"] > 0.02


@pytest.mark.slow
def test_intervals_of_the_bin_of_a_point_mass_cover_its_share() -> None:
    missed = 0
    for seed in range(60):
        reports, truth = _clipped_incomes(10_000, seed)
        last = dt.distribution(reports, bins=10).records()[-1]
        missed += not last["low"] <= truth <= last["high"]
    assert missed <= 14  # of 60 that miss one time in twenty: 10⁻⁶
