"""Errors at the terminal name options and verbs, never only names of Python."""

import pytest

from dither.cli.in_options import in_options
from tests.support import terminal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use dt.Interval(18, 100)", "use --interval 18 100"),
        ("use dt.Nullable(domain)", "use --optional"),
        ("dt.goals.MeanOfVectors() serves vectors", "--goal mean-vector serves vectors"),
        ("dt.stats.answers serves queries", "dt.stats.answers in Python serves queries"),
        ("a path such as data.csv", "a path such as data.csv"),
    ],
)
def test_a_name_of_the_library_is_an_option_at_the_terminal(text: str, expected: str) -> None:
    assert in_options(text) == expected


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--interval", "0", "180", "--goal", "mean", "--epsilon", "1"], "--people"),
        (["--categories", "a,b", "--goal", "mean", "--people", "9", "--epsilon", "1"], "--goal frequencies"),
        (["--interval", "0", "1", "--goal", "mean", "--people", "0", "--epsilon", "1"], "--people"),
    ],
)
def test_recommend_asks_for_options(options: list[str], remedy: str) -> None:
    result = terminal.run("recommend", *options)
    assert result.exit_code == 2
    assert remedy in result.stderr
    assert "dt." not in result.stderr


@pytest.mark.parametrize("verb", ["recommend", "compare"])
def test_rankings_fit_80_columns_and_mark_ties(verb: str) -> None:
    goal = ["--goal", "frequencies", "--people", "1000"]
    printed = terminal.run(verb, "--categories", "yes,no", "--epsilon", "1", *goal).stdout
    assert all(len(line) <= 80 for line in printed.splitlines())
    tied = [line for line in printed.splitlines() if "=" in line.removeprefix("Frequencies(n=1000)")]
    assert any("KRR" in line for line in tied)
    assert not any("OLH" in line for line in tied)
