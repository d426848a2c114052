"""What an estimate says: its interval, its categories, what is refused, and how it is written.

Sums, differences and ratios of estimates: against textbook formulas and a search by hand.

Estimates in notebooks: HTML that escapes, formats, items, frames and units.
"""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate, LabelledEstimate
from dither.estimation.intervals import ClippedInterval
from dither.estimation.rounding import show_interval
from dither.foundation.numerics.distributions import student_t_quantile
from dither.privacy import Guarantee, Pure


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((63, 59, 89), "63 (59 – 89)"),
        ((63, 48, 78), "63 ± 15"),
        ((5, 4, 6.05), "5.0 ± 1.0"),
        ((0.00012, 0.0001, 0.0009), "0.00012 (0.00010 – 0.00090)"),
        ((0.0, 0.0, 0.3), "0.00 (0.00 – 0.30)"),
        ((-1, float("-inf"), 2), "-1 ± inf"),
    ],
)
def test_sides_that_differ_are_not_written_as_one(ends: tuple[float, float, float], shown: str) -> None:
    assert show_interval(*ends) == shown


PROMISE = Guarantee(Pure(1.0))


def test_an_estimate_has_students_interval_unless_another_is_given() -> None:
    plain = Estimate(3.0, 0.5, 11, PROMISE)
    reach = 0.5 * student_t_quantile(0.9, 10)
    assert plain.interval(0.9) == pytest.approx((3 - reach, 3 + reach))
    clipped = Estimate(0.02, 0.5, 11, PROMISE, confidence=ClippedInterval(0.02, 0.5))
    assert clipped.interval(0.9) == pytest.approx((0.0, 0.02 + 0.5 * student_t_quantile(0.9)))
    assert Estimate(0.02, None, 11, PROMISE, confidence=ClippedInterval(0.02, 0.5)).standard_error == (
        pytest.approx(clipped.half_width() / student_t_quantile(0.95))
    )


def test_one_report_excludes_nothing() -> None:
    assert Estimate(3.0, 0.0, 1, PROMISE).interval() == (-math.inf, math.inf)
    low, high = Estimate(np.array([3.0, 4.0]), np.zeros(2), 1, PROMISE).interval()
    assert np.all(low == -math.inf)
    assert np.all(high == math.inf)


def test_categories_are_picked_by_label() -> None:
    both = LabelledEstimate(np.array([0.2, 0.8]), np.array([0.1, 0.2]), 11, PROMISE, labels=("no", "yes"))
    assert both["yes"].interval() == tuple(end[1] for end in both.interval())
    assert both.over_looks(5)["no"].interval() == tuple(end[0] for end in both.over_looks(5).interval())
    assert [(label, part.value) for label, part in both.items()] == [("no", 0.2), ("yes", 0.8)]
    with pytest.raises(InvalidParameter, match="did you mean yes"):
        both["yess"]
    with pytest.raises(InvalidParameter, match="an estimate with categories"):
        both["yes"]["yes"]
    with pytest.raises(InvalidParameter, match="same people"):
        both["yes"] - both["no"]


def test_what_the_evidence_does_not_allow_is_refused() -> None:
    plain = Estimate(3.0, 0.5, 11, PROMISE)
    with pytest.raises(NotIdentifiable, match="any time"):
        plain.at_any_time()
    with pytest.raises(NotIdentifiable, match="the effect of lies"):
        plain.if_lying(0.1)
    assert plain.moved == (0.0, 0.0)
    assert plain.liars == plain.resolution == 0


def test_estimates_survive_pickling_with_their_intervals() -> None:
    """By likelihood and by a curve as well: nothing they hold is a function of another function."""
    reports = dt.SW(dt.Interval(0, 1), epsilon=2).perturb(np.full(300, 0.3), source=dt.Seeded(1))
    shape = dt.distribution(reports, 4)
    for estimate in (
        dt.mean(reports, method="likelihood"),
        dt.quantile(reports, 0.5, method="likelihood"),
        shape.quantile(0.5),
        shape.mode(),
        shape.cdf(0.4),
    ):
        again = pickle.loads(pickle.dumps(estimate))
        assert again.interval(0.9) == estimate.interval(0.9)
        assert repr(again) == repr(estimate)


def test_a_quantile_by_likelihood_has_the_unit_of_its_domain() -> None:
    commute = dt.SW(dt.Interval(0, 60, unit="min"), epsilon=2)
    reports = commute.perturb(np.full(300, 20.0), source=dt.Seeded(1))
    assert dt.quantile(reports, 0.5, method="likelihood").unit == "min"


ONE, TWO = Guarantee(Pure(1.0)), Guarantee(Pure(2.0))
PET = dt.KRR(dt.Categories(["cat", "dog", "none"]), epsilon=2)


def number(value, error, n=10**12, guarantee=ONE):
    return Estimate(value, error, n, guarantee)


def test_numbers_of_different_units_are_not_added():
    euros, hours, plain = (Estimate(2.0, 0.1, 100, ONE, unit=unit) for unit in ("€", "h", ""))
    days = Estimate(20_576.0, 2.0, 100, ONE, unit=dt.Dates("2026-01-01", "2026-12-31").unit)
    for first, second in ((euros, hours), (days, plain), (days, hours)):
        with pytest.raises(InvalidParameter, match="estimates in one unit to add or subtract"):
            first - second
    assert (euros - plain).unit == ""
    assert (euros / hours).value == 1
    assert (days - days).unit == (days - Estimate(20_570.0, 2.0, 100, ONE, unit=days.unit)).unit == "days"


def test_a_difference_of_symmetric_intervals_is_the_textbook_one():
    gap = number(5.0, 0.3) - number(3.0, 0.4, guarantee=TWO)
    assert gap.value == pytest.approx(2.0)
    assert gap.standard_error == pytest.approx(0.5)
    assert gap.interval(0.95) == pytest.approx((2 - 1.959964 * 0.5, 2 + 1.959964 * 0.5), rel=1e-5)
    assert gap.guarantee.epsilon == 2.0
    assert gap.n == 2 * 10**12
    assert gap.p_value() == pytest.approx(2 * stats.norm.sf(4.0), rel=1e-4)
    assert gap.p_value(2.0) == pytest.approx(1.0)


def test_weighted_sums_and_numbers():
    a, b = number(5.0, 0.3), number(3.0, 0.4)
    mix = np.float64(0.25) * a + b * 0.75 - 1
    assert (mix.value, mix.standard_error) == pytest.approx((2.5, math.hypot(0.075, 0.3)))
    assert (10 - a).value == 5.0
    assert sum([a, b]).value == 8.0
    assert (a - a).interval() == (0.0, 0.0)
    assert ((a + b) - b).standard_error == pytest.approx(0.3)
    assert (-a / 2).value == -2.5


def test_arms_of_skewed_intervals_stay_on_their_sides():
    few = dt.frequencies(PET.reports([0] * 3 + [1] * 5 + [2] * 92))
    many = dt.frequencies(PET.reports([0] * 300 + [1] * 500 + [2] * 200))
    gap = (few - many)["cat"]
    low, high = gap.interval()
    (low_a, high_a), (low_b, high_b) = few["cat"].interval(), many["cat"].interval()
    a, b = few["cat"].value, many["cat"].value
    assert low == pytest.approx(a - b - math.hypot(a - low_a, high_b - b))
    assert high == pytest.approx(a - b + math.hypot(high_a - a, b - low_b))
    assert np.asarray((few - many).interval())[:, 0] == pytest.approx([low, high])


@pytest.mark.some(every=12)
@pytest.mark.parametrize("above", [(5.0, 0.5), (-5.0, 0.5), (0.1, 0.5), (-0.1, 0.5)])
@pytest.mark.parametrize("below", [(3.0, 0.2), (-3.0, 0.2), (3.0, 1.4)])
def test_the_interval_of_a_ratio_holds_the_ratios_that_fit(above, below):
    a, b = number(*above), number(*below)
    low, high = (a / b).interval()
    for ratio in np.linspace(-12, 12, 4801):
        if min(abs(ratio - low), abs(ratio - high)) > 1e-6:
            assert (low <= ratio <= high) == (a - ratio * b).covers(0.0)


def test_fieller_is_recovered():
    a, b, t = number(5.0, 0.5), number(3.0, 0.4), 1.959964
    lead, middle, rest = 9 - (t * 0.4) ** 2, 15.0, 25 - (t * 0.5) ** 2
    root = math.sqrt(middle**2 - lead * rest)
    assert (a / b).interval() == pytest.approx(((middle - root) / lead, (middle + root) / lead), rel=1e-6)
    assert (a / number(0.5, 0.4)).interval() == (-math.inf, math.inf)
    assert (a / b).p_value(5 / 3) == pytest.approx(1.0)


def test_what_is_not_independent_or_not_a_number_is_refused():
    found = dt.frequencies(PET.reports([0, 1, 1, 2] * 50))
    counted = dt.frequencies(dt.Counts.of(PET.reports([0, 1, 1, 2] * 50)))
    with pytest.raises(InvalidParameter, match="same people"):
        counted["cat"] - counted["dog"]
    with pytest.raises(InvalidParameter, match="different people"):
        counted["cat"] / (2 * counted["dog"])
    other = dt.frequencies(dt.KRR(dt.Categories(["cat", "dog"]), epsilon=2).reports([0, 1] * 50))
    with pytest.raises(InvalidParameter, match="estimates of the same categories"):
        found - other
    north = dt.mean(dt.OGPM(dt.Circle(360), epsilon=2).perturb([10.0] * 100, source=dt.Seeded(1)))
    with pytest.raises(InvalidParameter, match="directions"):
        north - number(1.0, 0.1)
    for thing in ("1", None, [1.0], math.nan, True):
        with pytest.raises(InvalidParameter, match="combined with"):
            number(1.0, 0.1) + thing
    with pytest.raises(InvalidParameter, match="expected a number to multiply"):
        number(1.0, 0.1) * number(1.0, 0.1)
    with pytest.raises(InvalidParameter, match="other than 0, got 0"):
        number(1.0, 0.1) / 0
    with pytest.raises(NotIdentifiable, match="divisor"):
        number(1.0, 0.1) / number(0.0, 0.1)
    with pytest.raises(InvalidParameter, match="one number"):
        (found - dt.frequencies(PET.reports([0] * 9))).p_value()


COMMUTE = dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 10)
REPORTS = COMMUTE.perturb(180 * np.random.default_rng(1).beta(2, 5, 3000), source=dt.Seeded(1))
ANIMAL = dt.KRR(dt.Categories(["<b>cat</b>", "dog"]), epsilon=2)
PETS = ANIMAL.perturb(["dog"] * 300, source=dt.Seeded(2))


def test_an_estimate_is_formatted_with_its_error():
    mean = dt.mean(REPORTS)
    half = mean.half_width()
    assert f"{mean:.2f}" == f"{mean.value:.2f} ± {half:.2f} minutes"
    assert f"{mean}" == repr(mean)
    share = dt.frequencies(PETS)
    assert f"{share['dog']:.1%}" == f"{share['dog'].value:.1%} ± {share['dog'].half_width():.1%}"
    assert f"{share:.1f}".startswith("[")
    with pytest.raises(ValueError, match="format"):
        f"{mean:nonsense}"


def test_html_shows_intervals_and_escapes_labels():
    for shown in (
        dt.mean(REPORTS),
        dt.frequencies(PETS),
        dt.distribution(REPORTS, 4),
        dt.stats.crosstab(PETS, ANIMAL.perturb(["dog"] * 300)),
    ):
        text = shown._repr_html_()
        assert "<table>" in text
        assert "<b>cat" not in text
    assert "&lt;b&gt;cat" in dt.frequencies(PETS)._repr_html_()
    assert "in minutes" in dt.mean(REPORTS)._repr_html_()
    assert "ε ≤ 2" in COMMUTE.guarantee._repr_html_()
    assert "<table>" in dt.estimate(REPORTS, by=[0, 1, 2] * 1000)._repr_html_()


def test_frames_and_items_hold_the_same_numbers():
    mean, shares, shape = dt.mean(REPORTS), dt.frequencies(PETS), dt.distribution(REPORTS, 4)
    row = mean.to_frame().iloc[0]
    assert (row["value"], row["low"], row["high"]) == (mean.value, *mean.interval())
    assert [label for label, _ in shares.items()] == list(shares.labels)
    assert dict(shares.items())["dog"].value == shares["dog"].value
    assert shares.to_frame()["answer"].tolist() == list(shares.labels)
    assert shape.to_frame()["value"].to_numpy() == pytest.approx(shape.probabilities)
    (first, last), share = next(shape.items())
    assert (first, last) == (0.0, 45.0)
    assert share.value == pytest.approx(shape.probabilities[0])
    assert dt.distribution(REPORTS, 4, method="likelihood").to_frame().shape == (4, 3)


def test_a_unit_is_shown_and_nothing_else():
    plain = dt.SW(dt.Interval(0, 180), epsilon=2, cells=1 << 10)
    assert COMMUTE.domain == plain.domain
    assert COMMUTE.question.device_text == plain.question.device_text
    assert COMMUTE.fingerprint == plain.fingerprint
    assert COMMUTE.to_json() == plain.to_json()
    assert repr(COMMUTE.domain) == "Interval(0, 180, unit='minutes')"
    assert repr(dt.Circle(360, unit="°")) == "Circle(360, unit='°')"
    for shown in (
        dt.mean(REPORTS),
        dt.quantile(REPORTS, 0.5),
        dt.distribution(REPORTS).mode(),
        2 * dt.mean(REPORTS),
    ):
        assert " minutes (95 %" in repr(shown)
    assert dt.mean(REPORTS.read_by(plain)).value == dt.mean(REPORTS).value
    for unit in (5, "a\nb", "x" * 41, None):
        with pytest.raises(InvalidParameter, match="a unit to be a text"):
            dt.Interval(0, 1, unit=unit)


def test_an_estimate_is_not_rounded_without_its_interval() -> None:
    found = dt.mean(dt.Podium(dt.Interval(0, 1), epsilon=1).perturb([0.5] * 100))
    with pytest.raises(InvalidParameter, match=r"round\(float\(estimate\)\)"):
        round(found)
    with pytest.raises(InvalidParameter, match=r"round\(float\(estimate\), 2\)"):
        round(found, 2)
    assert round(float(found), 2) == round(found.value, 2)
