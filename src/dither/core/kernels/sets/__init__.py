"""Kernels whose reports support sets of categories: bits, subsets, Hadamard columns, hash functions."""
