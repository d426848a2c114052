"""Noise on a lattice: integer weights, exact draws, distributions, planar noise."""
