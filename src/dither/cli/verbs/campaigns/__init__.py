"""Verbs about a campaign: before, while and after people are asked."""
