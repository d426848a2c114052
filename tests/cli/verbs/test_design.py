"""`dither design`, and the verbs that read what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dither as dt
from dither.core.questionnaire import Questionnaire
from tests.support.terminal import run


def test_design_prints_the_error_and_its_gap() -> None:
    shown = run("design", "--interval", 0, 1, "--epsilon", 1)
    assert shown.exit_code == 0, shown.output
    for part in ("worst absolute error", "0.316", "no mechanism has less", "gap", "shipped", "ε ≤ 1"):
        assert part in shown.output
    between = run("design", "--interval", 0, 1, "--epsilon", 1.3, "--unbiased", "--criterion", "average")
    assert "average variance" in between.output
    assert "between two shipped ones" in between.output


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("--loss", "squared"), {"loss": "squared"}),
        (("--loss", "2", "--criterion", "average"), {"loss": "squared", "criterion": "average"}),
        (("--unbiased",), {"unbiased": True}),
    ],
)
def test_numbers_are_those_of_the_mechanism(words: tuple[str, ...], made: dict[str, object]) -> None:
    answer = json.loads(run("design", "--interval", -3, 7, "--epsilon", 2, *words, "--json").output)
    best = dt.Optimal(dt.Interval(-3, 7), epsilon=2, **made)  # type: ignore[arg-type]
    assert answer["error"] == pytest.approx(best.certificate.error, rel=1e-12)
    assert answer["bound"] == pytest.approx(best.certificate.bound, rel=1e-12)
    assert answer["gap"] == pytest.approx(best.gap, rel=1e-6)
    assert answer["bytes"] == best.report_bytes


def test_on_a_circle() -> None:
    answer = json.loads(run("design", "--circle", 360, "--epsilon", 1, "--loss", 1.5, "--json").output)
    rival = dt.OGPM(dt.Circle(360), epsilon=1, loss=1.5).worst_error(1.5)
    assert answer["bound"] == pytest.approx(rival, rel=1e-9)
    assert answer["design"] == "in closed form"


def test_other_verbs_read_the_file(tmp_path: Path) -> None:
    spec, picture = tmp_path / "minutes.json", tmp_path / "shape.png"
    done = run("design", "--interval", 0, 180, "--epsilon", 1, "--unbiased", "-o", spec, "--plot", picture)
    assert done.exit_code == 0, done.output
    assert picture.stat().st_size > 5000
    made = dt.from_json(spec.read_text())
    assert made.design() == dt.Optimal(dt.Interval(0, 180), epsilon=1, unbiased=True)
    assert "Optimal on [0, 180]" in run("describe", spec).output
    assert "holds" in run("audit", spec).output
    people = tmp_path / "people.csv"
    people.write_text("minutes\n" + "\n".join(map(str, range(0, 180, 3))) + "\n")
    reports = tmp_path / "reports.csv"
    done = run("perturb", people, "--column", "minutes", "--mechanism", spec, "-o", reports)
    assert done.exit_code == 0, done.output
    assert "60 reports" in done.output
    estimated = run("estimate", reports, "--json")
    assert estimated.exit_code == 0, estimated.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interval", 0, 1, "--epsilon", 9), "from 0.05 to 8"),
        (("--interval", 0, 1, "--epsilon", "nan"), "ε"),
        (("--interval", 1, 0, "--epsilon", 1), "low"),
        (("--epsilon", 1), "expected a domain"),
        (("--categories", 3, "--epsilon", 1), "interval or a circle"),
        (("--interval", 0, 1, "--epsilon", 1, "--loss", "cubed"), "a power"),
        (("--interval", 0, 1, "--epsilon", 1, "--loss", -1), "a power"),
        (("--interval", 0, 1, "--epsilon", 1, "--unbiased", "--loss", "absolute"), "variance"),
        (("--circle", 360, "--epsilon", 1, "--unbiased"), "circle"),
        (("--interval", 0, 1, "--epsilon", 1, "--criterion", "median"), "worst"),
        (("--interval", 0, 1, "--epsilon", 1, "-o", "design.txt"), ".json"),
    ],
)
def test_wrong_words(words: tuple[object, ...], said: str) -> None:
    done = run("design", *words)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


def test_wrong_files(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    assert "cannot read" in run("audit", broken).output
    broken.write_text("{}")
    assert run("audit", broken).exit_code == 2
    done = run("audit", broken, "--epsilon", 1)
    assert done.exit_code == 2
    assert "leave them out" in done.output
    assert "--epsilon" in run("describe", "podium", "--interval", 0, 1).output
    nowhere = run("design", "--interval", 0, 1, "--epsilon", 1, "-o", tmp_path / "no" / "such.json")
    assert nowhere.exit_code != 0
    assert "Traceback" not in nowhere.output
    assert [file.name for file in tmp_path.iterdir()] == ["broken.json"]  # no half-written file is left


def test_a_campaign_names_a_solved_mechanism() -> None:
    table = '[questions.age]\ninterval = [18, 100]\nepsilon = 1\nmechanism = "optimal"\n'
    asked = Questionnaire.from_toml(table + 'unbiased = true\ncriterion = "average"\n')
    best = dt.Optimal(dt.Interval(18, 100), epsilon=1, unbiased=True, criterion="average")
    assert asked.questions["age"].design() == best
    with pytest.raises(dt.errors.InvalidParameter, match="age"):
        Questionnaire.from_toml(table + 'criterion = "median"\n')
