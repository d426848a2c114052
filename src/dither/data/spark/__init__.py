"""Spark 4, classic and Connect: reports are drawn and written once, and counted where they are.

Needs the extra `spark`. Nothing of Spark is imported before a function is called.
"""

from dither.data.spark.frame import session
from dither.data.spark.reports import estimate, perturb, summarise, tally

__all__ = ["estimate", "perturb", "session", "summarise", "tally"]
