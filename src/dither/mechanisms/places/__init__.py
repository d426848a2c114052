"""The mechanisms for places and paths."""
