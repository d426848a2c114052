"""The HTTP service of a collector: requests, pages, answers."""
