"""Mechanisms for categories, from whose reports frequencies are estimated."""
