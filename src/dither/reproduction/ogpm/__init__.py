"""Paper 001, which chapter 5 of the dissertation repeats: optimal piecewise mechanisms."""

from dither.reproduction.ogpm import circle, claims, framework, interval, motion

FIGURES = [
    *framework.FIGURES,
    *interval.FIGURES,
    *circle.FIGURES,
    *motion.FIGURES,
    *claims.FIGURES,
]

__all__ = ["FIGURES"]
