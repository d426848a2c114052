"""From reports to answers, each with its error."""

from dither.estimation.estimate import Estimate

__all__ = ["Estimate"]
