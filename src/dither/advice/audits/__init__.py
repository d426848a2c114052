"""Audits: the privacy of a mechanism, recomputed from its integers, its probabilities and its draw code."""

from dither.advice.audits.neighbours import Neighbours

__all__ = ["Neighbours"]
