"""Mechanisms: one short file for each paper, with its formulas and theorems. Samplers are in `kernels`."""
