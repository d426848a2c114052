"""Kernels: exact samplers and their distributions, shared by the mechanisms of all papers."""
