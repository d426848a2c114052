"""Distances of paths against their definitions, and lists of public paths."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.kernel import read_kernel
from dither.core.kernels.places.routes import RouteKernel, path_distances
from dither.core.question import ask
from dither.errors import InvalidParameter, MalformedReport

UNIT = dt.Interval(0, 1)
SQUARE = dt.Rectangle(UNIT, UNIT)


def by_definition(one: np.ndarray, other: np.ndarray, scales: tuple[int, int], kind: str) -> float:
    """Over all alignments, one after the other."""
    gap = (one[:, None] - other) * np.array(scales)
    apart = np.floor(np.sqrt((gap**2).sum(axis=-1)))
    if kind == "mean":
        return float(np.trace(apart))

    @cache
    def best(i: int, j: int) -> float:
        step = float(apart[i, j])
        before = [best(a, b) for a, b in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if min(a, b) >= 0]
        if not before:
            return step
        return max(step, min(before)) if kind == "frechet" else step + min(before)

    return best(len(one) - 1, len(other) - 1)


@pytest.mark.parametrize("kind", ["mean", "warped", "frechet"])
def test_distances_are_those_of_the_definition(kind: Any) -> None:
    random = np.random.default_rng(2)
    first, second = (random.integers(0, 1 << 16, (count, 5, 2)) for count in (4, 6))
    found = path_distances(first, second, (256, 99), kind)
    assert found.tolist() == [[by_definition(a, b, (256, 99), kind) for b in second] for a in first]


def question(width: int = 2, distance: Any = "mean") -> Any:
    routes = dt.Routes(SQUARE, points=3, distance=distance)
    public = np.random.default_rng(3).integers(0, 1 << 16, (6, 3, 2))
    public[4] = public[1]
    kernel = RouteKernel.largest(1.0, routes, public, width)
    return ask(routes, kernel, epsilon=1.0, name="Optimal", parameters={"epsilon": 1.0})


def test_every_list_has_different_numbers_that_follow_from_the_nearest_path() -> None:
    kernel = question(3).kernel
    assert all(len(set(row)) == 3 for row in kernel.lists.tolist())
    assert kernel.lists[4].tolist() == kernel.lists[1].tolist()  # equal paths: the first number
    assert 4 not in kernel.nearest(kernel.paths)
    for paths in (kernel.paths, np.zeros((1, 3, 2), dtype=np.int64)):
        law = kernel.laws(paths)
        np.testing.assert_allclose(law, kernel.shares_reading.channel[kernel.nearest(paths)])
        assert (np.sort(law, axis=1)[:, -3:] > law.min()).all()


def test_a_question_travels_and_holds_for_the_complete_path() -> None:
    asked = question()
    again = dt.from_json(asked.to_json())
    assert again == asked
    assert str(asked.guarantee) == "ε ≤ 1 for one trajectory"
    long = np.random.default_rng(5).random((500, 2))
    reports = asked.perturb([long, long[:1]])
    assert reports.cells.shape == (2,)
    assert reports.values.shape == (2, 3, 2)
    assert reports.guarantee.bound == asked.guarantee.repeated(2).bound  # each path, not each location
    assert dt.audit(asked).holds
    device = asked.device()
    for wrong in ({**device, "paths": device["paths"][4:]}, {**device, "paths": "?"}, {**device, "width": 6}):
        with pytest.raises(MalformedReport):
            read_kernel(wrong, asked.domain)


def test_more_than_64_kilobytes_are_refused() -> None:
    routes = dt.Routes(SQUARE, points=64)
    with pytest.raises(InvalidParameter, match="64 kB"):
        RouteKernel.largest(1.0, routes, np.zeros((257, 64, 2), dtype=np.int64), 1)
