"""Estimates of the command line: what is asked of a summary, and how the answers are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

import click
import numpy as np

from dither.cli.output import counted, number, print_json, probability, table
from dither.domains import Categories, Interval
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.api import distribution, estimate, quantile
from dither.estimation.comparison.groups import GroupCounts, Quantity
from dither.estimation.estimate import Estimate, show_interval
from dither.estimation.summary import Summary

_NO_NUMBERS: Final = "the answers to this question are categories"


@final
@dataclass(frozen=True)
class Wanted:
    """What is estimated of numbers beside their mean."""

    bins: int | None
    shares: tuple[float, ...]
    step: float | None

    @property
    def numbers(self) -> bool:
        """Whether anything is asked that only numbers have."""
        return self.bins is not None or self.step is not None or bool(self.shares)


def print_estimates(
    summaries: dict[str, Summary],
    origin: str,
    column: str | None,
    wanted: Wanted,
    as_json: bool,
) -> None:
    """Print the estimates of all questions, or of one, as text or as JSON."""
    if column is not None:
        if column not in summaries:
            raise click.UsageError(f"{origin}: {unknown_name('question', column, summaries)}")
        summaries = {column: summaries[column]}
    if wanted.numbers and all(_is_categorical(summary) for summary in summaries.values()):
        raise click.UsageError("--bins, --step and --quantile are for numbers; these answers are categories")
    answers = {name: answers_of(summary, wanted) for name, summary in summaries.items()}
    for alike in zip(*answers.values(), strict=True):  # what no question has is an error
        if all(isinstance(value, str) for _, value in alike):
            raise click.UsageError(f"no {alike[0][0]}: {alike[0][1]}")
    print_answers(answers, summaries, as_json)


def print_answers(
    answers: Mapping[str, list[tuple[str, Any]]], summaries: Mapping[str, Summary], as_json: bool
) -> None:
    """Print the estimates of each question, or all of them as JSON."""
    if as_json:
        shown = {name: [_plain(label, value) for label, value in found] for name, found in answers.items()}
        print_json(shown)
        return
    for name, found in answers.items():
        summary = summaries[name]
        mechanism = summary.question
        reports = counted(summary.n, "report")
        click.echo(f"{name}: {reports} of {mechanism.name}, {mechanism.guarantee}")
        for label, value in found:
            click.echo(_text(label, value))


def print_groups(
    groups: dict[str, GroupCounts],
    column: str | None,
    minimum: int,
    as_json: bool,
    quantity: Quantity = estimate,
    remark: str = "",
) -> None:
    """Print a table of estimates by group for each question, or all of them as JSON."""
    if column is not None:
        if column not in groups:
            raise click.UsageError(str(unknown_name("question", column, groups)))
        groups = {column: groups[column]}
    tables = {name: counts.estimates(quantity, minimum=minimum) for name, counts in groups.items()}
    if as_json:
        print_json({name: [_as_json(row) for row in one] for name, one in tables.items()})
        return
    for name, one in tables.items():
        mechanism = groups[name].question
        click.echo(f"{name}: {mechanism.name}, {mechanism.guarantee}; {one.title}{remark}")
        click.echo(table(one.columns, [list(row.values()) for row in one]))


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with labels that JSON has: a date as its text."""
    return {
        name: cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)
        for name, cell in row.items()
    }


def _is_categorical(summary: Summary) -> bool:
    return isinstance(summary.question.domain, Categories)


def answers_of(summary: Summary, wanted: Wanted) -> list[tuple[str, Any]]:
    """Return the estimates of one question, each with its label; a text says why there is none."""
    numbers = not _is_categorical(summary)
    if wanted.step is not None and isinstance(summary.question.domain, Interval):
        summary = _in_steps(summary, wanted.step)
    found: list[tuple[str, Any]] = [("mean" if numbers else "frequencies", _try(estimate, summary))]
    for share in wanted.shares:
        label = f"quantile {share:g}"
        found.append((label, _try(quantile, summary, share) if numbers else _NO_NUMBERS))
    if wanted.bins is not None or wanted.step is not None:
        found.append(("distribution", _try(distribution, summary, wanted.bins) if numbers else _NO_NUMBERS))
    return found


def _in_steps(summary: Summary, step: float) -> Summary:
    """Return the same counts, with the declaration that answers are multiples: devices do not know of it."""
    mechanism = summary.question
    domain = Interval(mechanism.domain.low, mechanism.domain.high, unit=mechanism.domain.unit, step=step)
    return summary.read_by(replace(mechanism, domain=domain, made_by=None))


def _try(function: Callable[..., Any], summary: Summary, *more: Any) -> Any:
    """Return an estimate, or the reason why this question has none: other questions may have it."""
    try:
        return function(summary, *more)
    except (InvalidParameter, NotIdentifiable) as error:
        return str(error)


def _text(label: str, value: Any) -> str:
    if isinstance(value, str):
        return f"  no {label}: {value}"
    if isinstance(value, Estimate) and value.labels:
        ends = (np.asarray(end).tolist() for end in (value.value, *value.interval()))
        rows = [
            [str(name), show_interval(*line)]
            for name, line in zip(value.labels, zip(*ends, strict=True), strict=True)
        ]
        return table(["answer", "share (95 %)"], rows)
    if isinstance(value, Estimate):
        return f"  {label}: {value}"
    low, high = value.bands()
    rows = [
        [
            _range(_edge, *value.edges[i : i + 2]),
            probability(p),
            _range(probability, low[i], high[i]),
        ]
        for i, p in enumerate(value.probabilities)
    ]
    lines = [table(["bin", "probability", "95 % band"], rows)]
    lines += [f"  point mass: {mass}" for mass in value.atoms]
    return "\n".join(lines)


def _edge(value: float) -> str:
    return number(value, 6)


def _range(written: Callable[[float], str], low: float, high: float) -> str:
    return f"{written(low)} – {written(high)}"


def _plain(label: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"answer": label, "problem": value}
    if isinstance(value, Estimate) and value.labels:
        low, high = value.interval()
        return {
            "answer": label,
            "labels": [str(name) for name in value.labels],
            "value": np.asarray(value.value).tolist(),
            "low": np.asarray(low).tolist(),
            "high": np.asarray(high).tolist(),
            "n": value.n,
        }
    if isinstance(value, Estimate):
        low, high = value.interval()
        return {"answer": label, "value": float(value), "low": float(low), "high": float(high), "n": value.n}
    return {
        "answer": label,
        "edges": value.edges.tolist(),
        "probabilities": value.probabilities.tolist(),
        "point masses": [{"place": mass.place, "share": float(mass.share)} for mass in value.atoms],
    }
