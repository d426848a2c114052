"""The bounds of the dissertation's chapter 7 and appendix E.2.7, as published and repaired."""
