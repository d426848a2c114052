"""Databases that run the queries: DuckDB and PostgreSQL, by an address such as duckdb://reports.db."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from dither.core.count_tables import NEEDED, CountTotals, read_counts
from dither.core.counts import Counts
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.data.formats.format import Questions
from dither.data.sql.delta import SCHEMES, active_files, is_object_store, is_table_folder
from dither.data.sql.dialects import DIALECTS, SqlDialect
from dither.data.sql.query import ReportTable, counting_query
from dither.data.sql.retention import fold_statements, stored_query
from dither.errors import DitherError, InvalidParameter, MissingExtra, unknown_name

ADDRESSES: Final = ("duckdb://", "postgresql://", "postgres://", *(f"{scheme}://" for scheme in SCHEMES))
Columns = dict[str, list[Any]]


class Engine(ABC):
    """An open database. As a context manager it closes itself."""

    dialect: ClassVar[SqlDialect]
    error: type[Exception]  # the error class of the database's module

    @abstractmethod
    def fetch(self, query: str) -> tuple[list[str], Sequence[Sequence[Any]]]:
        """Return the names of the columns of a query's result, and its rows."""

    def rows(self, query: str) -> Columns:
        """Return the columns of a table of counts."""
        names, rows = self.fetch(query)
        check_counts(names)
        return {name: [row[index] for row in rows] for index, name in enumerate(names)}

    @abstractmethod
    def transaction(self, statements: Sequence[str]) -> None:
        """Run statements, all of them or none."""

    @abstractmethod
    def close(self) -> None:
        """Close the database."""

    def counts(
        self,
        questions: Questions,
        table: ReportTable | None = None,
        *,
        folded: str | Sequence[str] | None = None,
        day: date | None = None,
        since: date | None = None,
    ) -> Columns:
        """Return the counts of a table of reports, and the counts of the table `folded` below them.

        With `folded`, the default table `reports` may be missing.
        """
        found: Columns = {}
        source = (table or ReportTable()).name
        if folded is None or source != ReportTable().name or self.has_table(source[-1]):
            found = self.rows(counting_query(questions, self.dialect, table, day=day, since=since))
        if folded is not None:
            columns = list(found) or ["day", "label", "question", *NEEDED]
            query = stored_query(self.dialect, folded, columns, day=day, since=since)
            for name, values in self.rows(query).items():
                found.setdefault(name, []).extend(values)
        return found

    def has_table(self, name: str) -> bool:
        """Return whether a table or view of this name can be read."""
        query = f"SELECT 1 AS one FROM information_schema.tables WHERE table_name = {self.dialect.text(name)}"
        return bool(self.fetch(query)[1])

    def fold(
        self,
        questions: Questions,
        day: date,
        folded: str | Sequence[str],
        table: ReportTable | None = None,
    ) -> None:
        """Move the reports of a day into the table of counts, and delete them: both or neither."""
        self.transaction(fold_statements(questions, self.dialect, table or ReportTable(), folded, day))

    @contextmanager
    def _short_errors(self) -> Iterator[None]:
        """Turn an error of the database into one line; an address may hold a password and is not shown."""
        try:
            yield
        except DitherError:
            raise
        except self.error as error:
            words = str(error).strip().splitlines() or [type(error).__name__]
            raise InvalidParameter(f"{self.dialect.title}: {words[0][:200]}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class DuckDB(Engine):
    """A DuckDB file, Parquet files or a folder of them, as a table."""

    dialect = DIALECTS["duckdb"]

    def __init__(self, place: str, table: Sequence[str] = ("reports",), *, write: bool = False) -> None:
        module = _load_module("duckdb")
        self.error = module.Error
        if Path(place).is_dir():
            place = f"{place}/**/*.parquet"
        files = place.endswith(".parquet")
        if not files and not write and not Path(place).is_file():
            raise InvalidParameter(f"cannot find the DuckDB file {place}; check its name")
        with self._short_errors():
            self._connection = module.connect(
                ":memory:" if files else place, read_only=not files and not write
            )
            if files:
                read = f"read_parquet({self.dialect.text(place)})"
                self._connection.execute(
                    f"CREATE VIEW {self.dialect.path(table[-1:])} AS SELECT * FROM {read}"
                )

    @classmethod
    def of_delta(cls, address: str, table: Sequence[str] = ("reports",)) -> Self:
        """Open the active files of a Delta table: the files in its log, ignoring others in the folder."""
        files, found = active_files(address)
        module, made = _load_module("duckdb"), cls.__new__(cls)
        made.error = module.Error
        with made._short_errors():
            made._connection = module.connect(":memory:")
            if found is not None:
                made._connection.register(table[-1], found)
            else:  # on this machine DuckDB reads files itself, four times as fast
                listed = ", ".join(map(cls.dialect.text, files))
                read = f"read_parquet([{listed}], hive_partitioning = true, hive_types = {{'day': DATE}})"
                view = f"CREATE VIEW {cls.dialect.path(table[-1:])} AS SELECT * FROM {read}"
                made._connection.execute(view)
        return made

    def fetch(self, query: str) -> tuple[list[str], Sequence[Sequence[Any]]]:
        with self._short_errors():
            cursor = self._connection.execute(query)
            return [column[0] for column in cursor.description], cursor.fetchall()

    def transaction(self, statements: Sequence[str]) -> None:
        with self._short_errors():
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


class PostgreSQL(Engine):
    """A PostgreSQL database, by the address that libpq takes."""

    dialect = DIALECTS["postgresql"]

    def __init__(self, address: str, *, write: bool = False) -> None:
        module = _load_module("psycopg")
        self.error = module.Error
        with self._short_errors():
            self._connection = module.connect(address)
            self._connection.read_only = not write

    def fetch(self, query: str) -> tuple[list[str], Sequence[Sequence[Any]]]:
        with self._short_errors(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(query)
            return [column.name for column in cursor.description], cursor.fetchall()

    def transaction(self, statements: Sequence[str]) -> None:
        with self._short_errors(), self._connection.transaction(), self._connection.cursor() as cursor:
            # Copies that arrive while the day is folded are not deleted uncounted: all see one snapshot.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for statement in statements:
                cursor.execute(statement)

    def close(self) -> None:
        self._connection.close()


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database, and not the name of a file."""
    return text.partition("://")[1] != "" and text.startswith(ADDRESSES)


def connect(address: str, table: ReportTable | None = None, *, write: bool = False) -> Engine:
    """Return the database of an address: duckdb://FILE, …PATTERN.parquet, …FOLDER, or postgresql://….

    s3://, gs://, az:// and file:// are addresses of Delta tables; a FOLDER may be one, too.

    Two slashes precede a path, so that duckdb:///data/reports.db is an absolute one.
    """
    kind, _, rest = address.partition("://")
    if is_object_store(address):
        return DuckDB.of_delta(address, (table or ReportTable()).name)
    if kind == "duckdb" and is_table_folder(Path(rest)):  # its folder also has files that were removed
        return DuckDB.of_delta(Path(rest).resolve().as_uri(), (table or ReportTable()).name)
    if kind == "duckdb" and rest:
        return DuckDB(rest, (table or ReportTable()).name, write=write)
    if kind in ("postgresql", "postgres"):
        return PostgreSQL(address, write=write)
    raise unknown_name("kind of database", kind, ["duckdb", "postgresql", *SCHEMES])


def summaries(questions: Questions, counts: Mapping[str, Sequence[Any]]) -> dict[str, Counts]:
    """Return the summary of each question from a table of counts.

    A question without rows has an empty one.
    """
    return {
        name: Counts(question, totals.counts, totals.n)
        for name, question in Questionnaire.of(questions).questions.items()
        for totals in [question_totals(name, question, counts)]
    }


def question_totals(name: str, question: Question, counts: Mapping[str, Sequence[Any]]) -> CountTotals:
    """Return the totals of a question; all are 0 if the table has no row of it."""
    chosen = [row for row, request in enumerate(counts["question"]) if request == name]
    return read_counts(
        question, {key: [values[row] for row in chosen] for key, values in counts.items()}, name
    )


def _load_module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra("counting in databases", "sql") from None


def check_counts(names: Sequence[str]) -> None:
    """Raise InvalidParameter unless a result has the columns of a table of counts."""
    if not set(NEEDED) <= set(names):
        raise InvalidParameter(
            f"expected the columns question, {', '.join(NEEDED)} in a table of counts; write the "
            "table "
            "with `dither sql`"
        )
