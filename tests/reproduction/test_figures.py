"""Every figure and table of the papers is made or skipped for a stated reason, under all of its numbers."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from dither.cli import main
from dither.errors import DitherError
from dither.reproduction import Figure, Setting, figures, run

# What the papers print, by number; a letter after a number is a panel that is a figure of its own here.
PRINTED = {
    "001": [*(f"figure {n}" for n in range(1, 21)), "table 1", "table 2", "table 3"],
    "002-1": [
        "figure 1.1",
        "table 1.1",
        "figure 1.2",
        "figure 2.1",
        "figure 3.1",
        "figure 3.2",
        "figure 3.3",
    ],
    "002-4": [
        *(f"table 4.{n}" for n in (1, 2, 3)),
        *(f"figure 4.{n}" for n in range(1, 7)),
        "figure B.1",
        "table B.1",
    ],
    "002-6": [
        *(f"figure 6.{n}" for n in range(1, 11)),
        *(f"figure D.{n}" for n in range(1, 9)),
        "table 6.1",
        "table 6.2",
    ],
    "002-7": [
        *(f"figure 7.{n}" for n in range(1, 8)),
        *(f"figure E.{n}" for n in range(1, 8)),
        "table 7.1",
        "table 7.2",
    ],
    "003": [*(f"figure {n}" for n in range(1, 7)), "table I", "table II"],
    "004": [*(f"figure {n}" for n in range(1, 6))],
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_figure_is_listed(paper: str) -> None:
    names = {figure.name.lower() for figure in figures(paper)}
    for name in PRINTED[paper]:
        wanted = name.lower()
        assert wanted in names or {f"{wanted}a", f"{wanted}b"} <= names, name


def test_chapters_are_known_by_other_numbers() -> None:
    ours = [figure.slug for figure in figures("001")]
    assert [figure.slug for figure in figures("000")] == ours
    assert [figure.slug for figure in figures("002-5")] == ours
    assert {figure.paper for figure in figures("002")} == {"001", "002-1", "002-4", "002-6", "002-7"}


@pytest.mark.parametrize(
    ("paper", "name", "slug"),
    [
        ("000", "figure 1", "001-figure-12"),
        ("000", "figure 6", "001-figure-20"),
        ("002-5", "figure 5.8", "001-figure-8"),
        ("002-5", "Figure C.3", "001-figure-20"),
        ("002-5", "table 5.2", "001-table-2"),
        ("002", "figure 5.17", "001-figure-17"),
        (None, "figure 5.10", "001-figure-10"),
        ("001", "figure 12", "001-figure-12"),
        ("figure 5.8", None, "001-figure-8"),
        ("Figure 6.5", None, "002-6-figure-6-5"),
    ],
)
def test_a_figure_is_found_under_each_number(paper: str | None, name: str | None, slug: str) -> None:
    assert [figure.slug for figure in figures(paper, name)] == [slug]


def test_an_unknown_paper_is_refused_by_name() -> None:
    with pytest.raises(DitherError, match="002-5"):
        figures("005")
    assert CliRunner().invoke(main, ["reproduce", "001", "figure 99"]).exit_code == 2


def test_another_version_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    figure = Figure("003", "figure 0", "counted", lambda setting: calls.append(1) or [{"a": 1.0}])
    for _attempt in range(2):
        run([figure], tmp_path, Setting(quick=True))
    assert len(calls) == 1
    module = import_module("dither.reproduction.run")  # the package has a function of this name
    monkeypatch.setattr(module, "version", lambda name: version(name) + ".post1")
    run([figure], tmp_path, Setting(quick=True))
    assert len(calls) == 2
