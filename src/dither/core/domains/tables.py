"""Domains in tables of TOML, as in a campaign's file: `interval = [18, 100]`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

from dither.core.domains.calendar import MINUTES, Calendar
from dither.core.domains.domain import Domain, Line, known_kinds
from dither.core.domains.nullable import Nullable
from dither.core.domains.ranges import scale_edges
from dither.errors import InvalidParameter, found, unknown_name

_EPOCH: Final = datetime.date(1970, 1, 1)


def _readers() -> dict[str, type[Domain]]:
    """Return the kinds of domains that a table can describe, by their keys."""
    return {kind: domain for kind, domain in known_kinds().items() if domain.from_table is not None}


def take_domain(table: dict[str, Any]) -> Domain:
    """Return the domain that a table describes; take its keys out of the table."""
    _take_form(table)
    given = {kind: table.pop(kind) for kind in _readers() if kind in table}
    for key in table if not given else ():
        near = unknown_name("domain", key, (*_readers(), "date", "time"))
        if "did you mean" in str(near):
            raise near
    for kind in list(given):
        given |= {key: table.pop(key) for key in _readers()[kind].keys if key in table}
    domain = read_table({**given, "optional": table.pop("optional", False)})
    if words := [key for key in Line.keys if key in table]:
        raise InvalidParameter(
            f"expected no {' or '.join(words)} with categories, because they are for numbers; leave them out"
        )
    return domain


def read_table(table: Mapping[str, Any]) -> Domain:
    """Return the domain that the keys of exactly one kind describe; with `optional`, `dt.Nullable` of it."""
    optional = table.get("optional", False)
    if not isinstance(optional, bool):
        raise InvalidParameter(f"expected optional to be true or false, got {found(optional)}")
    given = [kind for kind in _readers() if table.get(kind) is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "expected exactly one domain: interval = [low, high], circle = period, categories = "
            "[…], several = […] with most = 10, date, time, rectangle, disk, sphere, places, "
            f"routes, box, vectors or profile; got {' and '.join(given) or 'none'}"
        )
    domain: Domain = _readers()[given[0]].from_table(table)
    if optional:
        domain = Nullable(domain)
    return domain


_DAYS: Final = "expected two days: date = [2026-01-01, 2026-12-31]"


def _two(ends: object) -> list[object]:
    if not isinstance(ends, list) or len(ends) != 2:
        raise InvalidParameter(_DAYS)
    return ends


def _day(end: object) -> datetime.date:
    """Return a day that TOML states as a date or as text in quotes."""
    if type(end) is datetime.date:
        return end
    try:
        return datetime.date.fromisoformat(end if isinstance(end, str) else "")
    except ValueError:
        raise InvalidParameter(f"{_DAYS}, got {found(end)}") from None


def _take_form(table: dict[str, Any]) -> None:
    """Replace dates, times and a scale by the numbers that devices report."""
    dates = "date" in table
    if dates and table.get("scale", "linear") != "linear":
        raise InvalidParameter('expected scale = "linear" with date = [first, last]')
    if "scale" in table and not dates:
        table["scale"] = list(scale_edges(table))
        table["interval"] = [0, len(table["scale"]) - 1]
    if "date" in table:
        table["interval"] = [(_day(end) - _EPOCH).days for end in _two(table.pop("date"))]
        table["unit"] = Calendar.make(dates=True, zone=table.pop("zone", None))
        if "scale" in table:
            table["scale"] = list(scale_edges(table))
    if "time" in table:
        if table.pop("time") is not True:
            raise InvalidParameter("expected time = true, for a time of the day")
        table["circle"] = MINUTES
        table["unit"] = Calendar.make(dates=False, zone=table.pop("zone", None))
