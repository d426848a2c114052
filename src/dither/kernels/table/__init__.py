"""Integer tables drawn exactly: alias tables, channels, weighted choices."""
