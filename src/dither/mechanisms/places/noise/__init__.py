"""Noise in the plane: mechanisms whose promise depends on the distance of two places."""
