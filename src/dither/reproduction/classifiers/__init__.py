"""Paper 002, chapter 7: what classifiers keep when their inputs are randomised, stated and true."""

from dither.reproduction.classifiers import boundaries, overall, people

FIGURES = [*boundaries.FIGURES, *people.FIGURES, *overall.FIGURES]

__all__ = ["FIGURES"]
