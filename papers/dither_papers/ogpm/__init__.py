"""The OGPM paper, which chapter 5 of the dissertation repeats, and the pictures of chapters 1 to 3."""

from dither_papers.ogpm import circle, claims, framework, interval, motion

FIGURES = [
    *framework.FIGURES,
    *interval.FIGURES,
    *circle.FIGURES,
    *motion.FIGURES,
    *claims.FIGURES,
]

__all__ = ["FIGURES"]
