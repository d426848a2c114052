"""Audits of randomisers of which nothing is known: events are searched on some samples, tested on others."""
