"""The public names of dither, and the mechanisms among them, which specifications name."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module, resources
from typing import Any

from dither.errors import InvalidParameter, found, unknown_name
from dither.mechanisms.base import Mechanism


@cache
def homes() -> dict[str, str]:
    """Return the module of every name of `dt` and of `dt.rivals`, from the files that list them."""
    return _imported("__init__.pyi") | _imported("rivals.py")


def _imported(file: str) -> dict[str, str]:
    """Return the module from which a file of the package imports each name; nothing is imported."""
    tree = ast.parse(resources.files("dither").joinpath(file).read_text(encoding="utf-8"))
    return {
        alias.name: f"dither.{node.module}" if node.level else node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def public(name: object) -> object:
    """Return the object of a public name; raise InvalidParameter if there is no such name."""
    if not isinstance(name, str) or name not in homes():
        raise InvalidParameter(f"{found(name)} is not a public name of dither")
    return getattr(import_module(homes()[name]), name)


@cache
def names() -> dict[str, type[Mechanism[Any]]]:
    """Return every public mechanism by its name, the rivals among them."""
    rooms = ("dither.mechanisms.", "dither.optimal.")
    every = (
        (name, getattr(import_module(home), name)) for name, home in homes().items() if home.startswith(rooms)
    )
    return {name: kind for name, kind in every if isinstance(kind, type) and issubclass(kind, Mechanism)}


@cache
def _spelled() -> dict[str, str]:
    """Return the public names of the packages of mechanisms, keyed by their lower-case form."""
    rooms = ("dither.mechanisms.", "dither.optimal.")
    return {name.lower(): name for name, home in homes().items() if home.startswith(rooms)}


def named(name: object) -> type[Mechanism[Any]]:
    """Return the mechanism of a name, in upper or lower case; raise InvalidParameter if there is none."""
    known = isinstance(name, str) and name.lower() in _spelled()
    kind = public(_spelled()[str(name).lower()]) if known else None
    if isinstance(kind, type) and issubclass(kind, Mechanism):
        return kind
    raise unknown_name("mechanism", name, sorted(names()))
