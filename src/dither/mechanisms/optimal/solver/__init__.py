"""How designs are found and certified. Solving needs scipy; reading a shipped design does not."""
