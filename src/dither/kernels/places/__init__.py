"""Kernels on places: two numbers at once, noise in the plane, public points, cells of a grid."""
