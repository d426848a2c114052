"""Verbs for those who bring dither to devices."""
