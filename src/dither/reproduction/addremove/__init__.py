"""Paper 004: means in the add-remove model."""

from dither.reproduction.addremove import errors, shapes

FIGURES = [*shapes.FIGURES, *errors.FIGURES]

__all__ = ["FIGURES"]
