"""Chapter 6 and appendix D of the dissertation: places and paths, as published, as coded, and right."""

from dither_papers.tracs import complete, continuous, discrete, rivals, shapes, trajectories

FIGURES = [
    *shapes.FIGURES,
    *continuous.FIGURES,
    *discrete.FIGURES,
    *trajectories.FIGURES,
    *rivals.FIGURES,
    *complete.FIGURES,
]

__all__ = ["FIGURES"]
