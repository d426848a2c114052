"""The command `dither`: verbs are imported when they are called, so that --help is quick."""

from __future__ import annotations

import errno
import importlib
import os
from typing import Final

import click

VERBS: Final = {
    "audit": "Recompute what a mechanism really spends.",
    "central": "Release a mean, sum or count of raw values, as a trusted curator.",
    "classify": "Say what a classifier keeps when a record is randomised.",
    "compare": "Put all mechanisms for a domain side by side.",
    "demo": "See the whole story on generated data.",
    "describe": "Say in words what a mechanism does.",
    "design": "Solve for the mechanism with the smallest error.",
    "estimate": "Say what a file of reports says.",
    "jrr": "Toss correlated coins between devices, and collect their reports.",
    "perturb": "Randomise columns of a file.",
    "recommend": "Say which mechanism, how good it will be, how many people it takes.",
    "reproduce": "Compute the figures and tables of the papers.",
    "trajectory": "Randomise trips, draw maps of them, compare mechanisms on an area.",
    "version": "Show the version.",
}


class _Verbs(click.Group):
    """A group whose commands live in modules of their own name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"dither.cli.verbs.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Turn errors into one line on standard error: exit code 2 for what was asked, 1 for the system's."""
        from dither.errors import DitherError

        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            return super().invoke(ctx)
        except DitherError as error:
            raise click.UsageError(str(error)) from None
        except OSError as error:  # a full disk, a folder that is not there: scripts see exit code 1
            if error.errno == errno.EPIPE:
                raise
            place = f"{error.filename}: " if isinstance(error.filename, str) else ""
            raise click.ClickException(f"{place}{error.strerror or error}") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Local differential privacy, exact to the last bit.

    \b
    dither demo
    dither describe podium --interval 18 100 --epsilon 1
    dither audit podium --interval 18 100 --epsilon 1
    """
