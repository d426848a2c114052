"""The window kernel: integer weights, exact draws, start rules, codebooks, distributions."""
