"""Pictures of the page show what the numbers say: bars, orders, gaps, digits, and colours for everybody."""

from __future__ import annotations

import io
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
from starlette.applications import Starlette

import dither as dt
from dither.collection.web.charts import (
    DARK,
    LIGHT,
    draw_bars,
    draw_history,
    draw_labels,
    draw_panels,
    draw_points,
    largest,
    standalone,
    ticks,
)
from dither.collection.web.endpoints import routes_of
from dither.collection.web.pages import page_handlers
from dither.collection.web.words import row_text, short_budget
from tests.collection.collectors import Asked
from tests.collection.pages.states import DAYS, SCALE, collector_in

# Linear RGB as people with no red or no green cones see it [Machado, Oliveira and Fernandes 2009, Table 1].
SEEN = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
}


def _lab(colour: str, seen: Any) -> Any:
    """Return the coordinates of a colour in CIE L*a*b*, as somebody sees it."""
    shares = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(seen) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    roots = xyz / np.array([0.95047, 1, 1.08883])
    roots = np.where(roots > (6 / 29) ** 3, np.cbrt(roots), roots / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])])


def least_difference(colours: list[str]) -> float:
    """Return the smallest ΔE between two of some colours, for people who see no red or no green."""
    return min(
        float(np.linalg.norm(_lab(one, seen) - _lab(other, seen)))
        for seen in SEEN.values()
        for one, other in combinations(colours, 2)
    )


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """The sections of the page of twelve days, by question, and the style under an empty name."""
    collector, published = collector_in("days")
    text = Asked(Starlette(routes=routes_of(page_handlers(collector)))).get(f"/campaigns/{published.id}").text
    parts = re.findall(r'<section aria-labelledby="q\d">.*?</section>', text, re.DOTALL)
    found = dict(zip(DAYS, parts, strict=True))
    return {**found, "": re.findall(r"<style>(.*?)</style>", text, re.DOTALL)[0]}


def _pictures(section: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", section, re.DOTALL)


def _history(section: str) -> str:
    return next(picture for picture in _pictures(section) if "Over time" in picture)


def _bars(picture: str) -> list[dict[str, float]]:
    tags = re.findall(r'<rect ([^>]*class="bar"[^>]*)>', picture)
    return [{name: float(value) for name, value in re.findall(r'(\w+)="([\d.]+)"', tag)} for tag in tags]


def test_a_stepped_scale_has_a_bar_of_equal_width_for_each_answer(sections: dict[str, str]) -> None:
    picture = _pictures(sections["stars"])[0]
    bars = _bars(picture)
    assert len(bars) == 5
    assert len({bar["width"] for bar in bars}) == 1
    shares = [float(share) for share in re.findall(r"[1-5]: ([\d.]+)", picture)][::2][:5]
    heights = np.array([bar["height"] for bar in bars])
    assert heights / heights.sum() == pytest.approx(np.array(shares) / sum(shares), abs=0.02)
    assert re.findall(r">(\d)</text>", picture) == list("12345")


def test_declared_order_is_kept(sections: dict[str, str]) -> None:
    bars = _pictures(sections["satisfaction"])[0]
    assert re.findall(r'class="label">([a-z ]+)</text>', bars) == SCALE
    rows = [{"value": value} for value in (1, 5, 2, 4)]
    assert [row["value"] for row in largest(rows, 2)] == [5, 4]
    pytest.importorskip("matplotlib")
    answers = np.repeat(SCALE, [100, 500, 200, 400, 300])
    found = dt.frequencies(dt.KRR(dt.Categories(SCALE), epsilon=5).perturb(answers, source=dt.Seeded(1)))
    axes = found.plot(most=3)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["bad", "good", "very good"]


def test_lies_make_no_interval_narrower(sections: dict[str, str]) -> None:
    from dither.collection.web.answers import Answers
    from dither.collection.web.query import Query

    collector, published = collector_in("days")
    answers = Answers(collector)
    for name in DAYS:
        usual, lying = (answers.compute(published.id, [Query(name, lying=lies)]) for lies in (None, 0.01))
        for row, other in zip(usual, lying, strict=True):
            assert other["low"] < row["low"] < row["high"] < other["high"]
            assert other["interval"] == "95 % at any time, and what 1 % of lies add"
    answers.close()


def test_a_day_without_reports_is_a_gap_and_every_answer_has_a_line(sections: dict[str, str]) -> None:
    for name, answers in (("stars", 1), ("satisfaction", 5)):
        history = _history(sections[name])
        lines = re.findall(r'<polyline points="([^"]*)"', history)
        assert len(lines) == 3 * answers  # three runs of days
        assert sum(len(line.split()) for line in lines) == 10 * answers
    for answer in SCALE:
        assert f">{answer}</text>" in history  # a label beside its line
        assert f'scope="col">{answer}</th>' in sections["satisfaction"]
    assert 'tabindex="0" role="img" aria-label="2026-05-04: ' in history


def test_series_differ_by_colour_and_marker(sections: dict[str, str]) -> None:
    light, dark = (
        re.findall(r"--s\d:(#[0-9a-f]{6})", part) for part in sections[""].split("prefers-color-scheme:dark")
    )
    history = _history(sections["satisfaction"])
    used = {int(number) for number in re.findall(r'class="dot s(\d)"', history)}
    assert used == set(range(5))
    for colours in (light, dark):
        assert least_difference([colours[number] for number in used]) >= 15
        assert least_difference(colours) >= 15
    assert least_difference(["#f2a27a", "#a5d47f"]) < 15  # two series of an earlier page
    shapes = re.findall(r'<(?:circle|polygon)[^>]*class="dot s\d"', history)
    assert len(shapes) == 10 * 5 + 5


def test_lines_of_a_drawn_figure_can_be_told_apart() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from dither.foundation.plotting import COLOURS, MARKS

    assert least_difference(list(COLOURS)) >= 15
    assert len(set(MARKS)) == len(COLOURS)
    asked = dt.Once(dt.KRR(dt.Categories(SCALE), epsilon=3), days=3)
    table = np.array([SCALE] * 3).T.repeat(200, axis=0)
    days = dt.by_day(asked.perturb(table, source=dt.Seeded(1)))
    drawn = [line for line in days.plot().lines if line.get_label() in SCALE]
    colours = [matplotlib.colors.to_hex(line.get_color()) for line in drawn]
    assert least_difference(colours) >= 15
    assert len({line.get_marker() for line in drawn}) == len(SCALE)


def test_values_of_a_picture_have_the_same_digits() -> None:
    rows = [
        {"quantity": "frequency", "value": value, "low": value - half, "high": value + half, "unit": None}
        for value, half in ((0.42, 0.021), (0.102, 0.0196), (0.03, 0.012))
    ]
    text = row_text(rows)
    assert [text(row).replace("\u202f", " ") for row in rows] == ["42 ± 2 %", "10 ± 2 %", "3 ± 1 %"]
    given = "Read only so: (ε, δ) ≤ (1.67533, 1e-06) for one person"
    assert short_budget(given) == "Read only so: (ε, δ) ≤ (1.68, 10⁻⁶) for one person"
    assert short_budget("(ε, δ) ≤ (0.5, 1.234e-06)") == "(ε, δ) ≤ (0.5, 1.3·10⁻⁶)"


def _share(value: float, half: float, **more: Any) -> dict[str, Any]:
    """A row of a share, with its interval."""
    ends = {"low": value - half, "high": value + half, "unit": None}
    return {"state": "shown", "quantity": "frequency", "answer": "yes", "value": value, **ends, **more}


def test_labels_have_the_same_digits() -> None:
    """One label had 5 ± 1 %, the one below it 15.4 ± 1.7 %."""
    rows = [_share(0.05, 0.013, label="A"), _share(0.154, 0.024, label="B"), _share(0.2, 0.021, label="A")]
    shown = [
        re.findall(r">([\d.]+)\u202f±\u202f([\d.]+)\u202f%<", str(picture))
        for _, picture in draw_panels(rows)
    ]
    assert shown == [[("5", "1"), ("20", "2")], [("15", "2")]]
    wide = _share(0.262, 0.3)
    assert row_text([wide])(wide).replace("\u202f", " ") == "26 ± 30 %"  # not 30 ± 30


def test_panels_of_labels_show_the_same_answers() -> None:
    shares = {"a": range(20, 0, -1), "b": range(1, 21)}
    rows = [
        {**_row("frequency", f"answer {number}", share / 210), "label": label}
        for label, given in shares.items()
        for number, share in enumerate(given)
    ]
    first, second = (re.findall(r">(answer \d+)<", panel) for _, panel in draw_panels(rows))
    assert len(first) == 12
    assert first == second


def test_words_on_hover_have_every_answer_in_lines_that_fit() -> None:
    rows = [{**_row("frequency", name, 0.2), "day": f"2026-05-0{day}"} for day in (4, 5) for name in SCALE]
    lines = re.findall(r'class="tip"[^>]*>([^<]*)<', draw_history(rows))
    assert len(lines) == 4
    assert all(len(line) <= 62 for line in lines)
    assert all(name in " ".join(lines[:2]) for name in SCALE)


def test_the_axis_of_dates_has_first_days_of_months() -> None:
    rows = [
        {**_row("mean", None, value), "unit": "days since 1970-01-01", "low": value - 300}
        | {"high": value + 300, "day": day}
        for day, value in (("2026-05-04", 17800.0), ("2026-05-05", 17900.0))
    ]
    marks = re.findall(r'text-anchor="end"[^>]*>([^<]*)<', draw_history(rows))
    assert marks
    assert set(marks) <= {f"20{year}-{month}" for year in (17, 18, 19, 20) for month in ("01", "07")}


def _row(quantity: str, answer: str | None, value: float) -> dict[str, Any]:
    ends = {"low": value - 0.01, "high": value + 0.01}
    return {"quantity": quantity, "answer": answer, "value": value, **ends, "unit": None, "state": "shown"}


def test_an_estimate_outside_of_the_axis_is_drawn_at_its_end() -> None:
    """An unbiased share below 0 was drawn across the dates."""
    rows = [_share(value, 0.4, day=f"2026-05-0{day}") for day, value in ((4, -0.13), (5, 0.5), (6, 1.2))]
    heights = [float(height) for height in re.findall(r'cy="([-\d.]+)"', str(draw_history(rows)))]
    end, top = 176 - 22, 20
    assert heights[:3] == [end, pytest.approx((end + top) / 2, abs=1), top]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.5, 1]), (0, 0.37, [0, 0.1, 0.2, 0.3]), (3.28, 3.64, [3.3, 3.4, 3.5, 3.6]), (2, 2, [2])],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_many_points_keep_room_for_their_names() -> None:
    rows = [
        {"state": "shown", "answer": str(place), "value": 0.01, "low": 0.0, "high": 0.02, "unit": None}
        | {"quantity": "share of a bin"}
        for place in range(100, 180)
    ]
    names = re.findall(r'class="tick" text-anchor="middle">(\d+)<', str(draw_points(rows, "")))
    assert 5 <= len(names) <= 20


def test_a_picture_is_also_a_png_of_the_same_colours() -> None:
    """Bars and marks of each series are in the image, in the light colours of the served style."""
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    from dither.collection.web.images import as_png
    from dither.collection.web.style import STYLE

    days = [f"2026-05-0{day}" for day in range(1, 5)]
    rows = [
        {"question": "q", "quantity": "frequency", "day": day, "answer": answer, "unit": None}
        | {"value": share, "low": share - 0.05, "high": share + 0.05, "n": 500, "state": "shown"}
        for day in days
        for answer, share in (("$yes", 0.6), ("no", 0.4))
    ]
    seen = {}
    for name, picture in (("history", draw_history(rows)), ("bars", draw_bars(rows[:2]))):
        image = imread(io.BytesIO(as_png(standalone(picture, STYLE))))
        assert image.shape[1] > 900
        whole = np.unique((255 * image[..., :3]).round().astype(np.uint8).reshape(-1, 3), axis=0)
        seen[name] = {"#" + bytes(row).hex() for row in whole}
    assert {*LIGHT[:2], "#ffffff"} <= seen["history"]
    assert "#9cc3e6" in seen["bars"]
    assert not {DARK[0], "#12181f"} & seen["history"]


def _words_of(picture: str) -> list[tuple[float, float, float, str]]:
    """Return the words of a picture: left and right ends, height and text."""
    found = []
    for tag, words in re.findall(r"<text ([^>]*)>([^<]*)</text>", picture):
        x, y = (float(re.findall(rf'\b{name}="([-\d.]+)"', tag)[0]) for name in "xy")
        if 'class="tip"' not in tag:
            wide = 6.0 * len(words)
            anchor = re.findall(r'text-anchor="(\w+)"', tag)
            left = x - wide * {"middle": 0.5, "end": 1.0}.get(anchor[0] if anchor else "", 0.0)
            found.append((left, left + wide, y, words))
    return found


@pytest.mark.parametrize("scale", [1.0, 1e5])
@pytest.mark.parametrize("days", [(4, 5, 12), (4, 18, 28), (4, 5)])
@pytest.mark.parametrize("names", [(None,), ("By car or as a passenger", "By bicycle", "On foot")])
def test_words_of_a_history_are_inside_and_apart(
    scale: float, days: tuple[int, ...], names: tuple[str | None, ...]
) -> None:
    rows = [
        {
            "state": "shown",
            "quantity": "mean" if name is None else "frequency",
            "answer": name,
            "day": f"2026-05-{day:02}",
            "value": (scale if name is None else 1.0) * 0.3,
            "low": (scale if name is None else 1.0) * 0.21,
            "high": (scale if name is None else 1.0) * 0.4,
            "unit": "€",
        }
        for name in names
        for day in days
    ]
    words = _words_of(str(draw_history(rows)))
    assert [text for *_, text in words if text.startswith("2026-05")] == ["2026-05-04"]
    assert f"05-{days[-1]:02}" in [text for *_, text in words]
    for left, right, _, text in words:
        assert left >= -1, text
        assert right <= 361, text
    for one, other in combinations(words, 2):
        if abs(one[2] - other[2]) < 9:
            assert one[1] <= other[0] + 1 or other[1] <= one[0] + 1, (one, other)


def test_dates_of_an_axis_begin_months() -> None:
    from dither.collection.web.charts import calendar_ticks
    from dither.core.domains.calendar import Calendar

    dates, times = Calendar.make(dates=True), Calendar.make(dates=False)
    shown = [dates.text(mark) for mark in calendar_ticks(20454, 20819, dates)]  # the year 2026
    assert shown == ["2026-01-01", "2026-04-01", "2026-07-01", "2026-10-01", "2027-01-01"]
    assert [dates.text(mark)[5:] for mark in calendar_ticks(20574, 20596, dates)] == [
        "05-02",
        "05-07",
        "05-12",
        "05-17",
        "05-22",
    ]
    assert [times.text(mark) for mark in calendar_ticks(470, 487, times)] == [
        "07:50",
        "07:55",
        "08:00",
        "08:05",
    ]


def test_a_picture_of_labels_is_the_same_as_png(sections: dict[str, str]) -> None:
    """Labels were drawn on top of each other."""
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("matplotlib.image")
    from dither.collection.web.images import as_png

    rows = [
        {
            "state": "shown",
            "quantity": "mean",
            "answer": None,
            "label": label,
            "value": 1.0,
            "low": 0.5,
            "high": 1.5,
            "unit": None,
        }
        for label in ("A", "B", "C")
    ]
    svg = standalone(draw_labels(rows), sections[""])
    pixels = image.imread(io.BytesIO(as_png(svg)))[:, :, :3]
    dark = (pixels.min(axis=2) < 0.4).any(axis=1)
    whiskers = (np.abs(pixels - np.array([0x00, 0x72, 0xB2]) / 255).max(axis=2) < 0.02).sum(axis=1) > 5
    rows_of = np.flatnonzero(np.diff(whiskers.astype(int)) == 1) / whiskers.size
    assert len(rows_of) == 3
    assert np.diff(rows_of) == pytest.approx(1 / 3, abs=0.05)
    assert dark[: dark.size // 3].any()
