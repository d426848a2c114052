"""Comparisons of mechanisms, and recommendations: which mechanism, which ε, how many people."""

from dither.advice import goals
from dither.advice.compare import compare
from dither.advice.recommend import epsilon_for, people_for, recommend

__all__ = ["compare", "epsilon_for", "goals", "people_for", "recommend"]
