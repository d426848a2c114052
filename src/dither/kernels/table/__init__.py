"""Exact draws from tables of integer weights: alias tables, channels, weighted choices."""
