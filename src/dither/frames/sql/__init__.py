"""Counting in databases: the query that turns a table of reports into counts, and engines that run it."""

from dither.frames.sql.dialects import DIALECTS, SqlDialect
from dither.frames.sql.query import counting_query
from dither.frames.sql.table import ReportTable

__all__ = ["DIALECTS", "ReportTable", "SqlDialect", "counting_query"]
