"""The page of one public name: signature, parameters, methods, an example, and the guides that use it."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

import outcome_words
import prose
import site_parts
import words

import dither as dt
from dither.core import registry
from dither.mechanisms.mechanism import Mechanism

DOCS = Path(__file__).parent
APART = ("results", "sklearn")  # public modules that are imported by their own names
# Modules whose names need other processes, files or machines: the guide that shows them at work.
GUIDES = {
    "protocols": "protocols",
    "central": "spark",
    "data": "spark",
    "classifiers": "classifiers",
    "errors": "devices",
    "jrr": "jrr",
}


def called(path: str) -> str:
    """Return how a path is written in code: dt.mean, dither.results.Estimate."""
    return f"{'dither' if path.partition('.')[0] in APART else 'dt'}.{path}"


@cache
def examples() -> dict[str, list[str]]:
    """Return the lines of examples.txt by the name that they show."""
    parts = re.split(
        r"^\[([\w.]+)\]\n", (DOCS / "examples.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return {name: text.strip().split("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def public() -> dict[str, Any]:
    """Return every public thing by the shortest path that leads to it, without `dt.`."""
    found: dict[str, Any] = {name: getattr(dt, name) for name in (*dt.__all__, "errors", "jrr")}
    found |= {name: import_module(f"dither.{name}") for name in APART}
    known = {id(thing) for thing in found.values()}
    modules = [name for name, thing in found.items() if isinstance(thing, ModuleType)]
    for name in modules:  # grows by the modules in modules
        for inner in found[name].__all__:
            thing = getattr(found[name], inner)
            if id(thing) not in known or isinstance(thing, int | float | str):
                known.add(id(thing))
                found[f"{name}.{inner}"] = thing
                if isinstance(thing, ModuleType):
                    modules.append(f"{name}.{inner}")
    return found


@cache
def aliases() -> dict[str, str]:
    """Return the path that has the page for every path that leads to a public thing."""
    homes = {id(thing): path for path, thing in public().items()}
    found = {path: path for path in public()}
    for name, thing in public().items():
        if isinstance(thing, ModuleType):
            for inner in thing.__all__:
                found[f"{name}.{inner}"] = found.get(
                    f"{name}.{inner}", homes.get(id(getattr(thing, inner)), name)
                )
    return found


@cache
def document(path: str) -> str:
    """Return the page of a public path.

    Pages whose names differ in case alone would be one file on some systems.
    """
    leaf = path.rpartition(".")[2]
    if leaf in registry.names() and inspect.isclass(public()[path]):
        return f"mechanisms/{leaf}"
    twin = any(other != path and other.lower() == path.lower() for other in public())
    return f"api/{path}{'-class' if twin and inspect.isclass(public()[path]) else ''}"


def page_of(mentioned: str) -> str | None:
    """Return the page of what a text such as `dt.goals.Mean(n=5)` mentions, or None."""
    match = re.match(r"(?:dt|dither)\.((?:[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)", mentioned)
    words_of = match[1].split(".") if match else []
    for length in range(len(words_of), 0, -1):
        if path := aliases().get(".".join(words_of[:length])):
            return document(path)
    return None


def pages() -> dict[str, str]:
    """Return the page of every public name but the mechanisms, whose pages are in the catalogue."""
    return {
        document(path): page(path, thing)
        for path, thing in public().items()
        if document(path).startswith("api/")
    }


def page(path: str, thing: Any) -> str:
    """Return the page of a public name."""
    text = [f"# {called(path)}", "", f"[API](../api.md) › {_trail(path)}", "", prose.summary(thing), ""]
    if isinstance(thing, UnionType):
        text = [
            *text[:4],
            "Any of " + ", ".join(f"`{choice.__name__}`" for choice in thing.__args__) + ".",
            "",
        ]
    text += [prose.without_examples(prose.body(thing)), ""]
    text += signature(path, thing)
    if isinstance(thing, ModuleType):
        text += ["## Names", "", *listing(path, thing), ""]
    else:
        text += parameters(path, thing)
        text += outcome(path)
        text += members(thing)
    if not isinstance(thing, ModuleType) or ">>>" in (inspect.getdoc(thing) or ""):
        text += ["## Example", "", *example(path, thing), ""]
    return "\n".join([*text, *see_also(path, thing)])


def _trail(path: str) -> str:
    module, _, leaf = path.rpartition(".")
    return f"[{called(module)}]({module}.md) › {leaf}" if module else path


def listing(path: str, module: ModuleType) -> list[str]:
    """Return the names of a public module, each with its first line and a link to its page."""
    lines = []
    for inner in sorted(module.__all__, key=str.lower):
        home = aliases().get(f"{path}.{inner}")
        said = prose.summary(getattr(module, inner)) or "A value."
        name = called(f"{path}.{inner}")
        link = f"[`{name}`](../{document(home)}.md)" if home else f"`{name}`"
        lines.append(f"- {link}: {said}")
    return lines


def signature(path: str, thing: Any) -> list[str]:
    """Return the section that shows how a name is called, or what its value is."""
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return ["## Signature", "", f"```python\n{prose.declaration(called(path), thing)}\n```", ""]
    if isinstance(thing, ModuleType | UnionType):
        return []
    return ["## Value", "", f"```python\n{called(path)} = {prose.shown(thing)!r}\n```", ""]


def parameters(path: str, thing: Any) -> list[str]:
    """Return the section of parameters: type, default and meaning of each."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)) or (
        inspect.isclass(thing) and issubclass(thing, Enum)
    ):
        return []
    try:
        found = [
            parameter
            for parameter in inspect.signature(thing).parameters.values()
            if parameter.name not in ("self", "cls") and parameter.name[0] != "_"
        ]
    except (TypeError, ValueError):
        return []
    if not found or all(parameter.name in ("args", "kwargs") for parameter in found):
        return []
    rows = ["| parameter | type | default | is |", "|---|---|---|---|"]
    for parameter in found:
        default = (
            "" if parameter.default is parameter.empty else f"`{_short(prose.shown(parameter.default))}`"
        )
        meaning = words.meaning(path, parameter.name)
        rows.append(f"| `{parameter.name}` | {_type(thing, parameter)} | {default} | {meaning} |")
    return ["## Parameters", "", *rows, ""]


def outcome(path: str) -> list[str]:
    """Return the sections with the result of a function and its errors; empty for other names."""
    if path not in outcome_words.OUTCOMES:
        return []
    returned, errors = outcome_words.OUTCOMES[path]
    return [
        "## Returns",
        "",
        f"{returned[0].upper()}{returned[1:]}.",
        "",
        "## Raises",
        "",
        *_list(errors),
        "",
    ]


def _list(lines: tuple[str, ...]) -> list[str]:
    return [f"- {line}." for line in lines]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:30].rpartition(',')[0]}, …"


def _type(thing: Any, parameter: inspect.Parameter) -> str:
    taken = getattr(thing, "takes", ()) if parameter.name == "domain" else ()
    if isinstance(taken, tuple) and taken:
        return " or ".join(f"`{kind.__name__}`" for kind in taken)
    if parameter.annotation is parameter.empty:
        return ""
    given = (
        parameter.annotation
        if isinstance(parameter.annotation, str)
        else getattr(parameter.annotation, "__name__", "")
    )
    return f"`{given}`".replace("|", "\\|") if given else ""


def members(thing: Any, *, everything: bool = False) -> list[str]:
    """Return the section of public methods and properties; those of all mechanisms are on one page."""
    if not inspect.isclass(thing):
        return []
    lines = []
    inherited = everything or not issubclass(thing, Mechanism)
    for name in sorted(dir(thing) if inherited else vars(thing)):
        found = inspect.getattr_static(thing, name, None)
        if name.startswith("_") or not _ours(thing, name):
            continue
        if isinstance(found, staticmethod | classmethod) or inspect.isfunction(found):
            lines.append(
                f"- `{prose.declaration(name, getattr(thing, name), width=1000)}`: {_told(thing, name)}"
            )
        elif isinstance(found, property | cached_property):
            lines.append(f"- `{name}`: {_told(thing, name)}")
    return ["## Methods and properties", "", *lines, ""] if lines else []


def _told(kind: type, name: str) -> str:
    """Return a member's first line; one that says nothing itself does what its base says."""
    said = (prose.summary(vars(base)[name]) for base in kind.__mro__ if name in vars(base))
    return next((line for line in said if line), "")


def _ours(kind: type, name: str) -> bool:
    owner = next((base for base in kind.__mro__ if name in vars(base)), None)
    return owner is not None and owner.__module__.startswith("dither")


def example(path: str, thing: Any) -> list[str]:
    """Return an example: the docstring's, one run now, a guide's, or that of the function that returns it."""
    own = re.findall(r"```pycon\n.*?```", prose.body(thing), flags=re.DOTALL)
    if own:
        return ["\n\n".join(own)]
    if lines := examples().get(path):
        return prose.session(["import dither as dt", *_imports(lines), *lines])
    for page_name, title, block in _guides():
        if re.search(rf"\b{re.escape(called(path))}\b", block):
            return [f"From [{title}](../{page_name}.md), which says what stands before:", "", block]
    if (inspect.isclass(thing) and issubclass(thing, Enum)) or not callable(thing):
        line = f"list({called(path)})" if inspect.isclass(thing) else called(path)
        return prose.session(["import dither as dt", *_imports([line]), line])
    maker = _maker(thing)
    if maker:
        return [
            f"It is what [`{called(maker)}`](../{document(maker)}.md) returns:",
            "",
            *example(maker, public()[maker]),
        ]
    if path.startswith("results."):
        return prose.session([f"from dither.results import {thing.__name__}  # for annotations"])
    guide = GUIDES.get(path.partition(".")[0])
    if guide is None:
        raise LookupError(f"{called(path)} has no example: write one in its docstring")
    return [f"[{_title(guide)}](../{guide}.md) shows it at work."]


def _imports(lines: list[str]) -> list[str]:
    apart = [f"import dither.{name}" for name in APART if any(f"dither.{name}." in line for line in lines)]
    return apart + (["import numpy as np"] if any("np." in line for line in lines) else [])


def _maker(thing: Any) -> str | None:
    """Return the public function whose result a class is."""
    name = getattr(thing, "__name__", "")
    for path, other in public().items():
        if inspect.isfunction(other) and name:
            returned = inspect.signature(other).return_annotation
            if isinstance(returned, str) and re.search(rf"\b{name}\b", returned):
                return path
    return None


@cache
def _guides() -> list[tuple[str, str, str]]:
    """Return the Python examples of all guides: page, title and block."""
    found = []
    for file in sorted(DOCS.glob("*.md")):
        if file.stem not in site_parts.GENERATED:
            text = file.read_text(encoding="utf-8")
            for block in re.findall(r"^```(?:pycon|python)\n.*?^```$", text, re.MULTILINE | re.DOTALL):
                found.append((file.stem, _title(file.stem), block))
    return found


@cache
def _title(page_name: str) -> str:
    return (DOCS / f"{page_name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def see_also(path: str, thing: Any) -> list[str]:
    """Return the guides that mention a name most often, at most three, and its source."""
    word = called(path)
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    counted = {name: len(pattern.findall(text)) for name, text in _texts().items() if word in text}
    named = sorted((name for name, count in counted.items() if count), key=lambda name: -counted[name])[:3]
    lines = [f"- [{_title(name)}](../{name}.md)" for name in named]
    made = isinstance(thing, ModuleType) or inspect.isclass(thing) or inspect.isroutine(thing)
    home = inspect.getsourcefile(inspect.unwrap(thing)) if made else None
    if home and Path(home).is_relative_to(site_parts.ROOT):
        lines.append(f"- source: {site_parts.link(Path(home))}")
    return ["## See also", "", *lines, ""] if lines else []


@cache
def _texts() -> dict[str, str]:
    return {
        file.stem: file.read_text(encoding="utf-8")
        for file in sorted(DOCS.glob("*.md"))
        if file.stem not in site_parts.GENERATED | {"index", "references", "deviations"}
    }
