"""`dither estimate`: estimates from a file of reports.

Estimates of the command line: what is asked of a summary, and how the answers are printed.

Estimates from collectors: what `dither estimate http://…` needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.cli.output import (
    ADDRESSES,
    JSON_OPTION,
    check_places,
    find_questions,
    holds_questions,
    number,
    number_of,
    print_json,
    probability,
    rows_done,
    table,
)
from dither.data.streams import is_standard, shown_name
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name

if TYPE_CHECKING:
    from dither.core.summary import Summary
    from dither.core.wire import Campaign
    from dither.estimation.groups import GroupCounts, GroupedEstimates, Quantity

_NO_NUMBERS: Final = "the answers to this question are categories"


@dataclass(frozen=True)
class Wanted:
    """What is asked of reports: of numbers beside their mean, of groups, and of rows."""

    bins: int | None
    shares: tuple[float, ...]
    step: float | None
    weight: str | None = None
    by: tuple[str, ...] = ()
    cross: str | None = None
    within: str | None = None
    difference: str | None = None  # a baseline; an empty text for all pairs
    test: bool = False
    minimum: int = 100
    population: Mapping[str, float] = field(default_factory=dict)  # of each group, its share or total

    @property
    def numbers(self) -> bool:
        """Whether anything is asked that only numbers have."""
        return self.bins is not None or self.step is not None or bool(self.shares)

    @property
    def rows(self) -> bool:
        """Whether reports with their rows are needed: counts do not do."""
        return self.weight is not None or self.cross is not None or self.test

    def check(self, files: Sequence[str], question: bool) -> None:
        """Raise UsageError if the options do not go together."""
        remote = [name for name in files if name.startswith(ADDRESSES)]
        wrong = {
            "--by estimates means and frequencies; leave out --bins, --step and --quantile": self.by
            and self.numbers,
            "--within is of a cross-table: --cross QUESTION --within rows": self.within and not self.cross,
            "--difference is between groups: --by COLUMN --difference": self.difference is not None
            and not self.by,
            "--population is of groups by one public label: --by COLUMN --population A=0.6 …": self.population
            and len(self.by) != 1,
            "--population is one number, without --difference and --test": self.population
            and (self.difference is not None or self.test),
            "--cross and --by do not go together; ask for one after the other": self.cross and self.by,
            "--test is of a cross-table (--cross) or between groups (--by)": self.test
            and not (self.by or self.cross),
            "--test is of people with equal weights; leave --weight out": self.test and self.weight,
            "--bins and --step go without --weight, --cross and --test": self.rows
            and (self.bins is not None or self.step is not None),
            "--weight, --cross and --test need reports with their rows, in a file; counts have --by label, "
            "and --population": self.rows and any("://" in name for name in files),
            "addresses of collectors go without files and --question": remote
            and (len(remote) < len(files) or question),
        }
        for message, found in wrong.items():
            if found:
                raise click.UsageError(message)


def desk() -> Any:
    """Return the module of what most estimates do not need: rows, tables in files, pictures."""
    from dither.cli import desk as module

    return module


def print_estimates(
    summaries: dict[str, Summary],
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
    if wanted.numbers and all(_is_categorical(summary) for summary in summaries.values()):
        raise click.UsageError("--bins, --step and --quantile are for numbers; these answers are categories")
    answers = {name: answers_of(summary, wanted) for name, summary in summaries.items()}
    for place, alike in enumerate(zip(*answers.values(), strict=False)):  # what no question has is an error
        needed = place > 0 or not wanted.numbers  # who asks for a distribution may have no mean
        if needed and all(isinstance(value, str) for _, value in alike):
            raise click.UsageError(f"no {alike[0][0]}: {alike[0][1]}")
    return print_answers(answers, summaries, as_json)


def print_answers(
    answers: Mapping[str, list[tuple[str, Any]]], summaries: Mapping[str, Summary], as_json: bool
) -> dict[str, Any]:
    """Print the estimates of each question, or all of them as JSON; return them by a title."""
    results = {
        name if place == 0 else f"{name}: {label}": value
        for name, several in answers.items()
        for place, (label, value) in enumerate(several)
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
    results: dict[str, Any] = {}
    plain = wanted.difference is None and not wanted.population
    for name, answers in tables.items():
        shown = {f"{name} by {', '.join(answers.by)}": answers}
        results |= shown if plain else desk().group_results(name, answers, wanted)
    if not plain:
        desk().print_results(results, as_json)
        return results
    if as_json:
        print_json({name: [_as_json(row) for row in answers] for name, answers in tables.items()})
        return results
    for name, answers in tables.items():
        click.echo(f"{name}: {heads[name]}; {answers.title}{remark}")
        click.echo(table(*answers._cells()))
    return results


def group_tables(
    groups: dict[str, GroupCounts], column: str | None, minimum: int, quantity: Quantity | None = None
) -> dict[str, GroupedEstimates]:
    """Return the estimates by group of each question, or of one."""
    from dither.estimation.groups import estimate

    if column is not None:
        if column not in groups:
            raise click.UsageError(str(unknown_name("question", column, groups)))
        groups = {column: groups[column]}
    asked = estimate if quantity is None else quantity
    return {name: counts.estimates(asked, minimum=minimum) for name, counts in groups.items()}


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table with labels that JSON has: a date as its text."""
    return {
        name: cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)
        for name, cell in row.items()
    }


def _is_categorical(summary: Summary) -> bool:
    from dither.core.question import QueryQuestion

    queries = isinstance(summary.question, QueryQuestion)
    return not queries and summary.question.domain.listed is not None


def answers_of(summary: Summary, wanted: Wanted) -> list[tuple[str, Any]]:
    """Return the estimates of one question, each with its label; a text says why there is none."""
    from dither.core.domains import Interval
    from dither.core.question import QueryQuestion
    from dither.estimation.distributions import distribution, quantile
    from dither.estimation.groups import estimate

    numbers = not _is_categorical(summary)
    if wanted.step is not None and isinstance(summary.question.domain, Interval):
        summary = _in_steps(summary, wanted.step)
    if isinstance(summary.question, QueryQuestion):
        return _answers_to_queries(summary, wanted)
    found: list[tuple[str, Any]] = [("mean" if numbers else "frequencies", _try(estimate, summary))]
    for share in wanted.shares:
        label = f"quantile {share:g}"
        found.append((label, _try(quantile, summary, share) if numbers else _NO_NUMBERS))
    if wanted.bins is not None or wanted.step is not None:
        found.append(("distribution", _try(distribution, summary, wanted.bins) if numbers else _NO_NUMBERS))
    if summary.question.domain.optional:
        from dither.estimation.optional import response_rate

        found.append(("answered", _try(response_rate, summary)))
    return found


def _answers_to_queries(summary: Summary, wanted: Wanted) -> list[tuple[str, Any]]:
    """Return cumulative shares and their quantiles, or the answers to other queries."""
    from dither.estimation.groups import estimate
    from dither.estimation.queries import cumulative

    def quantile(given: Summary, share: float) -> Any:
        return cumulative(given).quantile(share)

    found = [("cumulative shares", _try(estimate, summary))]
    found += [(f"quantile {share:g}", _try(quantile, summary, share)) for share in wanted.shares]
    if wanted.bins is not None or wanted.step is not None:
        found.append(("distribution", "reports of queries have the cells of their design"))
    return found


def _in_steps(summary: Summary, step: float) -> Summary:
    """Return the same counts, with the declaration that answers are multiples: devices do not know of it."""
    from dither.core.domains import Interval

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
    import numpy as np

    from dither.estimation.estimate import Estimate, show_interval
    from dither.foundation.tables import show_label

    if isinstance(value, str):
        return f"  no {label}: {value}"
    if not isinstance(value, Estimate) and not hasattr(value, "bands"):
        return f"  {label}: {value!r}"  # an answer of an ordered scale
    names: Any = getattr(value, "names", None) or getattr(value, "labels", ())
    if isinstance(value, Estimate) and names:
        ends = (np.asarray(end).tolist() for end in (value.value, *value.interval()))
        rows = [
            [str(show_label(name)), show_interval(line[0], line[1], line[2], value.limits)]
            for name, line in zip(names, zip(*ends, strict=True), strict=True)
        ]
        shown = table(["answer", "share (95 %)"], rows)
        sizes = getattr(value, "sizes", None)  # of sets of items: beyond the last nothing is seen
        return f"{shown}\n  {sizes.labels[-1]} or more items: {sizes[sizes.labels[-1]]}" if sizes else shown
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
    import numpy as np

    from dither.estimation.estimate import Estimate
    from dither.foundation.tables import show_label

    if isinstance(value, str):
        return {"answer": label, "problem": value}
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


def print_versions(
    found: Mapping[str, Sequence[Summary]], column: str | None, as_json: bool
) -> dict[str, Any]:
    """Print one estimate of each question from all its versions, each weighted by its precision."""
    from dither.estimation.comparison import combine

    if column is not None:
        if column not in found:
            raise click.UsageError(str(unknown_name("question", column, found)))
        found = {column: found[column]}
    together: dict[str, tuple[str, Any]] = {}
    for name, summaries in found.items():
        some = [summary for summary in summaries if summary.n] or list(summaries[:1])
        label = "frequencies" if _is_categorical(some[0]) else "mean"
        together[name] = (label, combine(some))
    if as_json:
        print_json({name: [_plain(*answer)] for name, answer in together.items()})
        return {name: answer for name, (_, answer) in together.items()}
    for name, answer in together.items():
        versions = ", ".join(
            f"{number_of(summary.n, 'report')} of {summary.question.name}, {summary.question.guarantee}"
            for summary in found[name]
        )
        click.echo(f"{name}: {versions}; each version weighs by its precision")
        click.echo(_text(*answer))
    return {name: answer for name, (_, answer) in together.items()}


def print_remote(
    addresses: list[str], tokens: Sequence[str], column: str | None, wanted: Wanted, as_json: bool
) -> dict[str, Any]:
    """Print the estimates of a campaign at one or several collectors; `tokens` are files."""
    from dither.collection.remote import fetch
    from dither.collection.secrets import read_token
    from dither.core.summary import Summary

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
    return print_answers(answers, summaries, as_json)


def at_any_time(value: Any) -> Any:
    """Return an estimate whose intervals hold at any time, where there is one."""
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
) -> dict[str, Any]:
    """Print the estimates of a campaign by day or by label, at one or several collectors."""
    from dither.collection.remote import fetch_groups
    from dither.collection.secrets import read_token
    from dither.estimation.groups import estimate

    by = wanted.by
    if len(by) > 1 or by[0] not in ("day", "label"):
        raise click.UsageError("a collector has the groups day and label; give one of them: --by day")
    groups, hidden = fetch_groups(addresses, by[0], [read_token(Path(name)) for name in tokens])
    if hidden:
        click.echo(f"left out: {number_of(hidden, 'group')} with too few people", err=True)
    if column is None:  # a question that nobody answered has no groups
        groups = {name: group for name, group in groups.items() if any(group.summaries())} or groups
    if wanted.population:  # a sum of groups: its interval is that of one look
        return print_groups(groups, column, wanted, as_json)
    return print_groups(
        groups, column, wanted, as_json, lambda summary: at_any_time(estimate(summary)), ", at any time"
    )


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--column", help="Estimate one question only.")
@click.option(
    "--question",
    "asked_by",
    multiple=True,
    help="The questions of reports out of a database: a specification (with --column), or a campaign, in "
    "TOML or signed, or its address. Of a database: repeatable, for versions of a campaign.",
)
@click.option("--bins", type=int, help="Also the distribution of numeric answers, in this many bins.")
@click.option(
    "--quantile", "shares", type=float, multiple=True, help="Also a quantile of numeric answers, such as 0.9."
)
@click.option(
    "--step",
    type=float,
    help="Answers are multiples of this above the lowest value: the share of each point.",
)
@click.option("--by", multiple=True, help="By groups: a column of public labels, such as city. Repeatable.")
@click.option(
    "--minimum",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="With --by: leave out groups with fewer reports.",
)
@click.option("--table", "table_name", default="reports", help="Of a database: the table of reports.")
@click.option("--folded", metavar="TABLE", help="Of a database: a table of counts of days that were folded.")
@click.option("--unique", is_flag=True, help="Of a database: the reports have no batch and are unique.")
@click.option("--wide", is_flag=True, help="Of a database: a row is a person, a column a question.")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), help="Of a database: reports of this day and later."
)
@click.option(
    "--map", "renamed", multiple=True, metavar="COLUMN=NAME", help="Of a database: a column's name."
)
@click.option(
    "--token-file",
    "tokens",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Of collectors: the admin token, to add up also what waits; one file for all, or one for each.",
)
@click.option("--weight", metavar="COLUMN", help="A public column of weights, such as of survey design.")
@click.option("--cross", metavar="QUESTION", help="A table of --column and a second question.")
@click.option(
    "--within", type=click.Choice(["rows", "columns"]), help="With --cross: shares of each row or column."
)
@click.option(
    "--difference",
    is_flag=False,
    flag_value="",
    metavar="[GROUP]",
    help="With --by: differences of all groups, or of each with one, that hold together.",
)
@click.option(
    "--population",
    multiple=True,
    metavar="LABEL=SHARE",
    help="With --by: one estimate for a population whose groups have these shares, or numbers of people. "
    "Repeatable, for every group; =SHARE is that without a label.",
)
@click.option("--test", is_flag=True, help="With --cross: independence. With --by: equal distributions.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw it: .png, .svg or .pdf.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a table: .csv, .xlsx, .md or .tex.",
)
@JSON_OPTION
def command(
    files: tuple[str, ...],
    column: str | None,
    asked_by: tuple[str, ...],
    bins: int | None,
    shares: tuple[float, ...],
    step: float | None,
    by: tuple[str, ...],
    minimum: int,
    table_name: str,
    folded: str | None,
    unique: bool,
    wide: bool,
    since: datetime | None,
    renamed: tuple[str, ...],
    tokens: tuple[str, ...],
    weight: str | None,
    cross: str | None,
    within: str | None,
    difference: str | None,
    population: tuple[str, ...],
    test: bool,
    plot: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Estimate means, mean directions and frequencies from files that `dither perturb` wrote.

    Several files of the same questions are added up; a pattern such as "day-*.csv" names several. Every
    estimate has a 95 % interval. A file carries its questions; for a table of reports out of a database
    --question states them. For trips: `dither trajectory density`.

    \b
    dither estimate reports.csv
    dither estimate monday.csv tuesday.csv "week-2/*.csv"
    dither estimate reports.csv --column minutes --bins 32 --quantile 0.9
    dither estimate reports.csv --column minutes --step 15
    dither estimate reports.csv --by city --by day
    dither estimate reports.csv --column minutes --by city --difference Kyoto
    dither estimate reports.csv --by sex --population f=0.51 --population m=0.49
    dither estimate reports.csv --column pet --cross home --within rows --plot pets.png
    dither estimate reports.csv --weight weight -o table.xlsx
    dither estimate export.csv --column report --question minutes.json
    dither estimate duckdb://reports.db --question campaign.toml --by day
    dither estimate duckdb://reports.db --question version-1.json --question version-2.json --by day
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --quantile 0.9
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --by day

    --by takes columns of public labels, or a question with private categories: then the noise of both is
    removed. --weight is a public column of the file. Shares and their intervals are cut at 0 and 1 where they
    are shown, with a mark; files have them as they are.

    The address of a campaign at a collector stands for its reports; several collectors of one campaign are
    added up. Its intervals of means and frequencies hold at any time, however often you look. Its groups are
    day and label; an estimate for a --population holds at one look. A collector shows what has grown by its
    minimum of people. With the operator's token (--token-file) everything that is stored is added up, and the
    minimum is asked of the sum.
    """
    known = _population(population)
    wanted = Wanted(bins, shares, step, weight, by, cross, within, difference, test, minimum, known)
    wanted.check(files, bool(asked_by))
    check_places(files, tokens, table_name != "reports" or folded or unique or wide or since or renamed)
    written = output is not None or plot is not None
    if written:
        desk().check_outputs(files, output, plot)
    versions = [_questions(place, column) for place in asked_by]
    results: dict[str, Any]
    if files[0].startswith(ADDRESSES):
        results = (
            print_remote_groups(files, tokens, wanted, column, as_json)
            if by
            else print_remote(list(files), tokens, column, wanted, as_json)
        )
    elif any("://" in name for name in files):
        from dither.cli.verbs import sql

        if not sql.all_addresses(files) or not versions:
            raise click.UsageError("a database carries no questions; state them with --question FILE")
        table = sql.report_table(table_name, unique, wide, renamed)
        counts = [sql.counts_of(files, asked, table, folded, since) for asked in versions]
        results = _of_database(versions, counts, column, wanted, as_json)
    else:
        if len(versions) > 1:
            raise click.UsageError("several versions of a campaign are of a database; give one --question")
        results = _of_files(files, column, versions[0] if versions else None, wanted, as_json)
    if written:
        desk().write_results(results, output, plot)


def _population(given: Sequence[str]) -> dict[str, float]:
    """Return the shares, or numbers of people, of the groups of a population, by label."""
    known: dict[str, float] = {}
    for text in given:
        label, sign, share = text.rpartition("=")
        try:
            number = float(share)
        except ValueError:
            number = -1.0
        if not sign or not 0.0 <= number < float("inf") or label in known:
            raise click.UsageError(
                f"--population {text}: a label and its share, once for each label: --population f=0.51"
            )
        known[label] = number
    if known and not sum(known.values()) > 0.0:
        raise click.UsageError("--population has shares above 0")
    return known


def _of_files(
    files: Sequence[str],
    column: str | None,
    asked: Campaign | None,
    wanted: Wanted,
    as_json: bool,
) -> dict[str, Any]:
    """Print the estimates of files, and return them."""
    from dither.data.files import group_files, summarise_file

    paths = [path for name in files for path in _matching(name)]
    if wanted.rows or (wanted.by and _is_private(paths, wanted.by, asked)):
        found = desk().read_rows(paths, wanted, column, asked)
        results: dict[str, Any] = desk().answer_rows(found, wanted)
        desk().print_results(results, as_json)
        return results
    with rows_done(f"reading {', '.join(shown_name(path) for path in paths[:3])}") as progress:
        if wanted.by:
            groups = group_files(paths, wanted.by, asked, progress=progress)
        else:
            summaries = summarise_file(*paths, questions=asked, progress=progress)
    if wanted.by:
        return print_groups(groups, column, wanted, as_json)
    return print_estimates(summaries, shown_name(paths[0]), column, wanted, as_json)


def _is_private(paths: Sequence[Path], by: Sequence[str], asked: Campaign | None) -> bool:
    """Return whether a column of groups is a question of the file."""
    from dither.data.files import carried_questions

    return bool(set(by) & set(carried_questions(paths[0], asked).questions))


def _of_database(
    versions: Sequence[Campaign],
    counts: Sequence[dict[str, list[Any]]],
    column: str | None,
    wanted: Wanted,
    as_json: bool,
) -> dict[str, Any]:
    """Print the estimates of a campaign, or of its versions, from the counts of a database."""
    from dither.cli.verbs import sql

    if len(versions) > 1:
        if wanted.numbers:
            raise click.UsageError("of several versions there are means and frequencies")
        if wanted.by:
            groups = [
                sql.groups_of(asked, table, wanted.by) for asked, table in zip(versions, counts, strict=True)
            ]
            return sql.print_version_groups(groups, column, wanted, as_json)
        return print_versions(sql.summaries_of_versions(versions, counts), column, as_json)
    if wanted.by:
        return print_groups(sql.groups_of(versions[0], counts[0], wanted.by), column, wanted, as_json)
    found = sql.summaries_of(versions[0], counts[0])
    return print_estimates(found, "the database", column, wanted, as_json)


def _questions(place: str, column: str | None) -> Campaign:
    """Return the questions of a database; a specification names none, so --column must."""
    if place.endswith(".json") and column is None and not holds_questions(place):
        raise click.UsageError(
            f"{place}: a specification of one question needs --column, where its reports are"
        )
    return find_questions(place, column).campaign


def _matching(name: str) -> list[Path]:
    """Return the files of a name or a pattern; raise UsageError if there is none."""
    path = Path(name)
    if is_standard(path) or path.is_file():
        return [path]
    pattern = bool(set(name) & set("*?["))
    found = sorted(map(Path, glob(name, recursive=True))) if pattern else []  # noqa: PTH207 absolute ones too
    if not found:
        folder = f'{name} is a folder; name its files, such as "{name}/*.parquet"'
        raise click.UsageError(folder if path.is_dir() else f"there is no file {name}")
    return found
