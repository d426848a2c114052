"""Reports that are sets of categories: bits, subsets, Hadamard columns, hash functions."""
