"""One answer on a drawn day, and a tree with one kept change.

The loss over sequences is enumerated; reports and days have their law; estimates by day cover.
"""

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
from dither.core.kernels.ball import FlipPattern
from dither.core.question import as_question
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.privacy.exact import exp_above, log_above
from tests.core.repetition.kept_changes import Row, Told, Values, loss, real, seen
from tests.support.chi_square import ALARM, fits

YES_NO = dt.Categories(["no", "yes"])
SMOKES = dt.KRR(YES_NO, epsilon=1)


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
    assert once.guarantee.unit == "person"
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


@pytest.mark.slow
def test_intervals_by_day_cover() -> None:
    """Each person of a day is drawn anew, so that intervals are for the population."""
    days, people = 40, 12_000
    rng, once, covered = (
        np.random.default_rng(5),
        dt.Once(dt.KRR(dt.Categories(range(2)), epsilon=1), days=40),
        [],
    )
    for seed in range(25):
        values = (rng.random((people, days)) < truth(days)).astype(np.int64)
        low, high = dt.by_day(once.perturb(values, source=dt.Seeded(seed))).interval(0.95)
        covered += ((low[:, 1] <= truth(days)) & (truth(days) <= high[:, 1])).tolist()
    assert stats.binomtest(sum(covered), len(covered), 0.95).pvalue > ALARM
    assert stats.binomtest(sum(covered), len(covered), 0.90).pvalue < ALARM


@pytest.mark.slow
def test_smoothing_is_a_choice_that_intervals_know_of() -> None:
    """With smoothing alone the average of the days is covered; with a declared drift the day itself is."""
    days, people = 60, 60_000
    once = dt.Once(dt.KRR(dt.Categories(range(2)), epsilon=4), days=days)
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
    question = dt.KRR(dt.Categories(range(2)), epsilon=1)
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


SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def test_a_place_is_asked_once_in_each_period_by_an_account_alone() -> None:
    place = dt.Once(dt.TraCSC(SQUARE, epsilon=1), days=14, every=7)
    assert str(place.guarantee).startswith("ε ≤ 2 for one person")
    with pytest.raises(InvalidParameter, match="does not draw locations"):
        place.perturb([[[0.5, 0.5]] * 14])


def test_an_account_keeps_the_day(tmp_path: Path) -> None:
    once = dt.Once(SMOKES, days=30)
    question = dt.Inquiry.once("smokes", once, asker="clinic.example")
    assert (question.repeat, question.days, question.question) == ("once", 30, SMOKES.question)
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
    assert dt.Inquiry.once("smokes", dt.Once(SMOKES, days=365, every=30)).days == 30
    with pytest.raises(InvalidParameter, match=r"Inquiry\.once"):
        dt.Inquiry("smokes", once)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"dt\.Once"):
        dt.Inquiry.once("smokes", SMOKES)  # type: ignore[arg-type]


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
    with pytest.raises(InvalidParameter, match="integer number of days"):
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
        dt.TraCSC(SQUARE, epsilon=1, unit="trajectory"),
    ):
        with pytest.raises(InvalidParameter, match="Once"):
            dt.Once(mechanism)  # type: ignore[arg-type]
    for together in (dt.Each, dt.Sampled):
        with pytest.raises(InvalidParameter, match="own days"):
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


@pytest.mark.some("[2-5]-*")
@pytest.mark.parametrize(("days", "changes"), [(2, 1), (3, 2), (4, 1), (4, 3), (5, 2), (5, 4), (8, 1)])
def test_the_loss_over_sequences_is_what_is_promised_kept_change(days: int, changes: int) -> None:
    """All sequences, also those with more changes, all coins, all reports, in fractions: exactly e^ε."""
    change = dt.KeptChange(SMOKES, days=days, changes=changes)
    ratio = loss(change, real)
    assert ratio is not None
    assert log_above(ratio) <= change.guarantee.epsilon <= log_above(ratio) + 1e-12
    exact = max(SMOKES.probabilities("no")) / min(SMOKES.probabilities("no"))  # that of the first day
    assert ratio == exact
    assert all(
        exact - Fraction(1, 1 << 120) < change.pattern(group).ratio <= exact for group in (1, 2)[: days - 2]
    )
    assert change.guarantee == dt.Once(SMOKES, days=days).guarantee
    assert change.guarantee.assumes == ()
    assert change.guarantee.if_changing == change.guarantee.bound


def two_kept(change: dt.KeptChange, values: Values, group: int, place: int) -> dict[Row, Fraction]:
    """Tell of the first two changes."""
    return all_told(change, values, group, most=2)


def all_told(change: dt.KeptChange, values: Values, group: int, most: int = 99) -> dict[Row, Fraction]:
    if not group:
        return {values[:1]: Fraction(1)}
    size = change.intervals(group)
    fixed: dict[int, int] = {}
    moves = [day for day in range(1, change.days) if values[day] != values[day - 1]]
    for day in moves[:most]:
        fixed[(day - 1) // change.length(group)] = values[day]
    rows = itertools.product(*([fixed[j]] if j in fixed else [0, 1] for j in range(size)))
    return {row: Fraction(1, 2 ** (size - len(fixed))) for row in rows}


def silent(change: dt.KeptChange, values: Values, group: int, place: int) -> dict[Row, Fraction]:
    """Send nothing about intervals without a change."""
    moves = [day for day in range(1, change.days) if values[day] != values[day - 1]]
    row: list[int | None] = [None] * change.intervals(group)
    if not group:
        row = [values[0]]
    elif moves:
        row[(moves[0] - 1) // change.length(group)] = values[moves[0]]
    return {tuple(row): Fraction(1)}


def standing(change: dt.KeptChange, values: Values, group: int, place: int) -> dict[Row, Fraction]:
    """Tell the value at the end of each interval, where there should be a coin."""
    ends = [values[change.day(group, one)] for one in range(change.intervals(group))]
    return {tuple(ends): Fraction(1)}


@pytest.mark.parametrize("broken", [two_kept, silent, standing])
def test_broken_twins_lose_more(broken: Told) -> None:
    ratio = loss(dt.KeptChange(SMOKES, days=4), broken)
    assert ratio is None or ratio > exp_above(Fraction(3, 2))


def test_a_group_that_looks_at_the_data_loses_more() -> None:
    """Who changes avoids the group of the first day, half of the time."""
    change, laws = dt.KeptChange(SMOKES, days=4), []
    for values in itertools.product((0, 1), repeat=4):
        weights = [Fraction(1, 2) if len(set(values)) > 1 else 1, 1, 1]
        parts = [weight * law for weight, law in zip(weights, seen(change, real, values), strict=True)]
        total = sum(part.sum() for part in parts)
        laws.append(np.concatenate(parts) / total)
    law = np.stack(laws)
    assert log_above(max(law.max(axis=0) / law.min(axis=0))) > change.guarantee.epsilon + 0.1


@pytest.mark.some(every=3)
@pytest.mark.parametrize("values", [(0, 0, 1, 1), (1, 0, 1, 0), (0, 0, 0, 0)])
def test_groups_and_reports_have_their_law(values: Values) -> None:
    change = dt.KeptChange(SMOKES, days=4, changes=2)
    people = 20_000
    labels = [[str(YES_NO.labels[code]) for code in values]] * people
    reports = change.perturb(labels, source=dt.Seeded(5))
    drawn: list[Hashable] = []
    for group in range(change.groups):
        cells = reports.reports.cells[reports.groups == group].reshape(change.intervals(group), -1)
        drawn += [(group, tuple(column)) for column in cells.T.tolist()]
    assert len(drawn) == people

    def law(told: Told) -> dict[Hashable, float]:
        each = zip(itertools.count(), seen(change, told, values))
        return {
            (group, row): float(much)
            for group, part in each
            for row, much in zip(itertools.product((0, 1), repeat=change.intervals(group)), part, strict=True)
        }

    assert fits(drawn, law(real))
    assert not fits(drawn, law(standing))


def test_patterns_are_in_the_best_ball_and_follow_their_law() -> None:
    """Mean and covariance by enumeration; no other ball has a larger mean, and no pattern is too likely."""
    for size in (1, 2, 3, 4, 6):
        for epsilon in (0.5, 1.0, 4.0):
            ratio = exp_above(Fraction(epsilon))
            pattern = FlipPattern.best(ratio, size)
            near = pattern.coin.probability / pattern.inside
            far = (1 - pattern.coin.probability) / pattern.outside
            law = {
                row: near if sum(row) <= pattern.radius else far
                for row in itertools.product((0, 1), repeat=size)
            }
            assert sum(law.values()) == 1
            assert near / far == pattern.ratio <= ratio
            assert pattern.mean == sum(chance * (1 - 2 * row[0]) for row, chance in law.items())
            if size > 1:
                both = sum(chance * (1 - 2 * row[0]) * (1 - 2 * row[1]) for row, chance in law.items())
                assert pattern.covariance == both - pattern.mean**2
            for radius in range(size):
                inside = [row for row in law if sum(row) <= radius]
                total = len(inside) * ratio + (1 << size) - len(inside)
                mean = (ratio - 1) * sum(1 - 2 * row[0] for row in inside) / total
                assert mean <= pattern.mean * (1 + Fraction(1, 1 << 100))
    drawn = pattern.draw(40_000, dt.Seeded(1)) @ (1 << np.arange(size))
    listed = {sum(bit << at for at, bit in enumerate(row)): float(chance) for row, chance in law.items()}
    assert fits(drawn.tolist(), listed)


def test_the_intervals_of_a_group_have_every_day_once() -> None:
    for days in (2, 3, 4, 5, 8, 9, 31, 365):
        change = dt.KeptChange(SMOKES, days=days)
        assert change.intervals(0) == 1
        assert change.day(0, 0) == 0
        for group in range(1, change.groups):
            ends = [change.day(group, one) for one in range(change.intervals(group))]
            assert ends[-1] == days - 1
            assert set(np.diff([0, *ends[:-1]])) <= {change.length(group)}
            assert 1 <= ends[-1] - (0 if len(ends) == 1 else ends[-2]) <= change.length(group)
        assert change.intervals(change.groups - 1) <= 2


def test_a_tree_travels_nowhere_without_being_known() -> None:
    """Its device text is its own, not that of its mechanism: nobody takes its reports for plain answers."""
    change = dt.KeptChange(SMOKES, days=30)
    assert change.fingerprint != SMOKES.fingerprint
    assert change.fingerprint != dt.KeptChange(SMOKES, days=31).fingerprint
    assert change.fingerprint != dt.KeptChange(SMOKES, days=30, changes=2).fingerprint
    with pytest.raises(InvalidParameter, match="got KeptChange"):
        as_question(change)
    assert not hasattr(change, "to_json")
    assert change.at(2).guarantee.epsilon == dt.KRR(YES_NO, epsilon=2).guarantee.epsilon
    assert change.at(1) == change
    assert "keeps the first change" in change.describe()
    assert "keeps the first 2 changes" in dt.KeptChange(SMOKES, days=30, changes=2).describe()
    assert dt.audit(change).ok
    assert dt.audit(change).bound == SMOKES.guarantee.bound


def test_other_estimators_name_the_right_one() -> None:
    for way in (dt.KeptChange(SMOKES, days=3), dt.Once(SMOKES, days=3)):
        with pytest.raises(InvalidParameter, match=r"dt\.by_day"):
            dt.frequencies(way.perturb([["no"] * 3] * 5))  # type: ignore[arg-type]


def test_a_year_of_reports_is_shuffled_as_one_answer() -> None:
    """All reports of a person together are one report of an ε-private mechanism: the general bound."""
    one = dt.shuffled(1.0, n=10_000, delta=1e-6).epsilon
    assert dt.shuffled(dt.KeptChange(SMOKES), n=10_000, delta=1e-6).epsilon == pytest.approx(one, rel=1e-9)


def test_raw_reports_are_read_and_impossible_ones_refused() -> None:
    change = dt.KeptChange(SMOKES, days=9)
    reports = change.perturb([["no"] * 9] * 50, source=dt.Seeded(1))
    again = change.reports(np.random.default_rng(1).permutation(reports.cells))
    assert np.array_equal(again.cells[np.lexsort(again.cells.T)], reports.cells[np.lexsort(reports.cells.T)])
    assert dt.by_day(again).value == pytest.approx(dt.by_day(reports).value)
    assert repr(change.reports([(0, 0, 1), (4, 0, 1)])) == "ChangeReports(2 about 9 days)"
    for wrong in ([(0, 1, 0)], [(5, 0, 0)], [(-1, 0, 0)], [(1, 8, 0)], [(1, -1, 0)], [(1, 0, 2)]):
        with pytest.raises(MalformedReport):
            change.reports(wrong)
    for wrong in ([0, 0, 1], [(0, 0)], [(0.0, 0, 1)], [("0", 0, 1)], None, [[0], [1, 2]]):
        with pytest.raises(MalformedReport, match="three integers"):
            change.reports(wrong)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"days": 1}, "integer number of days"),
        ({"days": True}, "integer number of days"),
        ({"days": 10**6}, "integer number of days"),
        ({"changes": 0}, "changes"),
        ({"changes": 1.0}, "changes"),
        ({"days": 5, "changes": 5}, r"at most 4 in 5 days"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        dt.KeptChange(SMOKES, **wrong)  # type: ignore[arg-type]


def test_other_questions_and_values_are_refused() -> None:
    for other in (
        dt.KRR(dt.Categories(3), epsilon=1),
        dt.PM(dt.Interval(0, 1), epsilon=1),
        dt.OUE(YES_NO, epsilon=1),
    ):
        with pytest.raises(InvalidParameter, match=r"use dt\.Once for any other question"):
            dt.KeptChange(other)
    for alone in (1.0, dt.Memoised(SMOKES, bytes(32), name="smokes"), dt.JRR(YES_NO, p=0.8, rho=-0.25, n=2)):
        with pytest.raises(InvalidParameter, match="KeptChange"):
            dt.KeptChange(alone)  # type: ignore[arg-type]
    assert dt.KeptChange(dt.KRR(YES_NO, epsilon=1)).groups == 10
    change = dt.KeptChange(SMOKES, days=3)
    with pytest.raises(InvalidParameter, match="a row for each person"):
        change.perturb([["no"] * 4])
    with pytest.raises(OutsideDomain) as refused:
        change.perturb([["secret"] * 3] * 40)
    assert "secret" not in str(refused.value)
    with pytest.raises(InvalidParameter, match="own days"):
        dt.Each(smokes=change)
