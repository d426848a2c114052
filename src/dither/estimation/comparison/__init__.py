"""Differences, ratios and weighted combinations of estimates, and tests of hypotheses."""
