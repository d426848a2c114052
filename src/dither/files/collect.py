"""From a table of values to a file of reports, and from a file of reports to summaries, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.estimation.summary import Summary
from dither.files.choices import Missing, Outside
from dither.files.dialect import Dialect
from dither.files.fit import ColumnFit, Misfit, Misfits, read_values
from dither.files.format import USUAL, Columns, Progress, naming, silent
from dither.files.pipeline import run_ahead
from dither.files.registry import table_format
from dither.files.rows import RowChoice, RowCounts, domains_of
from dither.files.streams import shown_name, written
from dither.files.trips.specification import is_of_trips
from dither.question import Question
from dither.randomness import Source
from dither.wire.campaign import Campaign

_BYTES: Final = 1 << 26  # of reports that are drawn at once: those of unary encodings are long


def perturb_file(
    path: Path | str,
    out: Path | str,
    questions: Mapping[str, Question] | Campaign,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = Missing.ERROR,
    outside: Outside = Outside.ERROR,
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
    path, out, campaign = Path(path), Path(out), Campaign.of(questions)
    check_keep(keep, campaign)
    rows = RowChoice(campaign, person, Missing.check(missing), Outside.check(outside))
    reader, writer = table_format(path), table_format(out)
    if reader.specification(path) is not None:
        raise InvalidParameter(
            f"{shown_name(path)} holds reports, which are random already; further noise would spoil the "
            "estimates. `dither estimate` reads reports"
        )
    columns = [*campaign.questions, *keep, *([] if person is None else [person])]
    done = progress or silent

    kept: dict[str, Sequence[Any]] = {name: [] for name in keep}
    most = max(1, _BYTES // sum(one.report_bytes for one in campaign.questions.values()))

    def drawn() -> Iterator[tuple[int, Columns | None]]:  # in the order of the rows: a person is used once
        read = reader.read(path, list(dict.fromkeys(columns)), dialect)
        for chunk in run_ahead(read) if reader.parsed else read:
            there, values = rows.used(chunk)
            kept.update({name: chunk.kept(name, there) for name in keep})
            if not there.size or rows.misfits:  # after a misfit the rest is only counted
                yield len(chunk), None
                continue
            for begin in range(0, there.size, most):
                some = slice(begin, begin + most)
                cells = {
                    name: question.perturb(values[name][some], source=source)
                    for name, question in campaign.questions.items()
                }
                last = some.stop >= there.size
                yield len(chunk) if last else 0, {**cells, **{name: kept[name][some] for name in keep}}

    def chunks() -> Iterator[Columns]:
        for count, made in run_ahead(drawn()):
            if made is not None:
                yield made
            done(count)
        if rows.misfits:
            raise rows.misfits.error(rows.domains)
        if not rows.counts.written:  # a file without rows still has its columns
            yield {**{name: one.reports([]) for name, one in campaign.questions.items()}, **kept}

    with written(out, path, force=force) as part:
        writer.write(part, campaign.to_json(), chunks())
    return rows.counts


def check_keep(keep: Sequence[str], campaign: Campaign) -> None:
    """Raise InvalidParameter unless the columns to keep are a list of names that are no questions."""
    if isinstance(keep, str):
        raise InvalidParameter(f"keep is a list of column names, such as [{keep!r}], not a text")
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(
            f"column {min(clash)!r} cannot be kept: it is a question, and its values would leak"
        )


def check_file(
    path: Path | str,
    questions: Mapping[str, Question] | Mapping[str, Domain] | Campaign,
    *,
    dialect: Dialect = USUAL,
    progress: Progress | None = None,
) -> dict[str, ColumnFit]:
    """Count which cells of a table fit their questions. Nothing is drawn, written or spent.

    The counts are exact and come from the values: they are for whoever holds the file. Pass the same
    `dialect` to `perturb_file`.
    """
    path, done = Path(path), progress or silent
    domains = domains_of(questions)
    misfits = Misfits()
    for chunk in table_format(path).read(path, list(domains), dialect):
        for name, domain in domains.items():
            absent = chunk.absent(name)
            there = np.flatnonzero(~absent)
            values = read_values(chunk, name, domain, there)
            misfits.seen(name, len(chunk))
            misfits.add(chunk, name, Misfit.MISSING, np.flatnonzero(absent))
            misfits.add(chunk, name, Misfit.TEXT, there[values.text])
            misfits.add(chunk, name, Misfit.OUTSIDE, there[values.outside])
        done(len(chunk))
    return {name: misfits.of(name) for name in domains}


def summarise_file(
    path: Path | str,
    questions: Mapping[str, Question] | Campaign | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, Summary]:
    """Count a file of reports, a chunk at a time: a summary for each question that the file carries.

    `questions` are for reports out of a database: a table whose columns hold reports and which carries no
    questions of its own. `progress` is called with the number of rows read since the last call.
    """
    path = Path(path)
    reader, done = table_format(path), progress or silent
    campaign = carried_questions(path, None if questions is None else Campaign.of(questions))
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        for name, mechanism in campaign.questions.items():
            totals[name] = totals[name] + Summary.of(chunk.reports(name, mechanism))
        done(len(chunk))
    return totals


def summarise_files(
    paths: Iterable[Path | str],
    questions: Mapping[str, Question] | Campaign | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, Summary]:
    """Count several files of reports of the same questions; raise Mismatch, with the file, if one differs."""
    totals: dict[str, Summary] = {}
    for number, path in enumerate(map(Path, paths)):
        found = summarise_file(path, questions, progress=progress)
        if number and set(found) != set(totals):
            raise Mismatch(
                f"{shown_name(path)} has the questions {', '.join(sorted(found))}, and the files before it "
                f"{', '.join(sorted(totals))}"
            )
        for name, summary in found.items():
            try:
                totals[name] = totals[name] + summary if number else summary
            except Mismatch as error:
                raise Mismatch(f"{shown_name(path)}, question {name!r}: {error}") from None
    if not totals:
        raise InvalidParameter("there is no file of reports; name at least one")
    return totals


def carried_questions(path: Path, given: Campaign | None) -> Campaign:
    """Return the questions that a file carries, or those that are given for a file that carries none."""
    specification = table_format(path).specification(path)
    if specification is None:
        if given is None:
            raise MalformedReport(
                f"{shown_name(path)} is not a file of reports: it carries no specification; `dither perturb` "
                "and dt.files.perturb_file write one, and for reports out of a database there is --question "
                "SPECIFICATION.json (questions=…)"
            )
        return given
    if is_of_trips(specification):
        raise MalformedReport(
            f"{shown_name(path)} holds randomised trips; use `dither trajectory density` or "
            "dt.files.read_reports"
        )
    with naming(path):
        carried = Campaign.from_json(specification)
    if given is not None and given != carried:
        raise InvalidParameter(f"{shown_name(path)} carries its own questions, which differ from those given")
    return carried
