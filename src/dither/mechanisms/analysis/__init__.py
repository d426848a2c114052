"""The distribution of a report: density, moments, errors, quantiles."""
