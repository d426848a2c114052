"""`dither estimate`: what a file of reports says, with its errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.terminal import run

CAMPAIGN = """
[questions.minutes]
interval = [0, 180]
epsilon = 4
mechanism = "SW"

[questions.heading]
circle = 360
epsilon = 4

[questions.browser]
categories = ["firefox", "chrome", "other"]
epsilon = 4
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(4)
    rows = zip(
        rng.normal(60, 10, 4000).clip(0, 180),
        rng.normal(350, 10, 4000) % 360,
        rng.choice(["firefox", "chrome", "other"], 4000, p=[0.2, 0.7, 0.1]),
        strict=True,
    )
    lines = [json.dumps({"minutes": m, "heading": h, "browser": b}) for m, h, b in rows]
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "ask.toml").write_text(CAMPAIGN)
    out = folder / "reports.csv"
    result = run("perturb", folder / "in.jsonl", "--campaign", folder / "ask.toml", "-o", out)
    assert result.exit_code == 0, result.output
    return out


def test_every_question_is_answered(reports: Path) -> None:
    result = run("estimate", reports)
    assert result.exit_code == 0, result.output
    assert "minutes: 4000 reports of SW" in result.output
    assert "chrome" in result.output
    assert "±" in result.output
    found = json.loads(run("estimate", reports, "--json").output)
    minutes, heading, browser = found["minutes"][0], found["heading"][0], found["browser"][0]
    assert minutes["low"] - 3 < 60 < minutes["high"] + 3
    assert abs(heading["value"] - 350) < 10
    assert browser["labels"][int(np.argmax(browser["value"]))] == "chrome"


def test_distributions_and_quantiles(reports: Path) -> None:
    words = ("estimate", reports, "--column", "minutes", "--bins", 8, "--quantile", 0.5)
    assert "quantile 0.5" in run(*words).output
    (_, quantile, distribution) = json.loads(run(*words, "--json").output)["minutes"]
    assert abs(quantile["value"] - 60) < 15
    assert sum(distribution["probabilities"]) == pytest.approx(1.0)


def test_options_for_numbers_are_refused_for_categories(reports: Path) -> None:
    for option in (("--bins", 8), ("--quantile", 0.5)):
        refused = run("estimate", reports, "--column", "browser", *option)
        assert refused.exit_code == 2
        assert "got categories" in refused.output
    shown = json.loads(run("estimate", reports, "--column", "minutes", "--bins", 4, "--json").output)
    assert [one["answer"] for one in shown["minutes"]] == ["mean", "distribution"]


def test_trips_are_for_another_verb(tmp_path: Path) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("id,lat,lon\nx,35.6,139.6\n")
    box = ("--box", 139.4, 35.5, 140.0, 36.0)
    run("trajectory", "perturb", file, *box, "--epsilon", 2, "-o", out)
    refused = run("estimate", out)
    assert refused.exit_code == 2
    assert "dither trajectory density" in refused.output


def test_wrong_words(reports: Path, tmp_path: Path) -> None:
    assert "no question" in run("estimate", reports, "--column", "x").output
    foreign = tmp_path / "plain.csv"
    foreign.write_text("a,b\n1,2\n")
    result = run("estimate", foreign)
    assert result.exit_code == 2
    assert "expected a file of reports" in result.output


def test_an_option_that_one_question_lacks_is_said_for_that_question(reports: Path) -> None:
    result = run("estimate", reports, "--quantile", 0.5)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any(line.startswith("  quantile 0.5: ") for line in lines)
    assert sum(line.startswith("  no quantile 0.5: ") for line in lines) == 2  # the angle, the browser
    found = json.loads(run("estimate", reports, "--quantile", 0.5, "--json").output)
    assert "problem" in found["heading"][1]
    assert "value" in found["minutes"][1]
    assert run("estimate", reports, "--column", "heading", "--quantile", 0.5).exit_code == 2
    assert run("estimate", reports, "--quantile", 1.5).exit_code == 2


def test_several_files_are_added(reports: Path, tmp_path: Path) -> None:
    other = tmp_path / "more.csv"
    other.write_bytes(reports.read_bytes())
    both = json.loads(run("estimate", reports, other, "--json").stdout)
    once = json.loads(run("estimate", reports, "--json").output)
    assert both["minutes"][0]["n"] == 2 * once["minutes"][0]["n"]
    assert both["minutes"][0]["value"] == pytest.approx(once["minutes"][0]["value"])
    pattern = json.loads(run("estimate", tmp_path / "m*.csv", "--json").output)
    assert pattern == once
    for words, hint in (((tmp_path / "n*.csv",), "file not found"), ((tmp_path / "none.csv",), "none.csv")):
        refused = run("estimate", *words)
        assert (refused.exit_code, hint in refused.output) == (2, True)
    different = tmp_path / "different.csv"
    raw = tmp_path / "raw.csv"
    raw.write_text("minutes\n5\n")
    asked = ("--column", "minutes", "--interval", 0, 180, "--epsilon", 1)
    run("perturb", raw, *asked, "-o", different)
    refused = run("estimate", reports, different)
    assert refused.exit_code == 2
    assert "different.csv has the questions minutes" in refused.output
    assert "1 report of" in run("estimate", different).output


def test_reports_out_of_a_database(tmp_path: Path) -> None:
    import dither as dt

    question = dt.Podium(dt.Interval(0, 180), epsilon=2)
    spec, table = tmp_path / "minutes.json", tmp_path / "export.csv"
    spec.write_text(question.to_json())
    cells = question.perturb([60.0] * 500, source=dt.Seeded(3)).cells.tolist()
    table.write_text("id;report\n" + "".join(f"{row};{cell}\n" for row, cell in enumerate(cells)))
    words = ("--column", "report", "--question", spec)
    assert json.loads(run("estimate", table, *words, "--json").output)["report"][0]["n"] == 500
    assert "--question" in run("estimate", table).output
    assert "--column" in run("estimate", table, "--question", spec).output
    table.write_text(table.read_text() + "500;99999\n")
    refused = run("estimate", table, *words)
    assert refused.exit_code == 2
    assert "export.csv, row 501, column 'report'" in refused.output
    assert "99999" not in refused.output


def test_answers_that_are_multiples_are_declared_by_a_step(reports: Path) -> None:
    found = run("estimate", reports, "--column", "minutes", "--step", 20, "--json")
    (mean, shape) = json.loads(found.output)["minutes"]
    assert mean["answer"] == "mean"
    assert shape["edges"] == pytest.approx([0, *range(10, 180, 20), 180])
    assert sum(shape["probabilities"]) == pytest.approx(1)
    assert np.argmax(shape["probabilities"]) == 3  # about 60
    stepped = run("estimate", reports, "--column", "minutes", "--step", 20).output  # a row for each answer
    assert [line.split()[0] for line in stepped.splitlines()[3:]][:10] == [
        str(20 * step) for step in range(10)
    ]
    for wrong, why in ((0, "step"), (1000, "step")):
        assert why in run("estimate", reports, "--column", "minutes", "--step", wrong).output
    assert "numbers" in run("estimate", reports, "--column", "browser", "--step", 20).output
    assert "leave out" in run("estimate", reports, "--step", 20, "--by", "city").output


def test_values_that_were_clipped_are_named(tmp_path: Path) -> None:
    survey, reports, table = (tmp_path / name for name in ("q.toml", "out.csv", "t.csv"))
    narrow = "[questions.narrow]\ninterval = [10, 100]\nclipped = true\noutside = [0.012, 0.004, 0.02]\n"
    narrow += 'epsilon = 2\nmechanism = "Podium"\n'
    wide = '[questions.wide]\ninterval = [0, 1440]\nscale = "log"\nepsilon = 4\n'
    survey.write_text(narrow + wide, encoding="utf-8")
    (tmp_path / "in.csv").write_text("wide,narrow\n" + "44,5\n50,60\n" * 1000, encoding="utf-8")
    assert (
        run("perturb", str(tmp_path / "in.csv"), "--campaign", str(survey), "-o", str(reports)).exit_code == 0
    )
    name = "mean of values clipped to [10, 100]"
    told = json.loads(run("estimate", str(reports), "--json").stdout)
    assert told["narrow"][0]["answer"] == name
    assert told["narrow"][0]["outside"] == {"share": 0.012, "low": 0.004, "high": 0.02}
    assert told["wide"][0]["labels"] == ["quantile 0.02", "quantile 0.98"]
    shown = run("estimate", str(reports), "-o", str(table)).output
    assert f"{name}: " in shown
    assert "0.4 – 2 % outside (estimate 1.2 %)" in shown
    assert "to ask others on: [" in shown
    assert f'"{name}",0.012,0.004,0.02' in table.read_text(encoding="utf-8")
    survey.write_text(narrow, encoding="utf-8")
    query = run("sql", str(survey), "--dialect", "duckdb", "--estimate").output
    assert f"'{name}' AS quantity" in query
    assert "AS outside_high" in query
