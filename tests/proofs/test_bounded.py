"""Bounded noise: the certified ratio covers every pair of inputs and every report, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from dither.core.kernels.lattice.integers import Bounded
from dither.core.kernels.lattice.noise import DIGITS, End, Geometric, LatticeNoise, Normal, Stairs
from dither.errors import InvalidParameter


def reference(lattice: Bounded) -> list[list[Fraction]]:
    """Return the law of each input: its weights inside, over their sum. Written from the definition alone."""
    weights, places = lattice.noise.weights, range(lattice.noise.reach + 1)
    rows = [[weights[abs(place - step)] for place in places] for step in places]
    return [[Fraction(weight, sum(row)) for weight in row] for row in rows]


def worst(laws: list[list[Fraction]], shift: int) -> Fraction:
    places = range(len(laws))
    return max(
        laws[one][place] / laws[two][place]
        for one, two, place in product(places, places, places)
        if abs(one - two) <= shift
    )


def lattices() -> list[Bounded]:
    found = []
    decays = (Geometric(), Normal(), Stairs(3, 2), Stairs(4, 4))
    for decay, base, reach in product(decays, (0.3, 0.7, 0.9, 0.97), (2, 5, 12)):
        try:
            noise = LatticeNoise(decay, int(base * 2**60) << (DIGITS - 60), reach, End.CUT)
            found += [Bounded(noise, shift) for shift in {1, 2, reach // 2, reach} if 1 <= shift <= reach]
            _ = noise.weights
        except InvalidParameter:
            continue
    return found


def test_the_certified_ratio_covers_every_pair() -> None:
    certified, close = 0, 0
    for lattice in lattices():
        try:
            ratio = lattice.ratio
        except InvalidParameter:
            continue  # refused: nothing is promised
        true = worst(reference(lattice), lattice.shift)
        assert true <= ratio
        certified += 1
        close += ratio <= true * Fraction(101, 100)
    assert certified >= 60
    assert close >= 20  # the bound is not vacuous


def test_the_ratio_of_the_weights_alone_would_be_too_small() -> None:
    """The totals matter: without them the promise is broken by some pair of inputs."""
    broken = 0
    for lattice in lattices():
        true = worst(reference(lattice), lattice.shift)
        broken += true > lattice.noise.ratio(lattice.shift)
    assert broken > 20


@pytest.mark.parametrize("lattice", lattices()[:40:4], ids=repr)
def test_totals_are_the_weights_that_stay_inside(lattice: Bounded) -> None:
    weights, reach = lattice.noise.weights, lattice.noise.reach
    sums = [sum(weights[abs(place - step)] for place in range(reach + 1)) for step in range(reach + 1)]
    assert list(lattice.totals) == sums


def test_a_smaller_shift_is_never_worse_where_it_is_certified() -> None:
    """The step of the proof: ρ(k)·κ(k) does not fall with k."""
    for lattice in lattices():
        try:
            _ = lattice.ratio
        except InvalidParameter:
            continue
        weights, totals = lattice.noise.weights, lattice.totals
        products = []
        for k in range(1, lattice.shift + 1):
            rho = max(Fraction(weights[z], weights[z + k]) for z in range(len(weights) - k))
            kappa = max(Fraction(totals[i + k], totals[i]) for i in range(len(totals) - k))
            products.append(rho * kappa)
        assert products == sorted(products)
        assert products[-1] == lattice.ratio
