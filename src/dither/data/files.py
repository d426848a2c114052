"""Randomise a table of values into a file of reports, chunk by chunk, and check the cells of a table.

Readers, the drawing and writers each have a thread of their own, in order, with few items ahead: readers and
writers release the interpreter's lock while they work. One thread draws: a draw is many short operations, so
that two drawing threads wait for each other's lock, and take longer than one (measured in
tools/benchmarks/warehouse.md). The output and its order are the same as without threads.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

import numpy as np

from dither.core.domains import Domain
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.core.reports import Reports
from dither.data.columns import ColumnAnswers, Misfit, item_columns, judge, rows_where
from dither.data.dialect import USUAL, Dialect, Missing, Outside, check_missing, check_outside
from dither.data.formats.format import (
    Chunk,
    Columns,
    GappedReports,
    Progress,
    Questions,
    ignore_progress,
    table_format,
)
from dither.data.rows import (
    ColumnFit,
    Misfits,
    RowChoice,
    RowCounts,
    check_keep,
    divide_budget,
    domains_of,
)
from dither.data.streams import is_standard, output_path, shown_name
from dither.errors import InvalidParameter
from dither.foundation.arrays import Integers
from dither.foundation.randomness import SYSTEM, Source

Given = TypeVar("Given")

DEPTH: Final = 2  # largest number of items that wait between two threads
_PATIENCE: Final = 0.1  # seconds after which a waiting thread checks whether it should end
_BYTES: Final = 1 << 26  # bytes of reports that are drawn at once: unary encodings are long


def perturb_file(
    path: Path | str,
    out: Path | str,
    questions: Questions,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    rows: int = 1,
    missing: Missing = "error",
    outside: Outside = "error",
    dialect: Dialect = USUAL,
    force: bool = False,
    source: Source | None = None,
    progress: Progress | None = None,
) -> RowCounts:
    """Randomise columns of a table into a file of reports, a chunk at a time.

    The ending of a file's name determines its format: CSV or JSON lines (both also compressed: .gz, .zst),
    and with the extra `frames` Parquet, Arrow or Excel. `dialect` is the format of text. The path "-" is
    standard input or output, in CSV. The output holds the reports, the columns in `keep` unchanged, and the
    specification; nothing else of the table. The file appears under its name when it is complete. An existing
    file is replaced only with `force`, and the input never.

    With `person`, the name of a column, only the first row of each person is used: a second report would
    spend the budget again. With `rows`, that number of rows of each person is used, and the budget is
    divided over them: a person is promised the ε of the questions, even with fewer rows. 1, 1.0 and "1"
    are one person, in every format; a row with answers and an empty id is refused. If a value does not fit,
    the complete file is read, and the error counts all cells that do not fit and names the first ten rows of
    each kind. `progress` is called with the number of rows read since the last call.
    """
    path, out, campaign = Path(path), Path(out), divide_budget(Questionnaire.of(questions), rows)
    if rows > 1 and person is None:
        raise InvalidParameter("expected the column of ids with rows; name it with person=…")
    check_keep(keep, campaign)
    choice = RowChoice(campaign, person, check_missing(missing), check_outside(outside), rows)
    reader, writer = table_format(path), table_format(out)
    if reader.specification(path) is not None:
        raise InvalidParameter(
            f"expected values, got reports in {shown_name(path)}, because further noise would spoil the "
            "estimates; read them with dt.data.summarise_file"
        )
    target = list(campaign.questions)
    if any(domain.cell_type == "sets" for domain in choice.domains.values()) and not is_standard(path):
        target = choice.columns(reader.columns(path, dialect))
    check_kept_items(keep, choice.ticks)
    wanted = list(dict.fromkeys([*target, *keep, *([] if person is None else [person])]))
    done = progress or ignore_progress

    kept: dict[str, Sequence[Any]] = {name: [] for name in keep}
    most = max(1, _BYTES // sum(question.report_bytes for question in campaign.questions.values()))

    def draw() -> Iterator[tuple[int, Columns | None]]:  # in the order of the rows: a person is used once
        read = ((chunk, choice.mark(chunk)) for chunk in reader.read(path, wanted, dialect))
        for chunk, marked in run_ahead(read) if reader.parsed or person is not None else read:
            there, answers = choice.choose(chunk, marked, _drawn_questions(campaign, len(chunk), source))
            kept.update({name: chunk.take(name, there) for name in keep})
            if not there.size or choice.misfits:  # after a misfit, rows are only counted
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
        if choice.misfits:
            raise choice.misfits.error(choice.domains)
        if not choice.counts.written:  # a file without rows still has its columns
            yield {**{name: question.reports([]) for name, question in campaign.questions.items()}, **kept}

    with output_path(out, path, force=force) as part:
        writer.write(part, _specification(campaign, person, rows, missing, outside), chunks())
    return choice.counts


def _specification(
    campaign: Questionnaire, person: str | None, rows: int, missing: Missing, outside: Outside
) -> str:
    """Return the specification of a file of reports, with all parameters of its promise.

    `made` has `rows`, the most rows of one person, if people were distinguished, and the treatment of
    `missing` answers and values `outside`: omitted ones show as gaps.
    """
    made: dict[str, object] = {} if person is None else {"rows": rows}
    made |= {name: how for name, how in (("missing", missing), ("outside", outside)) if how != "error"}
    text = campaign.to_json()
    return json.dumps({**json.loads(text), "made": made}, ensure_ascii=False) if made else text


def _drawn_questions(campaign: Questionnaire, rows: int, source: Source | None) -> Integers | None:
    """Return the question of each row, drawn uniformly and independently of its values, or None for all."""
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
            f"expected a column to keep other than {min(clash)!r}, an item of a question; leave it out, "
            "because its values would leak"
        )


def check_file(
    path: Path | str,
    questions: Mapping[str, Domain] | Questions,
    *,
    dialect: Dialect = USUAL,
    progress: Progress | None = None,
) -> dict[str, ColumnFit]:
    """Count the cells of a table that fit their questions. Nothing is drawn, written or spent.

    The counts are exact and come from the values: they are only for the holder of the file. Pass the same
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
    """Yield every cell of a table that does not fit its question: its row, column, reason and content.

    They are people's values: only for the holder of the file.
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
            decided = judge(
                chunk,
                name,
                domain,
                "error",
                "error",
                absent=absent,
                rows=rows_where(~absent),
                ticks=ticks.get(name),
            )
            yield chunk, name, None, none
            for kind, rows in decided.misfits.items():
                yield chunk, name, kind, rows
        done(len(chunk))


def run_ahead(items: Iterator[Given]) -> Iterator[Given]:
    """Yield the items of an iterator that runs in its own thread, up to `DEPTH` items ahead.

    An error of the iterator is raised here, after the items before it. The iterator is closed by its own
    thread, also if the caller stops early.
    """
    # Two simple queues, of items and of free places: `Queue` runs in Python, and every switch costs more.
    waiting: SimpleQueue[tuple[Given] | BaseException | None] = SimpleQueue()
    positions: SimpleQueue[None] = SimpleQueue()
    for _ in range(DEPTH):
        positions.put(None)
    ended = threading.Event()

    def put(item: tuple[Given] | BaseException | None) -> bool:
        while not ended.is_set():
            try:
                positions.get(timeout=_PATIENCE)
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
            positions.put(None)
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        ended.set()
        while True:  # drop the waiting items: their memory is free before the thread has ended
            try:
                waiting.get_nowait()
            except Empty:
                break
        thread.join()
