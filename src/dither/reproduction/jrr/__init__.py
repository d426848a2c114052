"""Paper 002, chapter 4: joint randomized response."""

from dither.reproduction.jrr.coins import FIGURES

__all__ = ["FIGURES"]
