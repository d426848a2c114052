"""Counting in databases: the query that turns a table of reports into counts, and engines that run it."""

from dither.frames.sql.dialects import DIALECTS, SqlDialect
from dither.frames.sql.engines import DuckDB, Engine, PostgreSQL, opened, summaries
from dither.frames.sql.folding import fold_statements
from dither.frames.sql.query import counting_query
from dither.frames.sql.rows import report_rows
from dither.frames.sql.table import ReportTable

__all__ = [
    "DIALECTS",
    "DuckDB",
    "Engine",
    "PostgreSQL",
    "ReportTable",
    "SqlDialect",
    "counting_query",
    "fold_statements",
    "opened",
    "report_rows",
    "summaries",
]
