"""Counts that were made elsewhere, such as in a database."""
