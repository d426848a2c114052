"""Spark 4, classic and Connect: reports are drawn and written once, and counted where they are.

Needs the extra `spark`. Nothing of Spark is imported before a function is called.
"""

from dither.frames.spark.counting import estimate, summarise, tally
from dither.frames.spark.starting import session
from dither.frames.spark.writing import perturb

__all__ = ["estimate", "perturb", "session", "summarise", "tally"]
