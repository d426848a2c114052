"""The command `dither`: a verb is imported when it is called, so that --help is quick."""

from __future__ import annotations

import codecs
import errno
import importlib
import io
import os
import re
import sys
from typing import Any, Final

import click

from dither.cli.output import STYLE_MARK

# The verbs in the groups of --help, in the order in which they are needed.
GROUPS: Final = {
    "Randomise": {
        "perturb": "Randomise columns of a file.",
        "estimate": "Estimate from a file of reports.",
        "check": "Count which cells of a file fit their questions.",
        "demo": "Perturb and estimate generated data, with pictures.",
    },
    "Plan": {
        "recommend": "Recommend a mechanism, a budget or a number of people.",
        "compare": "Compare all mechanisms for a domain.",
        "describe": "Describe a mechanism in words.",
        "audit": "Check the ε of a mechanism, a Python function or a command.",
    },
    "Collect": {
        "init": "Write the files that a collection begins with.",
        "campaign": "Check, publish or retire a campaign, a contract with the people who answer.",
        "serve": "Collect reports for a campaign.",
        "collector": "Back up, restore, migrate or export what a collector stored.",
        "account": "Show, check or export what a person has given.",
        "sql": "Write the query that counts reports in a database.",
        "dap": "Print the parameters for an aggregation by DAP, and its promise.",
        "conformance": "Drive another implementation with the conformance vectors.",
    },
    "Explain": {
        "explain": "Explain a campaign in plain words, for people who answer and the officer.",
        "card": "Write a machine-readable card of a deployment.",
        "version": "Show the version.",
    },
    "Research": {
        "central": "Release a mean, sum or count of raw values, as a trusted curator.",
        "classify": "Bound the probability that a classifier's answer stays on a randomised record.",
        "design": "Solve for the mechanism with the smallest error.",
        "jrr": "Run joint randomized response between devices, and collect their reports.",
        "reproduce": "Compute the figures and tables of the papers.",
        "trajectory": "Randomise trips, draw maps of them, compare mechanisms on an area.",
    },
}
VERBS: Final = {verb: meaning for group in GROUPS.values() for verb, meaning in group.items()}

# Replacements of characters that dither prints and an encoding lacks.
_PLAIN: Final = {"ε": "eps", "δ": "delta", "≤": "<=", "≥": ">=", "±": "+-", "×": "x", "−": "-", "–": "-"}


def _in_plain_letters(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the replacement of a character that cannot be encoded, and the next position."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter, after = error.object[error.start], error.start + 1
    if "\udc80" <= letter <= "\udcff":  # a byte of a file name that is not text
        return bytes([ord(letter) - 0xDC00]), after
    return _PLAIN.get(letter, "?"), after


codecs.register_error("dither", _in_plain_letters)


def _never_fail(stream: object) -> None:
    """Make a stream accept any text: UTF-8 in pipes and files, replacements on a terminal without them.

    On Windows the encoding of a pipe lacks ε. PYTHONIOENCODING overrides it.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return
    if not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
        stream.reconfigure(encoding="utf-8")
    stream.reconfigure(errors="dither")
    if stream.isatty():
        write = stream.write
        stream.write = lambda text: write(without_controls(text))  # type: ignore[method-assign]


# Control characters that dither prints itself: tabs, ends of lines, styles, and returns to the start of a
# line around a progress bar.
_OWN: Final = re.compile(rf"\x1b\[{STYLE_MARK};([0-9;]+m)|[\t\n]|\A\r|\r\Z")


def without_controls(text: str) -> str:
    """Return a text without characters that move the cursor, clear the screen or turn letters around.

    Labels and names come from other people's files and campaigns and could contain control characters.

    >>> without_controls("a\x1b[2Jb")
    'a�[2Jb'
    """
    if text.isprintable():
        return text
    from dither.foundation.markup import printable

    parts, end = list[str](), 0
    for own in _OWN.finditer(text):
        parts += [printable(text[end : own.start()]), f"\x1b[{own[1]}" if own[1] else own[0]]
        end = own.end()
    return "".join([*parts, printable(text[end:])])


def _in_options(text: str) -> str:
    from dither.cli.in_options import in_options  # only an error needs it

    return in_options(text)


_DOMAINS: Final = ("--interval", "--circle", "--date", "--time", "--categories", "--several")


def _with_near_options(error: click.NoSuchOption) -> click.NoSuchOption:
    """Return the error of an unknown option with suggestions that are close to it, or the options of domains.

    click also suggests options that share only a few letters, such as --force for --ordered.
    """
    from difflib import get_close_matches  # needed for an error only

    given = error.option_name.lstrip("-")
    params = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    known = [name[2:] for param in params for name in param.opts if name.startswith("--")]
    begun = [name for name in known if name.startswith(given)]
    near = [f"--{name}" for name in begun or get_close_matches(given, known, 2, 0.6)]
    message = None
    if not near and "interval" in known:
        there = [option for option in _DOMAINS if option[2:] in known]
        message = (
            f"No such option '{error.option_name}'; the options for a domain are {', '.join(there[:-1])} "
            f"and {there[-1]}"
        )
    return click.NoSuchOption(error.option_name, message, near, error.ctx)


class _SystemProblem(click.ClickException):
    """An error of the system, such as a full disk."""

    exit_code = 2


class _Verbs(click.Group):
    """A group whose commands are in modules of the same name."""

    def main(self, *words: Any, **more: Any) -> Any:
        """Run a command; characters that the terminal lacks do not stop it."""
        _never_fail(sys.stdout)
        _never_fail(sys.stderr)
        return super().main(*words, **more)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"dither.cli.verbs.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first argument. The error for an unknown one names the nearest."""
        from dither.errors import unknown_name

        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(str(unknown_name("command", args[0], sorted(VERBS))))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Print an error as one line, with exit code 2; 1 is the answer "does not hold" of a verb.

        An unexpected error is printed with its traceback; its exit code is also 2.
        """
        from dither.errors import DitherError

        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            return super().invoke(ctx)
        except DitherError as error:
            raise click.UsageError(_in_options(str(error))) from None
        except OSError as error:  # such as a full disk
            if error.errno == errno.EPIPE:
                raise
            prefix = f"{error.filename}: " if isinstance(error.filename, str) else ""
            words = f"{prefix}{error.strerror or error}"
            if error.errno == errno.ENOENT:  # a given file does not exist: a wrong call
                raise click.UsageError(words) from None
            raise _SystemProblem(words) from None
        except click.NoSuchOption as error:
            raise _with_near_options(error) from None
        except click.UsageError as error:
            if type(error) is not click.UsageError:  # click's own, about an option or an argument
                raise
            raise click.UsageError(_in_options(error.message), error.ctx) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception:
            import traceback

            click.echo(traceback.format_exc().rstrip("\n"), err=True)
            return ctx.exit(2)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs in their groups, in one column."""
        width = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(verb.ljust(width), meaning) for verb, meaning in verbs.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dither", prog_name="dither", message="%(prog)s %(version)s")
def main() -> None:
    """Local differential privacy: randomise values on the device, and estimate from the reports.

    \b
    dither perturb people.csv --column age --interval 18 100 --epsilon 1 -o reports.csv
    dither estimate reports.csv
    dither demo
    """
