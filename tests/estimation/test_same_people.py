"""Estimates of the same people are not independent, by however many calls they were made."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

ASKED = dt.KRR(dt.Categories(["yes", "no", "unsure"]), epsilon=3)
ANSWERS = ["yes"] * 450 + ["no"] * 400 + ["unsure"] * 150
NUMBER = dt.Podium(dt.Interval(0, 1), epsilon=4)


def told(seed: int = 1) -> dt.Reports:
    return ASKED.perturb(ANSWERS, source=dt.Seeded(seed))


def test_two_answers_by_two_calls_are_the_score_of_their_difference():
    reports = told()
    by_calls = dt.frequencies(reports)["yes"] - dt.frequencies(reports)["no"]
    score = dt.frequencies(reports).score({"yes": 1, "no": -1})
    assert by_calls.value == pytest.approx(score.value)
    assert by_calls.standard_error == pytest.approx(score.standard_error, rel=1e-2)
    assert by_calls.n == 1000
    one = dt.frequencies(reports)
    assert (one["yes"] - one["no"]).standard_error == pytest.approx(by_calls.standard_error)


def test_two_calls_without_the_reports_are_refused():
    counts = dt.Counts.of(told())
    with pytest.raises(InvalidParameter, match="same people"):
        dt.frequencies(counts)["yes"] - dt.frequencies(counts)["no"]
    numbers = NUMBER.perturb(np.linspace(0, 1, 500), source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="same people"):
        dt.quantile(numbers, 0.9) - dt.quantile(numbers, 0.5)


def test_before_and_after_of_the_same_people_are_a_paired_difference():
    both = dt.Each(before=NUMBER, after=NUMBER)
    errors, misses, runs = [], 0, 60
    random = np.random.default_rng(3)
    for run in range(runs):
        before = random.beta(0.5, 0.5, 400)
        after = np.clip(before + 0.05, 0, 1)
        records = both.perturb({"before": before, "after": after}, source=dt.Seeded(run))
        change = dt.mean(records["after"]) - dt.mean(records["before"])
        misses += not change.covers(0.05 - float(np.maximum(before - 0.95, 0).mean()))
        errors.append(change.standard_error)
        apart = np.hypot(*(dt.mean(records[name]).standard_error for name in both.parts))
        assert change.standard_error < 0.85 * apart
        assert change.n == 400
        assert change.guarantee.epsilon == pytest.approx(8.0)
    assert misses <= 9  # of 60 at 5 %: more has a chance of 0.1 %


def test_slices_keep_who_they_are():
    numbers = NUMBER.perturb(np.tile([0.1, 0.6, 0.7, 0.2], 250), source=dt.Seeded(1))
    whole, half = dt.mean(numbers), dt.mean(numbers[:500])
    others = dt.mean(numbers[500:])
    assert (half - others).n == 1000
    assert (half - others).standard_error == pytest.approx(
        np.hypot(half.standard_error, others.standard_error)
    )
    # half − whole = (half − others)/2
    assert (half - whole).standard_error == pytest.approx((half - others).standard_error / 2, rel=1e-2)
    assert (half - whole).n == 1000
    chosen = numbers[np.arange(1000) % 2 == 0]
    assert (dt.mean(chosen) - dt.mean(numbers[np.arange(0, 1000, 2)])).standard_error == pytest.approx(0.0)
    groups = dt.estimate(numbers, by=["a", "b"] * 500)
    assert (groups["a"] - groups["b"]).n == 1000
    with pytest.raises(InvalidParameter, match="same people"):
        groups["a"] - whole


def test_ratios_of_the_same_people_know_it():
    reports = told()
    ratio = dt.frequencies(reports)["yes"] / dt.frequencies(reports).sum(["yes", "no"])
    apart = dt.frequencies(reports)["yes"] / dt.frequencies(told(2)).sum(["yes", "no"])
    assert ratio.standard_error < 0.92 * apart.standard_error
    # The ratio keeps it: once more the same people, of whom it is no new information.
    assert (ratio - ratio * 1.0).standard_error == pytest.approx(0.0, abs=1e-9)


def test_one_part_counts_once_in_a_combination(tmp_path: Path):
    reports = told()
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine([reports, reports])
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine([dt.frequencies(reports), dt.Counts.of(reports)])
    assert dt.stats.combine([reports, told(2)]).n == 2000
    back = [dt.from_bytes(reports.to_bytes()) for _ in range(2)]
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine(back)


def test_a_file_is_known_by_its_content_unless_it_holds_next_to_nothing(tmp_path: Path):
    source, first, few = tmp_path / "in.csv", tmp_path / "a.csv", tmp_path / "few.csv"
    source.write_text("answer\n" + "\n".join(ANSWERS) + "\n")
    dt.data.perturb_file(source, first, {"answer": ASKED})
    copy = tmp_path / "copy.csv"
    copy.write_bytes(first.read_bytes())
    one, two = dt.data.read(first)["answer"], dt.data.read(copy)["answer"]
    assert (dt.frequencies(one)["yes"] - dt.frequencies(two)["yes"]).standard_error == pytest.approx(0.0)
    with pytest.raises(InvalidParameter, match="counted twice"):
        dt.data.read(first, copy)
    source.write_text("answer\n" + "yes\n" * 5)
    dt.data.perturb_file(source, few, {"answer": ASKED.at(30)})
    twin = tmp_path / "twin.csv"
    twin.write_bytes(few.read_bytes())
    assert len(dt.data.read(few, twin)["answer"]) == 10  # five people who say yes are no others' copy
    assert dt.stats.combine([dt.data.read(few)["answer"], dt.data.read(twin)["answer"]]).n == 10


def test_who_they_are_is_never_sent_and_no_part_of_equality():
    reports = told()
    assert reports.people
    token = reports.people[0].token
    assert reports == ASKED.reports(reports.cells.copy())
    assert token not in reports.to_bytes()
    assert token.hex() not in repr(reports)
    assert dt.Counts.of(reports) == dt.Counts.of(ASKED.reports(reports.cells.copy()))
    assert reports.to_bytes() == ASKED.reports(reports.cells.copy()).to_bytes()
    small = [ASKED.reports([0, 1, 1]) for _ in range(2)]  # equal cells of different people
    assert dt.stats.combine(small, weights=[1, 1]).n == 6
    again = pickle.loads(pickle.dumps(reports))
    assert (dt.frequencies(again)["yes"] - dt.frequencies(reports)["yes"]).n == 1000


def test_waves_in_long_form_are_paired():
    """Rows of one id are one person's: before, the waves were taken for different people."""
    rng = np.random.default_rng(1)
    base, order = rng.beta(0.5, 0.5, 2000), rng.permutation(4000)
    ids, wave = order % 2000, np.where(order < 2000, "before", "after")
    asked = dt.Podium(dt.Interval(0, 1), epsilon=6)
    told = asked.perturb(0.9 * base[ids] + 0.1 * (order >= 2000), source=dt.Seeded(1))
    waves = dt.estimate(told, by={"wave": wave}, person=ids)
    gap = dt.stats.difference(waves)
    assert gap.title.endswith("; who is in both is paired")
    alone = dt.stats.difference(dt.estimate(told, by={"wave": wave}))["after", "before"]
    paired = gap["after", "before"]
    assert (paired.n, alone.n, float(paired)) == (2000, 4000, float(alone))
    assert paired.half_width() < 0.7 * alone.half_width()
    assert paired.covers(0.1, 1 - 1e-6)
    by_rows = {
        name: told[np.flatnonzero(wave == name)[np.argsort(ids[wave == name])]]
        for name in ("before", "after")
    }
    same = (asked.reports(by_rows[name].cells) for name in by_rows)
    before, after = (dt.mean(part) for part in same)
    moved = after.moved_by - before.moved_by  # the paired t-test of the decoded numbers
    assert paired.standard_error == pytest.approx(moved.std(ddof=1) / np.sqrt(2000), rel=0.02)
    heavy = dt.estimate(told, by={"wave": wave}, person=ids, weights=np.ones(4000))
    assert dt.stats.difference(heavy)["after", "before"].half_width() < 0.7 * alone.half_width()
    for wrong, words in (
        (lambda: dt.stats.equal_groups(waves), "some people are in several groups"),
        (
            lambda: dt.estimate(told, by={"wave": ["both"] * 4000}, person=ids),
            "group both has 2000 further rows",
        ),
        (lambda: dt.estimate(told, by=wave, person=ids[1:]), "4000 reports need as many ids"),
        (lambda: dt.estimate(told, by=wave, person=[None, *ids[1:]]), "row 1 has no id"),
        (lambda: dt.estimate(told, by=wave, person="id"), "a public id for each report"),
        (lambda: dt.estimate(told, person=ids), "by=wave, person=ids"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            wrong()


def test_a_test_of_different_people_refuses_the_same_ones():
    both = dt.Each(a=dt.KRR(dt.Categories(2), epsilon=2), b=dt.KRR(dt.Categories(2), epsilon=2))
    told = both.perturb({"a": [0, 1] * 100, "b": [0, 1] * 100}, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="some people are in both groups"):
        dt.stats.same_distribution(told["a"], told["b"])
