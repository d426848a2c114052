"""Estimates from collectors: what `dither estimate http://…` needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from dither.cli.estimates import Wanted, answers_of, print_answers, print_groups
from dither.cli.output import counted
from dither.errors import NotIdentifiable, unknown_name
from dither.estimation.api import estimate
from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary

ADDRESSES: Final = ("http://", "https://")
_BY: Final = ("day", "label")


def print_remote(
    addresses: list[str], tokens: Sequence[str], column: str | None, wanted: Wanted, as_json: bool
) -> None:
    """Print the estimates of a campaign at one or several collectors; `tokens` are files."""
    from dither.service.answers.remote import fetch
    from dither.service.keys import read_token

    contract, found = fetch(addresses, [read_token(Path(name)) for name in tokens])
    if column is not None:
        if column not in found:
            raise click.UsageError(str(unknown_name("question", column, found)))
        found = {column: found[column]}
    answers: dict[str, list[tuple[str, Any]]] = {}
    summaries: dict[str, Summary] = {}
    for name, summary in found.items():
        known = isinstance(summary, Summary)
        summaries[name] = summary if isinstance(summary, Summary) else Summary.empty(contract.questions[name])
        made = answers_of(summaries[name], wanted) if known else [("answer", str(summary))]
        answers[name] = [(label, at_any_time(value)) for label, value in made]
    print_answers(answers, summaries, as_json)


def at_any_time(value: Any) -> Any:
    """Return an estimate whose intervals hold at any time, where there is one."""
    try:
        return value.at_any_time() if isinstance(value, Estimate) else value
    except NotIdentifiable:
        return value


def print_remote_groups(
    addresses: Sequence[str],
    tokens: Sequence[str],
    by: Sequence[str],
    column: str | None,
    minimum: int,
    as_json: bool,
) -> None:
    """Print the estimates of a campaign by day or by label, at one or several collectors."""
    from dither.service.answers.remote import fetch_groups
    from dither.service.keys import read_token

    if len(by) > 1 or by[0] not in _BY:
        raise click.UsageError("a collector has the groups day and label; give one of them: --by day")
    groups, hidden = fetch_groups(addresses, by[0], [read_token(Path(name)) for name in tokens])
    if hidden:
        click.echo(f"left out: {counted(hidden, 'group')} with too few people", err=True)
    if column is None:  # a question that nobody answered has no groups
        groups = {name: one for name, one in groups.items() if any(one.summaries())} or groups
    print_groups(
        groups, column, minimum, as_json, lambda summary: at_any_time(estimate(summary)), ", at any time"
    )
