"""Distributions: what is shown, what is asked of them, and how far the answers may be off."""

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation.distribution_methods import Likelihood
from dither.estimation.likelihood import Likeliest
from tests.support.budget import Meter

UNIT = dt.Interval(0, 1)
MINUTES = dt.Interval(0, 180)


def skewed(n, seed=1):
    return np.random.default_rng(seed).beta(2, 5, n)


@pytest.fixture(scope="module")
def reports():
    return dt.SW(MINUTES, epsilon=4).perturb(180 * skewed(50_000), source=dt.Seeded(1))


@pytest.mark.parametrize("method", ["likelihood", "smoothed", "as reported"], ids=repr)
@pytest.mark.parametrize("bins", [1, 7, 64, 300])
def test_a_distribution_is_one(reports, method, bins):
    shown = dt.distribution(reports, bins, method=method)
    assert shown.probabilities.shape == (bins,)
    assert shown.probabilities.min() >= 0
    assert shown.probabilities.sum() == pytest.approx(1)
    np.testing.assert_allclose(shown.edges, np.linspace(0, 180, bins + 1))
    middles = (shown.edges[1:] + shown.edges[:-1]) / 2
    np.testing.assert_allclose(shown.pdf(middles) * 180 / bins, shown.probabilities)
    assert shown.pdf(-1) == shown.pdf(180.5) == 0
    assert repr(shown) == f"EstimatedDistribution({bins} bins of [0, 180], {method}, n = 50 000)"
    assert shown.guarantee == reports.question.guarantee


# Smooth noise hides a shape better than a window does: Laplace needs a larger budget for the same picture.
@pytest.mark.parametrize(("kind", "epsilon"), [(dt.SW, 5), (dt.Podium, 5), (dt.Hybrid, 5), (dt.Laplace, 20)])
def test_the_truth_is_found(kind, epsilon):
    values = skewed(100_000)
    truth = np.histogram(values, 8, (0, 1))[0] / 100_000
    shown = dt.distribution(kind(UNIT, epsilon=epsilon).perturb(values, source=dt.Seeded(2)), 8)
    assert np.abs(shown.probabilities - truth).sum() < 0.08
    assert np.abs(shown.probabilities - 1 / 8).sum() > 0.5


def test_the_truth_is_found_on_a_circle():
    values = np.random.default_rng(3).vonmises(np.pi, 2, 100_000) / (2 * np.pi) % 1
    circle = dt.OGPM(dt.Circle(1), epsilon=4)
    truth = np.histogram(values, 8, (0, 1))[0] / 100_000
    shown = dt.distribution(circle.perturb(values, source=dt.Seeded(3)), 8)
    assert np.abs(shown.probabilities - truth).sum() < 0.05
    assert shown.bands(0.5)[0].shape == (8,)


def test_a_circle_has_no_beginning():
    circle = dt.OGPM(dt.Circle(1), epsilon=2, cells=1024)
    reports = circle.perturb(skewed(5000), source=dt.Seeded(4))
    turned = circle.reports((reports.cells.astype(int) + 512) % 1024)
    patient = Likelihood(tolerance=1e-9)
    here, there = (dt.distribution(some, 16, method=patient).probabilities for some in (reports, turned))
    np.testing.assert_allclose(np.roll(here, 8), there, atol=1e-5)


def test_answers_are_estimates(reports):
    shown = dt.distribution(reports, 32, method="likelihood")
    median = shown.quantile(0.5)
    share = shown.cdf(float(median.value))
    assert share.value == pytest.approx(0.5, abs=0.02)
    assert median.covers(180 * 0.26444998)
    assert share.covers(0.5)
    assert shown.mean().covers(180 * 2 / 7)
    assert shown.variance().covers(180**2 * 10 / 392)
    assert shown.quantile(0.1).value < median.value < shown.quantile(0.9).value
    assert (shown.cdf(-1).value, shown.cdf(180).value) == (0, 1)
    assert dt.quantile(reports, 0.5, method="likelihood").value == pytest.approx(median.value)
    assert dt.mean(reports, method="likelihood").value == pytest.approx(shown.mean().value)


def test_answers_do_not_depend_on_how_many_bins_are_shown(reports):
    few = dt.distribution(reports, 4, method="likelihood")
    for bins in (7, 300):
        many = dt.distribution(reports, bins, method="likelihood")
        assert few.mean().value == many.mean().value
        assert few.quantile(0.9).interval() == many.quantile(0.9).interval()
    smooth = dt.distribution(reports, 4, method="smoothed")
    assert smooth.mean().value == few.mean().value


@pytest.mark.slow
def test_covering_is_lying_in_the_interval(reports):
    shown = dt.distribution(reports, 8, method="likelihood")
    for estimate in (shown.mean(), shown.quantile(0.75), shown.cdf(60)):
        low, high = estimate.interval()
        slack = 0.05 * (high - low)
        assert low < estimate.value < high
        assert estimate.covers(low + slack)
        assert estimate.covers(high - slack)
        assert not estimate.covers(low - slack - 180 / 128 * (estimate.value > 1))
        assert not estimate.covers(high + slack + 180 / 128 * (estimate.value > 1))
        assert estimate.half_width(0.5) <= estimate.half_width() < estimate.half_width(0.999)
        assert estimate.standard_error == pytest.approx((high - low) / 2 / 1.959964, rel=1e-6)


@pytest.mark.slow
def test_bands_hold_the_truth():
    values = skewed(20_000)
    reports = dt.SW(UNIT, epsilon=4).perturb(values, source=dt.Seeded(5))
    shown = dt.distribution(reports, 8, method="likelihood")
    low, high = shown.bands(0.999)
    truth = np.histogram(skewed(2_000_000, 9), 8, (0, 1))[0] / 2_000_000
    assert ((low <= truth) & (truth <= high)).all()
    assert (low <= shown.probabilities + 0.02).all()
    assert (high - low).max() < 0.2


def test_people_at_the_ends_are_within_reach():
    for place in (0.0, 1.0):
        reports = dt.SW(UNIT, epsilon=4).perturb(np.full(20_000, place), source=dt.Seeded(6))
        assert dt.mean(reports, method="likelihood").covers(place)
        for share in (0.1, 0.5, 0.9):
            assert dt.quantile(reports, share, method="likelihood").covers(place)


@pytest.mark.slow
def test_people_all_at_one_place_are_found_there():
    reports = dt.Podium(UNIT, epsilon=4).perturb(np.full(20_000, 0.3), source=dt.Seeded(7))
    for share in (0.05, 0.5, 0.95):
        low, high = dt.quantile(reports, share, method="likelihood").interval(0.999)
        assert low <= 0.3 <= high
        assert high - low < 0.1


def test_ogpm_states_its_resolution():
    reports = dt.OGPM(UNIT, epsilon=1).perturb(np.full(20_000, 0.05), source=dt.Seeded(8))
    estimate = dt.mean(reports, method="likelihood")
    erased = 0.1888  # C at ε = 1: all values below it look the same
    assert estimate.resolution == pytest.approx(erased / 2, abs=0.02)
    assert f"resolution {estimate.resolution:.2f}" in repr(estimate)
    low, high = estimate.interval()
    assert low < 0.01
    assert high > erased - 0.01
    quantile = dt.quantile(reports, 0.5, method="likelihood")
    assert quantile.resolution == pytest.approx(erased / 2, abs=0.02)
    wide = dt.mean(dt.SW(UNIT, epsilon=1).perturb(np.full(20_000, 0.05)), method="likelihood")
    assert wide.resolution == 0
    assert "resolution" not in repr(wide)


def test_as_reported_is_the_histogram_of_reports(reports):
    values = np.clip(np.asarray(reports), 0, 180)
    shown = dt.distribution(reports, 50, method="as reported")
    np.testing.assert_allclose(shown.probabilities, np.histogram(values, 50, (0, 180))[0] / 50_000, atol=4e-5)
    assert shown.mean().value == pytest.approx(values.mean(), abs=0.5)
    assert shown.mean().standard_error == pytest.approx(values.std() / 50_000**0.5, rel=0.02)
    assert shown.quantile(0.5).value == pytest.approx(np.median(values), abs=1)
    assert dt.quantile(reports, 0.5, method="as reported").value == pytest.approx(np.median(values), abs=0.3)
    assert shown.bands()[0].shape == (50,)
    assert dt.variance(reports, method="as reported").value == pytest.approx(np.asarray(reports).var(ddof=1))


def test_order_and_chunks_do_not_matter(reports):
    chunks = dt.Counts.of(reports[:777]) + dt.Counts.of(reports[777:])
    np.testing.assert_array_equal(
        dt.distribution(reports, 32).probabilities, dt.distribution(chunks, 32).probabilities
    )


def test_relaxed_probabilities_are_a_distribution_with_small_dips(reports):
    likeliest = Likeliest.of(dt.Counts.of(reports))
    assert likeliest.shares.sum() == pytest.approx(1)
    assert likeliest.shares.min() < 0  # nobody is near 180
    assert likeliest.shares.min() > -0.01


def test_wrong_questions_are_refused(reports):
    for bins in (0, -1, 1.5, "64", True, 1 << 20):
        with pytest.raises(InvalidParameter, match="bins"):
            dt.distribution(reports, bins)
    shown = dt.distribution(reports, 4)
    for share in (0, 1, 2, "half"):
        with pytest.raises(InvalidParameter, match="the q of a quantile"):
            shown.quantile(share)
    for place in ("noon", None, [1, 2], float("nan")):
        with pytest.raises(InvalidParameter, match=r"^(expected )?x "):
            shown.cdf(place)
    for places in ("noon", ["a"], [1.0, float("nan")]):
        with pytest.raises(InvalidParameter, match=r"^(expected )?x "):
            shown.pdf(places)
    for level in (0, 1, 95, "high", None):
        with pytest.raises(InvalidParameter, match="level"):
            shown.bands(level)
    with pytest.raises(InvalidParameter, match="nats"):
        Likelihood(tolerance=0)


def test_a_picture_is_drawn(reports):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = dt.distribution(reports, 4, method="likelihood")
    axes = shown.plot()
    assert axes.get_xlim() == (0, 180)
    assert len(axes.patches) == 1
    assert shown.plot(ax=axes, level=0.5) is axes
    pyplot.close("all")


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [1e-6, 50])
@pytest.mark.parametrize("kind", [dt.SW, dt.OGPM, dt.Podium, dt.Hybrid])
def test_the_smallest_and_the_largest_budget(kind, epsilon):
    reports = kind(UNIT, epsilon=epsilon, cells=1 << 12).perturb(np.full(2000, 0.7), source=dt.Seeded(9))
    shown = dt.distribution(reports, 10, method="likelihood")
    assert shown.probabilities.sum() == pytest.approx(1)
    low, high = shown.quantile(0.5).interval()
    assert low <= 0.7 <= high
    if epsilon > 1:
        assert shown.probabilities[[6, 7]].sum() == pytest.approx(1, abs=0.01)
        assert high - low < 0.05
    else:
        assert high - low > 0.9  # such reports say nothing, and the interval says that
    estimate = dt.mean(reports, method="likelihood")
    assert estimate.covers(0.7)


@pytest.mark.slow
def test_strict_bands_take_half_a_second() -> None:
    people = np.random.default_rng(1).beta(2, 5, 20_000)
    shape = dt.distribution(dt.SW(dt.Interval(0, 1), epsilon=1).perturb(people, source=dt.Seeded(1)))
    meter = Meter()
    meter.start()
    shape.bands(strict=True)
    assert meter.stop() <= 50  # loops, a hundred of which take a second
