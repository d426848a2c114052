"""Kernels for places: pairs of numbers, noise in the plane, public points, cells of a grid."""
