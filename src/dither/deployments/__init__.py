"""A campaign in words and as a card: for the people who are asked, and for the officer who answers for it."""

from dither.deployments.card import card
from dither.deployments.explain import Explanation, explain

__all__ = ["Explanation", "card", "explain"]
