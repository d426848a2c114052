"""`dither compare` and `dither recommend`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.terminal import run


def test_compare(tmp_path: Path) -> None:
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
    assert many.output.removeprefix("people: ").splitlines()[0].isdigit()
    assert "the standard error of a share is at most" in many.output
    assert "Privacy contributes" in many.output
    assert "and sampling at most" in many.output
    alone = run(
        "recommend",
        "--categories",
        2,
        "--goal",
        "frequencies",
        "--epsilon",
        8,
        "--error",
        0.01,
        "--no-sampling",
    )
    assert alone.output.startswith("people: 4\n")
    assert "standard error that privacy adds" in alone.output


def test_goals_of_places() -> None:
    ask = ("recommend", "--rectangle", 30, 20)
    best = json.loads(
        run(*ask, "--goal", "districts", "--cells", 3, 3, "--people", 900, "--epsilon", 1, "--json").output
    )[0]
    assert best["mechanism"] == "SubsetIndices"
    mean = run(*ask, "--goal", "mean-place", "--people", 900, "--epsilon", 1).output
    assert "Sampled(x=Hybrid(…)" in mean
    assert mean.endswith("adds to the mean place (root mean square)\n")
    for words, said in (
        (("--goal", "places", "--people", 9), "the goal 'places' has no option --people"),
        (("--goal", "places", "--cells", 2, 2), "the goal 'places' has no option --cells"),
        (("--goal", "mean", "--people", 9), "for the goal Mean"),
        (("--goal", "places", "--interval", 0, 1), "--rectangle and another one"),
    ):
        refused = run(*ask, *words, "--epsilon", 1)
        assert refused.exit_code != 0
        assert said in refused.output


@pytest.mark.slow
def test_maps_and_single_places_at_the_terminal() -> None:
    ask = ("recommend", "--rectangle", 30, 20, "--json")
    first = json.loads(run(*ask, "--goal", "places", "--epsilon", 2).output)[0]
    assert first["mechanism"] == "Optimal(…, purpose='places')"
    map_of = ("--goal", "map", "--people", 20_000)
    first = json.loads(run(*ask, *map_of, "--epsilon", 2).output)[0]
    assert first["mechanism"] == "Optimal(…, purpose='map')"
    epsilon = json.loads(run(*ask, *map_of, "--error", first["error"]).output)["epsilon"]
    assert abs(epsilon - 2) < 0.3


def test_wrong_words() -> None:
    three = run(
        "recommend", "--interval", 0, 1, "--goal", "mean", "--people", 9, "--epsilon", 1, "--error", 1
    )
    assert three.exit_code == 2
    assert "expected two of --people" in three.output
    for words, said in (
        (("--goal", "mean", "--people", 9, "--bins", 8), "has no option --bins"),
        (("--goal", "values", "--people", 9), "has no option --people"),
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


@pytest.mark.parametrize(
    "words",
    [
        ("--categories", 4),
        pytest.param(("--interval", 0, 1), marks=pytest.mark.slow),
        pytest.param(("--interval", 0, 1, "--goal", "values"), marks=pytest.mark.slow),
        pytest.param(("--interval", 0, 1, "--goal", "quantile", "--people", 900), marks=pytest.mark.slow),
    ],
)
def test_a_comparison_fits_a_terminal(words: tuple[object, ...]) -> None:
    result = run("compare", *words, "--epsilon", 1, "--top", 5)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80
    assert "more: --top" in result.output


@pytest.mark.slow
def test_a_comparison_for_single_values() -> None:
    values = json.loads(
        run("compare", "--interval", 0, 1, "--epsilon", 1, "--goal", "values", "--json").output
    )
    assert values[0]["mechanism"] == "Optimal(loss=absolute)"


@pytest.mark.slow
def test_a_comparison_is_sorted_by_the_goal() -> None:
    rows = json.loads(run("compare", "--interval", 0, 1, "--epsilon", 1, "--json").output)
    errors = [row["error"] for row in rows if row["error"] is not None]
    assert errors == sorted(errors)
    assert "Podium" in {row["mechanism"] for row in rows}
    assert rows[0]["mechanism"] == "Optimal(unbiased=True)"
    assert run("compare", "--interval", 0, 1, "--epsilon", 1, "--goal", "frequencies").exit_code == 2
    assert run("compare", "--interval", 0, 1, "--epsilon", 1, "--top", 0).exit_code == 2


@pytest.mark.parametrize("domain", [("--interval", 0, 1), ("--categories", 4)])
def test_every_name_that_is_printed_can_be_typed(domain: tuple[object, ...]) -> None:
    for row in json.loads(run("compare", *domain, "--epsilon", 1, "--json").output):
        result = run("describe", row["mechanism"], *domain, "--epsilon", 1)
        assert result.exit_code == 0, (row["mechanism"], result.output)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SW.trunkated()", "truncated"),
        ("SW.truncated().perturb()", "there is no variant"),
        ("OGPM(loss=cubed)", "there is no loss"),
        ("Podium(celz=7)", "did you mean cells?"),
        ("Podium(cells=[7])", "a number"),
        ("__import__('os').system('ls')", "there is no mechanism"),
        ("(" * 300, "there is no mechanism"),
    ],
)
def test_names_that_cannot_be_typed(name: str, hint: str) -> None:
    result = run("describe", name, "--interval", 0, 1, "--epsilon", 1)
    assert result.exit_code == 2
    assert hint in result.output


def test_optimal_asks_for_the_goal(tmp_path: Path) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("x\n0.5\n")
    words = ("--column", "x", "--interval", 0, 1, "--epsilon", 1, "-o", out, "--mechanism")
    refused = run("perturb", file, *words, "optimal")
    assert refused.exit_code == 2
    assert "Optimal(unbiased=True)" in refused.output
    assert run("perturb", file, *words, "Optimal(unbiased=True)").exit_code == 0
    assert "Optimal" in run("estimate", out).output
