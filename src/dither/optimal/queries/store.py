"""Find the design for prefix sums: shipped, its patterns weighted for another ε, or solved."""

from __future__ import annotations

import io
import math
import zipfile
from functools import cache, lru_cache
from importlib import resources
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter
from dither.optimal.queries.design import QueryDesign

SHIPPED: Final = "prefixes.zip"


def prefixes(size: int) -> Floats:
    """Return the queries for cumulative shares: row i adds up the first i + 1 of `size` inputs."""
    return np.tril(np.ones((size, size)))


def name(size: int, epsilon: float) -> str:
    """Return the name of a shipped design."""
    return f"{size}-{epsilon:g}"


@cache
def shipped() -> dict[int, tuple[float, ...]]:
    """Return for each number of inputs the ε of the shipped designs, in order."""
    found: dict[int, list[float]] = {}
    for one in _archive().namelist():
        size, _, epsilon = one.partition("-")
        found.setdefault(int(size), []).append(float(epsilon))
    return {size: tuple(sorted(budgets)) for size, budgets in found.items()}


@lru_cache(maxsize=16)
def prefix_design(size: int, epsilon: float) -> QueryDesign:
    """Return the design for the prefix sums of `size` inputs.

    At a shipped ε it is the shipped one. At another ε the search begins with the patterns of the nearest
    shipped ones and takes a few rounds, which needs numpy alone. For other numbers of inputs it is solved,
    which needs scipy and takes seconds to minutes.
    """
    budgets = shipped().get(size, ())
    if epsilon in budgets:
        return _read(size, epsilon)
    matrix = prefixes(size)
    gram = matrix.T @ matrix
    if budgets:
        from dither.optimal.queries.solve import weighted

        nearest = sorted(budgets, key=lambda one: abs(math.log(one / epsilon)))[:2]
        near = [_read(size, one) for one in nearest]
        patterns = np.concatenate([design.patterns for design in near])
        return weighted(patterns, gram, epsilon, [design.multipliers for design in near])
    from dither.optimal.queries.solve import solve

    return solve(gram, epsilon)


def _read(size: int, epsilon: float) -> QueryDesign:
    design = QueryDesign.from_bytes(_archive().read(name(size, epsilon)))
    if design is None:
        raise InvalidParameter(f"the shipped design {name(size, epsilon)} is damaged; install dither again")
    return design


@cache
def _archive() -> zipfile.ZipFile:
    place = resources.files("dither.optimal.queries").joinpath(SHIPPED)
    return zipfile.ZipFile(io.BytesIO(place.read_bytes()))
