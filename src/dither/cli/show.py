"""Printing of estimates, as text or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from dither.cli.answers import Wanted, answers_of, group_tables, try_answer, usual_title
from dither.cli.output import number, number_of, print_json, probability, table
from dither.errors import DitherError, unknown_name
from dither.foundation.tables import ResultTable

if TYPE_CHECKING:
    from dither.core.counts import Counts
    from dither.core.domains.ranges import Clipping
    from dither.estimation.groups import GroupCounts, GroupedEstimates, Quantity


def print_estimates(
    summaries: dict[str, Counts],
    origin: str,
    column: str | None,
    wanted: Wanted,
    as_json: bool,
) -> dict[str, Any]:
    """Print the estimates of all questions, or of one, as text or as JSON, and return them."""
    if column is not None:
        if column not in summaries:
            raise click.UsageError(f"{origin}: {unknown_name('question', column, summaries)}")
        summaries = {column: summaries[column]}
    if wanted.numbers and all(usual_title(summary) == "frequencies" for summary in summaries.values()):
        raise click.UsageError(
            "expected numbers for --bins, --step and --quantile, got categories; leave these options out"
        )
    answers = {name: answers_of(summary, wanted) for name, summary in summaries.items()}
    for index, alike in enumerate(zip(*answers.values(), strict=False)):
        needed = index > 0 or not wanted.numbers  # a requested distribution may have no mean
        if needed and all(isinstance(value, str) for _, value in alike):
            raise click.UsageError(f"cannot estimate the {alike[0][0]}: {alike[0][1]}")
    return print_answers(answers, summaries, as_json)


def print_answers(
    answers: Mapping[str, list[tuple[str, Any]]], summaries: Mapping[str, Counts], as_json: bool
) -> dict[str, Any]:
    """Print the estimates of each question, or all of them as JSON; return them by a title."""
    results = {
        name if index == 0 else f"{name}: {label}": value
        for name, several in answers.items()
        for index, (label, value) in enumerate(several)
    }
    if as_json:
        shown = {name: [_plain(label, value) for label, value in found] for name, found in answers.items()}
        print_json(shown)
        return results
    for name, found in answers.items():
        summary = summaries[name]
        mechanism = summary.question
        reports = number_of(summary.n, "report")
        click.echo(f"{name}: {reports} of {mechanism.name}, {mechanism.guarantee}")
        for label, value in found:
            click.echo(_text(label, value))
    return results


def print_groups(
    groups: dict[str, GroupCounts],
    column: str | None,
    wanted: Wanted,
    as_json: bool,
    quantity: Quantity | None = None,
    remark: str = "",
) -> dict[str, Any]:
    """Print tables of groups, or of their differences, or JSON, for each question; return them by a title."""
    tables = group_tables(groups, column, wanted.minimum, quantity)
    heads = {name: f"{counts.question.name}, {counts.question.guarantee}" for name, counts in groups.items()}
    return print_tables(tables, heads, wanted, as_json, remark)


def print_tables(
    tables: Mapping[str, GroupedEstimates],
    heads: Mapping[str, str],
    wanted: Wanted,
    as_json: bool,
    remark: str = "",
) -> dict[str, Any]:
    """Print tables of groups, each after its head, or JSON; return them by a title."""
    if wanted.difference is not None or wanted.population or wanted.contrasts:
        from dither.cli.desk import results_of_groups, say_reasons

        results = say_reasons(results_of_groups(tables, wanted))
        print_results(results, as_json)
        return results
    results = {f"{name} by {', '.join(answers.by)}": answers for name, answers in tables.items()}
    if as_json:
        print_json({name: [_as_json(row) for row in answers] for name, answers in tables.items()})
        return results
    for name, answers in tables.items():
        click.echo(f"{name}: {heads[name]}; {answers.title}{remark}")
        click.echo(table(*answers._cells()))
    return results


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with labels that JSON has: a date as its text."""
    return {
        name: cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)
        for name, cell in row.items()
    }


def _text(label: str, value: Any) -> str:

    from dither.core.counts import UNNAMED
    from dither.estimation.estimate import Estimate
    from dither.estimation.rounding import show_interval

    if isinstance(value, str):
        return f"  no {label}: {value}"
    if isinstance(value, ResultTable):
        return f"  {value.title}\n{table(*value._cells())}"
    if not isinstance(value, Estimate) and not hasattr(value, "bands"):
        return f"  {label}: {value!r}"  # an answer of an ordered scale
    names: Any = getattr(value, "names", None) or getattr(value, "labels", ())
    if isinstance(value, Estimate) and names:
        limits = value.limits
        rows = [
            [
                str(row["answer"]),
                show_interval(row["value"], row["low"], row["high"], limits, at_least=value.lower_bound),
            ]
            for row in value.records()
        ]
        what = "value" if getattr(value, "parts", None) else "share"  # bounds
        if value.claimed and "of" in value.facts() and what == "share":
            what = f"share of {value.facts()['of']}"
        shown = table(["answer", f"{what} (95 %)"], rows)
        if UNNAMED in value.remark:
            shown += f"\n  {UNNAMED.removeprefix(', ')}"
        if hasattr(value, "words"):  # bounds
            return f"{shown}\n  to ask others on: {value.words}"
        sizes = getattr(value, "sizes", None)  # sets of items: sizes beyond the last are not visible
        return f"{shown}\n  {sizes.labels[-1]} or more items: {sizes[sizes.labels[-1]]}" if sizes else shown
    if isinstance(value, Estimate):
        clipping, value = value.clipping, replace(value, clipping=None)  # the label names the values
        beyond = f"; {clipping.beyond}" if clipping is not None and clipping.beyond else ""
        return f"  {label}: {value}{beyond}"
    rows = [
        [
            _edge(row["point"]) if "point" in row else _range(_edge, row["from"], row["to"]),
            probability(row["value"]),
            _range(probability, row["low"], row["high"]),
        ]
        for row in value.records(0.95)
    ]
    lines = [table(["bin", "probability", "95 % band"], rows)]
    lines += [f"  {value.of_whom.removeprefix(', ')}"] if value.of_whom else []
    lines += [f"  point mass: {mass}" for mass in value.atoms]
    return "\n".join(lines)


def _edge(value: float | str) -> str:
    return value if isinstance(value, str) else number(value, 6)  # a date


def _range(written: Callable[[Any], str], low: object, high: object) -> str:
    return f"{written(low)} – {written(high)}"


def _plain(label: str, value: Any) -> dict[str, Any]:
    import numpy as np

    from dither.core.domains.calendar import Calendar
    from dither.estimation.estimate import Estimate
    from dither.foundation.tables import show_label

    if isinstance(value, str):
        return {"answer": label, "problem": value}
    if isinstance(value, ResultTable):
        return {"answer": label, "rows": [_as_json(row) for row in value.records()]}
    if not isinstance(value, Estimate) and not hasattr(value, "bands"):  # an answer of an ordered scale
        return {"answer": label, "value": str(value), "ends": list(map(str, value.ends)), "n": value.n}
    names: Any = getattr(value, "names", None) or getattr(value, "labels", ())
    if isinstance(value, Estimate) and (names or np.ndim(value.value)):
        low, high = value.interval()
        sizes = getattr(value, "sizes", None)
        more = {"sizes": _plain("at least so many items", sizes)} if sizes else {}
        return {
            **more,
            "answer": label,
            "labels": [str(show_label(name)) for name in names],
            "value": np.asarray(value.value).tolist(),
            "low": np.asarray(low).tolist(),
            "high": np.asarray(high).tolist(),
            "n": value.n,
            **{key: fact for key, fact in value.facts().items() if key in ("of", "bound", "thinned")},
        }
    if isinstance(value, Estimate):
        (row,) = value.records()
        of = {} if value.clipping is None else _outside(value.clipping)
        return {"answer": label, **row, **of}
    rows, dates = value.records(0.95), isinstance(value.line.unit, Calendar)
    return {
        "answer": label,
        **({"of": value.of_whom.removeprefix(", of ")} if value.of_whom else {}),
        "edges": value.edges.tolist(),
        **({"bins": [[row["from"], row["to"]] for row in rows]} if dates else {}),
        "probabilities": value.probabilities.tolist(),
        "low": [row["low"] for row in rows],
        "high": [row["high"] for row in rows],
        "point masses": [
            {"place": mass.shown if dates else mass.place, "share": float(mass.share)} for mass in value.atoms
        ],
        **({} if value.clipping is None else _outside(value.clipping)),
    }


def _outside(clipping: Clipping) -> dict[str, object]:
    """Return the share of people outside for JSON, or an empty mapping if it is not known."""
    names = ("share", "low", "high")
    return {"outside": dict(zip(names, clipping.outside, strict=True))} if clipping.outside else {}


def print_versions(
    found: Mapping[str, Sequence[Counts]], column: str | None, as_json: bool
) -> dict[str, Any]:
    """Print one estimate of each question from all its versions, each weighted by its precision."""
    if column is not None:
        if column not in found:
            raise click.UsageError(str(unknown_name("question", column, found)))
        found = {column: found[column]}
    together: dict[str, list[tuple[str, Any]]] = {}
    for name, summaries in found.items():
        some = [summary for summary in summaries if summary.n] or list(summaries[:1])
        together[name] = _of_versions(some)
    results = {
        name if index == 0 else f"{name}: {label}": value
        for name, several in together.items()
        for index, (label, value) in enumerate(several)
    }
    if as_json:
        print_json({name: [_plain(*answer) for answer in several] for name, several in together.items()})
        return results
    for name, several in together.items():
        versions = ", ".join(
            f"{number_of(summary.n, 'report')} of {summary.question.name}, {summary.question.guarantee}"
            for summary in found[name]
        )
        how = "; each version weighs by its precision" if len(found[name]) > 1 else ""
        click.echo(f"{name}: {versions}{how}")
        for answer in several:
            click.echo(_text(*answer))
    return results


def _of_versions(summaries: Sequence[Counts]) -> list[tuple[str, Any]]:
    """Return one estimate from all versions of a question, or one for each version with the reason.

    If the versions have different lists, each answer uses the versions that list it.
    """
    from dither.estimation.comparison import combine_versions
    from dither.estimation.verbs import estimate

    try:
        return [(usual_title(summaries[0]), combine_versions(summaries))]
    except DitherError as error:
        reason = str(error)
    each = [
        (f"version {number}", try_answer(estimate, summary)) for number, summary in enumerate(summaries, 1)
    ]
    return [*each, ("answer of all versions", reason)]


def print_results(results: Mapping[str, Any], as_json: bool) -> None:
    """Print results with their names, or all of them as JSON."""
    if as_json:
        from dither.cli.tables import plain_row, table_of

        print_json(
            {
                name: result
                if isinstance(result, str)
                else [plain_row(row) for row in table_of(name, result)]
                for name, result in results.items()
            }
        )
        return
    for name, result in results.items():
        if isinstance(result, str):  # the reason
            click.echo(f"{name}: {result}")
            continue
        click.echo(f"{name}:" if "\n" in repr(result) else f"{name}: {result!r}")
        if "\n" in repr(result):
            click.echo("\n".join(f"  {line}".rstrip() for line in repr(result).splitlines()))
