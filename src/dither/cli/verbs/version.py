"""`dither version`: the installed packages."""

from __future__ import annotations

import platform
from importlib.metadata import version

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import print_json


@click.command()
@JSON_OPTION
def command(as_json: bool) -> None:
    """Show the version of dither, Python and numpy."""
    found = {"dither": version("dither"), "python": platform.python_version(), "numpy": version("numpy")}
    if as_json:
        print_json(found)
    else:
        click.echo(f"dither {found['dither']}")
