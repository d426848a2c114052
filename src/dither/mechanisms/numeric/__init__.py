"""The mechanisms for one number: an interval or a circle."""
