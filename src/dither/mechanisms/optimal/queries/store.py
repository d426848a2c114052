"""Shipped solved designs for cumulative shares and for moments."""

from __future__ import annotations

import io
import math
import zipfile
from functools import cache, lru_cache
from importlib import resources
from typing import Final

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.queries.design import QueryDesign

SHIPPED: Final = "prefixes.zip"


def prefixes(size: int) -> Floats:
    """Return the queries for cumulative shares: row i adds up the first i + 1 of `size` inputs."""
    return np.tril(np.ones((size, size)))


def name(family: object, epsilon: float) -> str:
    """Return the name of a shipped design."""
    return f"{family}-{epsilon:g}"


@cache
def _budgets() -> dict[str, tuple[float, ...]]:
    """Return the ε of the shipped designs of each family, in increasing order."""
    found: dict[str, list[float]] = {}
    for entry in _archive().namelist():
        family, _, epsilon = entry.partition("-")
        found.setdefault(family, []).append(float(epsilon))
    return {family: tuple(sorted(budgets)) for family, budgets in found.items()}


def shipped_budgets() -> dict[int, tuple[float, ...]]:
    """Return the ε of the shipped designs for prefix sums for each number of cells, in increasing order."""
    return {int(family): budgets for family, budgets in _budgets().items() if family.isdecimal()}


@lru_cache(maxsize=16)
def prefix_design(size: int, epsilon: float) -> QueryDesign:
    """Return the design for the prefix sums of `size` inputs, solved if no shipped design exists.

    Solving needs scipy and takes seconds to minutes.
    """
    matrix = prefixes(size)
    gram = matrix.T @ matrix
    found = stored_design(str(size), gram, epsilon)
    if found is not None:
        return found
    from dither.mechanisms.optimal.queries.solve import solve

    return solve(gram, epsilon)


def stored_design(family: str, gram: Floats, epsilon: float) -> QueryDesign | None:
    """Return the design of a family, or None if no design of the family is shipped.

    At a shipped ε it is the shipped design. At another ε the search begins with the patterns of the nearest
    shipped designs and takes a few rounds with numpy only.
    """
    budgets = _budgets().get(family, ())
    if epsilon in budgets:
        return _read(family, epsilon)
    if not budgets:
        return None
    from dither.mechanisms.optimal.queries.solve import quick_design

    nearest = sorted(budgets, key=lambda budget: abs(math.log(budget / epsilon)))[:2]
    near = [_read(family, budget) for budget in nearest]
    patterns = np.concatenate([design.patterns for design in near])
    return quick_design(patterns, gram, epsilon, [design.multipliers for design in near])


def _read(family: str, epsilon: float) -> QueryDesign:
    design = QueryDesign.from_bytes(_archive().read(name(family, epsilon)))
    if design is None:
        raise InvalidParameter(
            f"expected the shipped design {name(family, epsilon)} to be complete, but its file is damaged; "
            "install dither again"
        )
    return design


@cache
def _archive() -> zipfile.ZipFile:
    path = resources.files("dither.mechanisms.optimal.queries").joinpath(SHIPPED)
    return zipfile.ZipFile(io.BytesIO(path.read_bytes()))
