"""The OGPM paper (repeated in chapter 5 of the dissertation) and the pictures of chapters 1 to 3."""

from dither_papers.ogpm import circle, claims, framework, interval, motion

FIGURES = [
    *framework.FIGURES,
    *interval.FIGURES,
    *circle.FIGURES,
    *motion.FIGURES,
    *claims.FIGURES,
]

__all__ = ["FIGURES"]
