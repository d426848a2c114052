"""`dither central`: a curator's release from a file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.support.terminal import run


@pytest.fixture
def salaries(tmp_path: Path) -> Path:
    path = tmp_path / "salaries.csv"
    rows = "".join(f"{30_000 + 10 * row}\n" for row in range(5000))
    path.write_text("salary\n" + rows + "not a number\n")
    return path


ASK = ("--column", "salary", "--interval", 0, 300_000, "--epsilon", 2)


def test_the_mean_is_near_and_its_promise_is_printed(salaries: Path) -> None:
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


def test_cells_that_are_not_numbers(tmp_path: Path) -> None:
    """They count as the middle, which the output says, or not at all; their number is never told."""
    file = tmp_path / "in.csv"
    file.write_text("pay\n" + "100\n" * 3000 + "unknown\n" * 1000)
    words = ("central", "mean", file, "--column", "pay", "--interval", 0, 100, "--epsilon", 50)
    asked = partial(run, *words)
    assert json.loads(asked("--json").stdout)["value"] == pytest.approx(87.5, abs=0.5)
    assert json.loads(asked("--missing", "drop", "--json").stdout)["value"] == pytest.approx(100, abs=0.5)
    for more in ((), ("--missing", "drop")):
        output = asked(*more).output
        assert "not numbers" in output
        assert "1000" not in output
    assert asked("--missing", "guess").exit_code == 2
    assert "counts as the middle" in " ".join(asked("--help").output.split())
