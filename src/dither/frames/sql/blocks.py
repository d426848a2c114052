"""The part of a query that counts the reports of one question, for each way of counting.

Every block is a relation with the public columns (day, label), `cell` and `total`. A cell from 0 upwards is a
place of the summary's vector. Negative cells are the outcomes of `Refused` and the number of reports.
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
from dither.mechanisms.base import Mechanism

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
    mechanism: Mechanism[Any]
    source: str
    public: tuple[str, ...]
    weighted: bool

    def select(self, columns: Mapping[str, str], source: str, *, where: str = "", fence: bool = False) -> str:
        """Return a relation with the public columns, the weight, and some others."""
        kept = [*self.public, *(["weight"] if self.weighted else [])]
        listed = ", ".join([*kept, *(_named(text, name) for name, text in columns.items())])
        return f"(SELECT {listed} FROM {source} AS s{where}{self.dialect.fence if fence else ''})"

    def counted(self, columns: Sequence[str], source: str, sums: Mapping[str, str] | None = None) -> str:
        """Return how often each combination of some columns occurs, by the public columns, as `total`."""
        keys = ", ".join([*self.public, *columns])
        total = "SUM(weight)" if self.weighted else "COUNT(*)"
        more = "".join(f", {text} AS {name}" for name, text in (sums or {}).items())
        return f"(SELECT {keys}, {total} AS total{more} FROM {source} AS c GROUP BY {keys})"

    def times(self, source: str, count: int) -> str:
        """Return every row of a relation with each number below `count`, as `item`."""
        return f"(SELECT * FROM {source} AS r CROSS JOIN {self.dialect.numbers(count)} AS i)"


def _named(text: str, name: str) -> str:
    return name if text == name else f"{text} AS {name}"


def state(valid: str, cell: str) -> str:
    """Return the cell of a report: that of its state if it is refused already, MALFORMED if not valid."""
    return f"CASE WHEN state < 0 THEN state WHEN {valid} THEN {cell} ELSE {Cell.MALFORMED:d} END"


@singledispatch
def block(counting: Counting, one: Block) -> str:
    """Return the relation that counts the reports of a question."""
    raise InvalidParameter(
        f"reports of {type(one.mechanism).__name__} are rows whose numbers belong together; a query does not "
        "count them: use dt.files.summarise_file or dt.frames.summarise"
    )


@block.register
def _(counting: NotCounted, one: Block) -> str:
    raise counting.reason


@block.register
def _(counting: EachReport, one: Block) -> str:
    _one_number(one.mechanism)
    return _cells(counting.outcomes, one)


def _cells(outcomes: int, one: Block) -> str:
    report = one.dialect.whole("report")
    cell = state(f"{report} >= 0 AND {report} < {outcomes}", report)
    return one.counted(["cell"], one.select({"cell": cell}, one.source))


@block.register
def _(counting: LeadingBits, one: Block) -> str:
    _one_number(one.mechanism)
    if counting.cells > MOST:
        raise InvalidParameter("reports of 2^63 and more do not fit the integers of databases")
    dialect, report = one.dialect, one.dialect.whole("report")
    ok = f"{report} >= 0 AND {report} <= {counting.cells - 1}"
    columns = {
        "cell": state(ok, dialect.without_low(report, counting.rest)),
        "rest": f"CASE WHEN state >= 0 AND {ok} THEN {dialect.low_bits(report, counting.rest)} ELSE 0 END",
    }
    rests = "SUM(weight * rest)" if one.weighted else "SUM(rest)"
    counts = one.counted(["cell"], one.select(columns, one.source, fence=True), {"rests": rests})
    keys = ", ".join(one.public)
    both = (
        f"SELECT {keys}{', ' if keys else ''}CASE WHEN item = 0 THEN cell ELSE {counting.groups} END AS cell, "
        f"CASE WHEN item = 0 THEN total ELSE rests END AS total FROM {one.times(counts, 2)} AS b "
        "WHERE item = 0 OR cell >= 0"
    )
    keys = ", ".join([*one.public, "cell"])
    return f"(SELECT {keys}, SUM(total) AS total FROM ({both}) AS t GROUP BY {keys})"


@block.register
def _(counting: BitSums, one: Block) -> str:
    """Count the bytes at each place, and then the bits of the 256 bytes."""
    dialect, width = one.dialect, (counting.bits + 7) >> 3
    used = counting.bits - 8 * (width - 1)  # bits of the last byte; the others are zero
    last = f"[{DIGITS[: 1 << max(used - 4, 0)]}][{DIGITS[: 1 << min(used, 4)]}]"
    even = f"([{DIGITS}][{DIGITS}])*"
    ok = f"length(report_hex) = {2 * width} AND {dialect.looks_like('report_hex', f'^{even}{last}$')}"
    kernel = one.mechanism.kernel
    if isinstance(kernel, ChosenSets):
        ok += f" AND {_ones(2 * width)} = {kernel.chosen}"
    checked = one.select({"report_hex": "report_hex", "state": state(ok, "0")}, one.source, fence=True)
    # The last number stands for the report itself: it is counted once, or refused once.
    pairs = one.select(
        {
            "item": "item",
            "pair": f"CASE WHEN item = {width} THEN '' ELSE {dialect.part('report_hex', '(2 * item) + 1', 2)} END",
            "state": "state",
        },
        one.times(checked, width + 1),
        where=f" WHERE state >= 0 OR item = {width}",
        fence=True,
    )
    counts = one.counted(["item", "pair", "state"], pairs)
    bits = f"(SELECT * FROM {counts} AS r CROSS JOIN {_renamed(dialect.numbers(8), 'spot')} AS i)"
    value = dialect.digit("pair", "CASE WHEN spot >= 4 THEN 1 ELSE 2 END")
    powers = " ".join(f"WHEN {low} THEN {1 << low} WHEN {low + 4} THEN {1 << low}" for low in range(4))
    held = f"{dialect.conjunction.format(value, f'(CASE spot {powers} END)')} <> 0"
    keys = ", ".join([*one.public, "cell"])
    cell = (
        f"CASE WHEN state < 0 THEN state WHEN item = {width} THEN {Cell.REPORTS:d} ELSE (8 * item) + spot END"
    )
    return (
        f"(SELECT {keys}, SUM(total) AS total FROM (SELECT *, {cell} AS cell FROM {bits} AS b "
        f"WHERE CASE WHEN item = {width} THEN spot = 0 ELSE {held} END) AS t GROUP BY {keys})"
    )


def _ones(digits: int) -> str:
    """Return the number of ones of a hexadecimal text: each digit's, as often as it occurs."""
    terms = [
        f"{value.bit_count()} * ({digits} - length(replace(report_hex, '{digit}', '')))"
        for value, digit in enumerate(DIGITS)
        if value
    ]
    return f"({' + '.join(terms)})"


def _renamed(relation: str, name: str) -> str:
    return f"(SELECT item AS {name} FROM {relation} AS n)"


@block.register
def _(counting: HashMatches, one: Block) -> str:
    """Count each item for which the hash function of a report has the reported bucket."""
    _one_number(one.mechanism)
    dialect, buckets, report = one.dialect, counting.hashing.buckets, one.dialect.whole("report")
    told = dialect.low_bits(report, BUCKET_BITS)
    ok = f"{report} >= 0 AND {told} < {buckets}"
    relation = one.select({"state": state(ok, "0"), "report": report}, one.source, fence=True)
    safe = "CASE WHEN state < 0 THEN 0 ELSE report END"
    columns = {"state": "state", "seed": dialect.without_low(safe, BUCKET_BITS)}
    kept = {"state": "state", "told": "told"}
    relation = one.select(
        {**columns, "told": dialect.low_bits(safe, BUCKET_BITS)}, relation, fence=True
    )
    for stage in hashing.stages(dialect, "seed"):
        relation = one.select({**kept, **stage}, relation, fence=True)
    every = counting.items  # the number after the last item stands for the report itself
    match = f"{hashing.bucket(dialect, counting.items, buckets)} = told"
    cell = f"CASE WHEN state < 0 THEN state WHEN item = {every} THEN {Cell.REPORTS:d} ELSE item END"
    matches = one.select(
        {"cell": cell},
        one.times(relation, every + 1),
        where=f" WHERE CASE WHEN item = {every} THEN 1 = 1 ELSE state >= 0 AND {match} END",
    )
    return one.counted(["cell"], matches)


@block.register
def _(counting: ColumnSums, one: Block) -> str:
    numbers = _numbers(one)
    ordered = [f"{low} < {high}" for low, high in zip(numbers, list(numbers)[1:], strict=False)]
    last = f"{list(numbers)[-1]} < {counting.items}"
    return _unpivoted(one, [0] * counting.columns, " AND ".join([*ordered, last]))


@block.register
def _(counting: EachColumn, one: Block) -> str:
    fits = [f"{name} < {cells}" for name, cells in zip(_numbers(one), counting.cells, strict=True)]
    begins = np.cumsum([0, *counting.cells[:-1]]).tolist()
    return _unpivoted(one, begins, " AND ".join(fits))


def _numbers(one: Block) -> dict[str, str]:
    """Return the numbers of a row, little endian in hexadecimal text, each as an expression by its name."""
    base, shape = _row(one.mechanism)
    if base.itemsize > 7:
        raise InvalidParameter("rows of numbers of 8 bytes do not fit the integers of databases")
    names = {}
    for place in range(shape):
        digits = []
        for byte in range(base.itemsize):
            begin = 2 * (place * base.itemsize + byte) + 1
            high, low = (one.dialect.digit("report_hex", str(begin + more)) for more in (0, 1))
            digits.append(f"({high} * {16 << (8 * byte)}) + ({low} * {1 << (8 * byte)})")
        names[f"v{place}"] = f"({' + '.join(digits)})"
    return names


def _unpivoted(one: Block, begins: Sequence[int], valid: str) -> str:
    """Count the numbers of rows, each column from its own begin on."""
    dialect = one.dialect
    base, shape = _row(one.mechanism)
    digits = 2 * base.itemsize * shape
    ok = f"length(report_hex) = {digits} AND {dialect.looks_like('report_hex', f'^([{DIGITS}][{DIGITS}])*$')}"
    numbers = _numbers(one)
    checked = one.select({"state": state(ok, "0"), "report_hex": "report_hex"}, one.source, fence=True)
    safe = {name: f"CASE WHEN state < 0 THEN 0 ELSE {text} END" for name, text in numbers.items()}
    read = one.select({"state": "state", **safe}, checked, fence=True)
    cells = " ".join(f"WHEN {place} THEN v{place} + {begin}" for place, begin in enumerate(begins))
    judged = one.select({"state": state(valid, "0"), **{name: name for name in numbers}}, read, fence=True)
    found = one.select(
        {"cell": f"CASE WHEN state < 0 THEN state ELSE (CASE item {cells} END) END"},
        one.times(judged, shape),
        where=" WHERE state >= 0 OR item = 0",
    )
    return one.counted(["cell"], found)


def _one_number(mechanism: Mechanism[Any]) -> None:
    if mechanism.layout.subdtype is not None:
        raise InvalidParameter(
            f"reports of {type(mechanism).__name__} are rows whose numbers belong together; a query does not "
            "count them: use dt.files.summarise_file or dt.frames.summarise"
        )


def _row(mechanism: Mechanism[Any]) -> tuple[np.dtype[Any], int]:
    """Return the dtype of the numbers of a report that is a row, and how many there are."""
    if mechanism.layout.subdtype is None:
        raise InvalidParameter(f"a report of {type(mechanism).__name__} is one number")
    base, (length,) = mechanism.layout.subdtype
    return base, length
