"""`dither perturb`: what is written, what stays behind, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.core.questionnaire import Questionnaire
from dither.data.files import perturb_file
from dither.data.report_files import summarise_file
from tests.support.repository import ROOT
from tests.support.terminal import run

SECRET = "987654.321"


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    minutes = np.random.default_rng(1).gamma(4, 10, 500).clip(0, 180)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "minutes", "mode", "city"])
        for row, value in enumerate(minutes):
            writer.writerow([row % 400, f"{value:.3f}", ["bus", "car"][row % 2], "Bern"])
    return path


ASK = ("--column", "minutes", "--interval", 0, 180, "--epsilon", 1)


def test_reports_and_their_specification_are_all_that_is_written(trips: Path) -> None:
    out = trips.with_name("reports.csv")
    result = run("perturb", trips, *ASK, "-o", out)
    assert result.exit_code == 0, result.output
    assert "500 reports" in result.output
    assert "ε ≤ 1" in result.output
    lines = out.read_text().splitlines()
    assert lines[0].startswith("# dither {")
    assert lines[1] == "minutes"
    assert len(lines) == 502
    (summary,) = summarise_file(out).values()
    assert summary.n == 500
    assert summary.question == dt.Optimal(dt.Interval(0, 180), epsilon=1, unbiased=True).question
    assert list(trips.parent.glob(".*")) == []


def test_json_lines_and_kept_columns(trips: Path) -> None:
    out = trips.with_name("reports.jsonl")
    result = run("perturb", trips, *ASK, "--mechanism", "podium", "--keep", "city", "-o", out, "--json")
    assert json.loads(result.output)["written"] == 500
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(rows[1]) == {"minutes", "city"}
    assert summarise_file(out)["minutes"].n == 500


def test_only_the_first_row_of_a_person_counts(trips: Path) -> None:
    result = run("perturb", trips, *ASK, "--person", "id", "-o", trips.with_name("r.csv"))
    assert "400 reports" in result.output
    assert "100 repeated" in result.output


def test_a_question_is_never_kept(trips: Path) -> None:
    result = run("perturb", trips, *ASK, "--keep", "minutes", "-o", trips.with_name("r.csv"))
    assert result.exit_code == 2
    assert "leak" in result.output


@pytest.mark.parametrize("bad", [SECRET, "abc", "nan", "inf", "-1"])
def test_a_bad_value_is_named_by_its_place_alone(trips: Path, bad: str) -> None:
    lines = trips.read_text().splitlines()
    lines[100] = f"7,{bad},bus,Bern"
    trips.write_text("\n".join(lines) + "\n")
    out = trips.with_name("r.csv")
    result = run("perturb", trips, *ASK, "-o", out)
    assert result.exit_code == 2
    assert "trips.csv, row 100, column 'minutes'" in result.output
    assert SECRET not in result.output
    assert "abc" not in result.output
    assert not out.exists()
    assert list(trips.parent.glob(".*")) == []


def test_missing_answers_are_an_error_unless_declared_public(trips: Path) -> None:
    lines = trips.read_text().splitlines()
    lines[3] = "7,,bus,Bern"
    trips.write_text("\n".join(lines) + "\n")
    out = trips.with_name("r.csv")
    refused = run("perturb", trips, *ASK, "-o", out)
    assert refused.exit_code == 2
    assert "row 3" in refused.output
    assert "public" in refused.output
    skipped = run("perturb", trips, *ASK, "--missing", "skip", "-o", out)
    assert "499 reports" in skipped.output
    assert "1 unanswered" in skipped.output


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--column", "minutes", "--epsilon", 1), "domain"),
        (("--interval", 0, 180, "--epsilon", 1), "--column"),
        (("--column", "nothing", "--interval", 0, 180, "--epsilon", 1), "no column 'nothing'"),
        (("--column", "minutes", "--interval", 180, 0, "--epsilon", 1), "below"),
        (("--column", "minutes", "--interval", 0, 180, "--epsilon", 0), "positive"),
        (("--column", "minutes", "--interval", 0, 180, "--epsilon", 1, "--mechanism", "magic"), "Podium"),
        (("--column", "minutes", "--interval", 0, 180, "--circle", 3, "--epsilon", 1), "one domain"),
        (("--column", "minutes", "--categories", 5, "--epsilon", 1, "--mechanism", "jrr"), "from Python"),
    ],
)
def test_wrong_words(trips: Path, words: tuple[object, ...], hint: str) -> None:
    result = run("perturb", trips, *words, "-o", trips.with_name("r.csv"))
    assert result.exit_code == 2
    assert hint in result.output


def test_an_unknown_ending_is_refused(trips: Path) -> None:
    result = run("perturb", trips, *ASK, "-o", trips.with_name("r.xyz"))
    assert result.exit_code == 2
    assert ".csv" in result.output


CAMPAIGN = """
[questions.minutes]
interval = [0, 180]
epsilon = 0.5
mechanism = "SW"

[questions.heading]
circle = 360
epsilon = 0.25
loss = "squared"
"""


def test_a_campaign_asks_several_questions(tmp_path: Path) -> None:
    campaign = Questionnaire.from_toml(CAMPAIGN)
    assert campaign.guarantee.epsilon == pytest.approx(0.75)
    assert Questionnaire.from_json(campaign.to_json()) == campaign
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"minutes": i % 180, "heading": i % 360}) + "\n" for i in range(300)))
    counts = perturb_file(path, tmp_path / "out.csv", campaign, source=dt.Seeded(1))
    assert counts.written == 300
    assert {name: part.n for name, part in summarise_file(tmp_path / "out.csv").items()} == {
        "minutes": 300,
        "heading": 300,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml",
        "[questions.a]\nepsilon = 1",
        "[questions.a]\ninterval = [0, 1]",
        "[questions.a]\ninterval = [0]\nepsilon = 1",
        "[questions.a]\ninterval = [0, 1]\nepsilon = 1\nmagic = 2",
        "[questions.a]\ninterval = [0, 1]\nepsilon = 1\nloss = 'cubed'",
    ],
)
def test_campaigns_that_cannot_be_read(text: str) -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Questionnaire.from_toml(text)


def test_a_broken_report_is_named_by_its_place(trips: Path) -> None:
    out = trips.with_name("reports.csv")
    run("perturb", trips, *ASK, "-o", out)
    lines = out.read_text().splitlines()
    for bad in ("x", "-5", "70000", ""):
        out.write_text("\n".join([*lines[:10], bad, *lines[11:]]) + "\n")
        with pytest.raises(dt.errors.MalformedReport):
            summarise_file(out)


def test_help_teaches_by_examples() -> None:
    assert "dither perturb trips.csv" in run("perturb", "--help").output
    assert run("--help").exit_code == 0
    assert run("nonsense").exit_code == 2
    assert json.loads(run("version", "--json").output)["dither"]


def test_audit_and_describe() -> None:
    words = ("podium", "--interval", 18, 100, "--epsilon", 1)
    assert "holds" in run("audit", *words).output
    assert json.loads(run("audit", *words, "--json").output)["ok"] is True
    assert "Podium on [18, 100]" in run("describe", *words).output
    assert json.loads(run("describe", *words, "--json").output)["mechanism"] == "Podium"
    assert run("audit", "podium", "--epsilon", 1).exit_code == 2


def test_audit_names_what_is_assumed(tmp_path: Path) -> None:
    near = dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)
    question = tmp_path / "near.json"
    question.write_text(near.to_json(), encoding="utf-8")
    refused = run("audit", question, "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.output)["assumptions"] == list(near.guarantee.assumes)
    assert "not accepted: that two values differ by at most 0.1" in run("audit", question).output
    accepted = run("audit", question, "--assume", near.guarantee.assumes[0], "--json")
    assert accepted.exit_code == 0
    assert json.loads(accepted.output)["problems"] == []


def test_the_example_campaign_is_true() -> None:
    campaign = Questionnaire.read(ROOT / "examples" / "survey.toml")
    assert list(campaign.questions) == ["minutes", "heading", "browser"]
    assert campaign.guarantee.epsilon == pytest.approx(2.0)


def test_a_campaign_about_kept_changes_is_refused_with_the_way_to_draw_them(tmp_path: Path) -> None:
    """One answer by the mechanism of the question is not a report that the campaign asks for."""
    asked, values, out = (tmp_path / name for name in ("moved.toml", "moved.csv", "reports.csv"))
    terms = 'name = "moved"\nversion = 1\nasker = "Town"\ncontact = "a@example.org"\npurpose = "moves"\n'
    when = "begins = 2026-05-01\nends = 2026-05-30\nrepeat = {}\n"
    question = '[questions.moved]\ncategories = ["no", "yes"]\nepsilon = 1\n'
    values.write_text("id,moved\n1,yes\n1,no\n2,no\n")
    for repeat, refused in (('"kept change"\ndays = 30\nchanges = 2', True), ('"same"', False)):
        asked.write_text(f"[campaign]\n{terms}{when.format(repeat)}{question}")
        result = run("perturb", values, "--campaign", asked, "--person", "id", "-o", out)
        assert result.exit_code == (2 if refused else 0), result.output
        assert ("draw them with dt.KeptChange" in result.output) == refused == (not out.exists())
