"""Mechanisms for tables of several attributes."""
