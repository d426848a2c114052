"""`dither central`: a curator's release from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def salaries(tmp_path: Path) -> Path:
    path = tmp_path / "salaries.csv"
    rows = "".join(f"{30_000 + 10 * row}\n" for row in range(5000))
    path.write_text("salary\n" + rows + "not a number\n")
    return path


ASK = ("--column", "salary", "--interval", 0, 300_000, "--epsilon", 2)


def test_the_mean_is_near_and_its_promise_is_told(salaries: Path) -> None:
    result = run("central", "mean", salaries, *ASK)
    assert result.exit_code == 0, result.output
    assert "ε ≤ 2 for one record" in result.output
    shown = json.loads(run("central", "mean", salaries, *ASK, "--json").output)
    assert shown["low"] <= shown["value"] <= shown["high"]
    assert abs(shown["value"] - 55_000) < 1_000


@pytest.mark.parametrize(("name", "truth", "slack"), [("sum", 275e6, 5e6), ("count", 5001, 30)])
def test_sums_and_counts(salaries: Path, name: str, truth: float, slack: float) -> None:
    shown = json.loads(run("central", name, salaries, *ASK, "--json").output)
    assert abs(shown["value"] - truth) < slack


def test_an_empty_file_is_answered_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("salary\n")
    assert run("central", "mean", path, *ASK).exit_code == 0


def test_wrong_words(salaries: Path) -> None:
    assert (
        run("central", "mean", salaries, "--column", "x", "--interval", 0, 1, "--epsilon", 1).exit_code == 2
    )
    assert (
        run("central", "mean", salaries, "--column", "salary", "--interval", 1, 0, "--epsilon", 1).exit_code
        == 2
    )
    assert (
        run("central", "mean", salaries, "--column", "salary", "--interval", 0, 1, "--epsilon", 0).exit_code
        == 2
    )
