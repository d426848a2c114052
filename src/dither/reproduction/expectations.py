"""The expected numbers of the figures, read from JSON files: value, tolerance and source."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from dither.reproduction.figure import ExpectedNumber


@cache
def _table(module: str) -> dict[str, list[ExpectedNumber]]:
    text = files("dither.reproduction").joinpath("expected", f"{module}.json").read_text(encoding="utf-8")
    return {name: [ExpectedNumber(**row) for row in rows] for name, rows in json.loads(text).items()}


def expected(module: str, name: str) -> tuple[ExpectedNumber, ...]:
    """Return the expected numbers of one figure, from the JSON file of its module."""
    return tuple(_table(module).get(name, ()))
