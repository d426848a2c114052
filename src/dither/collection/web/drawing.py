"""Pictures, words and files of the collector's page."""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

from dither.advice.explain import caution
from dither.collection.campaign import Campaign
from dither.collection.web.answers import SHOWN, PlainRow
from dither.core.question import Question
from dither.estimation.rounding import show_interval
from dither.foundation.digits import THIN, plain, whole
from dither.foundation.markup import Markup, element, join_markup
from dither.privacy import Pure

_REPEATED: Final = {
    "fresh": "Every further answer to a question is a new report and counts again.",
    "same": "A device sends one report, once, however often it is asked.",
    "per value": "A device sends one report for each value, once; another value is a new report.",
    "once": "A device answers once in every period, on a day that it draws beforehand.",
}


def number_of(number: int, noun: str) -> str:
    """Return a number of things: 1 report, 40 000 reports."""
    return f"{whole(number)}{THIN}{noun}{'' if number == 1 else 's'}"


def narrow(text: str) -> str:
    """Return a text in which no number is parted from its per cent sign, or from its other digits."""
    return re.sub(r"(?<=\d) (?=[%\d])", THIN, text)


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{plain(round(100.0 * share, 1))}{THIN}%"


def with_interval(row: PlainRow) -> str:
    """Return the value of a row with its interval, in the unit of the question, or in per cent."""
    value, low, high = (row[name] for name in ("value", "low", "high"))
    if low is None or high is None:
        return "unknown: the interval has no end"
    factor, unit = (100.0, "%") if _is_share(row) else (1.0, row["unit"] or "")
    text = show_interval(factor * value, factor * low, factor * high).replace("-", "−").replace(" ", THIN)
    return f"{text}{THIN}{unit}" if unit else text


def bounds(row: PlainRow) -> str:
    """Return the ends of an interval: 47 to 56 minutes."""
    low, high = row["low"], row["high"]
    if low is None or high is None:
        return "anything"
    if _is_share(row):
        return f"{percent(max(low, 0.0))} to {percent(min(high, 1.0))}"
    digits = 1 - math.floor(math.log10(max(high - low, 1e-12)))
    ends = f"{plain(round(low, digits))} to {plain(round(high, digits))}"
    return f"{ends}{THIN}{row['unit']}" if row["unit"] else ends


def _is_share(row: PlainRow) -> bool:
    return row["quantity"] in ("frequency", "share of a bin")


def question_words(question: Question) -> str:
    """Return what a question asks, and how devices answer it."""
    return f"{question.domain.words()}; devices run {question.name}"


def promise(contract: Campaign) -> list[str]:
    """Return what a person is promised over the whole campaign, in sentences; a warning first if due."""
    promised = contract.whole_guarantee
    warning = caution(promised)
    begin = [] if warning is None else [warning]
    if not isinstance(promised.bound, Pure):
        return [*begin, f"All answers of a person together: {promised.bound}.", _REPEATED[contract.repeat]]
    many = "all answers" if len(contract.questions) > 1 or contract.repeat == "once" else "the answer"
    return [
        *begin,
        f"ε = {promised.epsilon:.4g} for {many} of one person. Whatever a device sends, it is at most "
        f"{_above(math.exp(min(promised.epsilon, 50.0)))} times (e^ε) as likely with one truth as with any "
        "other.",
        _REPEATED[contract.repeat],
    ]


def _above(number: float) -> str:
    """Return a number with three digits that is not below the given one: 20.1 of 20.08."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    rounded = float(f"{math.ceil(number / step) * step:.3g}")
    return plain(rounded) if rounded < 1000 else whole(int(rounded))


WIDE: Final = 360  # of a picture, in its own units: a phone's width, so that letters stay readable
_TALL: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 8, 8, 22
_BAR: Final = 30
MOST_BARS: Final = 12
_SERIES: Final = 3  # categories that the history shows


def draw_bars(rows: Sequence[PlainRow]) -> Markup:
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


def draw_shape(rows: Sequence[PlainRow], unit: str) -> Markup:
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


def draw_history(rows: Sequence[PlainRow]) -> tuple[Markup, list[str]]:
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
    ticks = [percent(end) if shares else plain(round(end, 1)) for end in (low, high)]
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
            ends_of = (_y(min(max(row[end], low), high), low, high) for end in ("low", "high"))
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
    return element("svg", join_markup(parts, ""), **attributes)


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


STYLE: Final = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2733;--soft:#536471;--rule:#d5dbe1;--bar:#9cc3e6;
--mark:#0b5394;--card:#f5f7f9;--warn:#7a4b00;--s1:#8a3b12;--s2:#3d6b21}
@media (prefers-color-scheme:dark){:root{--paper:#12181f;--ink:#e6edf3;--soft:#a3b1bf;--rule:#303b46;
--bar:#2f5d86;--mark:#8cc4ff;--card:#1a222b;--warn:#f0c36d;--s1:#f2a27a;--s2:#a5d47f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1.25rem 1rem 3rem;background:var(--paper);color:var(--ink)}
body{font:16px/1.55 system-ui,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0}
h2{font-size:1.15rem;margin:0}
h3{font-size:.95rem;margin:1.1rem 0 .3rem;color:var(--soft);font-weight:600}
p{margin:.4rem 0}
a{color:var(--mark)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
.soft,dt,caption{color:var(--soft)}
.soft{font-size:.92rem}
.state{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:0 .6rem;font-size:.85rem}
.warn{color:var(--warn)}
.questions{display:grid;gap:1rem;margin:1.2rem 0}
.questions{grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}
section{background:var(--card);border:1px solid var(--rule);border-radius:.6rem;padding:1rem}
.questions+section,section+section{margin-top:1rem}
.questions section{margin:0}
.big{font-size:1.9rem;line-height:1.2;font-variant-numeric:tabular-nums;margin:.5rem 0 0}
svg{display:block;width:100%;max-width:36rem;height:auto;overflow:visible}
text{fill:var(--ink);font-size:12px;font-family:inherit}
.tick{fill:var(--soft);font-size:11px}
.bar{fill:var(--bar)}
.whisker{stroke:var(--mark);stroke-width:1.6}
.axis{stroke:var(--rule)}
.curve{fill:none;stroke:var(--mark);stroke-width:1;opacity:.55}
.dot{fill:var(--mark)}
.whisker.s1,.curve.s1{stroke:var(--s1)}.dot.s1{fill:var(--s1)}
.whisker.s2,.curve.s2{stroke:var(--s2)}.dot.s2{fill:var(--s2)}
.t0{color:var(--mark)}.t1{color:var(--s1)}.t2{color:var(--s2)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.2rem .9rem .2rem 0;border-top:1px solid var(--rule);vertical-align:top}
summary{cursor:pointer;color:var(--mark);padding:.35rem 0}
ul{padding-left:1.2rem;margin:.4rem 0}
"""

SCRIPT: Final = """
(()=>{const main=document.querySelector('main'),live=document.getElementById('live');
if(!main||!main.dataset.events||!window.EventSource)return;
const say=t=>{if(live.textContent!==t)live.textContent=t};
const source=new EventSource(main.dataset.events);
let wait=0;
source.onopen=()=>{clearTimeout(wait);wait=0;say('Live: numbers change as reports arrive.')};
source.onerror=()=>{wait=wait||
setTimeout(()=>say('Live updates are interrupted; these numbers may be old. Trying again.'),6000)};
source.onmessage=e=>{const parts=JSON.parse(e.data);
for(const id in parts){const place=document.getElementById(id);if(place)place.innerHTML=parts[id]}}})();
"""


def _source(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        f"style-src {_source(STYLE)}",
        f"script-src {_source(SCRIPT)}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
