"""Docstrings and signatures as Markdown."""

from __future__ import annotations

import ast
import inspect
import os
import re
import tempfile
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

from dither.core.reports import DecodedValues
from dither.errors import DitherError

SECTION = re.compile(
    r"^([A-Z]\w+)\n-{3,}\n"
)  # of a docstring in numpy's style, as scikit-learn's users expect it
FIELD = re.compile(r"^(Promise|Reports|Use when|Reference):\s+", re.MULTILINE)


def summary(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n", 1)[0]


def body(thing: object) -> str:
    """Return what follows the first line of a docstring, as Markdown."""
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    paragraphs[0] = paragraphs[0].partition("\n")[2]
    return "\n\n".join(_paragraph(text) for text in paragraphs if text.strip())


def without_examples(text: str) -> str:
    """Return Markdown without its Python sessions."""
    return re.sub(r"```pycon\n.*?```", "", text, flags=re.DOTALL).strip()


def session(lines: list[str]) -> list[str]:
    """Return lines of Python as a session, with the outputs of running them now in an empty folder."""
    names: dict[str, Any] = {}
    shown = ["```pycon"]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for line in lines:
                shown += [f">>> {line}", *_output(line, names, last=line == lines[-1])]
        finally:
            os.chdir(before)
    return [*shown, "```"]


def _output(line: str, names: dict[str, Any], *, last: bool) -> list[str]:
    """Run a line; an error is shown if it is the last one's: what cannot be done is worth knowing."""
    try:
        warnings.simplefilter("ignore", DecodedValues)  # an example may show single reports
        if not isinstance(ast.parse(line).body[0], ast.Expr):
            exec(line, names)
            return []
        value = eval(line, names)
    except DitherError as error:
        if not last:
            raise
        return [
            "Traceback (most recent call last):",
            f"{type(error).__module__}.{type(error).__name__}: {error}",
        ]
    return [] if value is None else repr(value).split("\n")


def _paragraph(text: str) -> str:
    if section := SECTION.match(text):
        return _section(section[1], text[section.end() :])
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{text.strip()}\n\n```"
    if FIELD.match(text):
        parts = FIELD.split(text)[1:]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return "\n".join(f"- **{name}:** {' '.join(said.split())}" for name, said in pairs)
    if text.startswith("    "):
        return f"```text\n{inspect.cleandoc(text)}\n```"
    return text


def _section(title: str, text: str) -> str:
    """Return a section of a docstring in numpy's style; parameters are in the table of the page."""
    if title == "Parameters":
        return ""
    if ">>>" in text:
        return _paragraph(text)
    items = re.sub(r"^(\S.*?) : ", r"- `\1`: ", text, flags=re.MULTILINE)
    return f"{title}:\n\n{items}"


def declaration(path: str, thing: object, *, width: int = 88) -> str:
    """Return how a class or function is called, with types and defaults; one parameter a line if long."""
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return "\n".join(f"{path}.{member.name}" for member in thing)
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return path
    parts, keyword = [], False
    for parameter in found.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if (
            parameter.kind is parameter.KEYWORD_ONLY
            and not keyword
            and not any("*" in part for part in parts)
        ):
            parts.append("*")
        keyword |= parameter.kind is parameter.KEYWORD_ONLY
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {shown(parameter.default)!r}"
        taken = (
            getattr(thing, "takes", ()) if parameter.name == "domain" else ()
        )  # the domains of a mechanism
        of = (
            f": {' | '.join(kind.__name__ for kind in taken)}" if taken else _annotation(parameter.annotation)
        )
        parts.append(f"{stars}{parameter.name}{of}{default}")
    returned = "" if inspect.isclass(thing) else _annotation(found.return_annotation, " -> ")
    short = f"{path}({', '.join(parts)}){returned}"
    if len(short) <= width:
        return short
    lines = "".join(f"    {part},\n" for part in parts)
    return f"{path}(\n{lines}){returned}"


def _annotation(given: object, before: str = ": ") -> str:
    if given is inspect.Signature.empty:
        return ""
    return f"{before}{given if isinstance(given, str) else getattr(given, '__name__', given)}"


def shown(value: object) -> object:
    """Return a value whose repr is what one would write."""
    if isinstance(value, Enum):
        return _Shown(f"{type(value).__name__}.{value.name}")
    if isinstance(value, type) or inspect.isfunction(value):
        return _Shown(value.__name__)
    if type(value).__name__ in ("_HAS_DEFAULT_FACTORY_CLASS", "object"):
        return _Shown("...")
    return value


class _Shown:
    """A default value that is shown by its name."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text
