"""Errors at the terminal name options and verbs, never only names of Python."""

import re
from pathlib import Path

import pytest

import dither as dt
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
        ("keep it with keep=[…]", "keep it with --keep COLUMN"),
        ("pass Dialect(items_sep=…)", "pass --items-sep CHARACTER"),
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


@pytest.mark.parametrize(
    ("column", "more", "remedy"),
    [
        ("x", ["--interval", "0", "9"], "name the words that mean no answer with --na WORD"),
        ("comma", ["--interval", "0", "9"], "--decimal ,"),
        ("large", ["--interval", "0", "9"], "use --outside clip"),
        ("empty", ["--interval", "0", "9"], "--missing skip"),
    ],
)
def test_errors_about_cells_name_options_and_in_python_arguments(
    column: str, more: list[str], remedy: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.csv"
    path.write_text('x,comma,large,empty,full\nabc,"1,5",10,,1\n')
    result = terminal.run(
        "perturb", path, "--column", column, *more, "--epsilon", 1, "-o", tmp_path / "o.csv"
    )
    assert remedy in result.stderr
    assert not re.search(r"Dialect|outside=|missing=|dt\.", result.stderr)
    with pytest.raises(dt.errors.DitherError) as raised:
        dt.data.perturb_file(path, tmp_path / "o.csv", {column: dt.Podium(dt.Interval(0, 9), epsilon=1)})
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("verb", ["recommend", "compare"])
def test_rankings_fit_80_columns_and_mark_ties(verb: str) -> None:
    goal = ["--goal", "frequencies", "--people", "1000"]
    printed = terminal.run(verb, "--categories", "yes,no", "--epsilon", "1", *goal).stdout
    assert all(len(line) <= 80 for line in printed.splitlines())
    tied = [line for line in printed.splitlines() if "=" in line and "ε =" not in line]
    assert any("KRR" in line for line in tied)
    assert not any("OLH" in line for line in tied)
