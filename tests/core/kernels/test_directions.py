"""The kernel of vectors: its directions, the K nearest, privacy over all pairs, and damaged texts."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.directions import EQUAL, Directions, DirectionsKernel, transform, unpack
from dither.core.kernels.window.integers import Nearest
from dither.errors import DitherError, MalformedReport, OutsideDomain
from dither.privacy.exact import exp_below

SEEDS = np.array([0, 1, 7, (1 << 32) - 1, 123_456_789], dtype=np.uint64)


def mixed(number: int) -> int:
    """Return SplitMix64's word of a number, written anew."""
    word = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def by_the_page(cells: int, axes: int, seed: int, number: int) -> list[int]:
    """Return the coordinates of a direction from the formula, sign by sign."""
    columns = cells if axes <= 128 else 1 << (axes - 1).bit_length()

    def sign(first: int, place: int) -> int:
        return -1 if mixed(first + place // 64) >> place % 64 & 1 else 1

    def entry(row: int, column: int) -> int:
        return -1 if (row & column).bit_count() % 2 else 1

    return [
        sign((1 << 48) + (seed % 256 << 16), j)
        * sum(
            entry(j, k) * sign(seed << 16, k) * entry(number, 1 + 619 * k % (cells - 1))
            for k in range(columns)
        )
        for j in range(axes)
    ]


@pytest.mark.parametrize(("cells", "axes"), [(64, 3), (128, 130)])
def test_directions_are_those_of_the_formula(cells: int, axes: int) -> None:
    directions = Directions(cells, axes)
    for seed in SEEDS.tolist()[2:4]:
        for number in (0, cells - 1):
            exact = np.array(by_the_page(cells, axes, seed, number))
            drawn = directions.coordinates(np.array([number]), np.array([seed], dtype=np.uint64))[0]
            if directions.equal:
                exact = np.rint(exact * (65536 / math.sqrt(max(1, int((exact**2).sum())))))
            assert (drawn == exact).all()
            products = directions.products(np.eye(axes)[:2], np.full(2, seed, dtype=np.uint64))
            length = math.sqrt(max(1, sum(g * g for g in by_the_page(cells, axes, seed, number))))
            expected = [
                g / length if directions.equal else g for g in by_the_page(cells, axes, seed, number)[:2]
            ]
            assert products[:, number] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("axes", [5, 300])
def test_sums_do_not_depend_on_the_order_or_on_blocks(axes: int) -> None:
    directions = Directions(64, axes)
    rng = np.random.default_rng(1)
    numbers, seeds = rng.integers(64, size=700), rng.integers(1 << 32, size=700, dtype=np.uint64)
    each = directions.coordinates(numbers, seeds)
    assert (directions.sums(numbers, seeds) == each.sum(axis=0)).all()
    assert (directions.sums(numbers[::-1], seeds[::-1]) == each.sum(axis=0)).all()
    assert (directions.squares(numbers, seeds) == (each**2).sum(axis=0)).all()


def test_the_transform_is_the_hadamard_matrix() -> None:
    rows = transform(np.eye(8))
    assert (rows == [[(-1) ** (i & k).bit_count() for k in range(8)] for i in range(8)]).all()


HOSTILE = {
    "zero": np.zeros(4),
    "denormal": np.full(4, 5e-324),
    "ties": np.array([1.0, 1.0, 1.0, 1.0]) / 2,
    "one axis": np.array([1.0, 0.0, 0.0, 0.0]),
    "minus": np.array([-1.0, -0.0, 0.0, -5e-324]),
}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_privacy_over_all_pairs_of_inputs_and_reports(epsilon: float) -> None:
    """Whatever floats choose, every input has K different numbers, so the exact ratio is at most e^ε."""
    kernel = DirectionsKernel(Nearest.largest(epsilon, 64, 9), dt.Vectors(4))
    inputs = [*HOSTILE.values(), *np.random.default_rng(3).normal(size=(4, 4)) / 10]
    for seed in SEEDS.tolist():
        laws = [kernel.probabilities(value, seed) for value in inputs]
        assert all(sum(law) == 1 for law in laws)
        ratio = max(max(column) / min(column) for column in zip(*laws, strict=True))
        assert ratio <= exp_below(Fraction(epsilon))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 2.0])
@pytest.mark.parametrize("exact", [False, True])
def test_values_outside_are_refused_and_not_shown(wrong: float, exact: bool) -> None:
    question = dt.Optimal(dt.Vectors(3, exact=exact), epsilon=1)
    with pytest.raises(OutsideDomain) as caught:
        question.perturb([[wrong, 0.1234567, 0.0]])
    assert "1234567" not in str(caught.value)


@pytest.mark.slow
def test_reports_have_the_frequencies_of_the_integers() -> None:
    question = dt.Optimal(dt.Vectors(200), epsilon=2)
    value = np.eye(200)[3]
    reports = question.perturb(np.tile(value, (3_000, 1)), source=dt.Seeded(5))
    kernel = question.question.kernel
    inside = kernel.likelihoods(reports.cells, np.tile(value, (3_000, 1))) > 1.0 / kernel.window.cells
    chance = kernel.window.width * kernel.window.inside / kernel.window.total
    assert abs(inside.mean() - chance) < 5.0 * math.sqrt(chance * (1 - chance) / 3_000)
    numbers, seeds = unpack(reports.cells)
    assert len(np.unique(seeds)) > 2_990
    assert numbers.max() < kernel.window.cells


def change(**changed: Any) -> str:
    data = json.loads(dt.Optimal(dt.Vectors(3), epsilon=1).to_json())
    device = json.loads(data["device"])
    for name, value in changed.items():
        if name in device["domain"]:
            device["domain"][name] = value
        else:
            device[name] = value
    data["device"] = json.dumps(device, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return json.dumps(data)


@pytest.mark.parametrize(
    "changed",
    [
        {"cells": 1000},
        {"cells": 8192},
        {"cells": 32},
        {"width": 0},
        {"dimension": 0},
        {"dimension": 1.5},
        {"dimension": 1 << 20},
        {"length": 0},
        {"length": -1},
        {"centre": [0, 0]},
        {"centre": [1e300, 0, 0]},
        {"exact": 1},
        {"step": "ffffffffffffffff"},
    ],
    ids=str,
)
def test_damaged_texts_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(DitherError):
        dt.from_json(change(**changed))


def test_reports_that_no_device_sends_are_refused() -> None:
    question = dt.Optimal(dt.Vectors(3), epsilon=1).question
    for raw in ([-1], [1 << 48], [1024], [[1.5]]):
        with pytest.raises(MalformedReport):
            question.reports(raw)
    with pytest.raises(MalformedReport):
        question.kernel.read_codebook({"gain": 2.0}, {})


def test_few_and_many_axes_are_told_apart_by_one_number() -> None:
    assert Directions(1024, EQUAL).equal
    assert not Directions(1024, EQUAL + 1).equal
