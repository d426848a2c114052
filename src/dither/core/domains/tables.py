"""Domains in tables of TOML, as in a campaign's file: `interval = [18, 100]`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

from dither.core.domains.calendar import MINUTES, Calendar
from dither.core.domains.domain import Domain, Line, known_kinds
from dither.core.domains.nullable import Nullable
from dither.errors import InvalidParameter, found

_PARTS: Final = 32  # of a scale
_EPOCH: Final = datetime.date(1970, 1, 1)
_LEAST: Final = 1000  # the smallest edge of a logarithmic scale from 0, as a part of its end, below 32


def _readers() -> dict[str, type[Domain]]:
    """Return the kinds of domains that a table can describe, by their keys."""
    return {kind: domain for kind, domain in known_kinds().items() if domain.from_table is not None}


def take_domain(table: dict[str, Any]) -> Domain:
    """Return the domain that a table describes; take its keys out of the table."""
    _take_form(table)
    given = {kind: table.pop(kind) for kind in _readers() if kind in table}
    for kind in list(given):
        given |= {key: table.pop(key) for key in _readers()[kind].keys if key in table}
    domain = read_table({**given, "optional": table.pop("optional", False)})
    if words := [key for key in Line.keys if key in table]:
        raise InvalidParameter(f"{' and '.join(words)} are for numbers; these answers are categories")
    return domain


def read_table(table: Mapping[str, Any]) -> Domain:
    """Return the domain that the keys of exactly one kind describe; with `optional`, `dt.Nullable` of it."""
    optional = table.get("optional", False)
    if not isinstance(optional, bool):
        raise InvalidParameter(f"optional is true or false, not {found(optional)}")
    given = [kind for kind in _readers() if table.get(kind) is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "exactly one domain is needed: interval = [low, high], circle = period, categories = […], "
            "several = […] with most = 10, date, time, rectangle, disk, sphere, box or profile; "
            f"{' and '.join(given) or 'none'} was given"
        )
    domain: Domain = _readers()[given[0]].from_table(table)
    if optional:
        domain = Nullable(domain)
    return domain


def _take_form(table: dict[str, Any]) -> None:
    """Replace dates, times and a scale by the numbers that devices are asked for."""
    if "scale" in table:
        edges = scale_edges(table)
        del table["scale"]
        table["interval"] = [0, len(edges) - 1]
    if "date" in table:
        ends = table.pop("date")
        if (
            not isinstance(ends, list)
            or len(ends) != 2
            or not all(type(end) is datetime.date for end in ends)
        ):
            raise InvalidParameter("dates are two days without quotes: date = [2026-01-01, 2026-12-31]")
        table["interval"] = [(end - _EPOCH).days for end in ends]
        table["unit"] = Calendar.make(dates=True, zone=table.pop("zone", None))
    if "time" in table:
        if table.pop("time") is not True:
            raise InvalidParameter("a time of the day is asked by time = true")
        table["circle"] = MINUTES
        table["unit"] = Calendar.make(dates=False, zone=table.pop("zone", None))


def scale_edges(table: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the edges of the scale of an interval: those that are listed, or 33 of "log" or "linear".

    >>> scale_edges({"interval": [0, 64], "scale": "linear"})[:3]
    (0.0, 2.0, 4.0)
    """
    given, ends = table["scale"], table.get("interval")
    if isinstance(given, list):
        return tuple(given)
    numbers = isinstance(ends, list) and len(ends) == 2
    numbers = numbers and all(
        isinstance(end, int | float) and not isinstance(end, bool) for end in ends or ()
    )
    if given not in ("log", "linear") or not numbers or not ends or not ends[0] < ends[1]:
        raise InvalidParameter(
            'a scale is "log" or "linear" beside interval = [low, high], or a list of edges'
        )
    low, high = map(float, ends)
    if given == "linear":
        return (*(low + (high - low) * part / _PARTS for part in range(_PARTS)), high)
    if low >= 0:
        return _logarithmic(low, high, _PARTS)
    if high <= 0:
        return tuple(-edge for edge in reversed(_logarithmic(-high, -low, _PARTS)))
    half = _PARTS // 2
    below, above = _logarithmic(0.0, -low, half), _logarithmic(0.0, high, half)
    return (*(-edge for edge in reversed(below[1:])), *above)


def _logarithmic(low: float, high: float, parts: int) -> tuple[float, ...]:
    """Return edges with equal ratios; from 0, the first part ends at 1, or at a small part of `high`."""
    least, steps = low, parts
    if low == 0:
        least, steps = (1.0 if high >= _PARTS else high / _LEAST), parts - 1
    between = (float(f"{least * (high / least) ** (part / steps):.12g}") for part in range(1, steps))
    return (*((0.0,) if low == 0 else ()), least, *between, high)
