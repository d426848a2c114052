"""Audits: the privacy of a mechanism, recomputed from its integers, its probabilities and its draw code."""

from dither.audits.exact import audit
from dither.audits.finding import Finding

__all__ = ["Finding", "audit"]
