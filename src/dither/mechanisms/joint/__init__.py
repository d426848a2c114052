"""Joint randomized response: the coins of two people depend on each other."""
