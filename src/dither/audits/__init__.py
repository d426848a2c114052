"""Checks of privacy that do not trust what they check."""

from dither.audits.exact import Finding, audit

__all__ = ["Finding", "audit"]
