"""The command line inside of a test's process."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from dither.cli import main


def run(*words: object, **more: Any) -> Result:
    """Type `dither` and these words; return what came out and how it ended."""
    return CliRunner().invoke(main, [str(word) for word in words], **more)
