"""From reports to answers, each with its error."""

from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary, summarise

__all__ = ["Estimate", "Summary", "summarise"]
