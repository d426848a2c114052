"""The command line, with one file for each verb. click and rich are imported in this package alone."""

from dither.cli.main import main

__all__ = ["main"]
