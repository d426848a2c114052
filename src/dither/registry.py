"""The public names of dither, and the designs among them, which specifications name.

Nothing is imported before its name is asked for, so that a device which reads a question loads no design.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module, resources
from typing import Any, Final

from dither.errors import InvalidParameter, MalformedReport, found, unknown_name

_ROOMS: Final = ("dither.mechanisms.", "dither.optimal.")
_DRAWS: Final = {  # the designs that have each draw: a text must not name a design that draws otherwise
    "sliding": "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",
    "mixture": "Hybrid",
    "lattice": "Laplace Gaussian Staircase BoundedLaplace Purkayastha",
    "channel": "Exponential Cumulative",
    "table": "Cumulative Workload",
    "sectors": "Sectors",
    "response": "KRR RR",
    "bits": "OUE SUE",
    "subset": "SubsetSelection",
    "indices": "SubsetIndices",
    "hadamard": "HadamardResponse",
    "projective": "ProjectiveResponse",
    "hashed": "OLH BLH",
    "prefix": "PEM",
    "questions": "Marginals",
    "pair": "TraCSC",
    "walk": "TraCSD Strawman",
    "polar": "Polar",
    "planar": "PlanarLaplace",
    "rings": "PlanarStaircase",
    "points": "NGram LSRR",
    "two copies": "ATP",
    "grid": "Gridding",
    "joint response": "JRR",
    "joint bits": "JointSUE",
    "joint hashed": "JointOLH",
}
_OWN: Final[dict[str, type[Any]]] = {}  # designs of other packages, by name


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


def is_design(kind: object) -> bool:
    """Return whether an object is the class of a design."""
    return isinstance(kind, type) and issubclass(kind, import_module("dither.mechanisms.base").Mechanism)


@cache
def names() -> dict[str, type[Any]]:
    """Return every public design by its name, the rivals among them."""
    every = ((name, public(name)) for name, home in homes().items() if home.startswith(_ROOMS))
    return {name: kind for name, kind in every if isinstance(kind, type) and is_design(kind)}


@cache
def _spelled() -> dict[str, str]:
    """Return the public names of the packages of designs, keyed by their lower-case form."""
    return {name.lower(): name for name, home in homes().items() if home.startswith(_ROOMS)}


def named(name: object) -> type[Any]:
    """Return the design of a name, in upper or lower case; raise InvalidParameter if there is none."""
    known = isinstance(name, str) and name.lower() in _spelled()
    kind = public(_spelled()[str(name).lower()]) if known else None
    if isinstance(kind, type) and is_design(kind):
        return kind
    raise unknown_name("mechanism", name, sorted(names()))


def check_name(name: str, draw: str, *, known: bool) -> None:
    """Raise MalformedReport if the design of a name does not draw so, or is not known and has to be.

    A policy may list names, so that a name must be one whose design draws so. A design of another package has
    a name that is none of dither's.
    """
    if name in _DRAWS.get(draw, "").split() or (not known and name not in homes()):
        return
    raise MalformedReport(f"no mechanism of the name {found(name)} has the draw {found(draw)}")


def register(kind: type[Any]) -> None:
    """Make a design of another package known by the name of its class."""
    if not kind.__module__.startswith("dither."):
        _OWN[kind.__name__] = kind


def design(name: str) -> type[Any]:
    """Return the design that a specification names: one of dither's, or of a package that was imported."""
    if name in _OWN and name not in homes():
        return _OWN[name]
    try:
        return named(name) if name in homes() else _OWN[name]
    except (InvalidParameter, KeyError):
        raise InvalidParameter(
            f"the design {found(name)} is not known here: import the package that defines it. The question "
            "draws, counts and estimates without it"
        ) from None
