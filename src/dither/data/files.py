"""From a table of values to a file of reports, and from files of reports to summaries, chunk by chunk.

Readers, the drawing and writers each have a thread of their own, in order, with few items ahead: readers and
writers release the interpreter's lock while they work. One thread draws: a draw is many short operations, so
that two drawing threads wait for each other's lock, and take longer than one (measured in
tools/benchmarks/warehouse.md). What is written, and in which order, is the same as without threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from dither.core.domains import Domain
from dither.core.people import People, join, overlap, people_of_columns
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.core.reports import Reports
from dither.data.dialect import USUAL, Dialect, Missing, Outside, check_missing, check_outside
from dither.data.formats.format import (
    Chunk,
    Columns,
    GappedReports,
    Progress,
    Questions,
    ignore_progress,
    is_of_trips,
    name_errors,
    table_format,
)
from dither.data.rows import (
    ColumnAnswers,
    ColumnFit,
    Misfit,
    Misfits,
    RowChoice,
    RowCounts,
    check_keep,
    domains_of,
    item_columns,
    read_ticks,
    read_values,
)
from dither.data.streams import is_standard, output_path, shown_name
from dither.errors import InvalidParameter, MalformedReport, Mismatch, unknown_name
from dither.foundation.arrays import Integers, Mask
from dither.foundation.randomness import SYSTEM, Source

if TYPE_CHECKING:  # what perturbs a file does not import the estimators
    from dither.core.counts import Counts
    from dither.estimation.groups import GroupCounts

Given = TypeVar("Given")

DEPTH: Final = 2  # items that wait between two threads
_PATIENCE: Final = 0.1  # seconds after which a waiting thread looks whether it should end
_BYTES: Final = 1 << 26  # of reports that are drawn at once: those of unary encodings are long


def perturb_file(
    path: Path | str,
    out: Path | str,
    questions: Questions,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = "error",
    outside: Outside = "error",
    dialect: Dialect = USUAL,
    force: bool = False,
    source: Source | None = None,
    progress: Progress | None = None,
) -> RowCounts:
    """Randomise columns of a table into a file of reports, a chunk at a time.

    The ending of a file's name determines its format: CSV or JSON lines (both also compressed: .gz, .zst),
    and with the extra `frames` Parquet, Arrow or Excel. `dialect` says how text is written. The path "-" is
    standard input or output, in CSV. The output holds the reports, the columns in `keep` unchanged, and the
    specification; nothing else of the table. The file appears under its name when it is complete. An existing
    file is replaced only with `force`, and the input never.

    With `person`, the name of a column, only the first row of each person is used: a second report would
    spend the budget again. 1, 1.0 and "1" are one person, in every format; a row with answers and an empty id
    is refused. If a value does not fit, the whole file is read, and the error counts all cells that do not
    fit and names the first ten rows of each kind. `progress` is called with the number of rows read since the
    last call.
    """
    path, out, campaign = Path(path), Path(out), Questionnaire.of(questions)
    check_keep(keep, campaign)
    rows = RowChoice(campaign, person, check_missing(missing), check_outside(outside))
    reader, writer = table_format(path), table_format(out)
    if reader.specification(path) is not None:
        raise InvalidParameter(
            f"{shown_name(path)} holds reports, which are random already; further noise would spoil the "
            "estimates. `dither estimate` reads reports"
        )
    asked = list(campaign.questions)
    if any(domain.cell_type == "sets" for domain in rows.domains.values()) and not is_standard(path):
        asked = rows.columns(reader.columns(path, dialect))
    check_kept_items(keep, rows.ticks)
    wanted = list(dict.fromkeys([*asked, *keep, *([] if person is None else [person])]))
    done = progress or ignore_progress

    kept: dict[str, Sequence[Any]] = {name: [] for name in keep}
    most = max(1, _BYTES // sum(question.report_bytes for question in campaign.questions.values()))

    def draw() -> Iterator[tuple[int, Columns | None]]:  # in the order of the rows: a person is used once
        read = ((chunk, rows.mark(chunk)) for chunk in reader.read(path, wanted, dialect))
        for chunk, marked in run_ahead(read) if reader.parsed or person is not None else read:
            there, answers = rows.choose(chunk, marked, _drawn_questions(campaign, len(chunk), source))
            kept.update({name: chunk.take(name, there) for name in keep})
            if not there.size or rows.misfits:  # after a misfit the rest is only counted
                yield len(chunk), None
                continue
            for begin in range(0, there.size, most):
                some = slice(begin, begin + most)
                cells = {
                    name: _draw(question, answers[name], some, source)
                    for name, question in campaign.questions.items()
                }
                last = some.stop >= there.size
                yield len(chunk) if last else 0, {**cells, **{name: kept[name][some] for name in keep}}

    def chunks() -> Iterator[Columns]:
        for count, columns in run_ahead(draw()):
            if columns is not None:
                yield columns
            done(count)
        if rows.misfits:
            raise rows.misfits.error(rows.domains)
        if not rows.counts.written:  # a file without rows still has its columns
            yield {**{name: question.reports([]) for name, question in campaign.questions.items()}, **kept}

    with output_path(out, path, force=force) as part:
        writer.write(part, campaign.to_json(), chunks())
    return rows.counts


def _drawn_questions(campaign: Questionnaire, rows: int, source: Source | None) -> Integers | None:
    """Return which question each row answers, drawn uniformly whatever its values are; None for all."""
    if not campaign.sampled:
        return None
    drawn: Integers = (source or SYSTEM).integers(len(campaign.questions), rows).astype(np.int64)
    return drawn


def _draw(
    question: Question, answers: ColumnAnswers, rows: slice, source: Source | None
) -> Reports | GappedReports:
    """Return the reports of some rows, with gaps where a row has no answer to this question."""
    values, there = answers.part(rows)
    reports = question.perturb(values, source=source)
    return reports if there.all() else GappedReports(reports, there)


def check_kept_items(keep: Sequence[str], ticks: Mapping[str, Sequence[str]]) -> None:
    """Raise InvalidParameter if a column to keep is the yes-or-no column of an item."""
    clash = set(keep) & {name for names in ticks.values() for name in names}
    if clash:
        raise InvalidParameter(
            f"column {min(clash)!r} cannot be kept: it is an item of a question, and its values would leak"
        )


def check_file(
    path: Path | str,
    questions: Mapping[str, Domain] | Questions,
    *,
    dialect: Dialect = USUAL,
    progress: Progress | None = None,
) -> dict[str, ColumnFit]:
    """Count which cells of a table fit their questions. Nothing is drawn, written or spent.

    The counts are exact and come from the values: they are for whoever holds the file. Pass the same
    `dialect` to `perturb_file`.
    """
    domains, misfits = domains_of(questions), Misfits()
    for chunk, name, kind, rows in _misfits_of(Path(path), domains, dialect, progress or ignore_progress):
        if kind is None:
            misfits.count_cells(name, len(chunk))
        else:
            misfits.add(chunk, name, kind, rows)
    return {name: misfits.column_fit(name) for name in domains}


def misfit_cells(
    path: Path | str, questions: Mapping[str, Domain] | Questions, *, dialect: Dialect = USUAL
) -> Iterator[tuple[int, str, str, Any]]:
    """Yield every cell of a table that does not fit its question: its row, column, why, and what it holds.

    They are people's values: for whoever holds the file, and for nobody else.
    """
    for chunk, name, kind, rows in _misfits_of(Path(path), domains_of(questions), dialect, ignore_progress):
        cells = chunk.cells(name) if kind is not None and rows.size else []
        yield from ((chunk.first + row, name, str(kind and kind.value), cells[row]) for row in rows.tolist())


def _misfits_of(
    path: Path, domains: Mapping[str, Domain], dialect: Dialect, done: Progress
) -> Iterator[tuple[Chunk, str, Misfit | None, Integers]]:
    """Yield each chunk of a column with the kind None, then for each kind the rows that do not fit."""
    reader, ticks, none = table_format(path), dict[str, list[str]](), np.empty(0, dtype=np.int64)
    if any(domain.cell_type == "sets" for domain in domains.values()) and not is_standard(path):
        there_are = reader.columns(path, dialect)
        ticks = {name: item_columns(name, domain, there_are) for name, domain in domains.items()}
    ticks = {name: names for name, names in ticks.items() if names != [name]}
    wanted = [column for name in domains for column in ticks.get(name, [name])]
    for chunk in reader.read(path, wanted, dialect):
        for name, domain in domains.items():
            absent = np.zeros(len(chunk), dtype=np.bool_) if name in ticks else chunk.absent(name)
            there = np.flatnonzero(~absent)
            if name in ticks:
                values = read_ticks(chunk, ticks[name], domain, there)
            else:
                values = read_values(chunk, name, domain, there)
            yield chunk, name, None, none
            if not domain.optional:
                yield chunk, name, Misfit.MISSING, np.flatnonzero(absent)
            yield chunk, name, Misfit.TEXT, there[values.text]
            yield chunk, name, Misfit.OUTSIDE, there[values.outside]
        done(len(chunk))


class ReadReports(Mapping[str, Reports]):
    """The reports of a file by question, each of the rows that answered it, and the public columns.

    `campaign` are the questions, `public` the other columns, one entry for each row. Rows may have answered
    some of the questions alone: `together` returns those of the rows that answered all of some questions, and
    `labels` the public column beside them.
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def rows(self, *names: str) -> Mask:
        """Return which rows answered all of some questions; of all questions, if none is named."""
        for name in names:
            _ = self[name]
        return np.asarray(np.logical_and.reduce([self._there[name] for name in names or self._found]))

    def together(self, *names: str) -> dict[str, Reports]:
        """Return reports of the rows that answered all of some questions: the first of each is one person's.

        They are what `dt.crosstab`, `dt.regression` and others take.
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
    questions. `questions` are for a table of reports that carries none, as from a database. All reports are
    held in memory; `summarise_file` counts files of any size. Public columns of CSV are texts.

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
    parts: dict[str, list[Reports]] = {name: [asked.reports([])] for name, asked in first.questions.items()}
    there: dict[str, list[Mask]] = {name: [np.empty(0, dtype=np.bool_)] for name in parts}
    public: dict[str, list[Any]] = {}
    known: list[dict[str, People]] = []
    for number, file in enumerate(map(Path, (path, *more))):
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
            for name, asked in campaign.questions.items():
                parts[name].append(chunk.reports(name, asked))
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
                }
            )
        )
        for people in known[:-1]:
            if any(overlap(people[name], known[-1][name], same_part=True) for name in parts):
                raise InvalidParameter(
                    f"{shown_name(file)} holds the same reports as a file before it: its people would be "
                    "counted twice; name each file once"
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


def _summarise(path: Path, questions: Questions | None, progress: Progress | None) -> dict[str, Counts]:
    from dither.core.counts import Counts

    reader, done = table_format(path), progress or ignore_progress
    campaign = carried_questions(path, None if questions is None else Questionnaire.of(questions))
    totals = {name: Counts.empty(question) for name, question in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        chunk.check_rows(list(campaign.questions))
        for name, question in campaign.questions.items():
            totals[name] = totals[name] + Counts.of(chunk.reports(name, question))
        done(len(chunk))
    return totals


def carried_questions(path: Path, given: Questionnaire | None) -> Questionnaire:
    """Return the questions that a file carries, or those that are given for a file that carries none."""
    specification = table_format(path).specification(path)
    if specification is None:
        if given is None:
            raise MalformedReport(
                f"{shown_name(path)} is not a file of reports: it carries no specification; `dither perturb` "
                "and dt.data.perturb_file write one, and for reports out of a database there is --question "
                "SPECIFICATION.json (questions=…)"
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
        raise InvalidParameter(f"{shown_name(path)} carries its own questions, which differ from those given")
    return carried


def group_files(
    paths: Iterable[Path | str],
    by: Sequence[str],
    questions: Questions | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, GroupCounts]:
    """Count files of reports of the same questions by columns of public labels: groups for each question.

    `counts["minutes"].estimates(dt.estimate, minimum=100)` is a table with a row for each group. Labels are
    read as the files hold them: those of CSV are texts.
    """
    from dither.estimation.groups import GroupCounts, check_labels

    totals: dict[str, GroupCounts] = {}
    done = progress or ignore_progress
    given = None if questions is None else Questionnaire.of(questions)
    for path in map(Path, paths):
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
        raise InvalidParameter("there is no file of reports; name at least one")
    return totals


def _check_same_questions(path: Path, campaign: Questionnaire, totals: Mapping[str, GroupCounts]) -> None:
    before = {name: counts.question.fingerprint for name, counts in totals.items()}
    if before != {name: question.fingerprint for name, question in campaign.questions.items()}:
        raise Mismatch(f"{shown_name(path)} does not have the same questions as the files before it")


def run_ahead(items: Iterator[Given]) -> Iterator[Given]:
    """Yield the items of an iterator that a thread of its own runs, up to `DEPTH` items ahead.

    An error of the iterator is raised here, after the items before it. The iterator is closed by its own
    thread, also if the caller stops early.
    """
    # Two simple queues, of items and of free places: `Queue` runs in Python, and every switch costs more.
    waiting: SimpleQueue[tuple[Given] | BaseException | None] = SimpleQueue()
    places: SimpleQueue[None] = SimpleQueue()
    for _ in range(DEPTH):
        places.put(None)
    ended = threading.Event()

    def put(item: tuple[Given] | BaseException | None) -> bool:
        while not ended.is_set():
            try:
                places.get(timeout=_PATIENCE)
            except Empty:
                continue
            waiting.put(item)
            return True
        return False

    def run() -> None:
        last: BaseException | None = None
        try:
            for item in items:
                if not put((item,)):
                    break
        except BaseException as error:
            last = error
        try:
            close = getattr(items, "close", None)
            if close is not None:
                close()
        except BaseException as error:
            last = last or error
        put(last)

    thread = threading.Thread(target=run, name="dither-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            places.put(None)
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        ended.set()
        while True:  # what waits is dropped, so that its memory is free before the thread has ended
            try:
                waiting.get_nowait()
            except Empty:
                break
        thread.join()
