"""`dither estimate`: what a file of reports says, with its errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from dither.cli import main

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


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


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
        assert "these answers are categories" in refused.output
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
    assert "not a file of reports" in result.output
