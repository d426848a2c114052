"""One answer on a drawn day: its promise over sequences, its law, its estimates by day."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.privacy.exact import log_above
from tests.support.chi_square import ALARM, fits

YES_NO = dt.Categories(["no", "yes"])
SMOKES = dt.RR(YES_NO, epsilon=1)


@pytest.mark.parametrize(("days", "every"), [(1, None), (4, None), (6, None), (4, 2), (5, 2), (3, 1)])
@pytest.mark.parametrize(
    "mechanism", [SMOKES, dt.KRR(dt.Categories(range(3)), epsilon=0.7)], ids=["RR", "KRR"]
)
def test_the_loss_over_sequences_is_what_is_promised(mechanism: dt.KRR, days: int, every: int | None) -> None:
    """All sequences, all days, all reports, in fractions. Nothing is lost, and nothing is wasted."""
    once = dt.Once(mechanism, days=days, every=every)
    labels = mechanism.categories.labels
    table = [mechanism.probabilities(label) for label in labels]
    length = every or days
    periods = [range(first, min(first + length, days)) for first in range(0, days, length)]
    worst = Fraction(1)
    for period in periods:  # periods are independent: the worst ratio of a product is the product
        laws = [
            [table[value][y] / len(period) for value in values for y in range(len(labels))]
            for values in itertools.product(range(len(labels)), repeat=len(period))
        ]
        worst *= max(max(column) / min(column) for column in zip(*laws, strict=True))
    assert log_above(worst) <= once.guarantee.epsilon <= log_above(worst) + 1e-12
    assert once.guarantee.unit is dt.Unit.PERSON
    assert once.guarantee.assumes == ()
    assert once.guarantee.if_changing == once.guarantee.bound
    assert once.answers == len(periods)


def law_of(sequence: list[str], once: dt.Once) -> dict[Hashable, float]:
    return {
        (day, report): float(chance) / once.days
        for day, value in enumerate(sequence)
        for report, chance in enumerate(SMOKES.probabilities(value))
    }


def test_days_and_reports_have_their_law_and_a_day_that_looks_at_the_data_is_found() -> None:
    once, sequence = dt.Once(SMOKES, days=4), ["no", "yes", "yes", "no"]
    dated = once.perturb([sequence] * 20_000, source=dt.Seeded(11))
    drawn = list(zip(dated.days.tolist(), dated.reports.cells.tolist(), strict=True))
    assert fits(drawn, law_of(sequence, once))
    source = dt.Seeded(12)
    looks = np.where(source.coins(1, 10, 20_000), 1, source.integers(4, 20_000))  # a day with "yes", often
    broken = SMOKES.perturb(np.array(sequence, dtype=object)[looks], source=source).cells
    assert not fits(zip(looks.tolist(), broken.tolist(), strict=True), law_of(sequence, once))


def test_each_period_has_one_answer_of_each_person() -> None:
    once = dt.Once(dt.Podium(dt.Interval(0, 1), epsilon=1), days=7, every=3)
    dated = once.perturb(np.full((50, 7), 0.5), source=dt.Seeded(1))
    assert once.answers == 3
    assert np.bincount(dated.days // 3).tolist() == [50, 50, 50]
    assert dated.days.max() == 6  # the last period has one day
    assert np.all(np.diff(dated.days) >= 0)
    assert repr(dated) == "DatedReports(150 on 7 days)"


def truth(days: int) -> np.ndarray:
    return 0.3 + 0.2 * np.sin(np.arange(days) / 20.0)


def test_intervals_by_day_cover() -> None:
    """Each person of a day is drawn anew, so that intervals are for the population."""
    days, people = 40, 12_000
    rng, once, covered = (
        np.random.default_rng(5),
        dt.Once(dt.RR(dt.Categories(range(2)), epsilon=1), days=40),
        [],
    )
    for seed in range(25):
        values = (rng.random((people, days)) < truth(days)).astype(np.int64)
        low, high = dt.by_day(once.perturb(values, source=dt.Seeded(seed))).interval(0.95)
        covered += ((low[:, 1] <= truth(days)) & (truth(days) <= high[:, 1])).tolist()
    assert stats.binomtest(sum(covered), len(covered), 0.95).pvalue > ALARM
    assert stats.binomtest(sum(covered), len(covered), 0.90).pvalue < ALARM


def test_smoothing_is_a_choice_that_intervals_know_of() -> None:
    """With smoothing alone the average of the days is covered; with a declared drift the day itself is."""
    days, people = 60, 60_000
    once = dt.Once(dt.RR(dt.Categories(range(2)), epsilon=4), days=days)
    shock = np.where(np.arange(days) < 30, 0.2, 0.5)
    slow = truth(days)
    rng = np.random.default_rng(8)

    def covered(level: np.ndarray, smoothing: int, drift: float | None = None) -> np.ndarray:
        values = (rng.random((people, days)) < level).astype(np.int64)
        estimated = dt.by_day(once.perturb(values, source=dt.Seeded(3)), smoothing=smoothing, drift=drift)
        low, high = estimated.interval()
        return (low[:, 1] <= level) & (level <= high[:, 1])

    assert covered(slow, 15, drift=0.01).mean() >= 0.95
    assert not covered(shock, 15)[27:33].any()  # a shock is spread over the pooled days: declared, not hidden
    assert covered(shock, 15)[:20].mean() > 0.8
    assert covered(shock, 1)[27:33].mean() > 0.6
    assert covered(shock, 15, drift=0.3).all()
    values = (rng.random((people, days)) < slow).astype(np.int64)
    dated = once.perturb(values, source=dt.Seeded(4))
    plain, pooled = dt.by_day(dated), dt.by_day(dated, smoothing=7)
    ratio = np.median(pooled.standard_error) / np.median(plain.standard_error)
    assert ratio == pytest.approx(1 / math.sqrt(7), rel=0.1)
    assert pooled[0] is not None
    assert pooled[0].n == dt.by_day(dated)[0].n + plain[1].n + plain[2].n + plain[3].n  # type: ignore[union-attr]


def test_days_without_reports_have_no_estimate() -> None:
    once = dt.Once(dt.Duchi(dt.Interval(0, 1), epsilon=1), days=3)
    estimated = dt.by_day(once.reports([0, 1, 1, 0], [0, 0, 2, 2]))
    assert estimated[1] is None
    assert np.isnan(estimated.value).tolist() == [False, True, False]
    assert "3 days" in repr(estimated)
    assert len(dt.by_day(once.reports(np.zeros(0, dtype=np.uint8), []))) == 3


@pytest.mark.slow
def test_one_drawn_day_beats_a_divided_budget_over_a_year() -> None:
    """n = 10⁵, T = 365, ε = 1: 0.065 a day, against about 1.2 for ε/365 on every day."""
    people, days = 100_000, 365
    level = 0.3 + 0.1 * np.sin(2 * np.pi * np.arange(days) / 365)
    rng = np.random.default_rng(2)
    values = (rng.random((people, 1)) < level).astype(np.int8)  # few changes of each person
    actual = values.mean(axis=0)
    question = dt.RR(dt.Categories(range(2)), epsilon=1)
    dated = dt.Once(question, days=days).perturb(values, source=dt.Seeded(1))

    def error(estimated: np.ndarray) -> float:
        return float(np.sqrt(np.mean((estimated - actual) ** 2)))

    plain, smooth = (error(dt.by_day(dated, smoothing=width).value[:, 1]) for width in (1, 7))
    daily, source = question.at(1 / days), dt.Seeded(2)
    divided = error(
        np.array(
            [
                float(dt.frequencies(daily.perturb(column, source=source))[1])
                for column in np.ascontiguousarray(values.T).astype(np.int64)
            ]
        )
    )
    print(f"one day {plain:.4f}, 7 days pooled {smooth:.4f}, divided {divided:.3f}")
    assert plain == pytest.approx(0.065, abs=0.006)
    assert smooth == pytest.approx(0.0245, abs=0.004)
    keep = float(daily.probabilities(0)[0])
    theory = math.sqrt(keep * (1 - keep) / people) / (2 * keep - 1)  # 1.154; sampled over 365 days: ± 4 %
    assert divided == pytest.approx(theory, rel=0.19)
    assert divided > 10 * plain


def test_an_account_keeps_the_day(tmp_path: Path) -> None:
    once = dt.Once(SMOKES, days=30)
    question = dt.Asking.once("smokes", once, asker="clinic.example")
    assert (question.repeat, question.days, question.question) == (dt.Repeat.ONCE, 30, SMOKES.question)
    assert question.guarantee.epsilon == SMOKES.guarantee.epsilon
    account = dt.Account.create(tmp_path / "me.account", epsilon=2)
    account.answer(question, "no")
    kept = account.wire()["choices"]
    account.close()
    with dt.Account.open(tmp_path / "me.account") as again:
        for _ in range(5):
            again.answer(question, "yes")
        assert again.wire()["choices"] == kept
        assert again.ledger.spent.epsilon <= once.guarantee.epsilon
    assert dt.Asking.once("smokes", dt.Once(SMOKES, days=365, every=30)).days == 30
    with pytest.raises(InvalidParameter, match=r"Asking\.once"):
        dt.Asking("smokes", once)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"dt\.Once"):
        dt.Asking.once("smokes", SMOKES)  # type: ignore[arg-type]


def test_a_year_of_one_answer_each_is_shuffled_as_one_answer() -> None:
    """The day is part of the report and independent of the value, so n is everybody, not those of a day."""
    one = dt.shuffled(SMOKES, n=10_000, delta=1e-6).epsilon
    assert dt.shuffled(dt.Once(SMOKES), n=10_000, delta=1e-6).epsilon == one
    several = dt.shuffled(dt.Once(SMOKES, every=183), n=10_000, delta=1e-6).epsilon
    assert several == dt.shuffled(2.0, n=10_000, delta=1e-6).epsilon


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0},
        {"days": True},
        {"days": 10**6},
        {"days": 3.0},
        {"every": 0},
        {"every": 400},
        {"every": "7"},
    ],
)
def test_wrong_days_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="whole number of days"):
        dt.Once(SMOKES, **wrong)  # type: ignore[arg-type]


def test_wrong_input_is_refused_without_telling_a_value() -> None:
    once = dt.Once(SMOKES, days=3)
    for wrong in (["no", "no", "yes"], [["no"] * 4], [["no"], ["no", "yes"]], None):
        with pytest.raises(InvalidParameter, match="a row for each person"):
            once.perturb(wrong)
    with pytest.raises(OutsideDomain) as refused:
        once.perturb([["secret"] * 3])
    assert "secret" not in str(refused.value)
    for days in ([3], [-1], [0, 1], ["0"], [0.0], [[0]]):
        with pytest.raises(MalformedReport):
            once.reports([0], days)
    for mechanism in (
        dt.Memoised(SMOKES, bytes(32), name="smokes"),
        dt.JRR(YES_NO, p=0.8, rho=-0.25, n=2),
        1.0,
        dt.TraCSC(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1),
    ):
        with pytest.raises(InvalidParameter, match="Once"):
            dt.Once(mechanism)  # type: ignore[arg-type]
    for together in (dt.Each, dt.Sampled):
        with pytest.raises(InvalidParameter, match="days of its own"):
            together(smokes=once)
    dated = once.reports([0, 1], [0, 2])
    for smoothing in (0, 2, 7, 3.0, True):
        with pytest.raises(InvalidParameter, match="odd number"):
            dt.by_day(dated, smoothing=smoothing)  # type: ignore[arg-type]
    for drift in (-1.0, math.nan, "1"):
        with pytest.raises(InvalidParameter):
            dt.by_day(dated, drift=drift)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"dt\.Once"):
        dt.by_day(SMOKES.reports([0]))  # type: ignore[arg-type]
