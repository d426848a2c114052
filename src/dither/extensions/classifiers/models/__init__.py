"""Classifiers whose parameters can be read: linear models, trees, forests and ReLU networks."""
