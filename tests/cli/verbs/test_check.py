"""`dither check`, and the options of files that `dither perturb` shares with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.terminal import run

ASKED = ("--column", "minuten", "--interval", 0, 180)
TEXT = "minuten;stadt\n12,5;Köln\nNA;Rom\n300;Paris\n17;Wien\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "umfrage.csv"
    path.write_text(TEXT, encoding="cp1252")
    return path


def test_cells_that_do_not_fit_are_printed(file: Path) -> None:
    assert "--encoding cp1252" in run("check", file, *ASKED).output
    result = run("check", file, *ASKED, "--encoding", "cp1252")
    assert result.exit_code == 1
    assert "--decimal ," in result.output
    assert "rows 1, 2" in result.output
    words = (*ASKED, "--encoding", "cp1252", "--decimal", ",", "--na", "NA", "--json")
    found = json.loads(run("check", file, *words).output)["minuten"]
    assert found == {
        "cells": 4,
        "fit": 2,
        "missing": 1,
        "not a number": 0,
        "outside": 1,
        "rows": {"missing": [2], "outside": [3]},
    }
    assert not any(word in result.output for word in ("12,5", "300", "Rom"))


def test_a_campaign_is_checked_column_by_column(file: Path, tmp_path: Path) -> None:
    campaign = tmp_path / "survey.toml"
    campaign.write_text(
        "[questions.minuten]\ninterval = [0, 500]\nepsilon = 1\n"
        "[questions.stadt]\ncategories = ['Köln', 'Rom', 'Paris', 'Wien']\nepsilon = 1\n"
    )
    options = ("--encoding", "cp1252", "--decimal", ",")
    result = run("check", file, "--campaign", campaign, *options)
    assert result.exit_code == 1
    assert result.output.splitlines()[2].split() == ["stadt", "4", "0", "0", "0", "4"]
    file.write_text(TEXT.replace("NA", "3"), encoding="cp1252")
    result = run("check", file, "--campaign", campaign, *options)
    assert (result.exit_code, "every cell fits" in result.output) == (0, True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "--column and a domain"),
        (("--column", "stadt"), "--column and a domain"),
        ((*ASKED, "--sep", "::"), "one character"),
        ((*ASKED, "--encoding", "klingon"), "got 'klingon'"),
        (("--column", "a", "--column", "b"), "--campaign"),
        (("--column", "minute", "--interval", 0, 1, "--encoding", "cp1252"), "did you mean minuten?"),
    ],
)
def test_wrong_words(file: Path, words: tuple[object, ...], hint: str) -> None:
    result = run("check", file, *words)
    assert result.exit_code == 2
    assert hint in result.output


def test_a_pipe_in_and_a_pipe_out(file: Path, tmp_path: Path) -> None:
    options = ("--decimal", ",", "--na", "NA", "--missing", "skip", "--outside", "skip", "--epsilon", 1)
    result = run("perturb", "-", *ASKED, *options, "-o", "-", input=TEXT.encode())
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# dither ")
    assert len(result.stdout.splitlines()) == 4
    assert "2 reports in standard output; left out: 1 unanswered, 1 outside" in result.stderr
    told = run("estimate", "-", "--json", input=result.stdout.encode())
    assert json.loads(told.output)["minuten"][0]["n"] == 2
    refused = run("perturb", "-", *ASKED, "--epsilon", 1, "-o", "-", input=TEXT.encode())
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_excel_in_and_out(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["minuten", "stadt"],
        [12.5, "Köln"],
        ["n/a", "Rom"],
        [None, None],
        [17, "Wien"],
        ["18", None],
    ):
        book.active.append(row)
    path, out = tmp_path / "umfrage.xlsx", tmp_path / "reports.xlsx"
    book.save(path)
    found = json.loads(run("check", path, *ASKED, "--na", "n/a", "--json").output)["minuten"]
    assert (found["fit"], found["missing"], found["rows"]) == (3, 2, {"missing": [2, 3]})
    words = ("--na", "n/a", "--missing", "skip", "--epsilon", 1, "--keep", "stadt", "-o", out)
    assert run("perturb", path, *ASKED, *words).exit_code == 0
    assert "3 reports" in run("estimate", out).output
    damaged = tmp_path / "damaged.xlsx"
    damaged.write_bytes(out.read_bytes()[:900])
    assert "damaged.xlsx to be a valid .xlsx file" in run("estimate", damaged).output


def test_texts_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "ages.csv"
    file.write_text("minuten\n30\nunknown\n400\nunknown\n", encoding="utf-8")
    result = run("check", file, *ASKED, "--show")
    assert result.exit_code == 1
    rows = [line.split() for line in result.output.splitlines()[1:]]
    assert rows == [
        ["minuten,", "not", "a", "number", "'unknown'", "2", "2"],
        ["minuten,", "outside", "'400'", "1", "3"],
    ]
