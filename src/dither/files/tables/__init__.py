"""Formats of tables: CSV, JSON lines, Parquet, Arrow."""
