"""Data frames: pandas, Polars, PyArrow and DuckDB, through the Arrow C stream protocol."""

from dither.frames.frame import estimate, perturb, perturb_parquet, summarise, summarise_parquet

__all__ = ["estimate", "perturb", "perturb_parquet", "summarise", "summarise_parquet"]
