"""Checks of privacy that do not trust what they check."""

from dither.audits.exact import audit
from dither.audits.finding import Finding

__all__ = ["Finding", "audit"]
