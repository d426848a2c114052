"""The page on limits states what the code computes: each row of the tables of values and means."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dither as dt
from tests.support.repository import ROOT
from tools.limits import mean_row, value_row

UNIT = dt.Interval(0, 1)
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


def rows(name: str) -> list[list[float]]:
    text = PAGE.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
    lines = re.findall(r"^\| [0-9].*", text, re.M)
    return [[float(cell) for cell in line.strip("| ").split("|")] for line in lines]


def test_values() -> None:
    for row in rows("values"):
        assert value_row(row[0]) == pytest.approx(row, abs=6e-5)
    assert len(rows("values")) == 4


@pytest.mark.slow
def test_means() -> None:
    for row in rows("means"):
        assert mean_row(row[0]) == pytest.approx(row, rel=1e-3)
    assert len(rows("means")) == 4


def test_distributions_are_those_of_the_benchmark() -> None:
    cells: dict[tuple[float, float], list[list[float]]] = {}
    for line in (ROOT / "benchmarks" / "distributions.md").read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.strip("| ").split("|")]
        if len(parts) == 10 and parts[1].isdigit():
            cells.setdefault((float(parts[1]), float(parts[2])), []).append(list(map(float, parts[3:9])))
    text = PAGE.split("<!-- distributions: begin -->")[1].split("<!-- distributions: end -->")[0]
    lines = [line.replace(" 000 ", "000 ") for line in re.findall(r"^\| [0-9].*", text, re.M)]
    stated = [[float(cell) for cell in line.strip("| ").split("|")] for line in lines]
    assert len(stated) == len(cells) == 8
    for n, epsilon, *errors in stated:
        means = np.exp(np.log(cells[n, epsilon]).mean(axis=0))  # W1 of EM, EMS, EB, and L1 of these
        assert errors[:3] == pytest.approx(means[2::-1], abs=5.1e-5, rel=0)
        assert errors[3:] == pytest.approx(means[:2:-1], abs=5.1e-4, rel=0)
