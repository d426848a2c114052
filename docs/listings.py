"""The pages that list everything public: the names of the library and the verbs of the command line."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import click
import name_page
import prose

import dither as dt
from dither.cli.main import main
from dither.core import registry
from dither.mechanisms.mechanism import Mechanism

# What belongs to no list of its own: where names live is not how people look for them.
CHAPTERS = {
    "domains": "What may be asked",
    "mechanisms": "Mechanisms",
    "optimal": "Mechanisms that are solved for",
    "advice": "Comparing, recommending, explaining",
    "question": "Questions",
    "repetition": "Asked again: one answer, one day, one change",
    "reports": "Reports",
    "estimation": "Estimates",
    "audits": "Audits",
    "account": "The account of a person",
    "wire": "Reports and questions as bytes and as JSON",
    "randomness": "Randomness",
}
EXIT_CODES = """
- **0**: done; what was checked holds.
- **1**: done, and what was checked does not hold (an audit found too large an ε, a reproduced number is off);
  or the run was interrupted.
- **2**: not done: wrong words, a wrong value in a file, nothing to estimate. Standard error says what, and no
  output file is touched.
"""


def api() -> str:
    """Return the page that leads to the page of every public name, by what people look for."""
    public = name_page.public()
    modules = [name for name, thing in public.items() if isinstance(thing, ModuleType)]
    text = [
        "# API",
        "",
        "Every name of `import dither as dt`. Each has a page with its "
        "signature, its parameters and an example. Not Python: [the JavaScript client](api/javascript.md), "
        "[the collector's endpoints](api/collector.md), [the command line](cli.md).",
        "",
    ]
    homes = _homes(modules)
    for room, title in CHAPTERS.items():
        if room in homes:
            text += [f"## {title}", "", *(_line(name) for name in sorted(homes.pop(room), key=str.lower)), ""]
    text += (
        ["## Other names", "", *(_line(name) for room in homes.values() for name in room), ""]
        if homes
        else []
    )
    text += ["## Modules", "", *(_line(name) for name in sorted(modules)), ""]
    members = name_page.members(Mechanism, everything=True)[1:]
    return "\n".join([*text, "## What every mechanism can do", *members])


def _line(name: str) -> str:
    said = prose.summary(name_page.public()[name]) or "A value."
    return f"- [`{name_page.called(name)}`]({name_page.document(name)}.md): {said}"


def _homes(modules: list[str]) -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {}
    for name in dt.__all__:
        if name not in modules:
            homes.setdefault(registry.homes()[name].split(".")[1], []).append(name)
    return homes


def cli() -> str:
    """Return the page of the command line: every verb, every option, the exit codes."""
    text = [
        "# The command line: every verb",
        "",
        "Every verb and option. How to use them together: [At the terminal]",
    ]
    text[-1] += "(terminal.md). `--help` prints the same."
    text += ["", "## Exit codes", EXIT_CODES]
    for name, command in commands(main, "dither"):
        text += [f"## {name}", "", *_verb(command, name)]
    return "\n".join(text)


def _verb(command: click.Command, name: str) -> list[str]:
    """Return how a verb is called, what it does with examples, and a table of its options."""
    context = click.Context(command, info_name=name, max_content_width=100)
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    text = [f"```text\n{usage}\n```", ""]
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        kept, lines = part.startswith("\b"), part.removeprefix("\b").strip("\n")
        text += [f"```text\n{inspect.cleandoc(lines)}\n```" if kept else _escaped(lines), ""]
    rows = [
        found for parameter in command.params if (found := parameter.get_help_record(context)) and found[1]
    ]
    if isinstance(command, click.Group):
        rows += [
            (child, command.get_command(context, child).get_short_help_str(200))
            for child in command.list_commands(context)
        ]  # type: ignore[union-attr]
    if rows:
        text += [
            "| word | does |",
            "|---|---|",
            *(f"| `{_cell(word)}` | {_cell(_escaped(said))} |" for word, said in rows),
            "",
        ]
    return text


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>`\[\]$])", r"\\\1", text)


def commands(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    """Return a command and all commands below it, with the words that call them."""
    found = [(name, command)]
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            assert inner is not None
            found += commands(inner, f"{name} {child}")
    return found
