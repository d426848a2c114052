"""Chapter 7 of the dissertation: the utility of classifiers on randomised records, claimed and computed."""

from dither_papers.classifiers import boundaries, people

FIGURES = [*boundaries.FIGURES, *people.FIGURES]

__all__ = ["FIGURES"]
