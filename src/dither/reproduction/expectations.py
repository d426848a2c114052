"""The numbers that must come out, kept as data: recomputed independently, with tolerance and source."""

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
    """Return the expectations of one figure, from the table of its module."""
    return tuple(_table(module).get(name, ()))
