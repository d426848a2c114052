"""The account of one person: what was given, what may still be asked, durable in one file."""
