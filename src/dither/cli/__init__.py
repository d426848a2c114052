"""The command line, with one file for each verb. click is imported only in this package."""

import os

# Before numpy is imported. The matrices here are small, and threads of OpenBLAS wait for each other: on a
# machine with other work an estimate of a distribution took ten times the processor time with two threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dither.cli.main import main

__all__ = ["main"]
