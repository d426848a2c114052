"""`dither demo`: answers, an audit, a comparison and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.terminal import run


def test_the_demo(tmp_path: Path) -> None:
    result = run("demo", "--people", "5000", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert "mean age" in result.output
    assert "holds" in result.output
    assert all(len(line) <= 80 for line in result.output.splitlines() if "Pictures" not in line)
    assert {file.name for file in tmp_path.iterdir()} == {"commute.png", "reports.png", "errors.png"}


@pytest.mark.slow
def test_the_demo_as_json(tmp_path: Path) -> None:
    result = run("demo", "--people", "5000", "-o", tmp_path, "--json")
    shown = json.loads(result.output)
    assert shown["ok"]
    assert len(shown["answers"]) == 7
    assert run("demo", "--people", "3").exit_code == 2
