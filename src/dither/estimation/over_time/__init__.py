"""Estimates for each day, from reports that carry their day."""
