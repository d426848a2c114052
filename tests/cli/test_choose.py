"""`dither compare` and `dither recommend`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from dither.cli import main


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_compare(tmp_path: Path) -> None:
    shown = run("compare", "--interval", 0, 1, "--epsilon", 1)
    assert shown.exit_code == 0, shown.output
    assert "Podium" in shown.output
    rows = json.loads(run("compare", "--categories", 10, "--epsilon", 1, "--json").output)
    assert len(rows) > 3
    picture = tmp_path / "errors.png"
    assert run("compare", "--circle", 360, "--epsilon", 1, "--plot", picture).exit_code == 0
    assert picture.stat().st_size > 5000


def test_recommend() -> None:
    ask = ("recommend", "--interval", 0, 180, "--goal", "mean")
    ranked = json.loads(run(*ask, "--people", 10_000, "--epsilon", 1, "--json").output)
    assert ranked[0]["error"] <= ranked[1]["error"]
    people = json.loads(run(*ask, "--epsilon", 1, "--error", 0.5, "--json").output)["people"]
    epsilon = json.loads(run(*ask, "--people", people, "--error", 0.5, "--json").output)["epsilon"]
    assert abs(epsilon - 1) < 0.05


def test_a_goal_is_said_in_full() -> None:
    ask = ("recommend", "--interval", 0, 1, "--epsilon", 2, "--json")
    best = json.loads(run(*ask, "--goal", "values", "--loss", "squared", "--criterion", "average").output)[0]
    assert best["mechanism"] == "Optimal(loss=squared, criterion=average)"
    best = json.loads(run(*ask, "--goal", "mean", "--people", 10, "--criterion", "average").output)[0]
    assert best["mechanism"] == "Optimal(unbiased=True, criterion=average)"
    judged = run("compare", "--circle", 360, "--epsilon", 1, "--loss", "1.5", "--json")
    assert "worst power(1.5)" in json.loads(judged.output)[0]
    many = run("recommend", "--categories", 30, "--goal", "frequencies", "--epsilon", 1, "--error", 1e-4)
    assert many.output.startswith("people: ")
    assert many.output.removeprefix("people: ").strip().isdigit()


def test_wrong_words() -> None:
    three = run(
        "recommend", "--interval", 0, 1, "--goal", "mean", "--people", 9, "--epsilon", 1, "--error", 1
    )
    assert three.exit_code == 2
    assert "give two" in three.output
    for words, said in (
        (("--goal", "mean", "--people", 9, "--bins", 8), "--bins is not an option"),
        (("--goal", "values", "--people", 9), "--people is not an option"),
        (("--goal", "values", "--loss", "cubed"), "a power"),
        (("--goal", "distribution", "--people", 9, "--bins", 1), "bins"),
    ):
        done = run("recommend", "--interval", 0, 1, "--epsilon", 1, *words)
        assert done.exit_code == 2
        assert said in done.output
    assert run("compare", "--interval", 0, 1, "--epsilon", 1, "--loss", "no").exit_code == 2
    assert run("compare", "--epsilon", 1).exit_code == 2
    assert run("recommend", "--interval", 0, 1, "--goal", "mean").exit_code == 2
    assert (
        run("recommend", "--categories", 4, "--goal", "mean", "--people", 10, "--epsilon", 1).exit_code == 2
    )
