"""Builds the playground: one page with the client, the questions and the computed curves in it.

    python docs/playground/build.py        writes docs/playground/index.html

The page is part of the repository and of the wheel: serving it needs neither Node nor this script.
Its content policy names the digests of its two scripts and its style, and allows nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.estimation.reading import least_variance_reading

HERE = Path(__file__).parent
DIST = HERE.parents[1] / "clients" / "javascript" / "dist"
TARGET = HERE / "index.html"
MOST_BYTES = 300_000
EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
CURVE = (0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
BROWSERS, SHARES = ["Chrome", "Edge", "Firefox", "Safari", "other"], [0.48, 0.12, 0.16, 0.2, 0.04]
ITEMS, MOST = ["Mail", "Maps", "Chat", "Music", "Notes", "Video"], 3
STARS = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
SETS = {  # what people use, and how many of them
    (): 0.06,
    ("Mail",): 0.16,
    ("Mail", "Chat"): 0.24,
    ("Chat", "Music", "Video"): 0.18,
    ("Mail", "Maps", "Chat"): 0.22,
    ("Mail", "Notes"): 0.08,
    ("Maps", "Music"): 0.06,
}
# goal: what it is called, what the error is, the column of dt.compare, its root, the mechanisms
GOALS: list[dict[str, Any]] = [
    {
        "name": "A mean",
        "error": "standard deviation of one report, at the worst value, for values between 0 and 1",
        "note": "Divide by √n for the error of the mean of n people.",
        "domain": dt.Interval(0, 1),
        "column": "variance",
        "power": 0.5,
        "of": {
            "Optimal(unbiased=True)": "Optimal",
            "Hybrid": "Hybrid",
            "Podium": "Podium",
            "PM": "PM",
            "Duchi": "Duchi",
            "Laplace": "Laplace",
        },
    },
    {
        "name": "Single values",
        "error": "expected distance of a report from the value, at the worst value between 0 and 1",
        "note": "An error of 0.5 needs no report at all: one half for everybody.",
        "domain": dt.Interval(0, 1),
        "column": "worst absolute",
        "power": 1.0,
        "of": {
            "Optimal(loss=absolute)": "Optimal",
            "OGPM(loss=absolute)": "OGPM",
            "PM.compressed()": "PM-C",
            "SW.truncated()": "T-SW",
            "Laplace.truncated()": "T-Laplace",
        },
    },
    {
        "name": "Shares of 16 answers",
        "error": "standard deviation that one report adds to a share, averaged over the answers",
        "note": "Divide by √n for the error of a share among n people.",
        "domain": dt.Categories(16),
        "column": "average variance",
        "power": 0.5,
        "of": {
            "SubsetSelection": "Subset selection",
            "OUE": "OUE",
            "OLH": "OLH",
            "HadamardResponse": "Hadamard response",
            "KRR": "k-RR",
        },
    },
    {
        "name": "Which of 1 000 items",
        "error": "standard deviation that one report adds to an item's share, if people have 20 items each",
        "note": "Divide by √n for the error of a share among n people. The best possible is a proved bound.",
        "domain": dt.Several(1_000, most=20),
        "column": "average variance",
        "power": 0.5,
        "of": {
            "SetResponse(report='elements')": "Set response",
            "RR of one item at random": "One item at random",
        },
    },
]


def questions() -> list[dict[str, Any]]:
    """Return the questions of the page, with the specifications that devices read."""
    minutes = np.random.default_rng(1).gamma(4.0, 11.0, 200_000).clip(0, 180)
    quantiles = np.quantile(minutes, np.linspace(0, 1, 101)).round(2).tolist()
    minutes_asked = [dt.Podium(dt.Interval(0, 180), epsilon=epsilon) for epsilon in EPSILONS]
    yes_no, browsers = dt.Categories(["no", "yes"]), dt.Categories(BROWSERS)
    sets = [dt.SetResponse(dt.Several(ITEMS, most=MOST), epsilon=epsilon) for epsilon in EPSILONS]
    return [
        {
            "title": "How many minutes did you travel today?",
            "unit": "minutes",
            "quantiles": quantiles,
            "readings": [knots(asked) for asked in minutes_asked],
            "specifications": [asked.to_json() for asked in minutes_asked],
        },
        {
            "title": "Have you smoked this week?",
            "labels": list(yes_no.labels),
            "shares": [0.78, 0.22],
            "specifications": [dt.KRR(yes_no, epsilon=epsilon).to_json() for epsilon in EPSILONS],
        },
        {
            "title": "Which browser do you use?",
            "labels": BROWSERS,
            "shares": SHARES,
            "specifications": [dt.KRR(browsers, epsilon=epsilon).to_json() for epsilon in EPSILONS],
        },
        {
            "title": "Which of these do you use?",
            "labels": ITEMS,
            "most": MOST,
            "sets": [list(items) for items in SETS],
            "shares": list(SETS.values()),
            "rates": [[asked.question.p, asked.question.q] for asked in sets],
            "specifications": [asked.to_json() for asked in sets],
        },
        {
            "title": "How many stars do you give?",
            "labels": STARS,
            "points": [1, 2, 3, 4, 5],
            "shares": [0.04, 0.08, 0.18, 0.4, 0.3],
            "specifications": [
                dt.KRR(dt.Categories(STARS), epsilon=epsilon).to_json() for epsilon in EPSILONS
            ],
        },
    ]


def knots(mechanism: dt.Podium) -> list[tuple[int, float]]:
    """Return the numbers that `dt.mean` averages, which are linear in the cell between a few cells."""
    reading = least_variance_reading(mechanism.question) or mechanism.question.unbiased_reading()
    assert reading is not None
    values = reading.values
    bends = np.abs(np.diff(values, 2)) > 1e-9 * np.abs(values).max()
    cells = sorted({0, values.size - 1, *(np.flatnonzero(bends) + 1).tolist()})
    return [(cell, float(values[cell])) for cell in cells]


def curves() -> list[dict[str, Any]]:
    """Return, for each goal, the errors of some mechanisms and the smallest possible error at each ε."""
    tables = {
        domain: [{row["mechanism"]: row for row in dt.compare(domain, epsilon=epsilon)} for epsilon in CURVE]
        for domain in {goal["domain"] for goal in GOALS}
    }
    found = []
    for goal in GOALS:
        rows, column, power = tables[goal["domain"]], goal["column"], goal["power"]
        first = next(iter(goal["of"]))
        least = [row[first][column] / row[first][f"relative {column}"] for row in rows]
        found.append(
            {
                **{key: goal[key] for key in ("name", "error", "note")},
                "best": [_short(error**power) for error in least],
                "mechanisms": {
                    title: [_short(row[name][column] ** power) for row in rows]
                    for name, title in goal["of"].items()
                },
            }
        )
    return found


def _short(number: float) -> float:
    return float(f"{number:.5g}")


def page(goals: list[dict[str, Any]] | None = None) -> str:
    """Return the page. Its curves take half a minute; the other parts are quick."""
    data = {
        "epsilons": EPSILONS,
        "questions": questions(),
        "curve": CURVE,
        "goals": curves() if goals is None else goals,
    }
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    client = (DIST / "dither.global.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src {_digest(client)} {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    text = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {
        "POLICY": policy,
        "STYLE": style,
        "DATA": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "CLIENT": client,
        "SCRIPT": script,
        "VERSION": version("dither"),
    }
    for name, part in parts.items():
        if "</script" in part.lower() or "</style" in part.lower():
            raise ValueError(f"{name} would end its own element")
        text = text.replace(f"@{name}@", part)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"the playground has {len(text.encode())} bytes, more than {MOST_BYTES}")
    return text


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
