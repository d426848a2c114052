"""File formats of tables, one module each."""
