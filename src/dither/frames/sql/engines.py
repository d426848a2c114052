"""Databases that run the queries: DuckDB and PostgreSQL, by an address such as duckdb://reports.db."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

from dither.errors import DitherError, InvalidParameter, MissingExtra, unknown_name
from dither.estimation.counts.table import CountTotals, read_counts
from dither.estimation.summary import Summary
from dither.frames.sql.dialects import DIALECTS, SqlDialect
from dither.frames.sql.folding import check_counts, fold_statements, stored_query
from dither.frames.sql.query import counting_query
from dither.frames.sql.table import ReportTable
from dither.question import Question
from dither.wire.campaign import Campaign

Columns = dict[str, list[Any]]
Questions = Mapping[str, Question] | Campaign


class Engine(ABC):
    """An open database. It is a context manager, which closes it."""

    dialect: ClassVar[SqlDialect]

    @abstractmethod
    def rows(self, query: str) -> Columns:
        """Return the columns of a query's result."""

    @abstractmethod
    def transaction(self, statements: Sequence[str]) -> None:
        """Run statements, all of them or none."""

    @abstractmethod
    def close(self) -> None:
        """Close the database."""

    @final
    def counts(
        self,
        questions: Questions,
        table: ReportTable | None = None,
        *,
        folded: str | Sequence[str] | None = None,
        day: date | None = None,
    ) -> Columns:
        """Return the counts of a table of reports, and those of the table `folded` below them."""
        found = self.rows(counting_query(questions, self.dialect, table, day=day))
        if folded is not None:
            for name, values in self.rows(stored_query(self.dialect, folded, list(found))).items():
                found[name] += values
        return found

    @final
    def fold(
        self,
        questions: Questions,
        day: date,
        folded: str | Sequence[str],
        table: ReportTable | None = None,
    ) -> None:
        """Move the reports of a day into the table of counts, and delete them: both or neither."""
        self.transaction(fold_statements(questions, self.dialect, table or ReportTable(), folded, day))

    @final
    def __enter__(self) -> Self:
        return self

    @final
    def __exit__(self, *error: object) -> None:
        self.close()


@final
class DuckDB(Engine):
    """A DuckDB file, or Parquet files as a table."""

    dialect = DIALECTS["duckdb"]

    def __init__(self, place: str, table: Sequence[str] = ("reports",), *, write: bool = False) -> None:
        self._duckdb = _module("duckdb")
        files = place.endswith(".parquet")
        if not files and not write and not Path(place).is_file():
            raise InvalidParameter(f"there is no DuckDB file {place}")
        with self._named():
            self._connection = self._duckdb.connect(
                ":memory:" if files else place, read_only=not files and not write
            )
            if files:
                read = f"read_parquet({self.dialect.text(place)})"
                self._connection.execute(
                    f"CREATE VIEW {self.dialect.path(table[-1:])} AS SELECT * FROM {read}"
                )

    def rows(self, query: str) -> Columns:
        with self._named():
            cursor = self._connection.execute(query)
            names = [one[0] for one in cursor.description]
            return _transposed(names, cursor.fetchall())

    def transaction(self, statements: Sequence[str]) -> None:
        with self._named():
            self._connection.execute("BEGIN")
            try:
                for statement in statements:
                    self._connection.execute(statement)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        with _errors(self._duckdb.Error, self.dialect):
            yield


@final
class PostgreSQL(Engine):
    """A PostgreSQL database, by the address that libpq takes."""

    dialect = DIALECTS["postgresql"]

    def __init__(self, address: str, *, write: bool = False) -> None:
        self._psycopg = _module("psycopg")
        with self._named():
            self._connection = self._psycopg.connect(address)
            self._connection.read_only = not write

    def rows(self, query: str) -> Columns:
        with self._named(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(query)
            names = [one.name for one in cursor.description]
            return _transposed(names, cursor.fetchall())

    def transaction(self, statements: Sequence[str]) -> None:
        with self._named(), self._connection.transaction(), self._connection.cursor() as cursor:
            # Copies that arrive while the day is folded are not deleted uncounted: all see one snapshot.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for statement in statements:
                cursor.execute(statement)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        with _errors(self._psycopg.Error, self.dialect):
            yield


ADDRESSES: Final = ("duckdb://", "postgresql://", "postgres://")


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database, and not the name of a file."""
    return text.partition("://")[1] != "" and text.startswith(ADDRESSES)


def opened(address: str, table: ReportTable | None = None, *, write: bool = False) -> Engine:
    """Return the database of an address: duckdb://FILE, duckdb://PATTERN.parquet or postgresql://….

    Two slashes precede a path, so that duckdb:///data/reports.db is an absolute one.
    """
    kind, _, rest = address.partition("://")
    if kind == "duckdb" and rest:
        return DuckDB(rest, (table or ReportTable()).name, write=write)
    if kind in ("postgresql", "postgres"):
        return PostgreSQL(address, write=write)
    raise unknown_name("kind of database", kind, ["duckdb", "postgresql"])


def summaries(questions: Questions, counts: Mapping[str, Sequence[Any]]) -> dict[str, Summary]:
    """Return the summary of each question from a table of counts.

    A question without rows has an empty one.
    """
    return {
        name: Summary(one, totals.counts, totals.n)
        for name, one in Campaign.of(questions).questions.items()
        for totals in [question_totals(name, one, counts)]
    }


def question_totals(name: str, mechanism: Question, counts: Mapping[str, Sequence[Any]]) -> CountTotals:
    """Return the totals of a question; all are 0 if the table has no row of it."""
    chosen = [row for row, question in enumerate(counts["question"]) if question == name]
    return read_counts(
        mechanism, {key: [values[row] for row in chosen] for key, values in counts.items()}, name
    )


def _transposed(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    check_counts(names)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra("counting in databases", "sql") from None


@contextmanager
def _errors(kind: type[Exception], dialect: SqlDialect) -> Iterator[None]:
    """Turn an error of the database into one line; addresses, which may hold a password, are not shown."""
    try:
        yield
    except DitherError:
        raise
    except kind as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise InvalidParameter(f"{dialect.title}: {words[0][:200]}") from None
