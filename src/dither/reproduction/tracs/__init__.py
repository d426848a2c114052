"""Chapter 6 and appendix D of the dissertation: places and paths, as published, as coded, and right."""

from dither.reproduction.tracs import continuous, discrete, shapes, speed

FIGURES = [*shapes.FIGURES, *continuous.FIGURES, *discrete.FIGURES, *speed.FIGURES]

__all__ = ["FIGURES"]
