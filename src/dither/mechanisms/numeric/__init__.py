"""Mechanisms for one number, on an interval or a circle."""
