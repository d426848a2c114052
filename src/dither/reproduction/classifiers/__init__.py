"""Paper 002, chapter 7: the utility of classifiers on randomised records, as claimed and computed."""

from dither.reproduction.classifiers import boundaries, overall, people

FIGURES = [*boundaries.FIGURES, *people.FIGURES, *overall.FIGURES]

__all__ = ["FIGURES"]
