"""Mechanisms for locations and paths."""
