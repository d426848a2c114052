"""The command line: one file a verb. click and rich are imported here and nowhere else."""

from dither.cli.main import main

__all__ = ["main"]
