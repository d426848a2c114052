"""From a table of values to a file of reports, and from a file of reports to summaries, chunk by chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.atomic import refuse_to_overwrite, renamed
from dither.domains import first_misfit
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.estimation.summary import Summary
from dither.files.format import Chunk, Columns, Progress, naming, silent
from dither.files.person import person_text
from dither.files.registry import table_format
from dither.files.trips.specification import is_of_trips
from dither.mechanisms.base import Mechanism
from dither.randomness import Source
from dither.reports import Reports
from dither.wire.campaign import Campaign


class Missing(Enum):
    """What to do with a missing answer: an empty cell of a file, a null of a data frame.

    ERROR raises `OutsideDomain` and names the place. SKIP declares that who did not answer is public, and
    draws no report for that answer: a file of reports leaves the row out, a data frame keeps the null.
    """

    ERROR = "error"
    SKIP = "skip"

    @staticmethod
    def check(choice: object) -> Missing:
        """Return the choice; raise InvalidParameter if it is not a member."""
        if isinstance(choice, Missing):
            return choice
        raise InvalidParameter(f"missing is dt.Missing.ERROR or dt.Missing.SKIP, not {found(choice)}")


def missing_answer(place: str) -> OutsideDomain:
    """Return the error for a missing answer at a place."""
    return OutsideDomain(
        f"{place}: the answer is missing, and a missing report would show who did not answer; fill it in, "
        "leave the row out, or declare that who did not answer is public (missing=dt.Missing.SKIP, at the "
        "terminal --missing skip)"
    )


@final
@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were written as reports, and how many were left out, by reason.

    `missing` rows lack an answer; `repeated` rows are further rows of a person.
    """

    written: int = 0
    missing: int = 0
    repeated: int = 0


def perturb_file(
    path: Path | str,
    out: Path | str,
    questions: Mapping[str, Mechanism[Any]] | Campaign,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = Missing.ERROR,
    force: bool = False,
    source: Source | None = None,
    progress: Progress | None = None,
) -> RowCounts:
    """Randomise columns of a table into a file of reports, a chunk at a time.

    The ending of a file's name determines its format: CSV or JSON lines, and with the extra `frames` Parquet
    or Arrow. The output holds the reports, the columns in `keep` unchanged, and the specification; nothing
    else of the table. The file appears under its name when it is complete. An existing file is replaced only
    with `force`, and the input never.

    With `person`, the name of a column, only the first row of each person is used: a second report would
    spend the budget again. 1, 1.0 and "1" are one person, in every format; a row with answers and an empty id
    is refused. `progress` is called with the number of rows read since the last call.
    """
    path, out, campaign = Path(path), Path(out), Campaign.of(questions)
    if isinstance(keep, str):
        raise InvalidParameter(f"keep is a list of column names, such as [{keep!r}], not a text")
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(
            f"column {min(clash)!r} cannot be kept: it is a question, and its values would leak"
        )
    rows = _Rows(campaign, person, Missing.check(missing))
    reader, writer = table_format(path), table_format(out)
    refuse_to_overwrite(out, path, force=force)
    if reader.specification(path) is not None:
        raise InvalidParameter(
            f"{path.name} holds reports, which are random already; further noise would spoil the estimates. "
            "`dither estimate` reads reports"
        )
    columns = [*campaign.questions, *keep, *([] if person is None else [person])]
    done = progress or silent

    def chunks() -> Iterator[Columns]:
        kept: dict[str, Sequence[Any]] = {name: [] for name in keep}
        for chunk in reader.read(path, list(dict.fromkeys(columns))):
            used = rows.used(chunk)
            kept = {name: chunk.kept(name, used) for name in keep}
            if used.size:
                drawn = {name: _draw(chunk, name, one, used, source) for name, one in rows.questions.items()}
                yield {**drawn, **kept}
            done(len(chunk))
        if not rows.written:  # a file without rows still has its columns
            yield {**{name: one.reports([]) for name, one in rows.questions.items()}, **kept}

    with renamed(out) as part:
        writer.write(part, campaign.to_json(), chunks())
    return RowCounts(rows.written, rows.missing, rows.repeated)


def summarise_file(path: Path | str, *, progress: Progress | None = None) -> dict[str, Summary]:
    """Count a file of reports, a chunk at a time: a summary for each question that the file carries.

    `progress` is called with the number of rows read since the last call.
    """
    path = Path(path)
    reader, done = table_format(path), progress or silent
    specification = reader.specification(path)
    if specification is None:
        raise MalformedReport(
            f"{path.name} is not a file of reports: it carries no specification; `dither perturb` and "
            "dt.files.perturb_file write one"
        )
    if is_of_trips(specification):
        raise MalformedReport(
            f"{path.name} holds randomised trips; use `dither trajectory density` or dt.files.read_reports"
        )
    with naming(path):
        campaign = Campaign.from_json(specification)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        for name, mechanism in campaign.questions.items():
            totals[name] = totals[name] + Summary.of(chunk.reports(name, mechanism))
        done(len(chunk))
    return totals


class _Rows:
    """Decides which rows are used, and counts them."""

    def __init__(self, campaign: Campaign, person: str | None, choice: Missing) -> None:
        self.questions = campaign.questions
        self.written = self.missing = self.repeated = 0
        self._person, self._choice = person, choice
        self._seen: set[bytes] = set()

    def used(self, chunk: Chunk) -> Integers:
        """Return the rows that have all answers and are the first of their person."""
        used = np.ones(len(chunk), dtype=np.bool_)
        for name in self.questions:
            absent = chunk.absent(name)
            if absent.any() and self._choice is Missing.ERROR:
                raise missing_answer(chunk.where(name, int(absent.argmax())))
            used &= ~absent
        self.missing += int((~used).sum())
        if self._person is not None:
            first = self._first_rows(chunk, self._person, used)
            self.repeated += int((used & ~first).sum())
            used &= first
        self.written += int(used.sum())
        return np.flatnonzero(used)

    def _first_rows(self, chunk: Chunk, column: str, answered: Mask) -> Mask:
        """Return True for the first row of each person; only a digest of each id is remembered."""
        first = np.empty(len(chunk), dtype=np.bool_)
        for row, cell in enumerate(chunk.cells(column)):
            person = person_text(cell)
            if not person and answered[row]:
                raise _no_person(chunk.where(column, row), person)
            digest = hashlib.blake2b((person or "").encode(errors="surrogatepass"), digest_size=16).digest()
            first[row] = digest not in self._seen
            self._seen.add(digest)
        return first


def _no_person(place: str, person: str | None) -> InvalidParameter:
    what = "the id of the person is empty" if person == "" else "the id of a person is a text or a number"
    return InvalidParameter(
        f"{place}: {what}; fill it in, leave the row out, or use no person column if every row is a person"
    )


# What `Chunk.values` and `Domain.check` raise for a value that does not fit.
_UNFIT: Final = (ValueError, TypeError, OverflowError, OutsideDomain)


def _draw(
    chunk: Chunk, name: str, mechanism: Mechanism[Any], rows: Integers, source: Source | None
) -> Reports:
    """Draw the reports of some rows of a column; an error names the first unfit value by its place."""
    domain = mechanism.domain

    def fits(begin: int, end: int) -> bool:
        try:
            domain.check(chunk.values(name, domain, rows[begin:end]))
        except _UNFIT:
            return False
        return True

    try:
        return mechanism.perturb(chunk.values(name, domain, rows), source=source)
    except InvalidParameter:  # the column as a whole has the wrong type
        raise
    except _UNFIT:
        if fits(0, rows.size):
            raise
    row = rows[first_misfit(fits, rows.size)]
    raise OutsideDomain(f"{chunk.where(name, int(row))}: the value is not in {domain}")
