"""Every figure and table of the papers is made or skipped for a stated reason, under all of its numbers."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

import dither_papers.reproduce
from dither.errors import DitherError
from dither_papers import PAPERS, Figure, Setting, figures, run
from tests.support import terminal

# What the papers print, by number; a letter after a number is a panel that is a figure of its own here.
PRINTED = {
    "ogpm": [
        *(f"figure {n}" for n in range(1, 21)),
        *(f"table {n}" for n in range(1, 4)),
        "figure 1.1",
        "table 1.1",
        "figure 1.2",
        "figure 2.1",
        "figure 3.1",
        "figure 3.2",
        "figure 3.3",
    ],
    "jrr": [
        *(f"table 4.{n}" for n in (1, 2, 3)),
        *(f"figure 4.{n}" for n in range(1, 7)),
        "figure B.1",
        "table B.1",
    ],
    "tracs": [
        *(f"figure 6.{n}" for n in range(1, 11)),
        *(f"figure D.{n}" for n in range(1, 9)),
        "table 6.1",
        "table 6.2",
    ],
    "classifiers": [
        *(f"figure 7.{n}" for n in range(1, 8)),
        *(f"figure E.{n}" for n in range(1, 8)),
        "table 7.1",
        "table 7.2",
    ],
    "podium": [*(f"figure {n}" for n in range(1, 7)), "table I", "table II"],
    "add_remove": [*(f"figure {n}" for n in range(1, 6))],
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_figure_is_listed(paper: str) -> None:
    names = {figure.name.lower() for figure in figures(paper)}
    for name in PRINTED[paper]:
        wanted = name.lower()
        assert wanted in names or {f"{wanted}a", f"{wanted}b"} <= names, name


@pytest.mark.parametrize(
    ("names", "slugs"),
    [
        (("ogpm", "figure 5.8"), ["ogpm-figure-8"]),
        (("ogpm", "Figure C.3"), ["ogpm-figure-20"]),
        (("ogpm", "table 5.2"), ["ogpm-table-2"]),
        (("ogpm", "figure 12"), ["ogpm-figure-12"]),
        (("ogpm", "figure 12", "figure-8", "figure 5.8"), ["ogpm-figure-12", "ogpm-figure-8"]),
        (("ogpm", "monte carlo"), ["ogpm-monte-carlo"]),
        (("figure 5.10",), ["ogpm-figure-10"]),
        (("Figure 6.5",), ["tracs-figure-6-5"]),
        (("figure 5.8", "table II"), ["ogpm-figure-8", "podium-table-ii"]),
        (("figure 4",), ["ogpm-figure-4", "podium-figure-4", "add_remove-figure-4"]),
        (("figure 6.4",), ["tracs-figure-6-4a", "tracs-figure-6-4b"]),
        (("Figure 6.8",), ["tracs-figure-6-8a", "tracs-figure-6-8b"]),
        (("add_remove", "figure 3"), [f"add_remove-figure-3{panel}" for panel in "abc"]),
        (
            ("figure 3",),
            ["ogpm-figure-3", "podium-figure-3", *(f"add_remove-figure-3{panel}" for panel in "abc")],
        ),
        (("add_remove", "figure 5"), [f"add_remove-figure-5{panel}" for panel in "abcd"]),
        (("add_remove", "figure 5a"), ["add_remove-figure-5a"]),
        (("ogpm", "figure 17a"), ["ogpm-figure-17"]),  # one picture with both panels
        (("figure 5.17b",), ["ogpm-figure-17"]),
    ],
)
def test_items_are_found_under_each_number(names: tuple[str, ...], slugs: list[str]) -> None:
    assert [figure.slug for figure in figures(*names)] == slugs


def test_every_paper_has_a_module_of_its_name() -> None:
    assert {paper: {figure.paper for figure in figures(paper)} for paper in PAPERS} == {
        paper: {paper} for paper in PAPERS
    }
    assert len({figure.slug for figure in figures()}) == len(figures())


@pytest.mark.parametrize("names", [("podim",), ("999",), ("poodium", "table II"), ("ogmp", "figure 8")])
def test_an_unknown_paper_is_refused_by_name(names: tuple[str, ...]) -> None:
    with pytest.raises(DitherError, match=f"no paper '{names[0]}'.*(podium|did you mean ogpm)"):
        figures(*names)


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(DitherError, match="no figure 'figure 99'"):
        figures("ogpm", "figure 99")
    with pytest.raises(DitherError, match=r"no figure 'figure 5\.8'"):
        figures("podium", "figure 5.8")
    assert terminal.run("reproduce", "ogpm", "figure 99").exit_code == 2


def test_another_version_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    figure = Figure("podium", "figure 0", "counted", lambda setting: calls.append(1) or [{"a": 1.0}])
    for _attempt in range(2):
        run([figure], tmp_path, Setting(quick=True))
    assert len(calls) == 1
    module = dither_papers.reproduce
    monkeypatch.setattr(module, "version", lambda name: version(name) + ".post1")
    run([figure], tmp_path, Setting(quick=True))
    assert len(calls) == 2
