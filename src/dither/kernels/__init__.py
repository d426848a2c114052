"""Engines: exact draws and the formulas that describe them. No paper is named here."""
