"""The papers' figures come out as expected; the frame around them resumes and reports."""

from __future__ import annotations

import json
import re
import warnings
from fractions import Fraction
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from dither.core.domains import Categories
from dither.core.reports import DecodedValues
from dither.errors import InvalidParameter, MissingExtra
from dither.extensions.central.release import quotient
from dither.mechanisms.joint.joint import JRR
from dither_papers import ExpectedNumber, Figure, Setting, figures, run
from dither_papers.add_remove import literal, midpoint
from dither_papers.jrr import estimates
from dither_papers.reproduce import SECTIONS, deviations
from tests.support import terminal
from tests.support.repository import DATA

QUICK = Setting(quick=True, data=DATA if DATA.is_dir() else None)
FAST = (
    "ogpm",
    "jrr-t",
    "jrr-figure-b",
    "podium",
    "add_remove-figure-1",
    "add_remove-figure-2",
)  # how a figure's slug begins; the others simulate
SLOW = {
    *(
        "ogpm-monte-carlo",
        "ogpm-example-3-5",
        "ogpm-section-7-2",
        "ogpm-headlines",
        "podium-table-ii",
        "ogpm-figure-1-2",
    ),
    *("ogpm-example-6-1", "jrr-theorem-3", "jrr-figure-b-1"),
    *(f"ogpm-figure-{number}" for number in (7, *range(9, 18))),
    *("podium-figure-5", "podium-figure-6", "add_remove-figure-2"),
}
CHOSEN = [
    pytest.param(
        figure,
        id=figure.slug,
        marks=[] if figure.slug.startswith(FAST) and figure.slug not in SLOW else [pytest.mark.slow],
    )
    for paper in ("ogpm", "jrr", "classifiers", "podium", "add_remove")
    for figure in figures(paper)
]


@pytest.mark.parametrize("figure", CHOSEN)
@pytest.mark.some(every=3)
def test_the_numbers_come_out(figure: Figure, tmp_path: Path) -> None:
    (outcome,) = run([figure], tmp_path, QUICK)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert outcome.rows
    assert [words for ok, words in outcome.checks if not ok] == []
    if figure.draw is not None:
        assert (tmp_path / f"{figure.slug}.png").stat().st_size > 5000


def test_the_report_stands_beside_the_deviations(tmp_path: Path) -> None:
    assert set(SECTIONS) == {figure.paper for figure in figures()}
    for paper, names in SECTIONS.items():
        assert all(deviations()[name] for name in names), paper
    numbers = [number for items in deviations().values() for number, _ in items]
    assert numbers == list(range(1, len(numbers) + 1))
    run(figures("podium", "table I"), tmp_path, QUICK)
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<li value="16"><b>Its equation (1) is 0/0 at ε = ln √2</b>' in written
    assert "Theorem 18" not in written  # another paper's


def test_many_quotients_are_those_of_the_mean() -> None:
    pairs = [(total, count) for total in (-2.0, 0.0, 0.25, 3.0) for count in (-4.0, 0.0, 2.0)]
    totals, counts = np.array(pairs).T
    for many, one in ((literal, "literal"), (midpoint, "midpoint")):
        wanted = [float(quotient(Fraction(t), Fraction(c), one)[0]) for t, c in pairs]
        assert many(totals, counts).tolist() == wanted


@pytest.mark.parametrize(("n", "holders", "rho"), [(6, 5, -0.3), (100, 3, -0.4), (100, 50, 0.5)])
def test_pairs_drawn_by_kind_have_the_law_of_people(n: int, holders: int, rho: float) -> None:
    jrr = JRR(Categories(2), p=0.7, rho=rho, n=n)
    guesses = estimates(jrr, holders, 200_000, 7)
    wanted = jrr.count_variance(holders)
    assert abs(guesses.mean() - holders) < 5 * (wanted / guesses.size) ** 0.5
    spread = ((guesses - holders) ** 2).std() / guesses.size**0.5
    assert abs(((guesses - holders) ** 2).mean() - wanted) < 5 * spread
    alone = JRR(Categories(2), p=0.7, rho=0.0, n=n).count_variance(holders)
    assert (n == 100 and holders == 50) or abs(alone - wanted) > 10 * spread  # the test tells them apart


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    calls = []
    figure = Figure(
        "podium", "figure 0", "counted", lambda setting: calls.append(1) or [{"a": 1.5, "b": "x"}]
    )
    for _ in range(2):
        (outcome,) = run([figure], tmp_path, QUICK)
        assert outcome.rows == [{"a": 1.5, "b": "x"}]
    assert len(calls) == 1
    run([figure], tmp_path, Setting(quick=False))
    assert len(calls) == 2


def test_a_wrong_number_is_told(tmp_path: Path) -> None:
    wanted = ExpectedNumber({"b": "x"}, "a", 2.0, 0.1, "theory")
    figure = Figure("podium", "figure 0", "wrong", lambda setting: [{"a": 1.5, "b": "x"}], expected=(wanted,))
    (outcome,) = run([figure], tmp_path, QUICK)
    assert not outcome.ok
    assert 'class="missed"' in (tmp_path / "report.html").read_text()
    absent = ExpectedNumber({"b": "y"}, "a", 2.0, 10.0, "theory")
    assert not absent.met_by(absent.found(outcome.rows))


def test_a_figure_in_the_report_links_the_function_that_made_it(tmp_path: Path) -> None:
    (made,) = figures("podium", "table I")
    run([made], tmp_path, QUICK)
    (link,) = re.findall(
        r'<a href="(file:[^"]*podium\.py)">(dither_papers\.podium\.table_1), line (\d+)</a>',
        (tmp_path / "report.html").read_text(encoding="utf-8"),
    )
    source = Path(unquote(urlsplit(link[0]).path)).read_text(encoding="utf-8").splitlines()
    assert source[int(link[2]) - 1].startswith("def table_1(")
    for figure in figures():
        assert (figure.make is None) == (not figure.made_by)
    assert figures("tracs", "figure 6.4a")[0].made_by[0] == "dither_papers.tracs.continuous._synthetic"


def test_a_run_prints_no_warning(tmp_path: Path) -> None:
    def make(setting: Setting) -> list[dict[str, float]]:
        warnings.warn("decoded", DecodedValues, stacklevel=1)
        return [{"a": 1.0}]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run([Figure("podium", "figure 0", "warns", make)], tmp_path, QUICK)


def test_the_numbers_of_a_column_have_equally_many_decimals(tmp_path: Path) -> None:
    rows = [{"name": "a", "s": 40.01, "n": 2.0}, {"name": "b", "s": 0.5, "n": 16.0}, {"name": "c", "s": 1e-7}]
    for count, cells in ((2, ["a & 40.01 & 2", "b & 0.50 & 16"]), (3, ["a & 40.01 & 2", "c & 1e-07 & "])):
        table = Figure("podium", f"table {count}", "tabulated", lambda setting, count=count: rows[:count])
        run([table], tmp_path, QUICK)
        written = (tmp_path / f"podium-table-{count}.tex").read_text(encoding="utf-8")
        assert all(rf"{cell} \\" in written for cell in cells)


def test_missing_data_skips_cleanly(tmp_path: Path) -> None:
    figure = Figure("podium", "figure 0", "data", lambda setting: [], needs=("nothing.parquet",))
    (outcome,) = run([figure], tmp_path, QUICK)
    assert "nothing.parquet" in outcome.skipped
    assert outcome.ok


def test_missing_data_leave_numbers_out(tmp_path: Path) -> None:
    wanted = [ExpectedNumber({"b": name}, "a", 1.5, 0.1, "theory") for name in "xy"]
    figure = Figure(
        *("podium", "figure 0", "part", lambda setting: [{"a": 1.5, "b": "x"}]),
        expected=wanted,
        uses=("nothing.parquet",),
    )
    (outcome,) = run([figure], tmp_path, QUICK)
    assert outcome.ok
    assert len(outcome.checks) == 1
    assert outcome.unchecked == "1 more need nothing.parquet (--data DIR)"
    assert outcome.unchecked in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "nothing.parquet").write_bytes(b"")
    (outcome,) = run([figure], tmp_path, Setting(quick=True, data=tmp_path))
    assert not outcome.ok  # with the data, a missing row is a missed number
    assert outcome.unchecked == ""


def test_a_missing_extra_skips_cleanly(tmp_path: Path) -> None:
    def make(setting: Setting) -> list[dict[str, float]]:
        raise MissingExtra("training classifiers", "classifiers")

    (outcome,) = run([Figure("podium", "figure 0", "extra", make)], tmp_path, QUICK)
    assert "classifiers" in outcome.skipped
    assert not (tmp_path / "podium-figure-0.csv").exists()


def test_a_figure_is_made_or_says_why_not() -> None:
    with pytest.raises(InvalidParameter):
        Figure("podium", "figure 0", "neither")


def test_the_command_line(tmp_path: Path) -> None:
    listed = terminal.run("reproduce", "podium", "--list")
    assert "table II" in listed.output
    made = terminal.run("reproduce", "podium", "figure 3", "--quick", "-o", tmp_path, "--json")
    assert made.exit_code == 0
    assert json.loads(made.output)[0]["met"] == 2
    assert terminal.run("reproduce", "999").exit_code == 2
