"""Chapter 6 and appendix D of the dissertation: locations and paths, as published, coded and corrected."""

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
