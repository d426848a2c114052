"""Designs for cumulative shares that were solved and are shipped."""

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


def name(size: int, epsilon: float) -> str:
    """Return the name of a shipped design."""
    return f"{size}-{epsilon:g}"


@cache
def shipped_budgets() -> dict[int, tuple[float, ...]]:
    """Return for each number of inputs the ε of the shipped designs, in order."""
    found: dict[int, list[float]] = {}
    for entry in _archive().namelist():
        size, _, epsilon = entry.partition("-")
        found.setdefault(int(size), []).append(float(epsilon))
    return {size: tuple(sorted(budgets)) for size, budgets in found.items()}


@lru_cache(maxsize=16)
def prefix_design(size: int, epsilon: float) -> QueryDesign:
    """Return the design for the prefix sums of `size` inputs.

    At a shipped ε it is the shipped one. At another ε the search begins with the patterns of the nearest
    shipped ones and takes a few rounds, which needs numpy alone. For other numbers of inputs it is solved,
    which needs scipy and takes seconds to minutes.
    """
    budgets = shipped_budgets().get(size, ())
    if epsilon in budgets:
        return _read(size, epsilon)
    matrix = prefixes(size)
    gram = matrix.T @ matrix
    if budgets:
        from dither.mechanisms.optimal.queries.solve import quick_design

        nearest = sorted(budgets, key=lambda budget: abs(math.log(budget / epsilon)))[:2]
        near = [_read(size, budget) for budget in nearest]
        patterns = np.concatenate([design.patterns for design in near])
        return quick_design(patterns, gram, epsilon, [design.multipliers for design in near])
    from dither.mechanisms.optimal.queries.solve import solve

    return solve(gram, epsilon)


def _read(size: int, epsilon: float) -> QueryDesign:
    design = QueryDesign.from_bytes(_archive().read(name(size, epsilon)))
    if design is None:
        raise InvalidParameter(f"the shipped design {name(size, epsilon)} is damaged; install dither again")
    return design


@cache
def _archive() -> zipfile.ZipFile:
    place = resources.files("dither.mechanisms.optimal.queries").joinpath(SHIPPED)
    return zipfile.ZipFile(io.BytesIO(place.read_bytes()))
