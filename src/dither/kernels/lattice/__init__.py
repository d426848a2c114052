"""Noise on a lattice: integer weights, exact draws, densities, planar noise."""
