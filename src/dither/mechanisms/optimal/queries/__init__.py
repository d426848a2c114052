"""The best channel for linear queries: solved by column generation, with a certified lower bound."""
