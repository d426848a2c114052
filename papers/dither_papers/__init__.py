"""The papers' figures and tables, reproduced: one module or folder a paper; `dither reproduce` runs it."""

from dither_papers.drawing import CODED, PUBLISHED, RIGHT
from dither_papers.figure import ExpectedNumber, Figure, Outcome, Setting
from dither_papers.reproduce import PAPERS, figures, run

__all__ = [
    "CODED",
    "PAPERS",
    "PUBLISHED",
    "RIGHT",
    "ExpectedNumber",
    "Figure",
    "Outcome",
    "Setting",
    "figures",
    "run",
]
