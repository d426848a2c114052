"""The names under which mechanisms travel: the public ones, and nothing else."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module, resources

from dither.errors import unknown_name
from dither.mechanisms.base import Mechanism


@cache
def homes() -> dict[str, str]:
    """Return the module of every public name, from the stub that lists them."""
    stub = ast.parse(resources.files("dither").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"dither.{node.module}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


@cache
def names() -> dict[str, type[Mechanism]]:
    """Return every public mechanism by its name."""
    rooms = ("dither.mechanisms.", "dither.optimal.")
    found = (
        (name, getattr(import_module(home), name)) for name, home in homes().items() if home.startswith(rooms)
    )
    return {name: kind for name, kind in found if isinstance(kind, type) and issubclass(kind, Mechanism)}


def named(name: str) -> type[Mechanism]:
    """Return the mechanism of a name, whatever its capitals; raise InvalidParameter if there is none."""
    kinds = {known.lower(): kind for known, kind in names().items()}
    try:
        return kinds[name.lower()]
    except (KeyError, AttributeError):
        raise unknown_name("mechanism", name, sorted(names())) from None
