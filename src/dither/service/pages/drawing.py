"""Pictures of answers as SVG: shares with their intervals, a distribution, a history by day."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Final

from dither.html import Markup, element, joined
from dither.service.answers.rows import SHOWN, PlainRow
from dither.service.pages.words import percent, plain, with_interval

WIDE: Final = 360  # of a picture, in its own units: a phone's width, so that letters stay readable
_TALL: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 8, 8, 22
_BAR: Final = 30
MOST_BARS: Final = 12
_SERIES: Final = 3  # categories that the history shows


def bars(rows: Sequence[PlainRow]) -> Markup:
    """Return horizontal bars of shares with their intervals, the largest first."""
    shown = sorted((row for row in rows if row["state"] == SHOWN), key=lambda row: -row["value"])[:MOST_BARS]
    if not shown:
        return Markup()
    top = max(min(max(row["high"] or 0.0 for row in shown), 1.0), 0.05)
    parts: list[Markup] = []
    for place, row in enumerate(shown):
        y = place * _BAR
        reach = _clip(row["value"], top) * (WIDE - 16)
        low, high = (_clip(row[name] or 0.0, top) * (WIDE - 16) for name in ("low", "high"))
        parts += [
            _text(0, y + 11, str(row["answer"])[:28], "label"),
            _text(WIDE, y + 11, with_interval(row), "label", anchor="end"),
            element("rect", x=0, y=y + 15, width=_n(reach), height=8, class_="bar"),
            _line(low, y + 19, high, y + 19, "whisker"),
        ]
    names = ", ".join(f"{row['answer']} {with_interval(row)}" for row in shown[:4])
    return _svg(len(shown) * _BAR, f"Shares with intervals: {names}", parts)


def shape(rows: Sequence[PlainRow], unit: str) -> Markup:
    """Return a histogram with the band of each bin."""
    shown = [row for row in rows if row["state"] == SHOWN]
    if len(shown) < 2:
        return Markup()
    first, last = shown[0]["from"], shown[-1]["to"]
    heights = [(row["value"], row["low"], row["high"]) for row in shown]
    widths = [row["to"] - row["from"] for row in shown]
    scale = (last - first) / len(shown)  # a bin of usual width is as high as its share
    top = max(min(high, 1.0) * scale / width for (_, _, high), width in zip(heights, widths, strict=True))
    parts = _axes(first, last, unit)
    for row, (value, low, high), width in zip(shown, heights, widths, strict=True):
        left, right = _x(row["from"], first, last), _x(row["to"], first, last)
        middle = (left + right) / 2
        tops = [_y(number * scale / width, 0.0, top) for number in (value, low, min(high, 1.0))]
        parts += [
            element(
                "rect",
                x=_n(left + 0.5),
                y=_n(tops[0]),
                width=_n(max(right - left - 1, 0.5)),
                height=_n(_y(0, 0, 1) - tops[0]),
                class_="bar",
            ),
            _line(middle, tops[1], middle, tops[2], "whisker"),
        ]
    densest = max(shown, key=lambda row: row["value"] / (row["to"] - row["from"]))
    words = (
        f"Distribution from {plain(first)} to {plain(last)}; densest from {plain(densest['from'])} to "
        f"{plain(densest['to'])}, with {percent(densest['value'])} of the people"
    )
    return _svg(_TALL, words, parts)


def history(rows: Sequence[PlainRow]) -> tuple[Markup, list[str]]:
    """Return the estimates by day with their intervals, and which categories are shown: the largest."""
    shown = [row for row in rows if row["state"] == SHOWN and row["low"] is not None]
    days = sorted({row["day"] for row in shown})
    if len(days) < 2:
        return Markup(), []
    last = [row for row in shown if row["day"] == days[-1]]
    names = [row["answer"] for row in sorted(last, key=lambda row: -row["value"])[:_SERIES]]
    kept = [row for row in shown if row["answer"] in names]
    low, high = min(row["low"] for row in kept), max(row["high"] for row in kept)
    if kept[0]["quantity"] == "frequency":
        low, high = max(low, 0.0), min(high, 1.0)
    first, until = days[0], days[-1]
    span = max((datetime.date.fromisoformat(until) - datetime.date.fromisoformat(first)).days, 1)
    shares = kept[0]["quantity"] == "frequency"
    ticks = [percent(one) if shares else plain(round(one, 1)) for one in (low, high)]
    parts = [
        _text(_LEFT - 4, _y(low, low, high), ticks[0], "tick", anchor="end"),
        _text(_LEFT - 4, _y(high, low, high) + 8, ticks[1], "tick", anchor="end"),
        _text(_LEFT, _TALL - 6, first, "tick"),
        _text(WIDE - _RIGHT, _TALL - 6, until, "tick", anchor="end"),
        _line(_LEFT, _TALL - _BOTTOM, WIDE - _RIGHT, _TALL - _BOTTOM, "axis"),
    ]
    for number, name in enumerate(names):
        series = [row for row in kept if row["answer"] == name]
        places = []
        for row in series:
            day = (datetime.date.fromisoformat(row["day"]) - datetime.date.fromisoformat(first)).days
            x = _LEFT + 6 + (WIDE - _LEFT - _RIGHT - 12) * day / span + 3 * number
            y = _y(min(max(row["value"], low), high), low, high)
            places.append((x, y))
            ends_of = (_y(min(max(row[one], low), high), low, high) for one in ("low", "high"))
            parts.append(_line(x, next(ends_of), x, next(ends_of), f"whisker s{number}"))
            parts.append(element("circle", cx=_n(x), cy=_n(y), r=2.5, class_=f"dot s{number}"))
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in places)
        parts.insert(0, element("polyline", points=path, class_=f"curve s{number}"))
    words = f"By day, from {first} to {until}: {len(days)} days with an answer"
    return _svg(_TALL, words, parts), [str(name) for name in names if name is not None]


def _axes(first: float, last: float, unit: str) -> list[Markup]:
    middle = (first + last) / 2
    floor = _TALL - _BOTTOM
    return [
        _line(_LEFT, floor, WIDE - _RIGHT, floor, "axis"),
        _text(_LEFT, _TALL - 6, plain(first), "tick"),
        _text(_x(middle, first, last), _TALL - 6, plain(middle), "tick", anchor="middle"),
        _text(WIDE - _RIGHT, _TALL - 6, f"{plain(last)} {unit}".strip(), "tick", anchor="end"),
    ]


def _svg(height: float, words: str, parts: Sequence[Markup]) -> Markup:
    attributes: dict[str, Any] = {"viewBox": f"0 0 {WIDE} {_n(height)}", "role": "img", "aria-label": words}
    return element("svg", joined(parts, ""), **attributes)


def _text(x: float, y: float, text: str, kind: str, anchor: str | None = None) -> Markup:
    return element("text", text, x=_n(x), y=_n(y), class_=kind, **{"text-anchor": anchor})


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=kind)


def _x(place: float, first: float, last: float) -> float:
    return _LEFT + (WIDE - _LEFT - _RIGHT) * (place - first) / (last - first)


def _y(height: float, low: float, high: float) -> float:
    share = (height - low) / (high - low) if high > low else 0.5
    return _TALL - _BOTTOM - (_TALL - _TOP - _BOTTOM) * share


def _clip(share: float, top: float) -> float:
    return min(max(share, 0.0), top) / top


def _n(number: float) -> str:
    return f"{number:.1f}".rstrip("0").rstrip(".")
