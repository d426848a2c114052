"""From a table of values to a table of reports, and from there to summaries, chunk by chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dither.campaigns.campaign import Campaign
from dither.campaigns.files import Chunk, format_of, from_cells, to_cells, whole
from dither.domains import Categories, Line
from dither.errors import InvalidParameter, OutsideDomain
from dither.estimation import Summary
from dither.mechanisms.mechanism import Mechanism
from dither.randomness import Source


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

    def first_answers(self, people: Sequence[Any]) -> NDArray[np.bool_]:
        """Say which rows are the first of their person; only a digest of each name is remembered."""
        first = np.empty(len(people), dtype=np.bool_)
        for row, person in enumerate(people):
            digest = hashlib.blake2b(repr(person).encode(), digest_size=16).digest()
            first[row] = digest not in self._seen
            self._seen.add(digest)
        return first


def perturb_file(
    path: Path,
    out: Path,
    campaign: Campaign,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = Missing.ERROR,
    source: Source | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> Tally:
    """Randomise columns of a table into a file of reports. Only the reports and what is kept are written.

    Of a person who appears twice (column `person`) the first row counts and later ones are left out: a second
    answer would spend the budget again. A missing answer is an error unless missing answers are declared
    public, for a gap in the reports tells who did not answer.
    """
    refuse_kept(campaign, keep)
    tally = Tally()
    columns = [*campaign.questions, *keep, *([person] if person is not None else [])]

    def chunks() -> Iterator[Mapping[str, Sequence[Any]]]:
        for chunk in format_of(path).read(path, list(dict.fromkeys(columns))):
            rows = _answered(chunk, campaign, person, missing, tally, path)
            if rows.size:
                written: dict[str, Sequence[Any]] = {}
                for name, mechanism in campaign.questions.items():
                    values = _values(mechanism, chunk, name, rows, path)
                    written[name] = to_cells(mechanism.perturb(values, source=source))
                for name in keep:
                    written[name] = [chunk.columns[name][row] for row in rows]
                tally.written += int(rows.size)
                yield written
            progress(len(chunk))

    writer = format_of(out)
    with whole(out) as stream:
        writer.write(stream, campaign, chunks())
    return tally


def refuse_kept(campaign: Campaign, keep: Sequence[str]) -> None:
    """Raise if a column is both asked about and to be copied as it is."""
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(f"column {min(clash)!r} cannot be kept: it is a question, and would leak")


def summarise_file(path: Path, *, progress: Callable[[int], None] = lambda rows: None) -> dict[str, Summary]:
    """Count a file of reports: a summary for each question, by the specification at the file's head."""
    reader = format_of(path)
    campaign = Campaign.from_json(reader.head(path))
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for chunk in reader.read(path, list(campaign.questions)):
        for name, mechanism in campaign.questions.items():
            where = lambda row, name=name, chunk=chunk: _where(path, chunk, row, name)  # noqa: E731
            totals[name] = totals[name] + Summary.of(from_cells(mechanism, chunk.columns[name], where))
        progress(len(chunk))
    return totals


def _answered(
    chunk: Chunk, campaign: Campaign, person: str | None, missing: Missing, tally: Tally, path: Path
) -> NDArray[np.int64]:
    """Give the rows that count: all answers there, and the first of their person."""
    kept = np.ones(len(chunk), dtype=np.bool_)
    for name in campaign.questions:
        absent = np.fromiter((cell is None for cell in chunk.columns[name]), np.bool_, len(chunk))
        if absent.any() and missing is Missing.ERROR:
            raise OutsideDomain(
                f"{_where(path, chunk, int(absent.argmax()), name)}: the answer is missing; fill it in, or "
                "declare that who did not answer is public (--missing skip)"
            )
        kept &= ~absent
    tally.missing += int((~kept).sum())
    if person is not None:
        first = tally.first_answers(chunk.columns[person])
        tally.repeated += int((kept & ~first).sum())
        kept &= first
    return np.flatnonzero(kept)


def _values(mechanism: Mechanism, chunk: Chunk, name: str, rows: NDArray[np.int64], path: Path) -> Any:
    """Give a column's values, each checked; the first one that does not fit is named by its row alone."""
    column = chunk.columns[name]
    cells = column if rows.size == len(column) else [column[row] for row in rows]
    read = _reader(mechanism)
    try:
        values = read(cells)
        mechanism.domain.check(values)
        return values
    except (ValueError, TypeError, OutsideDomain):
        for row, cell in zip(rows.tolist(), cells, strict=True):
            try:
                mechanism.domain.check(read([cell]))
            except (ValueError, TypeError, OutsideDomain):
                place = _where(path, chunk, row, name)
                raise OutsideDomain(f"{place}: the value is not in {mechanism.domain}") from None
        raise


def _reader(mechanism: Mechanism) -> Callable[[Sequence[Any]], Any]:
    domain = mechanism.domain
    if isinstance(domain, Line):
        return lambda cells: np.array(cells, dtype=np.float64)
    if isinstance(domain, Categories):
        if isinstance(domain.labels, range):
            return lambda cells: np.array([int(cell) for cell in cells], dtype=np.int64)
        texts = {str(label): label for label in domain.labels}
        return lambda cells: [texts.get(str(cell), cell) for cell in cells]
    raise InvalidParameter(f"a column cannot hold values of {domain}")


def _where(path: Path, chunk: Chunk, row: int, column: str) -> str:
    return f"{path.name}, row {chunk.first + row}, column {column!r}"
