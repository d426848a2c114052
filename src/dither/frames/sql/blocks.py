"""The part of a query that counts the reports of one question, for each way of counting.

Every block is a relation with the public columns (day, label), `cell` and `total`. A cell from 0 upwards is
a place of the summary's vector. Negative cells say what was refused, and the number of reports.

Columns are always written with their relation, `s.cell`: some databases take a bare name for the new column
of the same SELECT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import singledispatch
from typing import Any, Final, final

import numpy as np

from dither.errors import InvalidParameter
from dither.frames.sql import hashing
from dither.frames.sql.dialects import DIGITS, SqlDialect
from dither.kernels.counting import (
    BitSums,
    ColumnSums,
    Counting,
    EachColumn,
    EachReport,
    HashMatches,
    LeadingBits,
    NotCounted,
)
from dither.kernels.sets.chosen_sets import ChosenSets
from dither.kernels.sets.hashing import BUCKET_BITS
from dither.question import Question

MOST: Final = 1 << 63


class Cell(IntEnum):
    """Cells that are not counts: what was left out, and the number of reports."""

    OTHER = -1  # of another fingerprint
    MALFORMED = -2  # no device can have sent it, or it has no batch
    REPORTS = -3


@final
@dataclass(frozen=True)
class Block:
    """What a block is made of: the dialect, the reports of one question, and their public columns.

    `source` is a relation with the public columns, `state` (0, or a negative cell), `report`, `report_hex`
    and, unless the reports are unique, `weight`.
    """

    dialect: SqlDialect
    question: Question
    source: str
    public: tuple[str, ...]
    weighted: bool

    def select(self, columns: Mapping[str, str], source: str, *, where: str = "", fence: bool = False) -> str:
        """Return a relation with the public columns, the weight, and some others, computed from `s`."""
        kept = {name: f"s.{name}" for name in (*self.public, *(["weight"] if self.weighted else []))}
        ends = self.dialect.fence if fence else ""
        return f"(SELECT {listed({**kept, **columns})}\nFROM {source} AS s{where}{ends})"

    def counted(self, columns: Sequence[str], source: str, sums: Mapping[str, str] | None = None) -> str:
        """Return how often each combination of some columns occurs, by the public columns, as `total`."""
        return self.summed(
            columns, source, {"total": "SUM(s.weight)" if self.weighted else "COUNT(*)", **(sums or {})}
        )

    def summed(self, columns: Sequence[str], source: str, sums: Mapping[str, str], where: str = "") -> str:
        """Return sums of a relation `s` by the public columns and some others."""
        keys = {name: f"s.{name}" for name in (*self.public, *columns)}
        grouped = ", ".join(keys.values())
        return f"(SELECT {listed({**keys, **sums})}\nFROM {source} AS s{where} GROUP BY {grouped})"

    def times(self, source: str, count: int, name: str = "item") -> str:
        """Return every row of a relation with each number below `count`, as `item` or another name."""
        numbers = f"(SELECT s.item AS {name} FROM {self.dialect.numbers(count)} AS s)"
        return f"(SELECT * FROM {source} AS a CROSS JOIN {numbers} AS b)"


def listed(columns: Mapping[str, str]) -> str:
    """Return the list of a SELECT: expressions with the names of their columns."""
    return ", ".join(f"{text} AS {name}" for name, text in columns.items())


def state(valid: str, cell: str) -> str:
    """Return the cell of a report: that of its state if it is refused already, MALFORMED if not valid."""
    return f"CASE WHEN s.state < 0 THEN s.state WHEN {valid} THEN {cell} ELSE {Cell.MALFORMED:d} END"


@singledispatch
def block(counting: Counting, one: Block) -> str:
    """Return the relation that counts the reports of a question."""
    raise InvalidParameter(
        f"reports of {one.question.name} are rows whose numbers belong together; a query does not "
        "count them: use dt.files.summarise_file or dt.frames.summarise"
    )


@block.register
def _(counting: NotCounted, one: Block) -> str:
    raise counting.reason


@block.register
def _(counting: EachReport, one: Block) -> str:
    _one_number(one.question)
    return _cells(counting.outcomes, one)


def _cells(outcomes: int, one: Block) -> str:
    report = one.dialect.whole("s.report")
    # The usual case first: DuckDB then decides a whole block at once. A whole number casts without an error.
    cell = (
        f"CASE WHEN s.state >= 0 AND {report} >= 0 AND {report} < {outcomes} THEN {report} "
        f"WHEN s.state < 0 THEN s.state ELSE {Cell.MALFORMED:d} END"
    )
    return one.counted(["cell"], one.select({"cell": cell}, one.source))


@block.register
def _(counting: LeadingBits, one: Block) -> str:
    _one_number(one.question)
    if counting.cells > MOST:
        raise InvalidParameter("reports of 2^63 and more do not fit the integers of databases")
    dialect, report = one.dialect, one.dialect.whole("s.report")
    ok = f"{report} >= 0 AND {report} <= {counting.cells - 1}"
    rest = dialect.low_bits(report, counting.rest)
    columns = {
        "cell": state(ok, dialect.without_low(report, counting.rest)),
        "rest": f"CASE WHEN s.state >= 0 AND {ok} THEN {rest} ELSE 0 END",
    }
    rests = "SUM(s.weight * s.rest)" if one.weighted else "SUM(s.rest)"
    counts = one.counted(["cell"], one.select(columns, one.source, fence=True), {"rests": rests})
    # Every group is listed twice: for its count, and for its part of the last entry, the sum of the rests.
    both = {
        **{name: f"s.{name}" for name in one.public},
        "cell": f"CASE WHEN s.item = 0 THEN s.cell ELSE {counting.groups} END",
        "total": "CASE WHEN s.item = 0 THEN s.total ELSE s.rests END",
    }
    twice = f"(SELECT {listed(both)}\nFROM {one.times(counts, 2)} AS s WHERE s.item = 0 OR s.cell >= 0)"
    return one.summed(["cell"], twice, {"total": "SUM(s.total)"})


@block.register
def _(counting: BitSums, one: Block) -> str:
    """Count the bytes at each place, and then the bits of the 256 bytes."""
    dialect, width = one.dialect, (counting.bits + 7) >> 3
    used = counting.bits - 8 * (width - 1)  # bits of the last byte; the others are zero
    last = f"[{DIGITS[: 1 << max(used - 4, 0)]}][{DIGITS[: 1 << min(used, 4)]}]"
    ok = _hexadecimal(dialect, 2 * width, last)
    kernel = one.question.kernel
    if isinstance(kernel, ChosenSets):
        ok += f" AND {_ones(2 * width)} = {kernel.chosen}"
    checked = one.select({"report_hex": "s.report_hex", "state": state(ok, "0")}, one.source, fence=True)
    # The last number stands for the report itself: it is counted once, or refused once.
    pair = dialect.part("s.report_hex", "((2 * s.item) + 1)", 2)
    pairs = one.select(
        {
            "item": "s.item",
            "pair": f"CASE WHEN s.item = {width} THEN '' ELSE {pair} END",
            "state": "s.state",
        },
        one.times(checked, width + 1),
        where=f" WHERE s.state >= 0 OR s.item = {width}",
        fence=True,
    )
    bits = one.times(one.counted(["item", "pair", "state"], pairs), 8, "spot")
    value = dialect.digit("s.pair", "(CASE WHEN s.spot >= 4 THEN 1 ELSE 2 END)")
    powers = " ".join(f"WHEN {low} THEN {1 << low} WHEN {low + 4} THEN {1 << low}" for low in range(4))
    held = f"{dialect.conjunction.format(value, f'(CASE s.spot {powers} END)')} <> 0"
    cells = {
        **{name: f"s.{name}" for name in one.public},
        "cell": f"CASE WHEN s.state < 0 THEN s.state WHEN s.item = {width} THEN {Cell.REPORTS:d} "
        "ELSE (8 * s.item) + s.spot END",
        "total": "s.total",
    }
    chosen = f" WHERE CASE WHEN s.item = {width} THEN s.spot = 0 ELSE {held} END"
    return one.summed(
        ["cell"], f"(SELECT {listed(cells)}\nFROM {bits} AS s{chosen})", {"total": "SUM(s.total)"}
    )


def _hexadecimal(dialect: SqlDialect, digits: int, last: str = "") -> str:
    """Return whether `s.report_hex` has so many digits, and ends with a pattern of two of them."""
    pairs = f"([{DIGITS}][{DIGITS}])*"  # by twos: `$` may stand before a newline, which makes the length odd
    return f"length(s.report_hex) = {digits} AND {dialect.looks_like('s.report_hex', f'^{pairs}{last}$')}"


def _ones(digits: int) -> str:
    """Return the number of ones of a hexadecimal text: each digit's, as often as it occurs."""
    terms = [
        f"{value.bit_count()} * ({digits} - length(replace(s.report_hex, '{digit}', '')))"
        for value, digit in enumerate(DIGITS)
        if value
    ]
    return f"({' + '.join(terms)})"


@block.register
def _(counting: HashMatches, one: Block) -> str:
    """Count each item for which the hash function of a report has the reported bucket."""
    _one_number(one.question)
    dialect, buckets, report = one.dialect, counting.hashing.buckets, one.dialect.whole("s.report")
    told = dialect.low_bits(report, BUCKET_BITS)
    ok = f"{report} >= 0 AND {told} < {buckets}"
    relation = one.select({"state": state(ok, "0"), "report": report}, one.source, fence=True)
    safe = "(CASE WHEN s.state < 0 THEN 0 ELSE s.report END)"
    kept = {"state": "s.state", "told": dialect.low_bits(safe, BUCKET_BITS)}
    relation = one.select({**kept, "seed": dialect.without_low(safe, BUCKET_BITS)}, relation, fence=True)
    kept["told"] = "s.told"
    for stage in hashing.stages(dialect, "s.seed"):
        relation = one.select({**kept, **stage}, relation, fence=True)
    every = counting.items  # the number after the last item stands for the report itself
    match = f"{hashing.bucket(dialect, counting.items, buckets)} = s.told"
    cell = f"CASE WHEN s.state < 0 THEN s.state WHEN s.item = {every} THEN {Cell.REPORTS:d} ELSE s.item END"
    matches = one.select(
        {"cell": cell},
        one.times(relation, every + 1),
        where=f" WHERE CASE WHEN s.item = {every} THEN 1 = 1 ELSE s.state >= 0 AND {match} END",
    )
    return one.counted(["cell"], matches)


@block.register
def _(counting: ColumnSums, one: Block) -> str:
    numbers = _numbers(one)
    ordered = [f"s.{low} < s.{high}" for low, high in zip(numbers, list(numbers)[1:], strict=False)]
    last = f"s.{list(numbers)[-1]} < {counting.items}"
    return _unpivoted(one, [0] * counting.columns, " AND ".join([*ordered, last]))


@block.register
def _(counting: EachColumn, one: Block) -> str:
    fits = [f"s.{name} < {cells}" for name, cells in zip(_numbers(one), counting.cells, strict=True)]
    begins = np.cumsum([0, *counting.cells[:-1]]).tolist()
    return _unpivoted(one, begins, " AND ".join(fits))


def _numbers(one: Block) -> dict[str, str]:
    """Return the numbers of a row, little endian in hexadecimal text, each as an expression by its name."""
    base, shape = _row(one.question)
    if base.itemsize > 7:
        raise InvalidParameter("rows of numbers of 8 bytes do not fit the integers of databases")
    names = {}
    for place in range(shape):
        digits = []
        for byte in range(base.itemsize):
            begin = 2 * (place * base.itemsize + byte) + 1
            high, low = (one.dialect.digit("s.report_hex", str(begin + more)) for more in (0, 1))
            digits.append(f"({high} * {16 << (8 * byte)}) + ({low} * {1 << (8 * byte)})")
        names[f"v{place}"] = f"({' + '.join(digits)})"
    return names


def _unpivoted(one: Block, begins: Sequence[int], valid: str) -> str:
    """Count the numbers of rows, each column from its own begin on."""
    dialect = one.dialect
    base, shape = _row(one.question)
    ok = _hexadecimal(dialect, 2 * base.itemsize * shape)
    numbers = _numbers(one)
    checked = one.select({"state": state(ok, "0"), "report_hex": "s.report_hex"}, one.source, fence=True)
    safe = {name: f"CASE WHEN s.state < 0 THEN 0 ELSE {text} END" for name, text in numbers.items()}
    read = one.select({"state": "s.state", **safe}, checked, fence=True)
    cells = " ".join(f"WHEN {place} THEN s.v{place} + {begin}" for place, begin in enumerate(begins))
    kept = {name: f"s.{name}" for name in numbers}
    judged = one.select({"state": state(valid, "0"), **kept}, read, fence=True)
    found = one.select(
        {"cell": f"CASE WHEN s.state < 0 THEN s.state ELSE (CASE s.item {cells} END) END"},
        one.times(judged, shape),
        where=" WHERE s.state >= 0 OR s.item = 0",
    )
    return one.counted(["cell"], found)


def _one_number(mechanism: Question) -> None:
    if mechanism.layout.subdtype is not None:
        raise InvalidParameter(
            f"reports of {mechanism.name} are rows whose numbers belong together; a query does not "
            "count them: use dt.files.summarise_file or dt.frames.summarise"
        )


def _row(mechanism: Question) -> tuple[np.dtype[Any], int]:
    """Return the dtype of the numbers of a report that is a row, and how many there are."""
    if mechanism.layout.subdtype is None:
        raise InvalidParameter(f"a report of {mechanism.name} is one number")
    base, (length,) = mechanism.layout.subdtype
    return base, length
