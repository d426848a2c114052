"""Counting in databases: the query that turns a table of reports into counts, and engines that run it."""

from dither.data.sql.dialects import DIALECTS, SqlDialect
from dither.data.sql.engines import DuckDB, Engine, PostgreSQL, connect, summaries
from dither.data.sql.estimates import EstimateQuery, estimate_query
from dither.data.sql.query import TOMBSTONE, ReportTable, counting_query, report_rows
from dither.data.sql.retention import fold_statements

__all__ = [
    "DIALECTS",
    "TOMBSTONE",
    "DuckDB",
    "Engine",
    "EstimateQuery",
    "PostgreSQL",
    "ReportTable",
    "SqlDialect",
    "connect",
    "counting_query",
    "estimate_query",
    "fold_statements",
    "report_rows",
    "summaries",
]
