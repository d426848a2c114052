"""Pictures: one style for each mechanism, versions on the same axes, and a description in words."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure as Canvas

from dither_papers import CODED, PAPERS, RIGHT, Figure, Setting, figures, run
from dither_papers.drawing import STYLES, Lines, Panels, PictureForm, picture, styles_of

QUICK = Setting(quick=True)
ONE_NAME = {"PM (= OGPM)": "OGPM", "OGPMU": "OGPM-U"}  # two names for one mechanism share a style
MECHANISMS = ("mechanism", "algorithm")

CURVES = [
    {"version": version, "panel": panel, "ε": epsilon, "mechanism": name, "error": height * epsilon}
    for version, height in ((CODED, 5.0), (RIGHT, 1.0))
    for panel in ("one", "two")
    for epsilon in (1.0, 2.0, 4.0)
    for name in ("OGPM", "PM-C")
]


def test_no_two_mechanisms_look_alike() -> None:
    count = Counter(style for name, style in STYLES.items() if name not in ONE_NAME)
    proven = {STYLES[name] for name in STYLES if name.endswith("in the proven box")}
    assert {style for style, times in count.items() if times > 1} <= proven
    for name, other in ONE_NAME.items():
        assert STYLES[name] == STYLES[other]


@pytest.mark.some("podium*", "jrr*")
@pytest.mark.parametrize(
    "figure",
    [
        figure
        for figure in figures()
        if figure.slug in {"ogpm-figure-9", "ogpm-figure-13", "jrr-figure-b-1", "podium-figure-5"}
    ],
    ids=lambda figure: figure.slug,
)
def test_every_mechanism_has_a_style_of_its_own(figure: Figure) -> None:
    assert figure.make is not None
    names = {row[key] for row in figure.make(QUICK) for key in MECHANISMS if key in row}
    assert names
    assert names <= set(STYLES)


def test_markers_in_one_picture_differ_in_shape() -> None:
    """The two hexagons of matplotlib, h and H, are one shape turned by 30 degrees."""
    assert {style.marker for style in STYLES.values()}.isdisjoint({"H", "8"})


def test_a_mechanism_keeps_its_colour_in_other_company() -> None:
    assert styles_of(["SW", "OGPM"])["OGPM"] == styles_of(["OGPM", "something else"])["OGPM"]


def _drawn(drawing: Lines, rows: list[dict[str, Any]] = CURVES) -> Panels:
    panels = Panels(Canvas(layout="constrained"))
    drawing.draw(panels, rows)
    panels.legend()
    return panels


def test_versions_side_by_side_have_the_same_axes() -> None:
    panels = _drawn(Lines("ε", "error", "mechanism", together=False))
    assert len(panels.axes) == 4
    left, right = panels.axes[:2]
    assert left.get_ylim() == right.get_ylim()
    assert left.get_title() == "one, as coded"
    (legend,) = panels.canvas.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == ["OGPM", "PM-C"]


def test_a_version_that_is_missing_leaves_no_empty_cell() -> None:
    """One missing cell holds the legend; with more of them the panels are packed."""
    one = [row for row in CURVES if (row["version"], row["panel"]) != (CODED, "two")]
    panels = _drawn(Lines("ε", "error", "mechanism", together=False), one)
    assert len(panels.axes) == 4
    (hole,) = [axes for axes in panels.axes if not axes.has_data()]
    assert sorted(text.get_text() for text in hole.get_legend().get_texts()) == ["OGPM", "PM-C"]
    assert not panels.canvas.legends
    many = [
        {**row, "panel": panel}
        for panel in ("three", "four", "five", "six")
        for row in CURVES
        if row["panel"] == "one" and (row["version"] == RIGHT or panel in ("three", "five"))
    ]
    panels = _drawn(Lines("ε", "error", "mechanism", together=False), many)
    assert len(panels.axes) == 6
    assert all(axes.has_data() for axes in panels.axes)
    assert len(panels.canvas.legends) == 1


def test_curves_that_coincide_are_both_seen() -> None:
    alike = [{**row, "error": 1.0} for row in CURVES if row["version"] == RIGHT]
    below, above = _drawn(Lines("ε", "error", "mechanism"), alike).axes[0].lines[:2]
    assert below.get_linewidth() > 2 * above.get_linewidth()
    assert below.get_markersize() > above.get_markersize() + 2
    apart = [{**row, "error": row["error"] * (1.0 + (row["mechanism"] == "PM-C"))} for row in alike]
    below, above = _drawn(Lines("ε", "error", "mechanism"), apart).axes[0].lines[:2]
    assert below.get_linewidth() == above.get_linewidth()


def test_an_axis_has_the_unit_of_its_panel() -> None:
    labels = {"error": "error, in radians", "error of two": "error, in radians²"}
    panels = _drawn(Lines("ε", "error", "mechanism", labels=labels))
    assert [axes.get_ylabel() for axes in panels.axes] == ["error, in radians", "error, in radians²"]


def test_a_vertical_line_marks_a_value() -> None:
    panels = _drawn(Lines("ε", "error", "mechanism", mark=(1.5, "the heuristic")))
    for axes in panels.axes:
        assert [list(line.get_xdata()) for line in axes.lines if line.get_label() == "the heuristic"] == [
            [1.5] * 2
        ]


def test_versions_together_are_told_apart_by_their_lines() -> None:
    panels = _drawn(Lines("ε", "error", "mechanism", log="y"))
    assert len(panels.axes) == 2
    kinds = {line.get_linestyle() for line in panels.axes[0].lines}
    assert kinds == {"-", "--"}
    assert panels.axes[0].get_yscale() == "log"


def test_a_picture_is_described_in_words(tmp_path: Path) -> None:
    words = Lines("ε", "error", "mechanism").describe(CURVES)
    assert words.startswith(
        "Curves of expected error against privacy budget ε for OGPM, PM-C; panels: one, two"
    )
    figure = Figure(
        "podium", "figure 0", "drawn", lambda setting: list(CURVES), Lines("ε", "error", "mechanism")
    )
    run([figure], tmp_path, QUICK)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'alt="podium figure 0, drawn. Curves of expected error' in page


@pytest.mark.parametrize("paper", PAPERS)
def test_every_drawing_of_its_own_says_what_is_to_be_seen(paper: str) -> None:
    for figure in figures(paper):
        if figure.draw is not None and not isinstance(figure.draw, Lines):
            assert len(figure.draw.describe([])) > 60, figure.slug


@pytest.mark.slow
def test_what_has_no_picture_is_a_table(tmp_path: Path) -> None:
    (figure,) = figures("podium", "table II")
    run([figure], tmp_path, QUICK)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<th>PM3/PM</th>" in page
    assert "<td>1.050</td>" in page
    assert not (tmp_path / "podium-table-ii.png").exists()


@pytest.mark.some("figure 8-*")
@pytest.mark.parametrize(
    ("name", "end"), [("figure 8", 1.0), ("figure 20", 1.0), ("figure 13", 1.0), ("figure 10", 2 * math.pi)]
)
def test_curves_reach_both_ends_of_the_domain(name: str, end: float) -> None:
    (figure,) = figures("ogpm", name)
    assert figure.make is not None
    x = [row["x"] for row in figure.make(QUICK) if "x" in row]
    assert (min(x), max(x)) == (0.0, end)


def test_budgets_are_named_as_the_paper_names_them() -> None:
    (figure,) = figures("podium", "figure 5")
    assert figure.make is not None
    panels = dict.fromkeys(row["panel"] for row in figure.make(QUICK))
    assert list(panels) == ["ε = 0.5", "ε = ln 3", "ε = 5", "ε = 10"]


def test_densities_do_not_fall_to_zero_at_the_ends() -> None:
    (figure,) = figures("podium", "figure 2")
    assert figure.make is not None
    assert min(row["density"] for row in figure.make(QUICK)) > 0.1


@pytest.mark.parametrize(("form", "mark"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
@pytest.mark.some(every=3)
def test_pictures_for_print(form: PictureForm, mark: bytes) -> None:
    drawn = picture("title", Lines("ε", "error", "mechanism"), list(CURVES), form, "paper")
    assert drawn.startswith(mark)
    if form == "svg":
        assert b">OGPM<" in drawn  # words stay text
        assert b"title" not in drawn.split(b"<defs>")[-1]  # the paper has its own
    if form == "pdf":
        assert b"/FontType 42" in drawn or b"/CIDFontType2" in drawn


def test_a_paper_has_the_width_of_a_column_and_small_type() -> None:
    panels = Panels(Canvas(layout="constrained"), paper=True)
    Lines("ε", "error", "mechanism").draw(panels, [row for row in CURVES if row["panel"] == "one"])
    panels.legend()
    assert panels.canvas.get_size_inches()[0] == pytest.approx(3.4)


@pytest.mark.slow
def test_a_second_form_is_drawn_without_computing_again(tmp_path: Path) -> None:
    made = []

    def make(setting: Setting) -> list[dict[str, Any]]:
        made.append(setting.form)
        return list(CURVES)

    figure = Figure("podium", "figure 0", "drawn", make, Lines("ε", "error", "mechanism"))
    run([figure], tmp_path, QUICK)
    run([figure], tmp_path, replace(QUICK, form="pdf", style="paper"))
    assert made == ["png"]
    assert (tmp_path / "podium-figure-0.pdf").read_bytes().startswith(b"%PDF")
    table = Figure("podium", "table 0", "tabulated", lambda setting: [{"ε": 1.0, "error": 0.5}])
    run([table], tmp_path, QUICK)
    assert "0.5" in (tmp_path / "podium-table-0.tex").read_text(encoding="utf-8")
