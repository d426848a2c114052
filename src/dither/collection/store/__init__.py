"""Where acknowledged batches are: a SQLite file, or a PostgreSQL database."""
