"""Reproduction: every figure and table of the papers, one module a paper. Nothing here is used elsewhere."""

from dither.experiments.figure import CODED, PUBLISHED, RIGHT, Expected, Figure, Outcome, Setting
from dither.experiments.run import figures, run

__all__ = ["CODED", "PUBLISHED", "RIGHT", "Expected", "Figure", "Outcome", "Setting", "figures", "run"]
