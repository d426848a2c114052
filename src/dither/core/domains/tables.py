"""Domains in tables of TOML, as in a campaign's file: `interval = [18, 100]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.core.domains.domain import Domain, Line, known_kinds
from dither.core.domains.nullable import Nullable
from dither.errors import InvalidParameter, found


def _readers() -> dict[str, type[Domain]]:
    """Return the kinds of domains that a table can describe, by their keys."""
    return {kind: domain for kind, domain in known_kinds().items() if domain.from_table is not None}


def take_domain(table: dict[str, Any]) -> Domain:
    """Return the domain that a table describes; take its keys out of the table."""
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
            "exactly one domain is needed: interval = [low, high], circle = period, categories = […] or "
            "several = […] with most = 10; "
            f"{' and '.join(given) or 'none'} was given"
        )
    domain: Domain = _readers()[given[0]].from_table(table)
    if optional:
        domain = Nullable(domain)
    return domain
