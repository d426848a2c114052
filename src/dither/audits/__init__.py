"""Checks of privacy that do not trust what they check."""

from dither.audits.api import audit
from dither.audits.evidence import Evidence
from dither.audits.finding import Finding
from dither.audits.neighbours import Neighbours

__all__ = ["Evidence", "Finding", "Neighbours", "audit"]
