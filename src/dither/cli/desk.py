"""Weights, cross-tables, differences and tests at the terminal.

`dither estimate` reads rows for them: reports in the order of people, with the public columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.cli.output import number_of
from dither.core.people import people_by_id, people_of_columns
from dither.data.formats.format import table_format
from dither.data.report_files import carried_questions, rows_of_file
from dither.data.streams import shown_name
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.foundation.tables import ResultTable, show_group, show_label

if TYPE_CHECKING:
    from dither.cli.answers import Wanted
    from dither.core.questionnaire import Questionnaire
    from dither.core.reports import Reports

_QUOTED: Final = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NAMES_OF_FORMULA: Final = re.compile(
    r"(?<![\w.])[^\W\d]\w*\b(?!\s*[(.]|\s*=(?!=))"
)  # no functions, no arguments


@dataclass(frozen=True)
class Rows:
    """The people who answered a question and its companion questions: reports, and public columns."""

    reports: Reports
    others: dict[str, Reports]
    columns: dict[str, list[Any]]


def read_rows(
    paths: Sequence[Path], asked: Wanted, column: str | None, given: Questionnaire | None
) -> dict[str, Rows]:
    """Read files of reports of the same questions: for each question the rows with all required columns."""
    from dither.core.reports import Reports

    parts: dict[str, list[tuple[dict[str, Reports], dict[str, list[Any]]]]] = {}
    left_out = 0
    for path in paths:
        reader, campaign = table_format(path), carried_questions(path, given)
        questions, there = campaign.questions, reader.columns(path)
        together = [name for name in (*asked.by, asked.cross) if name is not None and name in questions]
        wanted = [column] if column is not None else [name for name in questions if name not in together]
        public = [name for name in asked.by if name not in questions]
        public += [name for name in (asked.weight, asked.person) if name is not None]
        _check_columns(path, wanted, public, asked, questions, there)
        for chunk in reader.read(path, list(dict.fromkeys([*wanted, *together, *public]))):
            present = {name: ~chunk.absent(name) for name in {*wanted, *together}}
            reported = {name: chunk.reports(name, questions[name]) for name in present}
            cells = {name: chunk.cells(name) for name in public}
            for name in wanted:
                kept = present[name].copy()
                for other in together:
                    kept &= present[other]
                left_out += int((present[name] & ~kept).sum())
                mine = {key: reported[key][kept[present[key]]] for key in dict.fromkeys([name, *together])}
                rows = kept.nonzero()[0].tolist()
                labels = {key: [column[row] for row in rows] for key, column in cells.items()}
                parts.setdefault(name, []).append((mine, labels))
    if left_out:
        click.echo(f"left out: {number_of(left_out, 'row')} without one of the answers", err=True)
    found: dict[str, Rows] = {}
    for name, chunks in parts.items():
        joined = {key: Reports.concatenate([mine[key] for mine, _ in chunks]) for key in chunks[0][0]}
        columns = {key: [cell for _, labels in chunks for cell in labels[key]] for key in chunks[0][1]}
        # The rows of all questions are the same people, in one order.
        several = asked.person is None and any((rows_of_file(path) or 1) > 1 for path in paths)
        columns_of = {key: (part.cells, None) for key, part in joined.items()}
        people = people_of_columns(columns_of, unnamed=several)
        joined = {key: replace(part, people=people[key]) for key, part in joined.items()}
        found[name] = Rows(joined[name], joined, columns)
    return found


def _check_columns(
    path: Path,
    wanted: Sequence[str],
    public: Sequence[str],
    request: Wanted,
    questions: Mapping[str, Any],
    there: Sequence[str],
) -> None:
    """Raise UsageError for a question or a column that the file does not have, or that is not public."""
    file = shown_name(path)
    for name in [*wanted, *([request.cross] if request.cross is not None else [])]:
        if name not in questions and name == request.cross and name in there:
            column = " ".join(f"--column {part}" for part in wanted[:1])
            raise click.UsageError(
                f"{file}: expected --cross to name a second question, got the public column {name!r}; use "
                f"{column} --by {name}, and add --test to compare its groups"
            )
        if name not in questions:
            raise click.UsageError(f"{file}: {unknown_name('question', name, questions)}")
    for name in public:
        if name in questions:
            raise click.UsageError(
                f"expected a public column of labels, weights or ids, got the question {name!r}, whose "
                "reports are random; choose another column"
            )
        if name not in there:
            raise click.UsageError(f"{file}: {unknown_name('column', name, there)}")
    if not wanted:
        raise click.UsageError("expected a question other than those of --by; name one with --column")


def weights_of(cells: Iterable[Any], column: str) -> list[float]:
    """Return the weights of a column; raise InvalidParameter for an invalid cell, with its row."""
    found: list[float] = []
    for row, cell in enumerate(cells, 1):
        try:
            number = float(str(cell).strip().replace(",", ".")) if cell is not None else float("nan")
        except ValueError:
            number = float("nan")
        if not 0.0 <= number < float("inf"):
            raise InvalidParameter(
                f"column {column!r}, row {row}: expected a weight, a number from 0 upwards; correct the "
                "cell or leave the row out"
            )
        found.append(number)
    return found


def read_population(given: Sequence[str]) -> dict[str, float]:
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
                f"expected --population LABEL=SHARE, once for each label, got {text!r}; write for example "
                "--population f=0.51"
            )
        known[label] = number
    if known and not sum(known.values()) > 0.0:
        raise click.UsageError(
            "expected at least one share of --population above 0; give the share or the number of people "
            "of each group"
        )
    return known


def read_contrasts(given: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the weights of groups of each contrast, by name and label."""
    known: dict[str, dict[str, float]] = {}
    for text in given:
        name, colon, parts = text.partition(":")
        weights: dict[str, float] = {}
        for part in parts.split(","):
            label, sign, weight = part.strip().rpartition("=")
            try:
                weights[label.strip()] = float(weight) if sign else float("nan")
            except ValueError:
                weights[label.strip()] = float("nan")
        if not colon or not name.strip() or name.strip() in known or not all(map(isfinite, weights.values())):
            raise click.UsageError(
                f"expected --contrast to be a name and weights of groups, each name once, got {text!r}; "
                "write for example --contrast 'any: none=-1, half=0.5, full=0.5'"
            )
        known[name.strip()] = weights
    return known


def check_people(paths: Sequence[Path]) -> None:
    """Raise UsageError if groups of some files may share people and no column identifies them."""
    for path in paths:
        rows = rows_of_file(path)
        if rows is not None and rows > 1:
            raise click.UsageError(
                f"expected the column that identifies people, because {shown_name(path)} has up to {rows} "
                "rows per person, so groups may share people; keep the column with `dither perturb --keep "
                "ID`, and name it with --person ID"
            )


def answer_rows(found: Mapping[str, Rows], asked: Wanted) -> dict[str, Any]:
    """Return the results for each question, by a title that names the question."""
    from dither.estimation.optional import response_rate
    from dither.estimation.pairs import crosstab
    from dither.estimation.verbs import estimate, quantile

    if asked.cross is not None and len(found) != 1:
        raise click.UsageError(
            f"expected --cross with one question; add --column with one of {', '.join(found)}"
        )
    results: dict[str, Any] = {}
    for name, rows in found.items():
        reports = rows.reports
        weights = None if asked.weight is None else weights_of(rows.columns[asked.weight], asked.weight)
        by: dict[str, Any] = {key: rows.others.get(key, rows.columns.get(key)) for key in asked.by}
        if asked.cross is not None and asked.difference is not None:
            # The errors of both go together: these are the same people, in the order of the rows.
            pair = [estimate(part, weights=weights) for part in (reports, rows.others[asked.cross])]
            results[f"{name} − {asked.cross}, of the same people"] = pair[0] - pair[1]
        elif asked.cross is not None:
            table = crosstab(reports, rows.others[asked.cross], weights=weights)
            shown = {None: table, "rows": table.within_rows, "columns": table.within_columns}[asked.within]
            results[f"{name} × {asked.cross}"] = shown() if callable(shown) else shown
            if asked.test:
                results[f"{name} × {asked.cross}: test"] = table.independence()
        elif by:
            if asked.population and set(asked.by) & set(rows.others):
                raise click.UsageError(
                    "expected --population with groups by a public label, got a private question in --by; "
                    "leave --population out, because the sizes of private groups are estimated"
                )
            ids = None if asked.person is None else rows.columns[asked.person]
            groups = _answer(estimate, reports, by=by, minimum=asked.minimum, weights=weights, person=ids)
            if isinstance(groups, Exception):
                results[f"{name} by {', '.join(asked.by)}"] = groups
                continue
            results.update(results_of_groups({name: groups}, asked))
            if asked.test:
                told = reports if ids is None else replace(reports, people=people_by_id(ids, name))
                results[f"{name}: test"] = _answer(compare_groups, told, by, asked.minimum, weights)
        else:
            ids = None if asked.person is None else rows.columns[asked.person]
            results[name] = _answer(estimate, reports, weights=weights, person=ids)
            for share in asked.shares:
                results[f"{name}: quantile {share:g}"] = _answer(quantile, reports, share, weights=weights)
            if "response rate" in reports.question.quantities:
                results[f"{name}: answered"] = _answer(response_rate, reports, weights=weights)
    return say_reasons(results)


def say_reasons(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return results with a text in place of each error; raise the first if all of them are errors."""
    reasons = [result for result in results.values() if isinstance(result, Exception)]
    if reasons and len(reasons) == len(results):
        raise reasons[0]
    return {
        name: str(result) if isinstance(result, Exception) else result for name, result in results.items()
    }


def answer_regression(
    paths: Sequence[Path], formula: str, weight: str | None, given: Questionnaire | None
) -> dict[str, Any]:
    """Return the regression of a formula, on questions and public columns of files, and its R²."""
    from dither.data.report_files import read
    from dither.estimation.regression import regression

    told = read(*paths, questions=given)
    for name in _NAMES_OF_FORMULA.findall(_QUOTED.sub(" ", formula)):
        if name not in told and name not in told.public:
            raise unknown_name("question or column", name, [*told, *told.public])
    named = [name for name in (*told, *told.public) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", formula)]
    questions = [name for name in named if name in told]
    if not questions:
        raise click.UsageError(
            f"expected a question in the formula {formula!r}; the questions are {', '.join(told)}, and the "
            f"public columns {', '.join(told.public) or '(none)'}"
        )
    data: dict[str, Any] = dict(told.together(*questions))
    for name in told.public:
        if name in named:
            data[name] = _numbers_or_labels(told.labels(name, *questions), name)
    weights = None if weight is None else weights_of(told.labels(weight, *questions), weight)
    fit = regression(formula, data, weights=weights)
    results: dict[str, Any] = {formula: fit}
    if fit.explained_share is not None:
        results[f"{formula}: R²"] = _answer(lambda: fit.r_squared)
    return {name: str(part) if isinstance(part, Exception) else part for name, part in results.items()}


def _numbers_or_labels(cells: Sequence[Any], column: str) -> list[Any]:
    """Return a public column, as numbers if all cells are numbers.

    Raise InvalidParameter for an empty cell.
    """
    empty = next((row for row, cell in enumerate(cells, 1) if cell is None or cell == ""), None)
    if empty is not None:
        raise InvalidParameter(
            f"column {column!r}, row {empty} of those that answered: expected a value, got an empty cell; "
            "fill it in or leave the row out"
        )
    try:
        return [float(cell) for cell in cells]
    except (TypeError, ValueError):
        return list(cells)


def _answer(function: Callable[..., Any], *args: object, **more: object) -> object:
    """Return an estimate, or the error with the reason: other questions may have it."""
    try:
        return function(*args, **more)
    except (InvalidParameter, NotIdentifiable) as error:
        return error


def results_of_groups(tables: Mapping[str, Any], asked: Wanted) -> dict[str, Any]:
    """Return the tables of several questions, or on request their differences; or errors, with the reason."""
    results: dict[str, Any] = {}
    for name, groups in tables.items():
        try:
            results |= group_results(name, groups, asked)
        except (InvalidParameter, NotIdentifiable) as error:
            results[f"{name} by {', '.join(groups.by)}"] = error
    return results


def group_results(name: str, groups: Any, asked: Wanted) -> dict[str, Any]:
    """Return a table of groups, or of their differences on request."""
    from dither.estimation.comparison import contrasts, difference

    title = f"{name} by {', '.join(groups.by)}"
    if asked.population:
        return {f"{name}, population by {', '.join(groups.by)}": population_of(groups, asked)}
    if asked.contrasts:
        labels = {str(show_group(label)): label for label in groups.estimates}
        weights = {
            contrast: {labels.get(label, label): weight for label, weight in parts.items()}
            for contrast, parts in asked.contrasts.items()
        }
        return {f"{title}: contrasts": contrasts(groups, weights, alternative=asked.alternative)}
    if asked.difference is None:
        return {title: groups}
    base: object = asked.difference or None
    if base is not None and base not in groups.estimates:
        known = {str(show_group(label)): label for label in groups.estimates}
        if base not in known:
            raise click.UsageError(str(unknown_name("group", base, known)))
        base = known[base]
    return {f"{title}: differences": difference(groups, baseline=base, alternative=asked.alternative)}


def population_of(groups: Any, asked: Wanted) -> object:
    """Return the estimate for a population whose groups have known shares or totals (--population)."""
    from dither.estimation.comparison import post_stratified

    labels = {"" if label is None else str(label): label for label in groups.estimates}
    known = {labels.get(name, name): number for name, number in asked.population.items()}
    total = sum(known.values())
    return post_stratified(groups, {label: number / total for label, number in known.items()})


def _members(reports: Reports, by: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield groups by a private category and public columns: a number for each person, with mean 1 inside."""
    import numpy as np

    from dither.core.reports import Reports as Told
    from dither.estimation.groups import GroupCounts
    from dither.estimation.person_numbers import check_pair, indicators, protocol_of

    labels_ = next(labels for labels in by.values() if isinstance(labels, Told))
    check_pair(reports, labels_)
    read, answers = indicators(labels_), protocol_of(labels_).categories.labels
    public = [labels for labels in by.values() if not isinstance(labels, Told)]
    parts: Any = GroupCounts.rows(public, len(reports.cells)) if public else [((), slice(None))]
    for label, indices in parts:
        for column, answer in enumerate(answers):
            members = np.zeros(len(reports.cells))
            members[indices] = read[indices, column]
            yield " · ".join(map(str, (*label, show_label(answer)))), members


def compare_groups(
    reports: Reports, by: Mapping[str, Any], minimum: int, weights: Sequence[float] | None = None
) -> ResultTable:
    """Return tests of equal distributions between all pairs of groups, with p-values adjusted together."""
    from dither.core.reports import Reports
    from dither.estimation.comparison import holm
    from dither.estimation.groups import GroupCounts
    from dither.estimation.rounding import OF_ANSWERS
    from dither.estimation.significance import same_among_private, same_distribution
    from dither.estimation.weights import as_weights

    private = any(isinstance(labels, Reports) for labels in by.values())
    known = None if weights is None else as_weights(weights, len(reports.cells))
    groups: list[tuple[str, Any]] = (
        [(label, members) for label, members in _members(reports, by) if members.sum() >= minimum]
        if private
        else [
            (" · ".join(map(str, label)), places)
            for label, places in GroupCounts.rows(list(by.values()), len(reports.cells))
            if places.size >= minimum
        ]
    )
    if len(groups) < 2:
        raise click.UsageError(
            f"expected at least two groups with {minimum} reports or more for --test; lower --minimum, or "
            "use larger groups"
        )

    heavy = 1.0 if known is None else known.shares
    found = list(combinations(groups, 2))
    tests = [
        same_among_private(reports, heavy * first, heavy * second)  # a number for each person
        if private
        else same_distribution(
            reports[first], reports[second], weights=None if known is None else (known[first], known[second])
        )
        for (_, first), (_, second) in found
    ]
    rows = [
        {"first": first[0], "second": second[0], "statistic": test.statistic, "p": p}
        for (first, second), test, p in zip(found, tests, holm([t.p_value for t in tests]), strict=True)
    ]
    of = OF_ANSWERS if OF_ANSWERS.removeprefix(", of ") in tests[0].hypothesis else ""
    title = f"{tests[0].method}: equal distributions{of}"
    if len(tests) > 1:
        title = (
            f"{len(tests)} tests of equal distributions ({tests[0].method}){of}: if those with p ≤ 0.05 are "
            "rejected, any is rejected wrongly with probability at most 5 % (Holm)"
        )
    return ResultTable(title, tuple(rows))
