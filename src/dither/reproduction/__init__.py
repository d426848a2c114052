"""Reproduction of every figure and table of the papers, one module a paper; other rooms do not use it."""

from dither.reproduction.figure import ExpectedNumber, Figure, Outcome, Setting
from dither.reproduction.run import figures, run
from dither.reproduction.version import CODED, PUBLISHED, RIGHT

__all__ = ["CODED", "PUBLISHED", "RIGHT", "ExpectedNumber", "Figure", "Outcome", "Setting", "figures", "run"]
