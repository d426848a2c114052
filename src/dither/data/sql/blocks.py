"""The part of a query that counts the reports of one question, for each way of counting.

Every block is a relation with the public columns (day, label), `cell` and `total`. A cell from 0 upwards is
an index of the summary's vector. Negative cells are counts of refused reports, and the number of reports.

Columns are always written with their relation, `s.cell`: some databases take a bare name for the new column
of the same SELECT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import singledispatch
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dither.core.kernels.counting import (
    BitSums,
    ColumnSums,
    Counting,
    EachColumn,
    EachReport,
    HashMatches,
    LeadingBits,
    NotCounted,
    PackedColumns,
    ValuesBelow,
)
from dither.core.kernels.sets.hashing import BUCKET_BITS, FIRST, GOLDEN, SECOND
from dither.core.kernels.sets.subsets import ChosenSets
from dither.core.question import Question
from dither.data.sql.dialects import DIGITS, SqlDialect
from dither.errors import InvalidParameter

MOST: Final = 1 << 63
MOST_ITEMS: Final = 1 << 31  # multiplier·item + offset is below 2^63
_HALF: Final = 1 << 16
_MOST_TERMS: Final = 24  # coefficients of polynomials; the text of a query grows with their third power
_LIMB: Final = 1 << 32  # a remainder below 2^21 and a limb are below 2^53: exact in doubles

Stage = dict[str, str]  # new columns by name; a stage is computed from the one before, `s`


class Cell(IntEnum):
    """Negative cells: the kinds of omitted reports, and the number of reports."""

    OTHER = -1  # another fingerprint
    MALFORMED = -2  # no device can have sent it, or it has no batch
    REPORTS = -3


@dataclass(frozen=True)
class Block:
    """The input of a block: the dialect, the reports of one question, and their public columns.

    `source` is a relation with the public columns, `state` (0 for a report, else the negative code of a cell
    without one), `report`, `report_hex` and, unless the reports are unique, `weight`.
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
        return f"(SELECT {select_list({**kept, **columns})}\nFROM {source} AS s{where}{ends})"

    def count_by(self, columns: Sequence[str], source: str, sums: Mapping[str, str] | None = None) -> str:
        """Return the number of rows per combination of some columns, by the public columns, as `total`."""
        return self.sum_by(
            columns, source, {"total": "SUM(s.weight)" if self.weighted else "COUNT(*)", **(sums or {})}
        )

    def sum_by(self, columns: Sequence[str], source: str, sums: Mapping[str, str], where: str = "") -> str:
        """Return sums of a relation `s` by the public columns and some others."""
        keys = {name: f"s.{name}" for name in (*self.public, *columns)}
        grouped = ", ".join(keys.values())
        return f"(SELECT {select_list({**keys, **sums})}\nFROM {source} AS s{where} GROUP BY {grouped})"

    def cross_numbers(self, source: str, count: int, name: str = "item") -> str:
        """Return every row of a relation with each number below `count`, as `item` or another name."""
        numbers = f"(SELECT s.item AS {name} FROM {self.dialect.numbers(count)} AS s)"
        return f"(SELECT * FROM {source} AS a CROSS JOIN {numbers} AS b)"


def select_list(columns: Mapping[str, str]) -> str:
    """Return the list of a SELECT: expressions with the names of their columns."""
    return ", ".join(f"{text} AS {name}" for name, text in columns.items())


def report_state(valid: str, cell: str) -> str:
    """Return the cell of a report: its state if it is already refused, MALFORMED if not valid."""
    return f"CASE WHEN s.state < 0 THEN s.state WHEN {valid} THEN {cell} ELSE {Cell.MALFORMED:d} END"


@singledispatch
def counting_block(counting: Counting, part: Block) -> str:
    """Return the relation that counts the reports of a question."""
    raise _rows_error(part.question)


@counting_block.register
def _(counting: NotCounted, part: Block) -> str:
    raise counting.reason


@counting_block.register
def _(counting: EachReport, part: Block) -> str:
    _require_number(part.question)
    return _count_cells(counting.outcomes, part)


def _count_cells(outcomes: int, part: Block) -> str:
    report = part.dialect.whole("s.report")
    # The usual case first: DuckDB then decides a complete block at once. An integer casts without an error.
    cell = (
        f"CASE WHEN s.state >= 0 AND {report} >= 0 AND {report} < {outcomes} THEN {report} "
        f"WHEN s.state < 0 THEN s.state ELSE {Cell.MALFORMED:d} END"
    )
    return part.count_by(["cell"], part.select({"cell": cell}, part.source))


@counting_block.register
def _(counting: LeadingBits, part: Block) -> str:
    _require_number(part.question)
    if counting.cells > MOST:
        raise InvalidParameter(
            "expected reports below 2^63, because larger ones do not fit the integers of databases; "
            "count "
            "them with dt.data.summarise_file"
        )
    dialect, report = part.dialect, part.dialect.whole("s.report")
    ok = f"{report} >= 0 AND {report} <= {counting.cells - 1}"
    rest = dialect.low_bits(report, counting.rest)
    columns = {
        "cell": report_state(ok, dialect.without_low(report, counting.rest)),
        "rest": f"CASE WHEN s.state >= 0 AND {ok} THEN {rest} ELSE 0 END",
    }
    rests = "SUM(s.weight * s.rest)" if part.weighted else "SUM(s.rest)"
    counts = part.count_by(["cell"], part.select(columns, part.source, fence=True), {"rests": rests})
    # Every group is listed twice: for its count, and for its part of the last entry, the sum of the rests.
    both = {
        **{name: f"s.{name}" for name in part.public},
        "cell": f"CASE WHEN s.item = 0 THEN s.cell ELSE {counting.groups} END",
        "total": "CASE WHEN s.item = 0 THEN s.total ELSE s.rests END",
    }
    pairs = part.cross_numbers(counts, 2)
    twice = f"(SELECT {select_list(both)}\nFROM {pairs} AS s WHERE s.item = 0 OR s.cell >= 0)"
    return part.sum_by(["cell"], twice, {"total": "SUM(s.total)"})


@counting_block.register
def _(counting: BitSums, part: Block) -> str:
    """Count the bytes at each place, and then the bits of the 256 bytes."""
    dialect, width = part.dialect, (counting.bits + 7) >> 3
    used = counting.bits - 8 * (width - 1)  # bits of the last byte; the others are zero
    last = f"[{DIGITS[: 1 << max(used - 4, 0)]}][{DIGITS[: 1 << min(used, 4)]}]"
    ok = _hexadecimal(dialect, 2 * width, last)
    kernel = part.question.kernel
    if isinstance(kernel, ChosenSets):
        ok += f" AND {_count_ones(2 * width)} = {kernel.chosen}"
    checked = part.select(
        {"report_hex": "s.report_hex", "state": report_state(ok, "0")}, part.source, fence=True
    )
    # The last number means the report itself: it is counted or refused once.
    pair = dialect.part("s.report_hex", "((2 * s.item) + 1)", 2)
    pairs = part.select(
        {
            "item": "s.item",
            "pair": f"CASE WHEN s.item = {width} THEN '' ELSE {pair} END",
            "state": "s.state",
        },
        part.cross_numbers(checked, width + 1),
        where=f" WHERE s.state >= 0 OR s.item = {width}",
        fence=True,
    )
    bits = part.cross_numbers(part.count_by(["item", "pair", "state"], pairs), 8, "spot")
    value = dialect.digit("s.pair", "(CASE WHEN s.spot >= 4 THEN 1 ELSE 2 END)")
    powers = " ".join(f"WHEN {low} THEN {1 << low} WHEN {low + 4} THEN {1 << low}" for low in range(4))
    held = f"{dialect.conjunction.format(value, f'(CASE s.spot {powers} END)')} <> 0"
    cells = {
        **{name: f"s.{name}" for name in part.public},
        "cell": f"CASE WHEN s.state < 0 THEN s.state WHEN s.item = {width} THEN {Cell.REPORTS:d} "
        "ELSE (8 * s.item) + s.spot END",
        "total": "s.total",
    }
    chosen = f" WHERE CASE WHEN s.item = {width} THEN s.spot = 0 ELSE {held} END"
    return part.sum_by(
        ["cell"], f"(SELECT {select_list(cells)}\nFROM {bits} AS s{chosen})", {"total": "SUM(s.total)"}
    )


def _hexadecimal(dialect: SqlDialect, digits: int, last: str = "") -> str:
    """Return whether `s.report_hex` has the right length, and ends with a pattern of two digits."""
    pairs = f"([{DIGITS}][{DIGITS}])*"  # in pairs: `$` may precede a newline, and that makes the length odd
    return f"length(s.report_hex) = {digits} AND {dialect.looks_like('s.report_hex', f'^{pairs}{last}$')}"


def _count_ones(digits: int) -> str:
    """Return the number of ones of a hexadecimal text: each digit's, as often as it occurs."""
    terms = [
        f"{value.bit_count()} * ({digits} - length(replace(s.report_hex, '{digit}', '')))"
        for value, digit in enumerate(DIGITS)
        if value
    ]
    return f"({' + '.join(terms)})"


@counting_block.register
def _(counting: HashMatches, part: Block) -> str:
    """Count each item for which the hash function of a report has the reported bucket."""
    _require_number(part.question)
    dialect, buckets, report = part.dialect, counting.hashing.buckets, part.dialect.whole("s.report")
    reported = dialect.low_bits(report, BUCKET_BITS)
    ok = f"{report} >= 0 AND {reported} < {buckets}"
    relation = part.select({"state": report_state(ok, "0"), "report": report}, part.source, fence=True)
    safe = "(CASE WHEN s.state < 0 THEN 0 ELSE s.report END)"
    kept = {"state": "s.state", "told": dialect.low_bits(safe, BUCKET_BITS)}
    relation = part.select({**kept, "seed": dialect.without_low(safe, BUCKET_BITS)}, relation, fence=True)
    kept["told"] = "s.told"
    for stage in hash_stages(dialect, "s.seed"):
        relation = part.select({**kept, **stage}, relation, fence=True)
    every = counting.items  # the number after the last item means the report itself
    match = f"{hash_bucket(dialect, counting.items, buckets)} = s.told"
    cell = f"CASE WHEN s.state < 0 THEN s.state WHEN s.item = {every} THEN {Cell.REPORTS:d} ELSE s.item END"
    matches = part.select(
        {"cell": cell},
        part.cross_numbers(relation, every + 1),
        where=f" WHERE CASE WHEN s.item = {every} THEN 1 = 1 ELSE s.state >= 0 AND {match} END",
    )
    return part.count_by(["cell"], matches)


@counting_block.register
def _(counting: ValuesBelow, part: Block) -> str:
    """Count each element at which the value of a report's polynomial is below the bound."""
    dialect, field = part.dialect, counting.polynomials
    if field.terms > _MOST_TERMS:
        raise InvalidParameter(
            f"expected polynomials of up to {_MOST_TERMS} coefficients in a query, got {field.terms}; use "
            "dt.data.summarise_file, or dt.data.spark.summarise"
        )
    ok = _hexadecimal(dialect, 2 * field.length)
    relation = part.select(
        {"state": report_state(ok, "0"), "report_hex": "s.report_hex"}, part.source, fence=True
    )
    limbs = {}
    for at in range(0, field.length, 4):
        digits = [
            f"({dialect.digit('s.report_hex', str(2 * at + 1 + index))} * {1 << 4 * (index ^ 1)})"
            for index in range(2 * min(4, field.length - at))  # the higher digit of a byte is first
        ]
        number = dialect.whole(f"({' + '.join(digits)})")
        limbs[f"l{at // 4}"] = f"CASE WHEN s.state < 0 THEN 0 ELSE {number} END"
    relation = part.select({"state": "s.state", **limbs}, relation, fence=True)
    kept = {"state": "s.state"}
    for term in range(field.terms):  # a number is divided by the prime: the remainder is a coefficient
        stage, rest = {}, ""
        for name in reversed(limbs):
            number = f"(({rest} * {_LIMB}) + s.{name})" if rest else f"s.{name}"
            rest = f"MOD({number}, {field.prime})"
            stage[name] = dialect.whole(f"(({number} - {rest}) / {field.prime})")
        relation = part.select({**kept, **stage, f"c{term}": rest}, relation, fence=True)
        kept[f"c{term}"] = f"s.c{term}"
    small = " AND ".join(f"s.{name} = 0" for name in limbs)
    relation = part.select({**kept, "state": report_state(small, "0")}, relation, fence=True)
    value = f"s.c{field.terms - 1}"
    for term in reversed(range(field.terms - 1)):
        value = f"MOD(({value} * s.item) + s.c{term}, {field.prime})"
    every = counting.items  # the number after the last element means the report itself
    cell = f"CASE WHEN s.state < 0 THEN s.state WHEN s.item = {every} THEN {Cell.REPORTS:d} ELSE s.item END"
    found = f"s.state >= 0 AND {value} < {counting.bound}"
    counted = part.select(
        {"cell": cell},
        part.cross_numbers(relation, every + 1),
        where=f" WHERE CASE WHEN s.item = {every} THEN 1 = 1 ELSE {found} END",
    )
    return part.count_by(["cell"], counted)


@counting_block.register
def _(counting: ColumnSums, part: Block) -> str:
    numbers = _number_expressions(part)
    ordered = [f"s.{low} < s.{high}" for low, high in zip(numbers, list(numbers)[1:], strict=False)]
    last = f"s.{list(numbers)[-1]} < {counting.items}"
    return _unpivot(part, [0] * counting.columns, " AND ".join([*ordered, last]))


@counting_block.register
def _(counting: PackedColumns, part: Block) -> str:
    """Count numbers of some bits each: the bytes that hold a number, without the bits below and above it."""
    dialect, width = part.dialect, counting.width
    length = (counting.columns * width + 7) >> 3
    numbers = {}
    for index in range(counting.columns):
        first, shift = divmod(index * width, 8)
        bytes_ = range(first, (index * width + width + 7) >> 3)
        held = " + ".join(
            f"({dialect.digit('s.report_hex', str(2 * at + 1))} * {16 << (8 * (at - first))}) + "
            f"({dialect.digit('s.report_hex', str(2 * at + 2))} * {1 << (8 * (at - first))})"
            for at in bytes_
        )
        numbers[f"v{index}"] = dialect.low_bits(dialect.without_low(f"({held})", shift), width)
    names = list(numbers)
    valid = [f"s.{low} < s.{high}" for low, high in pairwise(names)]
    valid.append(f"s.{names[-1]} < {counting.items}")
    used = 8 - (8 * length - counting.columns * width)  # bits of the last byte; the others are zero
    last = f"[{DIGITS[: 1 << max(used - 4, 0)]}][{DIGITS[: 1 << min(used, 4)]}]"
    return _unpivot(part, [0] * counting.columns, " AND ".join(valid), numbers, last)


@counting_block.register
def _(counting: EachColumn, part: Block) -> str:
    fits = [
        f"s.{name} < {cells}" for name, cells in zip(_number_expressions(part), counting.cells, strict=True)
    ]
    begins = np.cumsum([0, *counting.cells[:-1]]).tolist()
    return _unpivot(part, begins, " AND ".join(fits))


def _number_expressions(part: Block) -> dict[str, str]:
    """Return the numbers of a row, little endian in hexadecimal text, each as an expression by its name."""
    base, shape = _row_layout(part.question)
    if base.itemsize > 7:
        raise InvalidParameter(
            "expected rows of numbers below 8 bytes, because larger ones do not fit the integers of "
            "databases; count them with dt.data.summarise_file"
        )
    names = {}
    for index in range(shape):
        digits = []
        for byte in range(base.itemsize):
            begin = 2 * (index * base.itemsize + byte) + 1
            high, low = (part.dialect.digit("s.report_hex", str(begin + more)) for more in (0, 1))
            digits.append(f"({high} * {16 << (8 * byte)}) + ({low} * {1 << (8 * byte)})")
        names[f"v{index}"] = f"({' + '.join(digits)})"
    return names


def _unpivot(
    part: Block, begins: Sequence[int], valid: str, numbers: Mapping[str, str] | None = None, last: str = ""
) -> str:
    """Count the numbers of rows, each column from its own begin on; `last` is a pattern of the last byte."""
    dialect = part.dialect
    base, shape = _row_layout(part.question)
    ok = _hexadecimal(dialect, 2 * base.itemsize * shape, last)
    numbers = numbers or _number_expressions(part)
    checked = part.select(
        {"state": report_state(ok, "0"), "report_hex": "s.report_hex"}, part.source, fence=True
    )
    safe = {name: f"CASE WHEN s.state < 0 THEN 0 ELSE {text} END" for name, text in numbers.items()}
    read = part.select({"state": "s.state", **safe}, checked, fence=True)
    cells = " ".join(f"WHEN {index} THEN s.v{index} + {begin}" for index, begin in enumerate(begins))
    kept = {name: f"s.{name}" for name in numbers}
    judged = part.select({"state": report_state(valid, "0"), **kept}, read, fence=True)
    found = part.select(
        {"cell": f"CASE WHEN s.state < 0 THEN s.state ELSE (CASE s.item {cells} END) END"},
        part.cross_numbers(judged, len(begins)),
        where=" WHERE s.state >= 0 OR s.item = 0",
    )
    return part.count_by(["cell"], found)


def _require_number(question: Question) -> None:
    if question.layout.subdtype is not None:
        raise _rows_error(question)


def _rows_error(question: Question) -> InvalidParameter:
    return InvalidParameter(
        f"expected reports that a query can count, got rows of {question.name} whose numbers belong "
        "together; use dt.data.summarise_file or dt.data.summarise"
    )


def _row_layout(question: Question) -> tuple[np.dtype[Any], int]:
    """Return the dtype of the numbers of a report that is a row, and how many there are."""
    if question.layout.subdtype is None:
        raise InvalidParameter(
            f"expected reports of several numbers, got one number from {question.name}; use its column"
        )
    base, (length,) = question.layout.subdtype
    return base, length


def hash_stages(dialect: SqlDialect, seed: str) -> list[Stage]:
    """Return the stages that compute the columns `hi` and `lo`, the multiplier and the offset from `seed`.

    They are the halves of SplitMix64's finaliser [SplitMix14]; `kernels/sets/hashing.py` defines the family.
    64-bit products are made in two limbs of 32 bits, one factor cut into 16 bits: no intermediate number
    reaches 2^50, except multiplier·item + offset < 2^63. So no dialect overflows, whether its 64-bit integers
    are signed, wrap around, or raise an error.
    """
    begin = {
        "hi": dialect.without_low(f"({seed} + 1)", 32),
        "lo": dialect.low_bits(f"({seed} + 1)", 32),
    }
    return [
        begin,
        *_product_stages(dialect, GOLDEN),
        _xorshift(dialect, 30),
        *_product_stages(dialect, FIRST),
        _xorshift(dialect, 27),
        *_product_stages(dialect, SECOND),
        _xorshift(dialect, 31),
    ]


def hash_bucket(dialect: SqlDialect, items: int, buckets: int) -> str:
    """Return the bucket of the column `item` under the function of the columns `hi` and `lo`."""
    if items > MOST_ITEMS:
        raise InvalidParameter(
            f"expected up to {MOST_ITEMS} categories in a query that counts by hashing, got {items}; "
            "use "
            "dt.data.summarise_file"
        )
    position = dialect.low_bits("((s.hi * s.item) + s.lo)", 32)
    return dialect.without_low(f"({position} * {buckets})", 32)


def _product_stages(dialect: SqlDialect, factor: int) -> list[Stage]:
    """Return the stages that replace hi·2^32 + lo by its product with a 64-bit constant, modulo 2^64."""
    high, low = factor >> 32, factor & 0xFFFFFFFF

    def modulo(limb: str, constant: int) -> str:  # below 2^48 + 2^32, and equal to the product modulo 2^32
        upper = dialect.low_bits(f"({dialect.without_low(limb, 16)} * {constant})", 16)
        return f"(({dialect.low_bits(limb, 16)} * {constant}) + ({upper} * {_HALF}))"

    return [
        {
            "near": f"({dialect.low_bits('s.lo', 16)} * {low})",
            "far": f"({dialect.without_low('s.lo', 16)} * {low})",
            "across": f"({modulo('s.lo', high)} + {modulo('s.hi', low)})",
        },
        {
            "near": "s.near",
            "carried": f"({dialect.without_low('s.near', 16)} + s.far)",
            "across": "s.across",
        },
        {
            "hi": dialect.low_bits(f"({dialect.without_low('s.carried', 16)} + s.across)", 32),
            "lo": f"(({dialect.low_bits('s.carried', 16)} * {_HALF}) + {dialect.low_bits('s.near', 16)})",
        },
    ]


def _xorshift(dialect: SqlDialect, by: int) -> Stage:
    """Return the stages that replace the word w = hi·2^32 + lo by w xor (w >> by), for `by` below 32."""
    down = f"(({dialect.low_bits('s.hi', by)} * {1 << (32 - by)}) + {dialect.without_low('s.lo', by)})"
    return {
        "hi": dialect.exclusive_or("s.hi", dialect.without_low("s.hi", by)),
        "lo": dialect.exclusive_or("s.lo", down),
    }
