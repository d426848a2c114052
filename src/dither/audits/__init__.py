"""Audits: the privacy of a mechanism, recomputed from its integers, its probabilities and its draw code."""

from dither.audits.api import audit
from dither.audits.finding import Evidence, Finding
from dither.audits.neighbours import Neighbours

__all__ = ["Evidence", "Finding", "Neighbours", "audit"]
