"""The SQL of each database for names, texts, bits of integers and lists of numbers.

All numbers in the queries are from 0 to 2^63 − 1, so that every dialect's 64-bit integers hold them.
Names and texts from outside are always quoted here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from dither.data.sql.delta import check_address, is_object_store
from dither.errors import InvalidParameter, found, unknown_name

DIGITS: Final = "0123456789abcdef"


@dataclass(frozen=True)
class SqlDialect:
    """The words of one database. The templates take `{0}`, `{1}`, … as expressions."""

    name: str
    title: str
    executed: bool  # True if tests run the queries in this database, not only parse them
    quote: str  # quote of names
    escapes: str  # the use of backslash escapes: "", "texts" or "texts and names"
    integer: str  # the type of 64-bit integers, nullable
    series: str = ""  # a relation with one column, `item`: the numbers below {0}; or empty
    words: str = "TEXT"  # the type of texts
    real: str = "DOUBLE"  # the type of 64-bit floating-point numbers, nullable
    week: str = "CAST(date_trunc('week', {0}) AS DATE)"  # the Monday of a day's week
    month: str = "CAST(date_trunc('month', {0}) AS DATE)"  # the first day of its month
    storage: str = ""  # ends a CREATE TABLE
    shift: str = "({0} >> {1})"
    conjunction: str = "({0} & {1})"
    xor: str = "({0} ^ {1})"
    position: str = "strpos({0}, {1})"  # position of text {1} in text {0}, from 1
    matches: str = "({0} ~ {1})"  # true if the regular expression {1} is found in {0}
    substring: str = "substr({0}, {1}, {2})"
    hexadecimal: str = "lower(hex({0}))"  # the lower-case text of bytes
    row: str = "({0})"  # columns as one value, to compare with such a value of a subquery,
    row_column: str = "{0}"  # its SELECT has these columns
    # Whether the batch {1} of the row s has no tombstone, a row of the table {0} whose place {2} is {3}.
    kept: str = "NOT EXISTS (SELECT 1 FROM {0} AS w WHERE w.{2} = {3} AND w.{1} = s.{1})"
    # A Delta table, by the scheme of its address ("": any): {0} the address, {1} as a name, {2} the path.
    delta: Mapping[str, str] = field(default_factory=dict)
    begin: str = ""  # a transaction that sees one moment; empty if there is none over several tables
    fence: str = ""  # ends a subquery whose columns must not be computed anew at each use

    def identifier(self, name: str) -> str:
        """Return a quoted name; raise InvalidParameter if it is empty, too long or has control characters."""
        if (
            not isinstance(name, str)
            or not 1 <= len(name) <= 255
            or any(ord(character) < 32 for character in name)
        ):
            raise InvalidParameter(
                "expected the name of a table or column to have 1 to 255 characters, none of them a "
                f"control character, got {found(name)}"
            )
        _check_utf8(name)
        if "names" in self.escapes:
            name = name.replace("\\", "\\\\").replace(self.quote, f"\\{self.quote}")
        else:
            name = name.replace(self.quote, 2 * self.quote)
        return f"{self.quote}{name}{self.quote}"

    def path(self, parts: Sequence[str]) -> str:
        """Return a quoted name of several parts, such as a schema and a table."""
        return ".".join(map(self.identifier, parts))

    def relation(self, parts: Sequence[str]) -> str:
        """Return a table to read: by its name, or a Delta table by its address, as s3://bucket/reports."""
        address = parts[0]
        if len(parts) > 1 or not is_object_store(address):
            return self.path(parts)
        check_address(address)
        scheme, _, place = address.partition("://")
        template = self.delta.get(scheme, self.delta.get(""))
        if template is None:
            raise InvalidParameter(
                f"expected a table that {self.title} can read, got an address {scheme}://; load it into a "
                "table there, and give the name of that table"
            )
        return template.format(self.text(address), self.identifier(address), self.text(place))

    def text(self, value: str) -> str:
        """Return a text literal; raise InvalidParameter for a zero character, because databases refuse it."""
        if "\0" in value:
            raise InvalidParameter("expected a text without zero characters in a query; rename the question")
        _check_utf8(value)
        if "texts" in self.escapes:
            value = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
            return f"'{value}'"
        return "'" + value.replace("'", "''") + "'"

    def day(self, value: date) -> str:
        """Return a date literal."""
        return f"DATE '{value.isoformat()}'"

    def whole(self, expression: str) -> str:
        """Return an expression as a 64-bit integer."""
        return f"CAST({expression} AS {self.integer})"

    def low_bits(self, expression: str, bits: int) -> str:
        """Return the lowest bits of a number."""
        return self.conjunction.format(expression, (1 << bits) - 1)

    def without_low(self, expression: str, bits: int) -> str:
        """Return a number without its lowest bits: ⌊x/2^bits⌋."""
        return self.shift.format(expression, bits)

    def exclusive_or(self, left: str, right: str) -> str:
        """Return the exclusive or of the bits of two numbers."""
        return self.xor.format(left, right)

    def part(self, text: str, begin: str, length: int) -> str:
        """Return `length` characters of a text from position `begin`, counted from 1."""
        return self.substring.format(text, begin, length)

    def digit(self, text: str, begin: str) -> str:
        """Return the value of one hexadecimal digit of a text."""
        return f"({self.position.format(self.text(DIGITS), self.part(text, begin, 1))} - 1)"

    def looks_like(self, text: str, pattern: str) -> str:
        """Return whether a text matches a regular expression, anchored at both ends."""
        return self.matches.format(text, self.text(pattern))

    def numbers(self, count: int) -> str:
        """Return a relation with the column `item`: the numbers from 0 to count − 1."""
        if self.series:
            return self.series.format(count)
        positions = range(max(1, -(-(count - 1).bit_length() // 4)))  # digits of a hexadecimal number
        digits = " UNION ALL ".join(f"SELECT {digit} AS digit" for digit in range(16))
        terms = " + ".join(f"({self.whole(f'd{position}.digit')} * {16**position})" for position in positions)
        joined = " CROSS JOIN ".join(f"({digits}) AS d{position}" for position in positions)
        return f"(SELECT s.item FROM (SELECT {terms} AS item FROM {joined}) AS s WHERE s.item < {count})"


def _check_utf8(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParameter(
            "expected a name or text in UTF-8 without lone surrogates in a query; rename it"
        ) from None


DIALECTS: Final = {
    dialect.name: dialect
    for dialect in (
        SqlDialect(
            "duckdb",
            "DuckDB",
            executed=True,
            quote='"',
            escapes="",
            integer="BIGINT",
            delta={"": "delta_scan({0})"},
            series="(SELECT range AS item FROM range({0}))",
            begin="BEGIN TRANSACTION",
            xor="xor({0}, {1})",
            matches="regexp_matches({0}, {1})",
        ),
        SqlDialect(
            "postgresql",
            "PostgreSQL",
            executed=True,
            quote='"',
            escapes="",
            integer="BIGINT",
            real="DOUBLE PRECISION",
            series="(SELECT item FROM generate_series(0::BIGINT, {0} - 1) AS s (item))",
            begin="BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            xor="({0} # {1})",
            hexadecimal="encode({0}, 'hex')",
            substring="substr({0}, CAST({1} AS INTEGER), {2})",
            fence=" OFFSET 0",  # else each stage is written into the next one, again and again
        ),
        *(
            SqlDialect(
                name,
                title,
                executed=executed,
                quote="`",
                escapes="texts",
                integer="BIGINT",
                words="STRING",
                delta={"": "delta.{1}"},
                series="(SELECT id AS item FROM range({0}))",
                shift="shiftright({0}, {1})",
                position="instr({0}, {1})",
                substring="substr({0}, CAST({1} AS INTEGER), {2})",
                matches="({0} RLIKE {1})",
            )
            for name, title, executed in (("spark", "Spark", True), ("databricks", "Databricks", False))
        ),
        SqlDialect(
            "bigquery",
            "BigQuery",
            executed=False,
            quote="`",
            escapes="texts and names",
            integer="INT64",
            words="STRING",
            real="FLOAT64",
            week="DATE_TRUNC({0}, ISOWEEK)",
            month="DATE_TRUNC({0}, MONTH)",
            series="(SELECT item FROM UNNEST(GENERATE_ARRAY(0, {0} - 1)) AS item)",
            begin="BEGIN TRANSACTION",
            matches="REGEXP_CONTAINS({0}, {1})",
            hexadecimal="TO_HEX({0})",
            row="STRUCT({0})",
            row_column="STRUCT({0})",  # a subquery after IN has one column
        ),
        SqlDialect(
            "clickhouse",
            "ClickHouse",
            executed=True,
            quote="`",
            escapes="texts and names",
            integer="Nullable(Int64)",
            words="Nullable(String)",
            real="Nullable(Float64)",
            week="toMonday({0})",
            month="toStartOfMonth({0})",
            delta={"s3": "deltaLake({0})", "file": "deltaLakeLocal({2})"},
            storage="ENGINE = MergeTree ORDER BY tuple()",
            series="(SELECT CAST(number AS Int64) AS item FROM numbers({0}))",
            shift="bitShiftRight({0}, {1})",
            conjunction="bitAnd({0}, {1})",
            xor="bitXor({0}, {1})",
            position="position({0}, {1})",
            matches="match({0}, {1})",
            kept="(s.{1} IS NULL OR s.{1} NOT IN (SELECT {1} FROM {0} WHERE {2} = {3}))",
        ),
        SqlDialect(
            "snowflake",
            "Snowflake",
            executed=False,
            quote='"',
            escapes="texts",
            integer="BIGINT",
            series=(
                "(SELECT ROW_NUMBER() OVER (ORDER BY SEQ8()) - 1 AS item "
                "FROM TABLE(GENERATOR(ROWCOUNT => {0})))"
            ),
            shift="BITSHIFTRIGHT({0}, {1})",
            conjunction="BITAND({0}, {1})",
            xor="BITXOR({0}, {1})",
            position="CHARINDEX({1}, {0})",
            matches="REGEXP_LIKE({0}, {1})",
            hexadecimal="HEX_ENCODE({0}, 0)",
        ),
        SqlDialect(
            "trino",
            "Trino and Athena",
            executed=False,
            quote='"',
            escapes="",
            integer="BIGINT",
            words="VARCHAR",
            shift="bitwise_right_shift({0}, {1})",
            conjunction="bitwise_and({0}, {1})",
            xor="bitwise_xor({0}, {1})",
            matches="regexp_like({0}, {1})",
            hexadecimal="lower(to_hex({0}))",
        ),
        SqlDialect(
            "redshift",
            "Redshift",
            executed=False,
            quote='"',
            escapes="texts",
            integer="BIGINT",
            words="VARCHAR(65535)",
            real="DOUBLE PRECISION",
            begin="BEGIN ISOLATION LEVEL SERIALIZABLE",
            xor="({0} + {1} - (2 * ({0} & {1})))",
            substring="substring({0}, CAST({1} AS INTEGER), {2})",
            hexadecimal="lower(to_hex({0}))",
            fence=" OFFSET 0",  # as PostgreSQL, its origin
        ),
    )
}


def dialect_named(name: str) -> SqlDialect:
    """Return a dialect by its name; raise InvalidParameter, with the nearest name, if it is unknown."""
    if name not in DIALECTS:
        raise unknown_name("dialect", name, list(DIALECTS))
    return DIALECTS[name]


def table_name(name: str) -> tuple[str, ...]:
    """Return the parts of the name of a table; the address of a Delta table is one."""
    return (name,) if is_object_store(name) else tuple(name.split("."))
