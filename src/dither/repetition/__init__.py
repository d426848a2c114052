"""Answers over time: what a person is promised whose value is asked for again and again."""
