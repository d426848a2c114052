"""Mechanisms for places and paths."""
