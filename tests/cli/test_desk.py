"""An analyst at the terminal: weights, cross-tables, groups, differences, tests, pictures, files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from tests.support.terminal import run

CAMPAIGN = """
[questions.home]
categories = ["flat", "house"]
epsilon = 4
[questions.minutes]
interval = [0, 180]
epsilon = 4
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    rng = np.random.default_rng(1)
    home, city = rng.choice(["flat", "house"], 1200), rng.choice(["Kyoto", "Nara", "Uji"], 1200)
    minutes = np.clip(rng.normal(np.where(home == "flat", 40, 80), 10), 0, 180)
    with (folder / "people.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["city", "weight", "home", "minutes"])
        writer.writerows(zip(city, np.where(home == "flat", 3, 1), home, minutes.round(1), strict=True))
    (folder / "c.toml").write_text(CAMPAIGN)
    out = folder / "reports.csv"
    made = run("perturb", folder / "people.csv", "--campaign", folder / "c.toml", "--keep", "city", "--keep",
               "weight", "-o", out)  # fmt: skip
    assert made.exit_code == 0, made.output
    return out


def asked(*words: object) -> dict[str, list[dict[str, object]]]:
    found = run("estimate", *words, "--json")
    assert found.exit_code == 0, found.output
    return dict(json.loads(found.stdout))


def test_weights_and_private_groups(reports: Path) -> None:
    plain = asked(reports, "--column", "home")["home"][0]["value"]
    weighted = {row["answer"]: row for row in asked(reports, "--weight", "weight")["home"]}
    assert plain[0] == pytest.approx(0.5, abs=0.09)
    assert weighted["flat"]["value"] == pytest.approx(0.75, abs=0.08)
    groups = asked(reports, "--column", "minutes", "--by", "home")["minutes by home"]
    assert [row["home"] for row in groups] == ["flat", "house"]
    assert [row["value"] for row in groups] == pytest.approx([40, 80], abs=9)
    gap = asked(reports, "--column", "minutes", "--by", "home", "--difference", "flat")
    (row,) = gap["minutes by home: differences"]
    assert row["first"] == "house"
    middle, width = (row["low"] + row["high"]) / 2, row["high"] - row["low"]
    assert abs(middle - 40) < 1.5 * width  # six standard errors: reports are drawn anew in every run


def test_tables_tests_and_files(reports: Path, tmp_path: Path) -> None:
    for ending in ("csv", "md", "tex", "html", "xlsx"):
        out = tmp_path / f"table.{ending}"
        assert run("estimate", reports, "--by", "city", "-o", out).exit_code == 0
        assert out.stat().st_size > 100
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert {row["question"] for row in rows} == {"home by city", "minutes by city"}
    assert len(rows[0]["value"]) > 8  # all digits
    assert r"\\begin{tabular}".replace("\\\\", "\\") in (tmp_path / "table.tex").read_text()
    assert r"\toprule" in (tmp_path / "table.tex").read_text()
    assert (tmp_path / "table.html").read_text().startswith("<!DOCTYPE html>")
    tests = asked(reports, "--column", "minutes", "--by", "city", "--test")["minutes: test"]
    assert len(tests) == 3
    assert all(row["p"] > 1e-6 for row in tests)
    heavy = asked(reports, "--by", "city", "--test", "--weight", "weight")
    assert [len(heavy[f"{name}: test"]) for name in ("home", "minutes")] == [3, 3]
    assert all(row["p"] > 1e-6 for row in heavy["minutes: test"])
    both = asked(reports, "--column", "minutes", "--by", "home", "--test", "--weight", "weight")
    assert both["minutes: test"][0]["p"] < 1e-6
    assert "<1e-9" in run("estimate", reports, "--column", "minutes", "--by", "home", "--test").output
    same = run("estimate", reports, "--column", "home", "--cross", "minutes")
    assert same.exit_code == 2
    assert "categories" in same.output


def test_private_groups_are_tested(reports: Path) -> None:
    """Minutes depend on the home, which is private, and not on the city."""
    (row,) = asked(reports, "--column", "minutes", "--by", "home", "--test")["minutes: test"]
    assert (row["first"], row["second"]) == ("flat", "house")
    assert row["p"] < 1e-6
    both = asked(reports, "--column", "minutes", "--by", "city", "--by", "home", "--test")["minutes: test"]
    found = {(line["first"], line["second"]): line["p"] for line in both}
    assert len(found) == 15
    assert found["Kyoto · flat", "Nara · flat"] > 1e-3
    assert found["Kyoto · flat", "Nara · house"] < 1e-6


def test_a_population_has_known_shares(reports: Path) -> None:
    groups = {row["city"]: row["value"] for row in asked(reports, "--by", "city")["minutes"]}
    words = [word for city, share in zip(groups, (10, 20, 70), strict=True) for word in
             ("--population", f"{city}={share}")]  # fmt: skip
    found = asked(reports, "--by", "city", *words)["minutes, population by city"][0]
    expected = sum(share / 100 * value for share, value in zip((10, 20, 70), groups.values(), strict=True))
    assert found["value"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]
    shares = asked(reports, "--by", "city", *words)["home, population by city"]
    assert [row["answer"] for row in shares] == ["flat", "house"]


def test_a_picture_names_the_question(reports: Path, tmp_path: Path) -> None:
    out = tmp_path / "minutes.svg"
    drawn = run("estimate", reports, "--column", "minutes", "--by", "city", "--plot", out)
    assert drawn.exit_code == 0, drawn.output
    assert "<svg" in out.read_text(encoding="utf-8")
    assert "choose a question" in run("estimate", reports, "--plot", out).output
    for more, drawn_there in (
        (["--bins", 6], "density"), (["--quantile", 0.5], "minutes: quantile 0.5"),
        (["--quantile", 0.1, "--quantile", 0.9], "quantile, 95 % intervals"),
    ):  # fmt: skip
        with patch("dither.cli.tables.save_picture") as saved:
            drawn = run("estimate", reports, "--column", "minutes", *more, "--plot", tmp_path / "x.svg")
        axes = saved.call_args.args[0]
        assert drawn_there in " ".join((axes.get_title(), axes.get_xlabel(), axes.get_ylabel())), drawn.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--weight", "home"], "got the question"),
        (["--weight", "wieght"], "did you mean weight"),
        (["--weight", "city"], "expected a weight, a number"),
        (["--difference"], "between groups"),
        (["--within", "rows"], "of a cross-table"),
        (["--test"], "--test is of"),
        (["--by", "city", "--cross", "home"], "do not go together"),
        (["--by", "city", "--difference", "Osaka"], "no group 'Osaka'"),
        (["--cross", "home", "--column", "homme"], "no question"),
        (["--column", "minutes", "--cross", "city"], "use --column minutes --by city, and add --test"),
        (["-o", "x.doc"], "ends in .csv"),
        (["--plot", "x.gif"], "ends in .png"),
        (["--weight", "weight", "--bins", "4"], "--bins and --step"),
        (["--population", "a=1"], "--by COLUMN"),
        (["--by", "city", "--population", "Kyoto"], "LABEL=SHARE, once for each label"),
        (["--by", "city", "--population", "Kyoto=x"], "LABEL=SHARE, once for each label"),
        (["--by", "city", "--population", "Kyoto=0"], "above 0"),
        (["--by", "city", "--population", "Kyoto=1", "--population", "Kyoto=1"], "once for each"),
        (["--by", "city", "--population", "Kyoto=1"], "expected a share of the population"),
        (["--by", "city", "--population", "Osaka=1"], "expected an estimate of group"),
        (["--by", "city", "--population", "Kyoto=1", "--test"], "one number"),
        (["--column", "minutes", "--by", "home", "--population", "flat=1"], "public label"),
    ],
)
def test_wrong_words_are_refused(reports: Path, words: list[str], said: str) -> None:
    found = run("estimate", reports, *words)
    assert found.exit_code == 2
    assert said in found.output


def test_a_table_never_replaces_the_reports(reports: Path) -> None:
    before = reports.read_bytes()
    assert run("estimate", reports, "-o", reports).exit_code == 2
    assert reports.read_bytes() == before


def test_one_question_never_stops_the_others(tmp_path: Path) -> None:
    """Directions are not subtracted: the other questions have differences, and the reason is said."""
    (tmp_path / "c.toml").write_text(CAMPAIGN + "[questions.heading]\ncircle = 360\nepsilon = 4\n")
    rows = "\n".join(f"{1 + row % 2},flat,{row % 180},{row % 360}" for row in range(300))
    (tmp_path / "people.csv").write_text(f"weight,home,minutes,heading\n{rows}\n")
    out = tmp_path / "reports.csv"
    made = run(
        "perturb", tmp_path / "people.csv", "--campaign", tmp_path / "c.toml", "--keep", "weight", "-o", out
    )
    assert made.exit_code == 0, made.output
    found = asked(out, "--weight", "weight")
    assert found["minutes"][0]["n"] == 300
    assert len(found["home"]) == 2
    assert found["heading"][0]["n"] == 300
    words = ("estimate", out, "--by", "weight", "--difference")
    shown = run(*words)
    assert shown.exit_code == 0, shown.output
    assert "minutes by weight: differences" in shown.output
    assert "heading by weight: expected resultants to add or subtract" in shown.output
    alone = run(*words, "--column", "heading")
    assert alone.exit_code != 0
    assert "got directions" in alone.output


def test_a_file_that_occurs_twice_is_said(reports: Path, tmp_path: Path) -> None:
    twice = run("estimate", reports, reports)
    assert twice.exit_code == 2
    assert "expected each file once" in twice.output
    copy = tmp_path / "copy.csv"
    copy.write_bytes(reports.read_bytes())
    said = run("estimate", reports, copy)
    assert said.exit_code == 0
    assert "have the same content" in said.stderr
    assert "have the same content" not in run("estimate", reports).stderr


def test_two_questions_of_the_same_people_are_a_paired_difference(tmp_path: Path) -> None:
    """Taken for different people, n was 4 000 and the interval half as wide again."""
    before = 9 * np.random.default_rng(1).beta(0.5, 0.5, 2000)
    rows = "".join(f"{row},{value:.3f},{value + 0.5:.3f}\n" for row, value in enumerate(before))
    (tmp_path / "waves.csv").write_text("id,before,after\n" + rows)
    question = "interval = [0, 10]\nepsilon = 4\n"
    (tmp_path / "c.toml").write_text(f"[questions.before]\n{question}[questions.after]\n{question}")
    out = tmp_path / "reports.csv"
    made = run(
        "perturb", tmp_path / "waves.csv", "--campaign", tmp_path / "c.toml", "--person", "id", "-o", out
    )
    assert made.exit_code == 0, made.output
    pair = ("--column", "after", "--cross", "before")
    (row,) = asked(out, *pair, "--difference")["after − before, of the same people"]
    assert row["n"] == 2000
    assert row["high"] - row["low"] < 0.25
    assert abs(row["value"] - 0.5) < 0.3
    assert "is plain" in run("estimate", out, *pair, "--difference", "--test").output
    assert "is between groups, or between two questions" in run("estimate", out, "--difference").output


def test_waves_in_long_form_are_paired_by_the_ids_of_people(tmp_path: Path) -> None:
    base = 140 * np.random.default_rng(1).beta(0.5, 0.5, 1500)
    rows = "".join(f"p{row % 1500},{'ab'[row // 1500]},{base[row % 1500] + 20 * (row // 1500):.2f}\n"
                   for row in range(3000))  # fmt: skip
    (tmp_path / "waves.csv").write_text("id,wave,minutes\n" + rows)
    (tmp_path / "c.toml").write_text("[questions.minutes]\ninterval = [0, 180]\nepsilon = 12\n")
    out = tmp_path / "reports.csv"
    people = ("--person", "id", "--rows", 2, "--keep", "wave", "--keep", "id")
    made = run("perturb", tmp_path / "waves.csv", "--campaign", tmp_path / "c.toml", *people, "-o", out)
    assert made.exit_code == 0, made.output
    waves = (out, "--by", "wave", "--difference")
    (row,) = asked(*waves, "--person", "id")["minutes by wave: differences"]
    middle, width = (row["low"] + row["high"]) / 2, row["high"] - row["low"]
    assert width < 6  # as of different people it is 9
    assert abs(middle + 20) < 1.5 * width
    assert "who is in both is paired" in run("estimate", *waves, "--person", "id").output
    for words, said in (
        ((out,), "n = 3 000, if its rows are of different people)"),
        ((out, "--person", "id"), "n = 3 000, of 1 500 people)"),
        (waves, "up to 2 rows per person"),
        ((out, "--by", "wave", "--test"), "up to 2 rows per person"),
        ((out, "--by", "wave", "--test", "--person", "id"), "some people are in both"),
        ((*waves, "--person", "idd"), "did you mean id"),
        ((*waves[:1], "--by", "wave", "--contrast", "x: a=-1, b=1"), "up to 2 rows per person"),
        ((*waves[:1], "--by", "wave", "--population", "a=1"), "up to 2 rows per person"),
        ((out, "--person", "id", "--quantile", 0.5), "--person goes with --by"),
        ((out, "--by", "minutes", "--person", "id"), "other than those of --by"),
    ):
        assert said in run("estimate", *words).output


def test_regressions_and_own_contrasts(reports: Path, tmp_path: Path) -> None:
    pytest.importorskip("formulaic")
    formula = "minutes ~ C(city) + weight"
    out = tmp_path / "line.csv"
    found = asked(reports, "--regression", formula, "-o", out)
    rows = {row["answer"]: row for row in found[formula]}
    assert list(rows) == ["intercept", "city: Nara", "city: Uji", "weight"]
    width = (
        rows["weight"]["high"] - rows["weight"]["low"]
    )  # people in a flat have weight 3, and 40 minutes less
    assert abs(rows["weight"]["value"] + 20) < 1.5 * width
    assert "weight" in out.read_text()
    assert "expected reports with an average" in str(
        found[f"{formula}: R²"]
    )  # the default for a mean has no squares
    heavy = asked(reports, "--regression", "home ~ weight", "--weight", "weight")["home ~ weight"]
    assert [row["answer"] for row in heavy] == ["intercept", "weight"]
    groups = {row["city"]: row["value"] for row in asked(reports, "--by", "city")["minutes"]}
    sums = ("--contrast", "east: Nara=0.5, Uji=0.5, Kyoto=-1", "--contrast", "rest: Nara=1, Uji=-1")
    both = asked(reports, "--column", "minutes", "--by", "city", *sums)["minutes by city: contrasts"]
    expected = [(groups["Nara"] + groups["Uji"]) / 2 - groups["Kyoto"], groups["Nara"] - groups["Uji"]]
    assert [row["value"] for row in both] == pytest.approx(expected)
    for words, said in (
        (["--regression", "minute ~ city"], "no question or column 'minute': did you mean minutes?"),
        (
            ["--regression", "minutes ~ hoem + np.log(weight)"],
            "no question or column 'hoem': did you mean home?",
        ),
        (
            ["--regression", "weight ~ city"],
            "expected a question in the formula 'weight ~ city'; the questions are home, minutes",
        ),
        (["--regression", "minutes ~ ctiy"], "did you mean city"),
        (["--regression", "minutes"], "one side is missing"),
        (["--regression", formula, "--by", "city"], "--regression goes with --weight only"),
        (["--contrast", "a: Nara=1, Uji=-1"], "--by COLUMN --contrast"),
        (["--by", "city", "--contrast", "a Nara=1"], "to be a name and weights"),
        (["--by", "city", "--alternative", "less"], "--alternative is of the p-values"),
        (["--by", "city", "--contrast", "a: Nara=1, Uji=1"], "add up to 0"),
        (["--by", "city", "--contrast", "a: Nara=1, Osaka=-1"], "no group 'Osaka'"),
    ):
        assert said in run("estimate", reports, *words).output


def test_weights_of_an_optional_number_keep_the_share_who_answered(tmp_path: Path) -> None:
    lines = [f"{'' if i % 4 == 0 else 30 + i % 5},{1 + i % 2}" for i in range(800)]
    (tmp_path / "people.csv").write_text("\n".join(["age,weight", *lines]))
    (tmp_path / "c.toml").write_text("[questions.age]\ninterval = [18, 100]\nepsilon = 4\noptional = true\n")
    out = tmp_path / "reports.csv"
    people, campaign = tmp_path / "people.csv", tmp_path / "c.toml"
    made = run("perturb", people, "--campaign", campaign, "--keep", "weight", "-o", out)
    assert made.exit_code == 0, made.output
    found = asked(out, "--weight", "weight")
    assert list(found) == ["age", "age: answered"]
    assert found["age: answered"][0]["value"] == pytest.approx(0.83, abs=0.1)
    shown = run("estimate", out, "--weight", "weight").stdout
    assert shown.count("of those who answered") == 1
    assert "age: answered: 0." in shown
    assert found["age"][0]["of"] == "those who answered"
    plain = json.loads(run("estimate", out, "--bins", 4, "--json").stdout)["age"]
    assert [part.get("of") for part in plain] == ["those who answered", "those who answered", None]
    assert "of those who answered" in run("estimate", out, "--bins", 4).stdout.split("95 % band")[1]
    stepped = json.loads(run("estimate", out, "--step", 41, "--json").stdout)["age"][1]
    assert len(stepped["probabilities"]) == 3  # 18, 59 and 100: the step was not applied


def test_one_sided_p_values_are_named(reports: Path) -> None:
    asked_for = (reports, "--column", "minutes", "--by", "home", "--difference", "flat")
    (both,) = asked(*asked_for)["minutes by home: differences"]
    (less,) = asked(*asked_for, "--alternative", "less")["minutes by home: differences"]
    assert (less["alternative"], less["value"]) == ("less", both["value"])
    assert both["p"] < 0.01
    assert less["p"] > 0.99
    shown = run("estimate", *asked_for, "--alternative", "greater").stdout
    assert "one-sided, for above 0" in shown
    of_cities = (reports, "--column", "minutes", "--by", "city", "--contrast", "rest: Nara=1, Uji=-1")
    assert "one-sided, for above 0" in run("estimate", *of_cities, "--alternative", "greater").stdout
