"""Programs that work on the repository. They are not installed."""
