"""Raw data are neither destroyed nor leaked: same file, existing output, ragged rows, reports as values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import dither as dt
from dither.cli import main
from dither.errors import InvalidParameter, OutsideDomain

MINUTES = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def raw(folder: Path, text: str = "minutes,city\n12,Berlin\n55,Rome\n") -> Path:
    path = folder / "trips.csv"
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    return done.exit_code, done.output


ASKED = ("--column", "minutes", "--interval", 0, 180, "--epsilon", 1)


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    path = raw(tmp_path)
    before = path.read_bytes()
    hard, soft = tmp_path / "hard.csv", tmp_path / "soft.csv"
    os.link(path, hard)
    soft.symlink_to(path)
    for out in (path, tmp_path / "." / "trips.csv", hard, soft):
        with pytest.raises(InvalidParameter, match="is the input"):
            dt.files.perturb_file(path, out, MINUTES, force=True)
    code, words = run("perturb", path, *ASKED, "-o", path, "--force")
    assert code == 2
    assert "is the input" in words
    assert path.read_bytes() == before


def test_an_existing_output_is_replaced_on_purpose_alone(tmp_path: Path) -> None:
    path, out = raw(tmp_path), tmp_path / "reports.csv"
    out.write_text("precious")
    with pytest.raises(InvalidParameter, match=r"reports\.csv exists.*force"):
        dt.files.perturb_file(path, out, MINUTES)
    code, words = run("perturb", path, *ASKED, "-o", out)
    assert (code, out.read_text()) == (2, "precious")
    assert "--force" in words
    assert run("perturb", path, *ASKED, "-o", out, "--force")[0] == 0
    assert dt.files.summarise_file(out)["minutes"].n == 2


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("minutes,city\n7,Rome\n12,5,Berlin\n", 2),
        ("minutes,city\n12\n", 1),
        ('minutes,city\n1,"a\nb"\n2,c,d\n', 2),
    ],
)
def test_a_ragged_row_is_an_error_that_shows_no_value(tmp_path: Path, text: str, row: int) -> None:
    """A decimal comma would publish the decimals of a private value in the column that is kept."""
    path, out = raw(tmp_path, text), tmp_path / "reports.csv"
    with pytest.raises(InvalidParameter) as caught:
        dt.files.perturb_file(path, out, MINUTES, keep=["city"], missing=dt.Missing.SKIP)
    words = str(caught.value)
    assert "trips.csv" in words
    assert f"row {row}:" in words
    assert "12" not in words
    assert not out.exists()


def test_an_empty_line_is_a_row_without_an_answer(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,city\n12,Berlin\n\n55,Rome\n\n")
    with pytest.raises(OutsideDomain, match="row 2, column 'minutes': the answer is missing"):
        dt.files.perturb_file(path, tmp_path / "reports.csv", MINUTES)
    counts = dt.files.perturb_file(path, tmp_path / "reports.csv", MINUTES, missing=dt.Missing.SKIP)
    assert counts == dt.files.RowCounts(written=2, missing=2)


def test_reports_are_not_randomised_again(tmp_path: Path) -> None:
    path, once, twice = raw(tmp_path), tmp_path / "once.csv", tmp_path / "twice.csv"
    dt.files.perturb_file(path, once, MINUTES)
    with pytest.raises(InvalidParameter, match="holds reports"):
        dt.files.perturb_file(once, twice, MINUTES)
    assert run("perturb", once, *ASKED, "-o", twice)[0] == 2
    assert not twice.exists()


def test_one_column_is_asked_at_a_time(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,age\n12,40\n")
    code, words = run("perturb", path, "--column", "age", *ASKED, "-o", tmp_path / "reports.csv")
    assert code == 2
    assert "--campaign" in words


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = raw(tmp_path, "minutes,city,city\n12,a,b\n")
    with pytest.raises(InvalidParameter, match="more than one column 'city'"):
        dt.files.perturb_file(path, tmp_path / "reports.csv", MINUTES)
