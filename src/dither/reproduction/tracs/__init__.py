"""Chapter 6 and appendix D of the dissertation: places and paths, as published, as coded, and right."""

from dither.reproduction.tracs import continuous, discrete, shapes, speed, trajectories

FIGURES = [*shapes.FIGURES, *continuous.FIGURES, *discrete.FIGURES, *trajectories.FIGURES, *speed.FIGURES]

__all__ = ["FIGURES"]
