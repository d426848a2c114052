"""Files of reports: read completely, or counted chunk by chunk into summaries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.core.people import People, join, overlap, people_of_columns, unnamed_people
from dither.core.questionnaire import Questionnaire
from dither.core.reports import Reports
from dither.data.formats.format import (
    Progress,
    Questions,
    ignore_progress,
    is_of_trips,
    name_errors,
    table_format,
)
from dither.data.streams import is_standard, shown_name
from dither.errors import InvalidParameter, MalformedReport, Mismatch, unknown_name
from dither.foundation.arrays import Mask

if TYPE_CHECKING:
    from dither.core.counts import Counts
    from dither.estimation.groups import GroupCounts


class ReadReports(Mapping[str, Reports]):
    """The reports of a file by question, each from the rows that answered it, and the public columns.

    `campaign` are the questions, `public` the other columns, one entry for each row. Rows may have answered
    only some questions: `together` returns the reports of the rows that answered all of some questions, and
    `labels` the public column for them.
    """

    def __init__(
        self, campaign: Questionnaire, found: Mapping[str, Reports], there: Mapping[str, Mask], public: Any
    ) -> None:
        self.campaign, self.public = campaign, dict(public)
        self._found, self._there = dict(found), dict(there)

    def __getitem__(self, name: str) -> Reports:
        if name not in self._found:
            raise unknown_name("question", name, self._found)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def rows(self, *names: str) -> Mask:
        """Return the rows that answered all of some questions, by default of all questions."""
        for name in names:
            _ = self[name]
        return np.asarray(np.logical_and.reduce([self._there[name] for name in names or self._found]))

    def together(self, *names: str) -> dict[str, Reports]:
        """Return reports of the rows that answered all of some questions. Equal indices are the same person.

        Pass them to `dt.stats.crosstab`, `dt.stats.regression` and others.
        """
        rows = self.rows(*names)
        return {name: self._found[name][rows[self._there[name]]] for name in names or self._found}

    def labels(self, column: str, *names: str) -> list[Any]:
        """Return a public column at the rows that answered all of some questions, for `by=`."""
        if column not in self.public:
            raise unknown_name("public column", column, self.public)
        return list(compress(self.public[column], self.rows(*names).tolist()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(reports)}" for name, reports in self._found.items())
        beside = f"; public: {', '.join(self.public)}" if self.public else ""
        return f"ReadReports({counts}{beside})"


def read(path: Path | str, *more: Path | str, questions: Questions | None = None) -> ReadReports:
    """Return the reports of files that dither wrote, by question, with their public columns.

    Any format of tables will do: CSV, JSON lines, Parquet, Arrow, Excel. Several files are of the same
    questions. `questions` are for a table of reports without questions, such as one from a database. All
    reports are held in memory; `summarise_file` counts files of any size. Public columns of CSV are texts.

    >>> import dither as dt, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("city,age\\nRome,40\\nNara,52\\n")
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> _ = dt.data.perturb_file(folder / "in.csv", folder / "out.csv", {"age": age}, keep=["city"])
    >>> read(folder / "out.csv")
    ReadReports(age: 2; public: city)
    """
    given = None if questions is None else Questionnaire.of(questions)
    first = carried_questions(Path(path), given)
    parts: dict[str, list[Reports]] = {
        name: [question.reports([])] for name, question in first.questions.items()
    }
    there: dict[str, list[Mask]] = {name: [np.empty(0, dtype=np.bool_)] for name in parts}
    public: dict[str, list[Any]] = {}
    known: list[dict[str, People]] = []
    for number, file in enumerate(map(Path, (path, *more))):
        rows = rows_of_file(file)
        reader, campaign = table_format(file), carried_questions(file, given)
        if campaign != first:
            raise Mismatch(f"{shown_name(file)} does not have the same questions as the files before it")
        beside = [name for name in reader.columns(file) if name not in parts]
        if number and set(beside) != set(public):
            raise Mismatch(f"{shown_name(file)} does not have the same public columns as the files before it")
        public = public or {name: [] for name in beside}
        begin = {name: len(some) for name, some in parts.items()}
        for chunk in reader.read(file, [*parts, *beside]):
            chunk.check_rows(list(parts))
            for name, question in campaign.questions.items():
                parts[name].append(chunk.reports(name, question))
                there[name].append(~chunk.absent(name))
            for name in beside:
                public[name] += chunk.cells(name)
        known.append(
            people_of_columns(
                {
                    name: (
                        np.concatenate([some[0].cells, *(part.cells for part in some[begin[name] :])]),
                        np.concatenate([there[name][0], *there[name][begin[name] :]]),
                    )
                    for name, some in parts.items()
                },
                unnamed=rows is not None and rows > 1,
            )
        )
        for people in known[:-1]:
            if any(overlap(people[name], known[-1][name], same_part=True) for name in parts):
                raise InvalidParameter(
                    f"expected different reports in each file, got the same in {shown_name(file)} as in an "
                    "earlier one, so people would be counted twice; name each file once"
                )
    return ReadReports(
        first,
        {
            name: replace(Reports.concatenate(some), people=join(people[name] for people in known))
            for name, some in parts.items()
        },
        {name: np.concatenate(some) for name, some in there.items()},
        public,
    )


def summarise_file(
    path: Path | str,
    *more: Path | str,
    questions: Questions | None = None,
    progress: Progress | None = None,
) -> dict[str, Counts]:
    """Count files of reports, a chunk at a time: a summary for each question that they carry.

    Several files are of the same questions; if one differs, Mismatch is raised, with the file. `questions`
    are for reports out of a database: a table whose columns hold reports and which carries no questions.
    `progress` is called with the number of rows read since the last call.
    """
    _check_once([Path(path), *map(Path, more)])
    totals = _summarise(Path(path), questions, progress)
    for other in map(Path, more):
        found = _summarise(other, questions, progress)
        if set(found) != set(totals):
            raise Mismatch(
                f"{shown_name(other)} has the questions {', '.join(sorted(found))}, and the files before it "
                f"{', '.join(sorted(totals))}"
            )
        for name, summary in found.items():
            try:
                totals[name] = totals[name] + summary
            except Mismatch as error:
                raise Mismatch(f"{shown_name(other)}, question {name!r}: {error}") from None
    return totals


def _check_once(paths: Sequence[Path]) -> None:
    """Raise InvalidParameter for a file that is named twice."""
    seen: set[Path] = set()
    for path in paths:
        if not is_standard(path) and path.resolve() in seen:
            raise InvalidParameter(
                f"{shown_name(path)} is named twice: its people would be counted twice; name it once"
            )
        seen.add(path.resolve())


def _summarise(path: Path, questions: Questions | None, progress: Progress | None) -> dict[str, Counts]:
    from dither.core.counts import Counts

    reader, done = table_format(path), progress or ignore_progress
    specification = reader.specification(path)
    campaign = _read_questions(path, specification, questions)
    totals = {name: Counts.empty(question) for name, question in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        chunk.check_rows(list(campaign.questions))
        for name, question in campaign.questions.items():
            totals[name] = totals[name] + Counts.of(chunk.reports(name, question))
        done(len(chunk))
    if (_rows_in(specification) or 1) > 1:
        return {name: replace(some, people=unnamed_people(some.n)) for name, some in totals.items()}
    return totals


def carried_questions(path: Path, given: Questionnaire | None) -> Questionnaire:
    """Return the questions in a file, or the given questions for a file without questions."""
    return _read_questions(path, table_format(path).specification(path), given)


def _read_questions(path: Path, specification: str | None, questions: Questions | None) -> Questionnaire:
    given = None if questions is None else Questionnaire.of(questions)
    if specification is None:
        if given is None:
            raise MalformedReport(
                f"{shown_name(path)}: expected a file of reports with a specification; write one with "
                "dt.data.perturb_file, or pass questions=… for reports from a database"
            )
        return given
    try:
        with name_errors(path):
            carried = Questionnaire.from_json(specification)
    except MalformedReport:
        if not is_of_trips(specification):
            raise
        raise MalformedReport(
            f"{shown_name(path)} holds randomised trips; use `dither trajectory density` or "
            "dt.data.TripReports.read"
        ) from None
    if given is not None and given != carried:
        raise InvalidParameter(
            f"{shown_name(path)}: expected the given questions, got other ones in the file; leave "
            "`questions` out"
        )
    return carried


def read_making(specification: str | None) -> dict[str, Any]:
    """Return the information in the specification of a file of reports about how the file was made."""
    made = {} if specification is None else json.loads(specification).get("made", {})
    return made if isinstance(made, dict) else {}


def rows_of_person(made: Mapping[str, Any]) -> int | None:
    """Return the largest number of rows per person in a file, or None if it does not distinguish people."""
    rows = made.get("rows")
    return rows if isinstance(rows, int) and not isinstance(rows, bool) and rows > 0 else None


def rows_of_file(path: Path) -> int | None:
    """Return the largest number of rows per person in a file; None if it does not distinguish people."""
    return None if is_standard(path) else _rows_in(table_format(path).specification(path))


def _rows_in(specification: str | None) -> int | None:
    known = specification is not None and '"rows"' in specification  # else its JSON is not read again
    return rows_of_person(read_making(specification)) if known else None


def group_files(
    paths: Iterable[Path | str],
    by: Sequence[str],
    questions: Questions | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, GroupCounts]:
    """Count files of reports of the same questions by columns of public labels: groups for each question.

    `counts["minutes"].estimates(dt.estimate, minimum=100)` is a table with a row for each group. Labels have
    their types in the files: in CSV they are texts.
    """
    from dither.estimation.groups import GroupCounts, check_labels

    totals: dict[str, GroupCounts] = {}
    files = list(map(Path, paths))
    _check_once(files)
    done = progress or ignore_progress
    given = None if questions is None else Questionnaire.of(questions)
    for path in files:
        reader, campaign = table_format(path), carried_questions(path, given)
        check_labels(by, list(campaign.questions), reader.columns(path))
        if not totals:
            totals = {name: GroupCounts(question, by) for name, question in campaign.questions.items()}
        _check_same_questions(path, campaign, totals)
        for chunk in reader.read(path, [*campaign.questions, *by]):
            chunk.check_rows(list(campaign.questions))
            labels = [chunk.cells(column) for column in by]
            for name, question in campaign.questions.items():
                there = (~chunk.absent(name)).tolist()
                some = labels if all(there) else [list(compress(column, there)) for column in labels]
                totals[name].add(some, chunk.reports(name, question))
            done(len(chunk))
    if not totals:
        raise InvalidParameter("expected at least one file of reports; name it")
    return totals


def _check_same_questions(path: Path, campaign: Questionnaire, totals: Mapping[str, GroupCounts]) -> None:
    before = {name: counts.question.fingerprint for name, counts in totals.items()}
    if before != {name: question.fingerprint for name, question in campaign.questions.items()}:
        raise Mismatch(f"{shown_name(path)} does not have the same questions as the files before it")
