"""Mechanisms for categories: how many people gave which answer."""
