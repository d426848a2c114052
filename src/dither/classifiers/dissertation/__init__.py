"""The bounds of the dissertation's chapter 7, as published and repaired."""
