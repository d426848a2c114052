"""The page on limits states what the code computes: each row of the tables of values and means."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import mechanisms
from dither.estimation.linear import length_factor
from tests.support.repository import ROOT
from tools.limits import (
    OTHERS,
    QUESTIONS,
    SPOTS,
    SQUARE,
    direction_bound,
    list_table,
    mean_row,
    place_errors,
    place_tables,
    places,
    question_row,
    set_table,
    value_row,
)

UNIT = dt.Interval(0, 1)
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


def rows(name: str) -> list[list[float]]:
    text = PAGE.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
    lines = re.findall(r"^\| [0-9].*", text, re.M)
    return [[float(cell) for cell in line.strip("| ").split("|")] for line in lines]


@pytest.mark.some("a direction")
@pytest.mark.parametrize("name", ["a direction", "optional number"])
def test_the_row_of_a_question_is_the_one_of_the_program(name: str) -> None:
    (row,) = (row for row in QUESTIONS if name in row[0])
    assert f"\n{question_row(*row)}\n" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_of_a_mean_direction_is_that_of_a_workload(epsilon: float) -> None:
    """On 24 directions the channels of a search and their bound are within 2 % of the closed form."""
    turn = np.arange(24) * np.pi / 12
    solved = dt.optimal.Workload.of([np.cos(turn), np.sin(turn)], epsilon, target=0.01)
    assert solved.bound == pytest.approx(direction_bound(epsilon), rel=0.02)
    assert solved.average_variance >= 0.99 * direction_bound(epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_of_a_mean_direction_is_below_its_reports(epsilon: float) -> None:
    """A report of OGPM is a vector of length 1/ρ, with the direction of the person as its mean."""
    for loss in ("absolute", "squared"):
        longest = length_factor(dt.OGPM(dt.Circle(360), epsilon=epsilon, loss=loss).question)
        assert direction_bound(epsilon) <= 1.0 / longest**2 - 1.0 < 1.06 * direction_bound(epsilon)


def test_values() -> None:
    for row in rows("values"):
        assert value_row(row[0]) == pytest.approx(row, abs=6e-5)
    assert len(rows("values")) == 4


def test_lists_and_sets_are_what_the_program_prints() -> None:
    for name, table in (("lists", list_table()), ("sets", set_table())):
        assert PAGE.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0].strip() == table


@pytest.mark.slow
def test_means() -> None:
    for row in rows("means"):
        assert mean_row(row[0]) == pytest.approx(row, rel=1e-3)
    assert len(rows("means")) == 4


def test_places_are_those_of_the_record() -> None:
    """Both tables are made from it, and a row of it is measured again with other people."""
    for table, mark in zip(place_tables(), ("places", "who pays"), strict=True):
        assert f"<!-- {mark}: begin -->\n{table}\n<!-- {mark}: end -->" in PAGE
    kept, rng = places(), np.random.default_rng(5)
    people = rng.random((4000, 1, 2))
    told = OTHERS["`TraCSC`"](2).perturb(people, source=dt.Seeded(6)).values
    assert np.linalg.norm(told - people, axis=-1).mean() == pytest.approx(
        kept["`TraCSC`, ε = 2"][0], rel=0.04
    )
    centre = np.linalg.norm(rng.random((40_000, 2)) - SPOTS[2], axis=1).mean()
    assert centre == pytest.approx(place_errors("the centre, without asking", 1)[0], rel=0.01)


@pytest.mark.slow
def test_solved_places_are_computed_again() -> None:
    solver: Any = dt.Optimal
    for epsilon in (1, 4):
        found = places()[f'`Optimal`, `purpose="places"`, ε = {epsilon}']
        made = solver(SQUARE, epsilon=epsilon, purpose="places")
        assert [made.average_error(), *made.error(SPOTS)] == pytest.approx(found, rel=1e-3)


def test_distributions_are_those_of_the_benchmark() -> None:
    cells: dict[tuple[float, float], list[list[float]]] = {}
    for line in (ROOT / "tools" / "benchmarks" / "distributions.md").read_text(encoding="utf-8").splitlines():
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


def table_rows(text: str) -> list[list[str]]:
    lines = re.findall(r"^\| [0-9].*", text, re.M)
    return [
        [re.sub(r"(?<=\d) (?=\d)", "", cell.strip()) for cell in line.strip("| ").split("|")]
        for line in lines
    ]


def cells_of(text: str, name: str) -> list[list[str]]:
    rest = text.split(f"<!-- {name}: begin -->")[1]
    return table_rows(rest.split(f"<!-- {name}: end -->", maxsplit=1)[0])


def test_frequencies_are_computed_from_the_integers() -> None:
    """Ratios to subset selection with the best size, averaged over the categories; a default is named."""
    told = cells_of(PAGE, "frequencies")
    assert len(told) == 16
    for size, epsilon, least, default, *others in told:
        answers = dt.Categories(int(size))
        made = dt.SubsetSelection(answers, epsilon=float(epsilon))
        best = made.variance(1 / int(size))
        if made.report_bytes <= 128:  # the size of the sets is the best up to the largest that is designed
            assert float(least) == pytest.approx(best, rel=6e-4)
        for kind, cell in zip((dt.KRR, dt.OUE, dt.OLH, dt.HadamardResponse), others, strict=True):
            ratio = float(cell.split()[0])
            assert kind(answers, epsilon=float(epsilon)).variance(1 / int(size)) / float(
                least
            ) == pytest.approx(ratio, rel=2e-3)
        name = re.search(r"`(.*)`", default)[1]  # type: ignore[index]
        kind = getattr(dt if name in dt.__all__ else mechanisms, name)
        found = kind(answers, epsilon=float(epsilon)).variance(1 / int(size)) / float(least)
        assert found == pytest.approx(float(default.split()[0]), abs=2e-3)


def test_ranges_and_tables_are_those_of_the_page_on_frequencies() -> None:
    """Both pages state one run: bounds, and what reaches them."""
    listed = table_rows((ROOT / "docs" / "frequencies_sums.md").read_text(encoding="utf-8"))
    ranges = {(row[0], row[1]): row for row in listed if len(row) == 8}
    for size, epsilon, bound, reached, hierarchical, subsets in cells_of(PAGE, "ranges"):
        row = ranges[size, epsilon]
        assert float(row[2]) == pytest.approx(float(bound), rel=1e-3)
        for column, ratio in ((3, reached), (6, hierarchical), (7, subsets)):
            assert float(row[column]) / float(row[2]) == pytest.approx(float(ratio), rel=2e-3)
    tables = {row[0]: row for row in listed if len(row) == 5}
    for epsilon, bound, reached, _ in cells_of(PAGE, "tables"):
        assert float(tables[epsilon][1]) == pytest.approx(float(bound), rel=2e-3)
        assert float(tables[epsilon][2]) == pytest.approx(float(reached), abs=1.5e-3)
