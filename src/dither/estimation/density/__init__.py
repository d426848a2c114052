"""Empirical Bayes: a smooth density with point masses, whose smoothness the reports choose."""
