"""A tree with one kept change: its loss over sequences by enumeration, its law, what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.privacy.exact import exp_above, log_above
from tests.repetition.kept_changes import SMOKES, YES_NO, Row, Told, Values, loss, real, seen
from tests.support.chi_square import fits


@pytest.mark.parametrize(("days", "changes"), [(2, 1), (3, 2), (4, 1), (4, 3), (5, 2), (8, 1)])
def test_the_loss_over_sequences_is_what_is_promised(days: int, changes: int) -> None:
    """All sequences, also those with more changes, all coins, all reports, in fractions: exactly e^ε."""
    change = dt.KeptChange(SMOKES, days=days, changes=changes)
    ratio = loss(change, real)
    assert ratio is not None
    assert log_above(ratio) <= change.guarantee.epsilon <= log_above(ratio) + 1e-12
    assert ratio == max(SMOKES.probabilities("no")) / min(SMOKES.probabilities("no"))
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
    with pytest.raises(InvalidParameter, match="was expected, not KeptChange"):
        dt.to_json(change)  # type: ignore[arg-type]
    assert change.at(2).guarantee.epsilon == dt.RR(YES_NO, epsilon=2).guarantee.epsilon
    assert change.at(1) == change
    assert "keeps the first change" in change.describe()
    assert "one of the first 2 changes" in dt.KeptChange(SMOKES, days=30, changes=2).describe()
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
        with pytest.raises(MalformedReport, match="three whole numbers"):
            change.reports(wrong)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"days": 1}, "whole number of days"),
        ({"days": True}, "whole number of days"),
        ({"days": 10**6}, "whole number of days"),
        ({"changes": 0}, "changes"),
        ({"changes": 1.0}, "changes"),
        ({"days": 5, "changes": 5}, r"at most 4 times in 5 days"),
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
        with pytest.raises(InvalidParameter, match=r"dt\.Once takes any question"):
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
    with pytest.raises(InvalidParameter, match="days of its own"):
        dt.Each(smokes=change)
