"""Mechanisms made of mechanisms: several attributes, permanent answers, answers read another way."""
