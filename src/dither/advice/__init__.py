"""Comparisons of mechanisms, and recommendations: which mechanism, which ε, how many people."""
