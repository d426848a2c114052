"""Data frames of pandas, Polars, PyArrow and DuckDB, by the Arrow C stream protocol; and tables in files."""

from dither.files.choices import Missing
from dither.files.collect import perturb_file, summarise_file
from dither.frames.api import estimate, perturb, reports, summarise

__all__ = ["Missing", "estimate", "perturb", "perturb_file", "reports", "summarise", "summarise_file"]
