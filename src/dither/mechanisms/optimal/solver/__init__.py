"""Solving and certifying designs. Solving needs scipy; a shipped design can be read without it."""
