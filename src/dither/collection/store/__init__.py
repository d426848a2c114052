"""Stores of acknowledged batches: a SQLite file, or a PostgreSQL database."""
