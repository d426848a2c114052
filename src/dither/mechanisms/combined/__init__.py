"""Combinators of mechanisms: several attributes, permanent answers, post-processing."""
