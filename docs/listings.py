"""The pages that list everything public: the names of the library and the verbs of the command line."""

from __future__ import annotations

import inspect
from functools import cached_property
from importlib import import_module
from types import ModuleType, UnionType

import click
import prose

import dither as dt
from dither import registry
from dither.cli.main import main
from dither.mechanisms.base import Mechanism

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
APART = ("results", "sklearn")  # public modules that are imported by their own names
EXIT_CODES = """
- **0**: done; what was checked holds.
- **1**: done, and what was checked does not hold (an audit found too large an ε, a reproduced number is off);
  or the run was interrupted.
- **2**: not done: wrong words, a wrong value in a file, nothing to estimate. Standard error says what, and no
  output file is touched.
"""


def names_of(module: ModuleType) -> list[str]:
    """Return what a public module offers."""
    return sorted(module.__all__)


def api() -> dict[str, str]:
    """Return the pages of the library's names: one for `dt` itself, one for each public module."""
    modules = [name for name in dt.__all__ if isinstance(getattr(dt, name), ModuleType)]
    public = {f"dt.{name}": getattr(dt, name) for name in modules}
    public |= {f"dither.{name}": import_module(f"dither.{name}") for name in APART}
    pages = {f"api/{path.split('.')[1]}": _module_page(path, module) for path, module in public.items()}
    listing = "\n".join(
        f"- [`{path}`](api/{path.split('.')[1]}.md): {prose.summary(module)}"
        for path, module in public.items()
    )
    toctree = "\n".join(pages)
    text = [
        "# API",
        "",
        "After this page you can look up every name of `import dither as dt`: parameters, types, examples.",
        "",
    ]
    text += [listing, "", f"```{{toctree}}\n:hidden:\n\n{toctree}\n```", ""]
    homes = _homes(modules)
    for room, title in CHAPTERS.items():
        text += [f"## {title}", ""]
        for name in sorted(homes.pop(room), key=str.lower):
            text += _entry(f"dt.{name}", getattr(dt, name), level=3)
    assert not homes, f"no chapter of the API page has {homes}"
    text += ["## What every mechanism can do", "", *_members(Mechanism, inherited=True), ""]
    return pages | {"api": "\n".join(text)}


def _homes(modules: list[str]) -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {}
    for name in dt.__all__:
        if name not in modules:
            homes.setdefault(registry.homes()[name].split(".")[1], []).append(name)
    return homes


def _module_page(path: str, module: ModuleType) -> str:
    text = [f"# {path}", "", prose.summary(module), "", prose.body(module), ""]
    for inner in names_of(module):
        text += _entry(f"{path}.{inner}", getattr(module, inner), level=2)
    return "\n".join(text)


def _entry(path: str, thing: object, level: int) -> list[str]:
    text = [f"{'#' * level} {path}", ""]
    if inspect.isclass(thing) or inspect.isroutine(thing):
        text += [f"```python\n{prose.declaration(path, thing)}\n```", ""]
    elif isinstance(thing, UnionType):
        return [*text, "Any of " + ", ".join(f"`{one.__name__}`" for one in thing.__args__) + ".", ""]
    elif not isinstance(thing, ModuleType):
        text += [f"```python\n{path} = {prose.shown(thing)!r}\n```", ""]
    text += [prose.summary(thing), "", prose.body(thing), ""]
    if inspect.isclass(thing):
        text += [*_members(thing, inherited=not issubclass(thing, Mechanism)), ""]
    elif isinstance(thing, ModuleType):
        for name in names_of(thing):
            text += _entry(f"{path}.{name}", getattr(thing, name), level + 1)
    return text


def _members(kind: type, *, inherited: bool) -> list[str]:
    """List the public methods and properties; those of all mechanisms are told once."""
    lines = []
    for name in sorted(dir(kind) if inherited else vars(kind)):
        found = inspect.getattr_static(kind, name, None)
        if name.startswith("_") or not _ours(kind, name):
            continue
        if isinstance(found, staticmethod | classmethod) or inspect.isfunction(found):
            called = prose.declaration(name, getattr(kind, name), width=1000)
            lines.append(f"- `{called}`: {_told(kind, name)}")
        elif isinstance(found, property | cached_property):
            lines.append(f"- `{name}`: {_told(kind, name)}")
    return lines


def _told(kind: type, name: str) -> str:
    """Return a member's first line; one that says nothing itself does what its base says."""
    said = (prose.summary(vars(base)[name]) for base in kind.__mro__ if name in vars(base))
    return next((line for line in said if line), "")


def _ours(kind: type, name: str) -> bool:
    owner = next((base for base in kind.__mro__ if name in vars(base)), None)
    return owner is not None and owner.__module__.startswith("dither")


def cli() -> str:
    """Return the page of the command line: every verb, every option, the exit codes."""
    text = [
        "# The command line: every verb",
        "",
        "After this page you can look up every verb and option. How to use them together: [At the terminal]",
    ]
    text[-1] += "(terminal.md). Everything below is what `--help` prints."
    text += ["", "## Exit codes", EXIT_CODES]
    for name, command in commands(main, "dither"):
        text += [f"## {name}", "", "```text", _help(command, name), "```", ""]
    return "\n".join(text)


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


def _help(command: click.Command, name: str) -> str:
    return command.get_help(click.Context(command, info_name=name, max_content_width=100))
