"""The integer weights of noise: exact totals, the right law, and nothing rounded the wrong way."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import dither as dt
from dither.core.kernels.lattice.integers import Clamped
from dither.core.kernels.lattice.noise import (
    DIGITS,
    FLOOR,
    Decay,
    End,
    Geometric,
    LatticeNoise,
    Normal,
    Stairs,
    fixed_exponential,
    in_few_bits,
    largest_ratio,
    noise_with,
)
from dither.errors import InvalidParameter, MalformedReport
from tests.support.travel import changed

TOTAL = 1 << 128


def exponents(decay: Decay, count: int) -> list[int]:
    match decay:
        case Geometric():
            return list(range(count))
        case Normal():
            return [z * z for z in range(count)]
        case Stairs(run, first):
            return [(z + run - first) // run for z in range(count)]
    raise AssertionError


SMALL: list[tuple[Decay, float, int]] = [
    (Geometric(), 0.4, 40),
    (Normal(), 0.01, 40),
    (Stairs(7, 3), 1.5, 60),
    (Stairs(1, 1), 0.5, 60),
    (Stairs(5, 5), 0.9, 61),
]
LARGE: list[tuple[Decay, float, int]] = [
    (Geometric(), 2.2e-3, 32767),
    (Normal(), 3e-8, 32767),
    (Stairs(12_000, 17), 8.0, 32767),
]
CASES = [*itertools.product(SMALL, End), *((case, End.PILED) for case in LARGE)]


@pytest.mark.some("case[0-9]-*", "case1[0-4]-*", "case17-*")
@pytest.mark.parametrize(("case", "end"), CASES)
def test_weights_are_the_law_rounded(case: tuple[Decay, float, int], end: End) -> None:
    decay, rate, reach = case
    noise = LatticeNoise(decay, fixed_exponential(Fraction(rate)), reach, end)
    weights = noise.weights
    assert len(weights) == reach + 1
    assert sum(noise.row) == TOTAL
    assert min(weights) >= 1
    assert noise.table.weights()[: len(noise.row)] == noise.row  # what is drawn is what is audited
    with mpmath.workprec(400):
        base = mpmath.exp(-mpmath.mpf(rate))
        powers = [mpmath.power(base, e) for e in exponents(decay, reach + 1)]
        tail = powers[reach]
        if end is End.PILED:
            # a geometric series, from the first place one exponent further out
            rise = 2 * reach + 1 if isinstance(decay, Normal) else 1
            run = decay.run if isinstance(decay, Stairs) else 1
            left = (exponents(decay, reach + run)[reach:]).count(exponents(decay, reach + 1)[reach])
            tail *= left + run * base**rise / (1 - base**rise)
        copies = 1 if end is End.RING else 2
        mass = powers[0] + 2 * mpmath.fsum(powers[1:reach]) + copies * tail
        close, floor = mpmath.mpf(2) ** -60, 2 + FLOOR * (end is End.CUT)
        for z in {0, 1, 2, reach // 3, reach - 1}:
            ideal = powers[z] / mass * TOTAL
            assert abs(weights[z] - ideal) <= floor + close * ideal
        pile = tail / mass * TOTAL
        assert abs(weights[-1] - pile) <= floor + close * pile


def test_the_pile_of_normal_noise_is_at_least_its_tail() -> None:
    """The series that stands for it is a little too large: it falls more slowly."""
    with mpmath.workprec(200):
        for rate, reach in ((0.01, 40), (2e-4, 300)):
            noise = LatticeNoise(Normal(), fixed_exponential(Fraction(rate)), reach, End.PILED)
            true = mpmath.nsum(lambda z, rate=rate: mpmath.exp(-rate * z * z), [reach, mpmath.inf])
            found = Fraction(noise.weights[-1], noise.weights[0])
            assert 1 <= mpmath.mpf(found.numerator) / found.denominator / true < 1.05


@pytest.mark.parametrize(("decay", "rate", "reach"), SMALL + LARGE)
def test_all_but_the_centre_are_rounded_up(decay: Decay, rate: float, reach: int) -> None:
    """So a ratio to the centre, or to anything nearer, is never too large."""
    noise = LatticeNoise(decay, fixed_exponential(Fraction(rate)), reach, End.PILED)
    centre = noise.weights[0]
    powers = decay.values(noise.base, reach)
    scale = Fraction(TOTAL - (1 << 40), 2 * sum(powers) - powers[0] + 2 * _beyond(noise))
    for z in (1, reach // 2, reach - 1):
        assert 0 <= noise.weights[z] - scale * powers[z] < 1
    assert centre >= noise.weights[1]


def _beyond(noise: LatticeNoise) -> int:
    last = noise.decay.values(noise.base, noise.reach + 1)[-1]
    return noise.decay.beyond(noise.base, last, noise.reach)


def test_ratio_is_the_largest_of_all_pairs_at_most_so_far_apart() -> None:
    noise = LatticeNoise(Stairs(6, 2), fixed_exponential(Fraction(7, 5)), 30, End.PILED)
    single = [noise.weights[abs(z)] for z in range(-29, 30)]
    for shift in (1, 5, 6):
        brute = max(
            Fraction(one, two)
            for here, one in enumerate(single)
            for there, two in enumerate(single)
            if abs(here - there) <= shift
        )
        assert noise.ratio(shift) == brute


def test_largest_ratio() -> None:
    assert largest_ratio((3, 10, 5), (2, 7, 3)) == Fraction(5, 3)


def test_few_bits_round_down() -> None:
    for number in (1e-9, 0.1, 1.0, 3.7e5):
        short = in_few_bits(number)
        assert 0 <= Fraction(number) - short <= Fraction(number) / 2**39
        assert short.numerator.bit_length() <= 40


@pytest.mark.parametrize(
    "change",
    [
        {"base": "zz"},
        {"base": f"{1 << DIGITS:x}"},
        {"base": "0"},
        {"reach": 0},
        {"reach": 1 << 20},
        {"reach": "10"},
        {"decay": "uniform"},
        {"digest": "0123456789abcdef"},
        {"run": 4},
    ],
)
def test_what_travels_is_checked(change: dict[str, Any]) -> None:
    noise = LatticeNoise(Geometric(), fixed_exponential(Fraction(1, 2)), 40, End.PILED)
    codec = noise_with(End.PILED)
    assert codec.decode(codec.encode(noise)) == noise
    stairs = LatticeNoise(Stairs(3, 2), fixed_exponential(Fraction(1, 2)), 40, End.PILED)
    assert codec.decode(codec.encode(stairs)) == stairs
    laplace = dt.Laplace(dt.Interval(0, 1), epsilon=1.0, cells=64)
    with pytest.raises(MalformedReport):
        dt.from_json(changed(laplace, lambda device: device["lattice"]["noise"].update(change)))


def test_nonsense_is_refused() -> None:
    for first, run in ((0, 3), (4, 3)):
        with pytest.raises(InvalidParameter):
            Stairs(run, first)


def test_decayed_twin_weights_are_exact() -> None:
    """Round trip of the smallest lattice, by hand: w(0), w(1), w(2), pile."""
    noise = LatticeNoise(Stairs(1, 1), fixed_exponential(Fraction(1)), 3, End.PILED)
    kernel = Clamped(noise, 1 << 30, 30)
    assert kernel.cells == 6
    w0, w1, w2, pile = noise.weights
    first, second = kernel.probabilities(0), kernel.probabilities(1 << 30)
    assert [p * 2**128 for p in first] == [w2 + pile, w1, w0, w1, w2, pile]
    assert second == first[::-1]
    half = kernel.probabilities(1 << 29)
    assert half == [(one + two) / 2 for one, two in zip(first, second, strict=True)]
