"""Data frames of pandas, Polars, PyArrow, DuckDB (by the Arrow C stream protocol) and Spark; and files."""

from dither.files.choices import Missing
from dither.files.collect import perturb_file, summarise_file
from dither.frames import spark
from dither.frames.api import estimate, perturb, reports, summarise
from dither.frames.batches import perturb_batch

__all__ = [
    "Missing",
    "estimate",
    "perturb",
    "perturb_batch",
    "perturb_file",
    "reports",
    "spark",
    "summarise",
    "summarise_file",
]
