"""Which rows of a table are used, chunk by chunk, and how many were left out for which reason."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any, cast, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.domains import Domain, Line
from dither.errors import InvalidParameter
from dither.files.choices import Missing, Outside
from dither.files.fit import Misfit, Misfits, clipped, read_values
from dither.files.format import Chunk
from dither.files.person import person_text
from dither.question import Question
from dither.wire.campaign import Campaign


@final
@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were written as reports, and how many were left out, by reason.

    `missing` rows lack an answer; `repeated` rows are further rows of a person; `outside` rows have a value
    outside of its domain. `clipped` counts the values that were moved into their domain and written.
    """

    written: int = 0
    missing: int = 0
    repeated: int = 0
    outside: int = 0
    clipped: int = 0


def domains_of(
    questions: Mapping[str, Question] | Mapping[str, Domain] | Campaign,
) -> dict[str, Domain]:
    """Return the domain of each question."""
    if isinstance(questions, Mapping) and all(isinstance(one, Domain) for one in questions.values()):
        return dict(cast(Mapping[str, Domain], questions))
    campaign = Campaign.of(cast(Mapping[str, Question] | Campaign, questions))
    return {name: mechanism.domain for name, mechanism in campaign.questions.items()}


@final
class RowChoice:
    """Decides which rows are used, reads their values, and counts. Nearly always all rows are used."""

    def __init__(self, campaign: Campaign, person: str | None, missing: Missing, outside: Outside) -> None:
        self.domains = domains_of(campaign)
        self.counts, self.misfits = RowCounts(), Misfits()
        self._person, self._missing, self._outside = person, missing, outside
        self._seen: set[bytes] = set()
        self._places = np.arange(0)

    def used(self, chunk: Chunk) -> tuple[Integers, dict[str, Any]]:
        """Return the rows that have all answers and are the first of their person, and their values.

        The values are in the form that `domain.check` takes. Cells that are an error are counted as misfits.
        """
        used = np.ones(len(chunk), dtype=np.bool_)
        for name in self.domains:
            absent = chunk.absent(name)
            if absent.any():
                if self._missing is Missing.ERROR:
                    self.misfits.add(chunk, name, Misfit.MISSING, np.flatnonzero(absent))
                used &= ~absent
        missing, repeated = len(chunk) - int(np.count_nonzero(used)), 0
        if self._person is not None:
            first = self._first_rows(chunk, self._person, used)
            repeated = int(np.count_nonzero(used & ~first))
            used &= first
        there = self._rows(used)
        fits, moved = np.ones(there.size, dtype=np.bool_), np.zeros(there.size, dtype=np.int16)
        read = {}
        for name, domain in self.domains.items():
            values = read_values(chunk, name, domain, there)
            if values.text.any():
                self.misfits.add(chunk, name, Misfit.TEXT, there[values.text])
            if values.outside.any():
                if self._outside is Outside.CLIP and isinstance(domain, Line):
                    moved += values.outside
                    values = clipped(domain, values)
                elif self._outside is not Outside.SKIP:
                    self.misfits.add(chunk, name, Misfit.OUTSIDE, there[values.outside])
                fits &= ~values.outside
            read[name] = values
        written, inside = int(np.count_nonzero(fits)), int(moved[fits].sum()) if moved.any() else 0
        part = RowCounts(written, missing, repeated, there.size - written, inside)
        self.counts = RowCounts(*map(sum, zip(astuple(self.counts), astuple(part), strict=True)))
        if self.misfits:
            return np.empty(0, dtype=np.int64), {}
        return there if fits.all() else there[fits], {name: values.at(fits) for name, values in read.items()}

    def _rows(self, used: Mask) -> Integers:
        """Return the places at which a mask is True; for all of them, a part of one array of all places."""
        if not used.all():
            return np.flatnonzero(used)
        if self._places.size < used.size:
            self._places = np.arange(used.size)
            self._places.flags.writeable = False
        return self._places[: used.size]

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
