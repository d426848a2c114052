"""`dither version`: what is installed."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Show the version of dither, Python and numpy."""
    found = {"dither": version("dither"), "python": platform.python_version(), "numpy": version("numpy")}
    click.echo(json.dumps(found) if as_json else f"dither {found['dither']}")
