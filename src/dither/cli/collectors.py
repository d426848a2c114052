"""Estimates from collectors: what `dither estimate http://…` needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.answers import Wanted, answers_of
from dither.cli.output import number_of, print_json
from dither.cli.show import print_answers, print_groups
from dither.errors import NotIdentifiable, unknown_name
from dither.foundation.tables import ResultTable

if TYPE_CHECKING:
    from datetime import date

    from dither.core.counts import Counts
    from dither.estimation.over_time import EstimatedDays


def print_collected(
    addresses: Sequence[str],
    tokens: Sequence[str],
    column: str | None,
    wanted: Wanted,
    as_json: bool,
    since: date | None,
) -> dict[str, Any]:
    """Print the estimates of a campaign at one or several collectors, in groups on request."""
    changes = print_changes(addresses, column, wanted, tokens, as_json)
    if changes is not None:
        return changes
    if wanted.by:
        return print_remote_groups(addresses, tokens, wanted, column, as_json, since)
    return print_remote(list(addresses), tokens, column, wanted, as_json, since)


def print_remote(
    addresses: list[str],
    tokens: Sequence[str],
    column: str | None,
    wanted: Wanted,
    as_json: bool,
    since: date | None,
) -> dict[str, Any]:
    """Print the estimates of a campaign at one or several collectors; `tokens` are files."""
    from dither.collection.remote import fetch
    from dither.collection.secrets import read_token
    from dither.core.counts import Counts

    contract, found = fetch(addresses, [read_token(Path(name)) for name in tokens], since)
    if column is not None:
        if column not in found:
            raise click.UsageError(str(unknown_name("question", column, found)))
        found = {column: found[column]}
    answers: dict[str, list[tuple[str, Any]]] = {}
    summaries: dict[str, Counts] = {}
    for name, summary in found.items():
        known = isinstance(summary, Counts)
        summaries[name] = summary if isinstance(summary, Counts) else Counts.empty(contract.questions[name])
        made = answers_of(summaries[name], wanted) if known else [("answer", str(summary))]
        answers[name] = [(label, at_any_time(value)) for label, value in made]
    return print_answers(answers, summaries, as_json)


def print_changes(
    addresses: Sequence[str], column: str | None, wanted: Wanted, tokens: Sequence[str], as_json: bool
) -> dict[str, Any] | None:
    """Print the days of a campaign about kept changes; return None for other campaigns."""
    from dither.collection.remote import fetch_changes
    from dither.estimation.over_time import by_day

    counts = fetch_changes(addresses)
    if not counts:
        return None
    if wanted.by not in ((), ("day",)) or tokens:
        raise click.UsageError(
            "expected no --token-file and no --by except --by day for a campaign about kept changes, "
            "because its counts are public and by interval; leave them out"
        )
    if column is not None and column not in counts:
        raise click.UsageError(str(unknown_name("question", column, counts)))
    made = {name: by_day(part) for name, part in counts.items() if column in (None, name)}
    if as_json:
        print_json({name: _known_days(days) for name, days in made.items()})
    else:
        click.echo("\n\n".join(_table_of_days(name, days) for name, days in made.items()))
    return made


def _known_days(days: EstimatedDays) -> list[Mapping[str, Any]]:
    """Return the rows of days that have an estimate; the values of others are NaN."""
    return [row for row in days.records() if not math.isnan(row["value"])]


def _table_of_days(name: str, days: EstimatedDays) -> str:
    """Return the estimated days as a table, a row for each answer of a day."""
    rows = _known_days(days)
    if not rows:
        return f"{name}: no day has an estimate yet; too few people, or no interval is over"
    return str(ResultTable(f"{name} by day", tuple(rows)))


def at_any_time(value: object) -> Any:
    """Return the estimate with intervals that hold at any time, or None."""
    from dither.estimation.estimate import Estimate

    try:
        return value.at_any_time() if isinstance(value, Estimate) else value
    except NotIdentifiable:
        return value


def print_remote_groups(
    addresses: Sequence[str],
    tokens: Sequence[str],
    wanted: Wanted,
    column: str | None,
    as_json: bool,
    since: date | None,
) -> dict[str, Any]:
    """Print the estimates of a campaign by day, week, month or label, at one or several collectors."""
    from dither.collection.remote import fetch_groups
    from dither.collection.secrets import read_token
    from dither.estimation.verbs import estimate

    by = wanted.by
    if len(by) > 1 or by[0] not in ("day", "week", "month", "label"):
        raise click.UsageError(
            "expected one of the groups day, week, month and label of a collector, got --by "
            f"{' --by '.join(by)}; give one of them: --by day"
        )
    groups, hidden = fetch_groups(addresses, by[0], [read_token(Path(name)) for name in tokens], since)
    if hidden:
        click.echo(f"left out: {number_of(hidden, 'group')} with too few people", err=True)
    if column is None:  # a question without answers has no groups
        groups = {name: group for name, group in groups.items() if any(group.summaries())} or groups
    if wanted.population:  # the interval of a sum of groups holds for one look only
        return print_groups(groups, column, wanted, as_json)
    return print_groups(
        groups, column, wanted, as_json, lambda summary: at_any_time(estimate(summary)), ", at any time"
    )


def print_retention(places: Sequence[str], as_json: bool) -> dict[str, Any]:
    """Print actives, retention, cohorts and public labels, summed over addresses and presence.json files."""
    from dither.collection.client import fetch_public
    from dither.collection.exchange import check_address
    from dither.core.presence import PresenceCounts
    from dither.estimation.retention import retention

    def read(position: str) -> PresenceCounts:
        if not position.startswith(("http://", "https://")):
            return PresenceCounts.from_json(Path(position).read_bytes())
        path = check_address(position).path.rstrip("/").removesuffix("/presence.json")
        return PresenceCounts.from_json(fetch_public(position, f"{path}/presence.json"))

    first, *others = map(read, places)
    found = retention(sum(others, first))
    if as_json:
        shown = {name: [dict(row) for row in table.records()] for name, table in found.tables.items()}
        print_json({**shown, "missing": found.missing})
    else:
        tables = [str(table) for name, table in found.tables.items() if name != "cohorts"]
        click.echo("\n\n".join(tables) or found.title)
    return dict(found.tables)
