"""From a table of values to a table of reports, and from there to summaries, chunk by chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.atomic import renamed
from dither.domains import first_misfit
from dither.errors import InvalidParameter, OutsideDomain
from dither.estimation.summary import Summary
from dither.files.format import Chunk, Written, format_of
from dither.mechanisms.base import Mechanism
from dither.randomness import Source
from dither.reports import Reports
from dither.wire.campaign import Campaign


class Missing(Enum):
    """What an absent answer means: an error, or a public fact (its row is left out)."""

    ERROR = "error"
    SKIP = "skip"


@final
@dataclass
class Tally:
    """How many rows were written, and how many were left out and why."""

    written: int = 0
    missing: int = 0
    repeated: int = 0
    _seen: set[bytes] = field(default_factory=set, repr=False)

    def first_answers(self, people: Sequence[Any]) -> Mask:
        """Say which rows are the first of their person; only a digest of each name is remembered."""
        first = np.empty(len(people), dtype=np.bool_)
        for row, person in enumerate(people):
            digest = hashlib.blake2b(repr(person).encode(), digest_size=16).digest()
            first[row] = digest not in self._seen
            self._seen.add(digest)
        return first


def perturb_file(
    path: Path | str,
    out: Path | str,
    questions: Mapping[str, Mechanism[Any]] | Campaign,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = Missing.ERROR,
    source: Source | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> Tally:
    """Randomise columns of a table into a file of reports, a chunk at a time.

    The endings name the formats: CSV and JSON lines, with the extra `frames` also Parquet and Arrow. Only the
    reports and what is kept are written. Of a person who appears twice (column `person`) the first row counts
    and later ones are left out: a second answer would spend the budget again. A missing answer is an error
    unless missing answers are declared public, for a gap in the reports tells who did not answer. The file
    appears under its name when it is whole.
    """
    path, out, campaign = Path(path), Path(out), Campaign.of(questions)
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(f"column {min(clash)!r} cannot be kept: it is a question, and would leak")
    reader, writer, tally = format_of(path), format_of(out), Tally()
    columns = [*campaign.questions, *keep, *([person] if person is not None else [])]

    def chunks() -> Iterator[Written]:
        for chunk in reader.read(path, list(dict.fromkeys(columns))):
            rows = _answered(chunk, campaign, person, missing, tally)
            if rows.size:
                written: dict[str, Reports | Sequence[Any]] = {}
                for name, mechanism in campaign.questions.items():
                    written[name] = _perturbed(chunk, name, mechanism, rows, source)
                for name in keep:
                    written[name] = chunk.kept(name, rows)
                tally.written += int(rows.size)
                yield written
            progress(len(chunk))

    with renamed(out) as part:
        writer.write(part, campaign, chunks())
    return tally


def summarise_file(
    path: Path | str, *, progress: Callable[[int], None] = lambda rows: None
) -> dict[str, Summary]:
    """Count a file of reports, a chunk at a time: a summary for each question that the file carries."""
    path = Path(path)
    reader = format_of(path)
    campaign = Campaign.from_json(reader.head(path))
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        for name, mechanism in campaign.questions.items():
            totals[name] = totals[name] + Summary.of(chunk.reports(name, mechanism))
        progress(len(chunk))
    return totals


def _answered(
    chunk: Chunk, campaign: Campaign, person: str | None, missing: Missing, tally: Tally
) -> Integers:
    """Give the rows that count: all answers there, and the first of their person."""
    kept = np.ones(len(chunk), dtype=np.bool_)
    for name in campaign.questions:
        absent = chunk.absent(name)
        if absent.any() and missing is Missing.ERROR:
            raise OutsideDomain(
                f"{chunk.where(name, int(absent.argmax()))}: the answer is missing; fill it in, or declare "
                "that who did not answer is public (--missing skip)"
            )
        kept &= ~absent
    tally.missing += int((~kept).sum())
    if person is not None:
        first = tally.first_answers(chunk.cells(person))
        tally.repeated += int((kept & ~first).sum())
        kept &= first
    return np.flatnonzero(kept)


def _perturbed(
    chunk: Chunk, name: str, mechanism: Mechanism[Any], rows: Integers, source: Source | None
) -> Reports:
    """Randomise some rows of a column; the first value that does not fit is named by its row alone."""
    domain = mechanism.domain

    def fits(begin: int, end: int) -> bool:
        try:
            domain.check(chunk.values(name, domain, rows[begin:end]))
        except (ValueError, TypeError, OutsideDomain):
            return False
        return True

    try:
        return mechanism.perturb(chunk.values(name, domain, rows), source=source)
    except InvalidParameter:  # the column as a whole is of the wrong kind
        raise
    except (ValueError, TypeError, OutsideDomain):
        if fits(0, rows.size):
            raise
    row = rows[first_misfit(fits, rows.size)]
    raise OutsideDomain(f"{chunk.where(name, int(row))}: the value is not in {domain}")
