"""Pictures of the collector's page as SVG: bars of shares, distributions, and answers over time.

A picture has axes, bars that start at zero, and a text for people who cannot see it. Values are shown under
the pointer or the keyboard focus, without a script. Series have the colours of Okabe and Ito,
distinguishable with any colour vision, and marks of different shapes.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from dither.collection.web.answers import SHOWN
from dither.collection.web.formats import PlainRow
from dither.collection.web.words import is_share, percent, row_text, value_text
from dither.core.domains.calendar import MINUTES, Calendar
from dither.foundation.digits import plain, whole
from dither.foundation.markup import Markup, element, join_markup
from dither.foundation.tables import Row

WIDE: Final = 360  # width of a picture in its own units, as on a phone, so that letters stay readable
_TALL: Final = 176
_RIGHT, _TOP, _BOTTOM = 8, 20, 22
_BAR: Final = 30
MOST_BARS: Final = 12
SERIES: Final = 6  # largest number of answers in a history
MOST_LABELS: Final = 6  # largest number of labels next to each other
_YEAR, _MONTH = 366, 30.44  # days
_MONTHS: Final = (1, 3, 6, 12, 24, 60, 120)  # months between two dates of an axis
_LETTER: Final = 6.2  # the width of a letter
_VERY: Final = 8.0  # ratio of the longest to the shortest bin above which both are drawn equally wide
_NARROW: Final = 6.0  # width of a bar below which a whisker of usual width would hide it
_LINE, _LINES = 62, 3  # letters per line shown on hover, and the number of lines
_FOCUSED: Final = 31  # largest number of dates that the keyboard reaches one by one; the table has all dates

# [Okabe and Ito 2008] On a dark background black becomes white, and blue and sky blue are exchanged.
LIGHT: Final = ("#0072b2", "#d55e00", "#009e73", "#000000", "#56b4e9", "#e69f00")
DARK: Final = ("#56b4e9", "#d55e00", "#009e73", "#ffffff", "#0072b2", "#e69f00")


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return about `count` round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.85)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def calendar_ticks(low: float, high: float, unit: str | None, count: int = 4) -> list[float]:
    """Return about `count` values of an axis: round numbers, first days of months, or full hours."""
    calendar = Calendar.of(unit)
    if calendar is None:
        return ticks(low, high, count)
    if not calendar.is_date:
        step = next((step for step in _CLOCK if (high - low) / step <= count + 1), _CLOCK[-1])
        return [float(step * at) for at in range(math.ceil(low / step), math.floor(high / step) + 1)]
    if high - low < 2 * _MONTH:
        return ticks(low, high, count)
    months = (high - low) / _MONTH / count
    step = next((step for step in _MONTHS if step >= 0.85 * months), _MONTHS[-1])
    first, last = (datetime.date.fromordinal(round(end) + _EPOCH) for end in (low, high))
    numbers = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
    days = [datetime.date(number // 12, number % 12 + 1, 1) for number in numbers if number % step == 0]
    return [float(day.toordinal() - _EPOCH) for day in days if first <= day <= last]


_CLOCK: Final = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360)  # minutes between two ticks of a time axis
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()


def largest(rows: Sequence[PlainRow], most: int) -> list[PlainRow]:
    """Return the `most` rows with the largest values, in their original order."""
    kept = sorted(range(len(rows)), key=lambda index: -rows[index]["value"])[:most]
    return [rows[index] for index in sorted(kept)]


def draw_bars(
    rows: Sequence[PlainRow], end: float | None = None, write: Callable[[PlainRow], str] | None = None
) -> Markup:
    """Return horizontal bars of shares with their intervals, in the declared order of the answers.

    `end` is the share at which the axis ends; by default the largest end of an interval. `write` returns the
    text of a row; by default all have the digits of the widest interval here.
    """
    shown = largest([row for row in rows if row["state"] == SHOWN], MOST_BARS)
    if not shown:
        return Markup()
    top = end or max(min(max(row["high"] or 0.0 for row in shown), 1.0), 0.05)
    text, width, floor = write or row_text(shown), WIDE - 16, len(shown) * _BAR
    parts: list[Markup] = []
    for mark in ticks(0.0, top):
        x = mark / top * width
        parts += [
            _line(x, 0, x, floor, "grid"),
            _text(x, floor + 14, percent(mark), "tick", anchor="middle" if mark else None),
        ]
    for index, row in enumerate(shown):
        y = index * _BAR
        low, high = (_clip(row[name] or 0.0, top) * width for name in ("low", "high"))
        parts += [
            _text(0, y + 11, _cut(str(row["answer"]), 30), "label"),
            _text(WIDE, y + 11, text(row), "label", anchor="end"),
            _rect(0, y + 15, _clip(row["value"], top) * width, 8, "bar"),
            _line(low, y + 19, high, y + 19, "whisker"),
        ]
    names = ", ".join(f"{row['answer']} {text(row)}" for row in shown[:4])
    return _svg(floor + 18, f"Shares with intervals: {names}", parts)


def draw_panels(
    rows: Sequence[PlainRow], write: Callable[[PlainRow], str] | None = None
) -> list[tuple[str, Markup]]:
    """Return a picture for each of the first labels, all on one scale and with the same answers.

    `write` returns the text of a row; by default all have the digits of the widest interval.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))[:MOST_LABELS]
    answers = shown_answers(rows, MOST_BARS)
    kept = [row for row in rows if row["answer"] in answers and row["low"] is not None]
    text = write or row_text(kept)
    parts = [(label, [row for row in kept if row["label"] == label]) for label in labels]
    return [(label, _panel(part, kept, text)) for label, part in parts if part]


def draw_labels(rows: Sequence[PlainRow]) -> Markup:
    """Return the pictures of some labels as one picture; an empty one without rows."""
    panels = draw_panels(rows)
    if not panels:
        return Markup()
    parts, top = list[Markup](), 0.0
    for label, panel in panels:
        inside = str(panel).partition(">")[2].removesuffix("</svg>")
        moved = element("g", Markup(inside), transform=f"translate(0 {_n(top + 22)})")
        parts += [_text(0, top + 14, label or "no label", "title"), moved]
        top += 22 + float(str(panel).partition(f'viewBox="0 0 {WIDE} ')[2].partition('"')[0]) + 10
    return _svg(top, f"By label: {', '.join(label or 'no label' for label, _ in panels)}", parts)


def _panel(rows: Sequence[PlainRow], every: Sequence[PlainRow], text: Callable[[PlainRow], str]) -> Markup:
    """Return the picture of one label, on the scale of `every` label.

    Shares are bars; numbers are marks with intervals, each quantile in its own line.
    """
    ends = [end for row in every for end in (row["low"], row["high"])]
    if is_share(rows[0]):
        return draw_bars(rows, max(min(max(ends), 1.0), 0.05), text)
    low, high, unit = min(ends), max(ends), rows[0]["unit"]
    show, floor = value_text(unit), 38 * len(rows)
    words = [text(row) if row["answer"] is None else f"{row['answer']}: {text(row)}" for row in rows]

    def x_of(value: float) -> float:
        return float(16 + (WIDE - 32) * (value - low) / (high - low or 1.0))

    parts = list[Markup]()
    for mark in calendar_ticks(low, high, unit, 3 if Calendar.of(unit) is not None else 5):
        x = x_of(mark)
        parts += [_line(x, 18, x, floor + 4, "grid"), _text(x, floor + 18, show(mark), "tick", "middle")]
    for index, row in enumerate(rows):
        top = 38 * index
        parts += [
            _text(0, top + 12, words[index], "label"),
            _line(x_of(row["low"]), top + 30, x_of(row["high"]), top + 30, "whisker"),
            _mark(x_of(row["value"]), top + 30, 0),
        ]
    return _svg(floor + 22, f"{rows[0]['label'] or 'no label'}: {', '.join(words)}", parts)


def standalone(picture: Markup, style: str) -> str:
    """Return a picture as a separate file that contains its style."""
    inside = str(picture).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return inside.replace(">", f"><style>{style}</style>", 1)


def draw_points(rows: Sequence[PlainRow], unit: str) -> Markup:
    """Return a bar of equal width for each answer of a stepped scale; its height is the share."""
    shown = [row for row in rows if row["state"] == SHOWN]
    top = min(max(row["high"] for row in shown), 1.0)
    side = _Axis(0.0, top, percent)
    wide = (WIDE - side.left - _RIGHT) / len(shown)
    every = math.ceil(len(shown) * (max(len(str(row["answer"])) for row in shown) + 1) * _LETTER / 300)
    text, parts = row_text(shown), side.marks()
    for index, row in enumerate(shown):
        left = side.left + index * wide
        heights = [side.y(min(max(row[name], 0.0), top)) for name in ("value", "low", "high")]
        bar = [_rect(left + wide * 0.1, heights[0], wide * 0.8, side.y(0) - heights[0], "bar")]
        bar.append(_line(left + wide / 2, heights[1], left + wide / 2, heights[2], "whisker"))
        parts.append(_spot(left, wide, f"{row['answer']}: {text(row)}", bar, len(shown) <= _FOCUSED))
        if index % every == 0:
            name = f"{row['answer']} {unit}".strip() if index == len(shown) - 1 else str(row["answer"])
            parts.append(_text(left + wide / 2, _TALL - 6, name, "tick", anchor="middle"))
    most = max(shown, key=lambda row: row["value"])
    words = f"Shares of {len(shown)} answers; most frequent {most['answer']}, {text(most)}"
    return _svg(_TALL, words, parts)


def _is_scale(shown: Sequence[PlainRow]) -> bool:
    """Return whether bins are parts of a scale with very different lengths."""
    lengths = [row["to"] - row["from"] for row in shown]
    return bool(max(lengths) > _VERY * min(lengths))


def _draw_scale(shown: Sequence[PlainRow], unit: str) -> Markup:
    """Return a histogram whose bins have equal widths, with the values at their edges."""
    top = min(max(row["high"] for row in shown), 1.0)
    side = _Axis(0.0, top, percent)
    wide, text, parts = (WIDE - side.left - _RIGHT) / len(shown), row_text(shown), side.marks()
    edges = [*(row["from"] for row in shown), shown[-1]["to"]]
    names = [plain(float(f"{edge:.2g}")) for edge in edges]
    names[-1] = f"{names[-1]} {unit}".strip()
    every = math.ceil(len(names) * (max(map(len, names[:-1])) + 1) * _LETTER / 300)
    free = WIDE - (len(names[-1]) + 1) * _LETTER  # the last name is at the end, next to the unit
    for index, name in enumerate(names[:-1]):
        x = side.left + index * wide
        if index % every == 0 and x + len(name) * _LETTER / 2 <= free:
            parts.append(_text(x, _TALL - 6, name, "tick", anchor="middle"))
    parts.append(_text(WIDE - len(names[-1]) * _LETTER / 2, _TALL - 6, names[-1], "tick", anchor="middle"))
    for index, row in enumerate(shown):
        left = side.left + index * wide
        heights = [side.y(min(max(row[name], 0.0), top)) for name in ("value", "low", "high")]
        bar = [_rect(left, heights[0], wide, side.y(0) - heights[0], "bar")]
        bar.append(_line(left + wide / 2, heights[1], left + wide / 2, heights[2], "whisker"))
        label = f"{names[index]} to {names[index + 1]}: {text(row)}"
        parts.append(_spot(left, wide, label, bar, len(shown) <= _FOCUSED))
    most = max(shown, key=lambda row: row["value"])
    words = f"Shares of {len(shown)} parts of a scale; most from {plain(most['from'])} to {plain(most['to'])}"
    return _svg(_TALL, words, parts)


def draw_shape(rows: Sequence[PlainRow], unit: str) -> Markup:
    """Return a histogram with the band of each bin; areas are shares of the people."""
    shown = [row for row in rows if row["state"] == SHOWN]
    if len(shown) < 2:
        return Markup()
    if all(row["answer"] is not None for row in shown):
        return draw_points(shown, unit)
    if _is_scale(shown):
        return _draw_scale(shown, unit)
    first, last = shown[0]["from"], shown[-1]["to"]
    usual = (last - first) / len(shown)  # the height of a bin of this width is its share
    scales = [usual / (row["to"] - row["from"]) for row in shown]
    top = max(min(row["high"], 1.0) * scale for row, scale in zip(shown, scales, strict=True))
    side = _Axis(0.0, top, percent)
    text, parts = row_text(shown), side.marks()
    marks, show, calendar = calendar_ticks(first, last, unit), value_text(unit), Calendar.of(unit)
    if calendar is not None and not calendar.is_date:
        marks = marks[:-1] if marks[-1:] == [float(MINUTES)] else marks  # midnight is also the left end
    year = {show(mark)[:4] for mark in marks}

    def x_of(value: float) -> float:
        return float(side.left + (WIDE - side.left - _RIGHT) * (value - first) / (last - first))

    for mark in marks:
        name = show(mark)
        # a year is written once, the first day of a month not at all
        if calendar is not None and calendar.is_date:
            name = name[:7] if last - first >= 2 * _MONTH else name[5:] if len(year) == 1 else name
        elif mark == marks[-1] and calendar is None:
            name = f"{name} {unit}".strip()
        x = min(x_of(mark), WIDE - len(name) * _LETTER / 2)
        parts.append(_text(x, _TALL - 6, name, "tick", anchor="middle"))
    for row, scale in zip(shown, scales, strict=True):
        left, right = x_of(row["from"]), x_of(row["to"])
        middle = (left + right) / 2
        heights = [side.y(min(row[name] * scale, top)) for name in ("value", "low", "high")]
        gap = min(1.0, (right - left) / 4)
        bar = [
            _rect(left + gap / 2, heights[0], right - left - gap, side.y(0) - heights[0], "bar"),
            _line(
                middle,
                heights[1],
                middle,
                heights[2],
                "whisker" if right - left > _NARROW else "whisker thin",
            ),
        ]
        words = f"{show(row['from'])} to {show(row['to'])}: {text(row)}"
        parts.append(_spot(left, right - left, words, bar, len(shown) <= _FOCUSED))
    densest = max(shown, key=lambda row: row["value"] / (row["to"] - row["from"]))
    words = (
        f"Distribution from {show(first)} to {show(last)}; densest from {show(densest['from'])} to "
        f"{show(densest['to'])}, with {percent(densest['value'])} of the people"
    )
    return _svg(_TALL, words, parts)


def draw_history(rows: Sequence[PlainRow], step: int = 1) -> Markup:
    """Return the estimates over time with their intervals: a line for each answer, broken at missing dates.

    Without missing dates, dates are `step` days apart: 1, or 7 for weeks, 31 for months.
    """
    shown = [row for row in rows if row["state"] == SHOWN and row["low"] is not None]
    days = sorted({row["day"] for row in shown})
    if len(days) < 2:
        return Markup()
    names = shown_answers(shown)
    kept = [row for row in shown if row["answer"] in names]
    low, high = min(row["low"] for row in kept), max(row["high"] for row in kept)
    share = is_share(kept[0])
    if share:
        low, high = max(low, 0.0), min(high, 1.0)
    right = _RIGHT if names == [None] else 8 + _LETTER * min(max(len(str(name)) for name in names), 14) + 12
    begin, end = (datetime.date.fromisoformat(day) for day in (days[0], days[-1]))
    unit = kept[0]["unit"]
    side = _Axis(low, high, _shown_as(unit, share, high - low), right, None if share else unit)
    between = (WIDE - side.left - right - 12 - 2 * len(names)) / max((end - begin).days, 1)

    def across(day: str) -> float:
        return side.left + 6 + between * (datetime.date.fromisoformat(day) - begin).days

    parts = [*side.marks(), *_dates(days, across, WIDE - right)]
    few = "" if len(names) < 3 else " thin"  # wide whiskers of many answers would hide the values
    text, ends = row_text(kept), []
    for number, name in enumerate(names):
        series = [row for row in kept if row["answer"] == name]
        spots = [
            (across(row["day"]) + 2 * number, side.y(min(max(row["value"], low), high))) for row in series
        ]
        for run in _runs([row["day"] for row in series], step):
            points = " ".join(f"{_n(x)},{_n(y)}" for x, y in spots[run])
            parts.append(element("polyline", points=points, class_=f"curve s{number}"))
        for row, (x, y) in zip(series, spots, strict=True):
            bar = [side.y(min(max(row[name], low), high)) for name in ("low", "high")]
            parts += [_line(x, bar[0], x, bar[1], f"whisker s{number}{few}"), _mark(x, y, number)]
        ends.append((spots[-1][1], number, name))
    if names != [None]:
        parts += _direct_labels(ends, WIDE - right + 4)
    for day in days:
        here = [row for row in kept if row["day"] == day]
        said = ", ".join(
            text(row) if row["answer"] is None else f"{row['answer']} {text(row)}" for row in here
        )
        wide = max(between * step, 2.0)
        parts.append(_spot(across(day) - wide / 2, wide, f"{day}: {said}", [], len(days) <= _FOCUSED))
    words = f"Over time, from {days[0]} to {days[-1]}: {len(days)} dates with an answer"
    return _svg(_TALL, words, parts)


def draw_columns(columns: Sequence[tuple[str, int]], name: str) -> Markup:
    """Return vertical bars of exact numbers over the dates of their periods; empty for a single bar."""
    if len(columns) < 2:
        return Markup()
    top = max(*(number for _, number in columns), 1)
    side = _Axis(0.0, float(top), plain)
    wide = (WIDE - side.left - _RIGHT) / len(columns)
    starts = {day: side.left + index * wide for index, (day, _) in enumerate(columns)}
    parts = [*side.marks(), *_dates(list(starts), lambda day: starts[day] + wide / 2, WIDE - _RIGHT)]
    for day, number in columns:
        high = side.y(float(number))
        bar = _rect(starts[day] + wide * 0.1, high, wide * 0.8, side.y(0.0) - high, "bar")
        parts.append(_spot(starts[day], wide, f"{day}: {whole(number)}", [bar], len(columns) <= _FOCUSED))
    (first, begun), (last, ended) = columns[0], columns[-1]
    return _svg(_TALL, f"{name}: {whole(begun)} from {first}, {whole(ended)} from {last}", parts)


def draw_curve(rows: Sequence[Row], name: str) -> Markup:
    """Return shares with their intervals over the number of periods after a beginning."""
    side, last = _Axis(0.0, 1.0, percent), max(int(row["after"]) for row in rows)
    wide = (WIDE - side.left - _RIGHT) / (last + 1)
    marks = [int(mark) for mark in ticks(0.0, last + 0.5) if mark >= 1 and mark == int(mark)] or [last]
    parts = side.marks()
    for mark in marks:
        parts.append(_text(side.left + wide * mark, _TALL - 6, str(mark), "tick", anchor="middle"))
    spots = [(side.left + wide * row["after"], side.y(_clip(row["value"], 1.0))) for row in rows]
    for (before, first), (after, second) in pairwise(zip(rows, spots, strict=True)):
        if after["after"] == before["after"] + 1:  # the line is broken at a missing number
            parts.append(_line(*first, *second, "curve"))
    for row, (x, y) in zip(rows, spots, strict=True):
        low, value, high = (percent(_clip(row[end], 1.0)) for end in ("low", "value", "high"))
        bar = [_line(x, side.y(_clip(row["low"], 1.0)), x, side.y(_clip(row["high"], 1.0)), "whisker")]
        words = f"{row['after']}: {value} ({low} to {high})"
        parts.append(_spot(x - wide / 2, wide, words, [*bar, _mark(x, y, 0)], len(rows) <= _FOCUSED))
    ends = [f"{percent(_clip(row['value'], 1.0))} after {row['after']}" for row in (rows[0], rows[-1])]
    return _svg(_TALL, f"Share of devices that are active again, by {name}: {', '.join(ends)}", parts)


def _shown_as(unit: str | None, share: bool, length: float) -> Callable[[float], str]:
    """Return the format of values next to an axis of some length: dates without the year, or the day."""
    if share:
        return percent
    show, calendar = value_text(unit), Calendar.of(unit)
    if calendar is None or not calendar.is_date:
        return show
    part = slice(5, None) if length < _YEAR else slice(7)
    return lambda number: show(number)[part]


def _dates(days: Sequence[str], across: Callable[[str], float], end: float) -> list[Markup]:
    """Return the dates below a history: the first and the last, and the middle one where there is space.

    The year is written with the first date, and with each date in a new year.
    """
    parts: list[Markup] = []
    free, year = 0.0, ""
    last = days[-1] if days[-1][:4] != days[0][:4] else days[-1][5:]
    for day in dict.fromkeys((days[0], days[len(days) // 2], days[-1])):
        name = day[5:] if day[:4] == year else day
        width, x = len(name) * _LETTER, across(day)
        left = min(max(x - width / 2, x - 6), end - width)
        until = end if day == days[-1] else end - len(last) * _LETTER - 8
        if left >= free and left + width <= until + 1:
            parts.append(_text(left, _TALL - 6, name, "tick"))
            free, year = left + width + 8, day[:4]
    return parts


def shown_answers(rows: Sequence[PlainRow], most: int = SERIES) -> list[str | None]:
    """Return the answers that a picture shows, in their order: those with the largest shares on average."""
    totals: dict[str | None, list[float]] = {}
    for row in rows:
        totals.setdefault(row["answer"], []).append(row["value"])
    means = {name: sum(values) / len(values) for name, values in totals.items()}
    kept = set(sorted(means, key=lambda name: -means[name])[:most])
    return [name for name in totals if name in kept]


def _runs(days: Sequence[str], step: int) -> list[slice]:
    """Return the parts of a series without missing dates."""
    dates = [datetime.date.fromisoformat(day) for day in days]
    apart = [(after - before).days > step for before, after in pairwise(dates)]
    breaks = [index for index, lacks in enumerate(apart, 1) if lacks]
    return [slice(begin, end) for begin, end in pairwise([0, *breaks, len(days)])]


def _direct_labels(ends: Sequence[tuple[float, int, str | None]], x: float) -> list[Markup]:
    """Return the names of series next to their last values, moved apart where they would overlap."""
    parts, before = [], -math.inf
    for index, (y, number, name) in enumerate(sorted(ends)):
        at = max(min(y, _TALL - _BOTTOM - 12 * (len(ends) - 1 - index)), before + 12)
        before = at
        parts += [_mark(x + 3, at, number), _text(x + 10, at + 4, _cut(str(name), 14), "tick")]
    return parts


_SHAPES: Final[tuple[tuple[tuple[float, float], ...], ...]] = (
    (),  # a circle
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
    ((0, 1.3), (1.2, -0.9), (-1.2, -0.9)),
    ((-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)),
)


def _mark(x: float, y: float, series: int) -> Markup:
    """Return the mark of a value; its shape identifies the series."""
    shape = _SHAPES[series % len(_SHAPES)]
    if not shape:
        return element("circle", cx=_n(x), cy=_n(y), r=2.8, class_=f"dot s{series}")
    points = " ".join(f"{_n(x + 2.5 * across)},{_n(y + 2.5 * down)}" for across, down in shape)
    return element("polygon", points=points, class_=f"dot s{series}")


def _spot(left: float, width: float, words: str, parts: Sequence[Markup], focus: bool) -> Markup:
    """Return a part of a picture whose text is shown under the pointer or the keyboard focus."""
    area = _rect(left, 0, max(width, 1.0), _TALL - _BOTTOM, "hit")
    lines = _wrap(words)
    tip = join_markup([_text(WIDE / 2, 10 + 12 * at, line, "tip", "middle") for at, line in enumerate(lines)])
    more = {"tabindex": "0", "role": "img", "aria-label": words} if focus else {}
    return element("g", *parts, area, tip, class_="spot", **more)


def _wrap(words: str) -> list[str]:
    """Return text in lines that fit a picture, divided at commas; the last permitted line is cut."""
    lines = [""]
    for part in words.split(", "):
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        if len(longer) > _LINE and lines[-1] and len(lines) < _LINES:
            lines[-1] += ","
            lines.append(part)
        else:
            lines[-1] = longer
    return [_cut(line, _LINE) for line in lines]


class _Axis:
    """The vertical axis of a picture, from `low` to `high`; its width fits its numbers."""

    def __init__(
        self,
        low: float,
        high: float,
        show: Callable[[float], str],
        right: float = _RIGHT,
        unit: str | None = None,
    ) -> None:
        self._low, self._high, self._right = low, high, right
        self._marks = [(mark, show(mark)) for mark in calendar_ticks(low, high, unit)]
        self.left = 8 + _LETTER * max((len(name) for _, name in self._marks), default=0)

    def y(self, value: float) -> float:
        """Return the height of a value."""
        length = self._high - self._low
        share = (value - self._low) / length if length > 0.0 else 0.5
        return _TALL - _BOTTOM - (_TALL - _TOP - _BOTTOM) * share

    def marks(self) -> list[Markup]:
        """Return the lines and numbers of the axis, and the base line."""
        end, floor, parts = WIDE - self._right, _TALL - _BOTTOM, list[Markup]()
        for mark, name in self._marks:
            y = self.y(mark)
            parts.append(_line(self.left, y, end, y, "grid"))
            parts.append(_text(self.left - 4, y + 4, name, "tick", anchor="end"))
        return [*parts, _line(self.left, floor, end, floor, "axis")]


def _svg(height: float, words: str, parts: Sequence[Markup]) -> Markup:
    attributes: dict[str, Any] = {"viewBox": f"0 0 {WIDE} {_n(height)}", "role": "group", "aria-label": words}
    return element("svg", join_markup(parts, ""), **attributes)


def _text(x: float, y: float, text: str, kind: str, anchor: str | None = None) -> Markup:
    return element("text", text, x=_n(x), y=_n(y), class_=kind, **{"text-anchor": anchor})


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=kind)


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return element("rect", x=_n(x), y=_n(y), width=_n(width), height=_n(max(height, 0.0)), class_=kind)


def _clip(share: float, top: float) -> float:
    return min(max(share, 0.0), top) / top


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _n(number: float) -> str:
    return f"{number:.1f}".rstrip("0").rstrip(".")
