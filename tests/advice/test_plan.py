"""The plan of a campaign, against the intervals of simulated campaigns; the power of two arms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.advice import simulation
from dither.advice.plan import cost_of_range, plan
from dither.errors import Infeasible, InvalidParameter
from tests.support.terminal import run

YES = dt.Categories(["no", "yes"])
SURVEY = """
[campaign]
epsilon = 4

[questions.age]
interval = [0, 10]
mechanism = "Podium"

[questions.weight]
interval = [0, 1]
mechanism = "Podium"

[questions.pet]
categories = ["cat", "dog", "none"]
mechanism = "KRR"

[questions.home]
categories = ["flat", "house"]
mechanism = "KRR"
"""


def test_what_is_planned_is_what_estimates_have() -> None:
    survey = dt.Questionnaire.from_toml(SURVEY)
    n, random = 60_000, np.random.default_rng(1)
    people = {
        "age": random.uniform(0, 10, n),
        "weight": random.uniform(0, 1, n),
        "pet": random.choice(["cat", "dog", "none"], n),
        "home": random.choice(["flat", "house"], n),
    }
    told = {
        name: asked.design().perturb(people[name], source=dt.Seeded(place))
        for place, (name, asked) in enumerate(survey.questions.items())
    }
    planned = survey.plan(n)
    found = {
        "age": dt.mean(told["age"]),
        "weight": dt.mean(told["weight"]),
        "pet": dt.frequencies(told["pet"])["cat"],
        "home": dt.frequencies(told["home"])["house"],
        "age × weight": dt.stats.regression(told["age"], told["weight"]).slope,
        "age × pet": dt.estimate(told["age"], by=told["pet"])["dog"],
        "pet × home": dt.stats.crosstab(told["pet"], told["home"])["cat", "flat"],
    }
    for name, estimate in found.items():
        assert planned[name]["±"] == pytest.approx(float(estimate.half_width()), rel=0.06), name


def test_a_split_budget_is_compared_with_one_question_each() -> None:
    survey = dt.Questionnaire.from_toml(SURVEY)
    one = dt.Questionnaire.from_toml(SURVEY.replace("epsilon = 4", "epsilon = 4\nsampled = true"))
    split, sampled = survey.plan(8000), one.plan(8000)
    for name in survey.questions:
        assert split[name]["± if sampled"] == pytest.approx(sampled[name]["±"])
        assert sampled[name]["± if split"] == pytest.approx(split[name]["±"])
        assert split[name]["±"] == pytest.approx(np.hypot(split[name]["privacy"], split[name]["sampling"]))
    assert "It ends tables, slopes" in repr(split)
    assert "This ends tables, slopes" in repr(sampled)
    assert "pet × home" not in repr(sampled)


def test_a_plan_lists_what_it_cannot_predict() -> None:
    path = dt.Questionnaire({"way": dt.OGPM(dt.Circle(360), epsilon=1), "yes": dt.KRR(YES, epsilon=1)})
    assert path.plan(100)["way"]["±"] is None
    assert plan({"yes": dt.KRR(YES, epsilon=1)}, 100).note == ""
    wide = dt.SW(dt.Interval(0, 1440).on_scale("log"), epsilon=1)  # positions have no mean
    planned_wide = plan({"minutes": wide, "yes": dt.KRR(YES, epsilon=1)}, 100)
    assert planned_wide["minutes"]["estimate"] == "2 % and 98 % quantiles, not predicted"
    assert planned_wide["minutes"]["±"] is None
    assert [row["question"] for row in planned_wide] == ["minutes", "yes"]
    silent = dt.Podium(dt.Nullable(dt.Interval(0, 1)), epsilon=2)
    planned = plan({"income": silent}, 20_000)["income"]["±"]
    told = silent.perturb(np.linspace(0, 1, 20_000), source=dt.Seeded(1))
    assert planned == pytest.approx(float(dt.mean(told).half_width()), rel=0.05)
    for wrong in (1, True, 2.5, "many"):
        with pytest.raises(InvalidParameter, match="integer number of people"):
            path.plan(wrong)  # type: ignore[arg-type]


DAYS = dt.Dates("2026-01-01", "2026-12-31")  # 364 days long


@pytest.mark.parametrize(("epsilon", "pair"), [(1.0, (0.1, 0.3)), (4.0, (0.1, 0.2))])
def test_so_many_people_show_the_difference(epsilon: float, pair: tuple[float, float]) -> None:
    many = dt.people_for(YES, dt.goals.Frequencies(), epsilon=epsilon, detect=pair, power=0.8)
    asked = dt.recommend(YES, dt.goals.Frequencies(n=many), epsilon=epsilon).best
    random, source, shown = np.random.default_rng(3), dt.Seeded(3), 0
    for _ in range(400):
        arms = [asked.perturb(random.choice(["no", "yes"], many, p=[1 - p, p]), source=source) for p in pair]
        gap = dt.frequencies(arms[1])["yes"] - dt.frequencies(arms[0])["yes"]
        shown += not gap.covers(0.0)
    assert 0.8 - 0.07 < shown / 400 < 0.8 + 0.07


def test_power_people_and_epsilon_agree() -> None:
    goal, pair = dt.goals.Frequencies(), (0.10, 0.12)
    many = dt.people_for(YES, goal, epsilon=2, detect=pair)
    assert dt.epsilon_for(YES, dt.goals.Frequencies(n=many), detect=pair) == pytest.approx(2, rel=1e-2)
    more = dt.people_for(YES, goal, epsilon=2, detect=pair, power=0.95)
    assert more / many == pytest.approx(((1.959964 + 1.644854) / (1.959964 + 0.841621)) ** 2, rel=1e-3)
    hours = dt.Interval(0, 10)
    known, worst = (
        dt.people_for(hours, dt.goals.Mean(deviation=spread), epsilon=4, detect=(4, 4.2))
        for spread in (1, None)
    )
    assert known < worst


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"detect": (0.1, 0.1)}, "two different values"),
        ({"detect": (0.1, 2)}, "from 0 to 1"),
        ({"detect": "ab"}, "two numbers"),
        ({"detect": (0.1, 0.2), "power": 1}, "power"),
        ({"detect": (0.1, 0.2), "target_error": 0.1}, "target error, or"),
        ({}, "target error, or"),
    ],
)
def test_wrong_differences_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.people_for(YES, dt.goals.Frequencies(), epsilon=1, **change)  # type: ignore[arg-type]


def test_what_cannot_be_shown_is_said() -> None:
    with pytest.raises(Infeasible, match="ask more people"):
        dt.epsilon_for(YES, dt.goals.Frequencies(n=50), detect=(0.10, 0.12))
    with pytest.raises(InvalidParameter, match="means on an interval"):
        dt.people_for(dt.Interval(0, 1), dt.goals.Quantile(), epsilon=1, detect=(0.1, 0.2))
    with pytest.raises(InvalidParameter, match="means on an interval"):
        dt.people_for(dt.Circle(360), dt.goals.Mean(), epsilon=1, detect=(0.1, 0.2))


def test_at_the_terminal(tmp_path: Path) -> None:
    asked = ["recommend", "--categories", "no,yes", "--goal", "frequencies", "--detect", "0.1", "0.12"]
    assert "people: 4584 in each of two arms" in run(*asked, "--epsilon", "4").output
    assert json.loads(run(*asked, "--epsilon", "4", "--people", "4584", "--json").output)["power"] > 0.8
    assert "epsilon: " in run(*asked, "--people", "20000").output
    assert "expected --epsilon, or --people of each arm" in run(*asked).output
    assert "expected no --error, --margin" in run(*asked, "--epsilon", "4", "--error", "0.1").output
    survey, rows = tmp_path / "survey.toml", tmp_path / "rows.csv"
    survey.write_text(SURVEY, encoding="utf-8")
    rows.write_text("age,weight,pet,home\n" + "1,0.5,cat,flat\n" * 50, encoding="utf-8")
    assert "50 people answer every question" in run("check", str(rows), "--campaign", str(survey)).output
    terms = 'name = "a"\nasker = "b"\ncontact = "c@d.e"\npurpose = "f"\n'
    terms += "begins = 2030-01-01\nends = 2030-02-01\n"
    survey.write_text(SURVEY.replace("epsilon = 4", f"epsilon = 4\n{terms}"), encoding="utf-8")
    assert "± if sampled" in run("campaign", "check", str(survey), "--people", "5000").output
    facts = json.loads(run("campaign", "check", str(survey), "--json").output)
    assert facts["plan"]["people"] == 10_000
    assert facts["plan"]["errors"][0]["question"] == "age"


def test_a_wide_range_costs_what_simulation_says() -> None:
    wide, narrow = dt.Podium(dt.Interval(0, 1440), epsilon=1), dt.Podium(dt.Interval(10, 100), epsilon=1)
    values = np.random.default_rng(1).uniform(10, 100, 40_000)
    errors = [dt.mean(each.perturb(values, source=dt.Seeded(1))).standard_error for each in (wide, narrow)]
    times = cost_of_range(wide.question, (10, 100))
    assert times == pytest.approx((errors[0] / errors[1]) ** 2, rel=0.25)  # noise depends on the value
    table = dt.recommend(wide.domain, dt.goals.Mean(n=1000), epsilon=1, guess=(10, 100))
    assert "times the people of [10, 100]" in table.title
    assert "dt.bounds" in table.title
    for question, guess in (
        (wide, (100, 10)),
        (wide, (10, 2000)),
        (dt.OGPM(dt.Circle(360), epsilon=1), (10, 20)),
        (dt.SW(dt.Interval(0, 1440).on_scale("log"), epsilon=1), (10, 20)),
        (dt.KRR(dt.Categories(["a", "b"]), epsilon=1), (0, 1)),
    ):
        with pytest.raises(InvalidParameter, match="within the interval"):
            cost_of_range(question.question, guess)


def test_medians_have_the_error_of_the_table() -> None:
    """What `dt.recommend` predicts for a quantile, in the units of the question; other mechanisms by SW."""
    survey = {"age": dt.SW(dt.Interval(0, 100, unit="years"), epsilon=2), "day": dt.Duchi(DAYS, epsilon=2)}
    rows = {row["estimate"]: row for row in plan(survey, 5000)}
    best = dt.recommend(dt.Interval(0, 100), dt.goals.Quantile(n=5000), epsilon=2)
    error = next(row["error"] for row in best if row["mechanism"] == "SW")
    assert rows["median, years"]["±"] == pytest.approx(1.96 * error, rel=1e-3)
    assert rows["median if asked by SW, days"]["±"] == pytest.approx(3.64 * 1.96 * error, rel=1e-3)
    assert rows["mean, days"]["question"] == "day"
    assert rows["median, years"]["± if sampled"] == pytest.approx(
        plan({"age": dt.SW(dt.Interval(0, 100), epsilon=4)}, 2500)[1]["±"]
    )
    assert f"single shapes are up to {simulation._QUANTILE_SPAN:g} times" in repr(plan(survey, 5000))
    assert not any("median" in row["estimate"] for row in plan(survey, 100))  # fewer than the table has


def test_a_direction_says_why_it_is_not_predicted() -> None:
    (row,) = plan({"wind": dt.OGPM(dt.Circle(360), epsilon=1)}, 1_000)
    assert row["estimate"] == "mean direction (none if spread evenly), not predicted"
    assert row["±"] is None


def test_a_median_of_optional_numbers_is_listed_as_not_predicted() -> None:
    planned = plan({"age": dt.Podium(dt.Nullable(dt.Interval(0, 100)), epsilon=4)}, 2500)
    assert [row["estimate"] for row in planned] == ["mean", "median, not predicted"]
    assert "single shapes" not in repr(planned)
