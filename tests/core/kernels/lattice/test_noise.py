"""The integer weights of noise: exact totals, the right law, and nothing rounded the wrong way.

Samples on lattices follow the exact law, at a false-alarm rate of 10⁻⁶; broken twins do not.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.lattice.integers import Clamped
from dither.core.kernels.lattice.kernel import LatticeKernel
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
)
from dither.errors import InvalidParameter, MalformedReport
from tests.support.chi_square import ALARM, p_value
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
    assert LatticeNoise.from_device(noise.device(), End.PILED) == noise
    stairs = LatticeNoise(Stairs(3, 2), fixed_exponential(Fraction(1, 2)), 40, End.PILED)
    assert LatticeNoise.from_device(stairs.device(), End.PILED) == stairs
    laplace = dt.Laplace(dt.Interval(0, 1), epsilon=1.0, cells=64)
    with pytest.raises(MalformedReport):
        dt.from_json(changed(laplace, lambda device: device["lattice"]["noise"].update(change)))


def test_nonsense_is_refused() -> None:
    for first, run in ((0, 3), (4, 3)):
        with pytest.raises(InvalidParameter):
            Stairs(run, first)


UNIT, WIDE, DEGREES = dt.Interval(0, 1), dt.Interval(-3, 7), dt.Circle(360)

CASES_sampling = {
    "Laplace": lambda eps: dt.Laplace(WIDE, epsilon=eps, cells=128),
    "Staircase": lambda eps: dt.Staircase(UNIT, epsilon=eps, cells=128),
    "Staircase, squared": lambda eps: dt.Staircase(WIDE, epsilon=eps, loss="squared", cells=256),
    "Gaussian": lambda eps: dt.Gaussian(WIDE, epsilon=eps, delta=1e-2, cells=128),
    "BoundedLaplace": lambda eps: dt.BoundedLaplace(WIDE, epsilon=eps, cells=128),
    "BoundedLaplace, 0.3": lambda eps: dt.BoundedLaplace(UNIT, epsilon=eps, sensitivity=0.3, cells=128),
    "Purkayastha": lambda eps: dt.rivals.Purkayastha(DEGREES, epsilon=eps, cells=64),
    "Exponential": lambda eps: dt.Exponential(WIDE, [-3, -1, 0, 2.5, 7], epsilon=eps),
    "Exponential, circle": lambda eps: dt.Exponential(DEGREES, [10, 100, 200, 210], epsilon=eps),
}


def draw(mechanism: Any, x: float, size: int, seed: int) -> np.ndarray:
    return mechanism.perturb(np.full(size, x), source=dt.Seeded(seed)).cells  # type: ignore[no-any-return]


def step(mechanism: Any) -> float:
    """The length of one step of the lattice."""
    first, second = (
        mechanism.question.plain_reading().values[:2]
        if mechanism.question.plain_reading()
        else mechanism.decode(np.arange(2))
    )
    return float(second - first)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", CASES_sampling)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 4.0])
def test_blocks_follow_the_law(name: str, epsilon: float) -> None:
    mechanism = CASES_sampling[name](epsilon)
    for unit in (0.0, 0.313, 1.0):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        assert p_value(draw(mechanism, x, 100_000, 5), mechanism.probabilities(x)) > ALARM


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", CASES_sampling)
def test_one_by_one_follows_the_same_law(name: str) -> None:
    """Few values go through plain integers, many through blocks: one law."""
    mechanism = CASES_sampling[name](1.5)
    x = float(mechanism.line.from_unit(np.asarray(0.4)))
    source = dt.Seeded(9)
    cells = np.array([int(mechanism.perturb(x, source=source).cells) for _ in range(6_000)])
    assert p_value(cells, mechanism.probabilities(x)) > ALARM


def test_two_threads_and_the_secure_source_follow_the_law() -> None:
    for name in ("Laplace", "BoundedLaplace", "Exponential"):
        mechanism = CASES_sampling[name](1.0)
        cells = mechanism.perturb(np.full(150_000, 2.1), source=dt.Seeded(3), threads=2).cells
        assert p_value(cells, mechanism.probabilities(2.1)) > ALARM
        again = mechanism.perturb(np.full(150_000, 2.1), source=dt.Seeded(3), threads=2).cells
        assert np.array_equal(cells, again)
        assert p_value(mechanism.perturb(np.full(150_000, 2.1)).cells, mechanism.probabilities(2.1)) > ALARM


STAIRCASE = dt.Staircase(WIDE, epsilon=1.0)
FULL = {
    "Laplace": (dt.Laplace(WIDE, epsilon=1.0), lambda x: stats.laplace(loc=x, scale=10.0).cdf),
    "Laplace, ε = 1e-5": (dt.Laplace(UNIT, epsilon=1e-5), lambda x: stats.laplace(loc=x, scale=1e5).cdf),
    "Laplace, ε = 20": (dt.Laplace(UNIT, epsilon=20.0), lambda x: stats.laplace(loc=x, scale=0.05).cdf),
    "Gaussian": (
        dt.Gaussian(UNIT, epsilon=1.0, delta=1e-5),
        lambda x: stats.norm(loc=x, scale=3.7304).cdf,  # the root of the analytic formula
    ),
    "Staircase": (STAIRCASE, lambda x: lambda y: STAIRCASE.cdf(y, x)),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", FULL)
def test_full_size_follows_the_continuous_law(name: str) -> None:
    """Against a law that knows nothing of the integers, in 64 likely bins; a scale 2 % off is seen."""
    mechanism, law = FULL[name]
    x = float(mechanism.line.from_unit(np.asarray(0.4)))
    values = mechanism.perturb(np.full(500_000, x), source=dt.Seeded(12)).values
    values += step(mechanism) * (np.random.default_rng(4).random(values.size) - 0.5)  # bins cut steps
    for stretch, fair in ((1.0, True), (1.02, False)):
        share = np.clip(np.asarray(law(x)(x + stretch * (values - x))), 0, 1 - 1e-12)
        p = p_value((share * 64).astype(int), np.full(64, 1 / 64))
        assert (p > ALARM) is fair


def test_bounded_laplace_follows_its_closed_form() -> None:
    mechanism = dt.BoundedLaplace(UNIT, epsilon=3.0)
    for x in (0.0, 0.2, 0.9):
        values = mechanism.perturb(np.full(300_000, x), source=dt.Seeded(14)).values
        share = np.clip(np.asarray(mechanism.cdf(values, x)), 0, 1 - 1e-12)
        assert p_value((share * 64).astype(int), np.full(64, 1 / 64)) > ALARM
        # The twin of the printed formula: one constant for all inputs, the rest told as the nearer end.
        noisy = np.clip(x + np.random.default_rng(1).laplace(scale=1 / 3, size=300_000), 0, 1)
        share = np.clip(np.asarray(mechanism.cdf(noisy, x)), 0, 1 - 1e-12)
        assert p_value((share * 64).astype(int), np.full(64, 1 / 64)) < ALARM


def test_a_staircase_with_ceil_for_floor_is_rejected() -> None:
    """ceil((|z| + g − r)/g) makes the first stair one step too wide."""
    honest = dt.Staircase(UNIT, epsilon=3.0, cells=256)
    kernel, decay = honest.kernel.lattice, honest.kernel.lattice.noise.decay
    assert isinstance(decay, Stairs)
    wide = LatticeNoise(Stairs(decay.run, decay.first + 1), kernel.noise.base, kernel.noise.reach, End.PILED)
    twin = Clamped(wide, kernel.last, kernel.fraction)
    values = np.full(200_000, 0.4)
    assert p_value(draw(honest, 0.4, 200_000, 1), honest.probabilities(0.4)) > ALARM
    cells = LatticeKernel.on(UNIT, twin).draw(values, dt.Seeded(1))
    assert p_value(cells, honest.probabilities(0.4)) < ALARM


def test_inputs_rounded_down_are_rejected() -> None:
    """The twin that does not round at random is off by up to one step."""
    honest = dt.Laplace(UNIT, epsilon=4.0, cells=64)
    x = 0.49
    down = np.floor(x / step(honest)) * step(honest)
    assert abs(x - down) > 0.2 * step(honest)
    assert p_value(draw(honest, x, 300_000, 2), honest.probabilities(x)) > ALARM
    assert p_value(draw(honest, down, 300_000, 2), honest.probabilities(x)) < ALARM


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    "mechanism",
    [
        dt.Laplace(WIDE, epsilon=0.5),
        dt.Laplace(UNIT, epsilon=1e-5),
        dt.Staircase(WIDE, epsilon=3.0),
        dt.Gaussian(WIDE, epsilon=1.0, delta=1e-4),
    ],
    ids=lambda mechanism: f"{type(mechanism).__name__} {mechanism.epsilon:g}",
)
def test_the_average_report_is_the_value(mechanism: Any) -> None:
    for unit in (0.0, 0.7):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        values = mechanism.perturb(np.full(300_000, x), source=dt.Seeded(8)).values
        z = (values.mean() - x) / np.sqrt(mechanism.variance(x) / values.size)
        assert abs(z) < stats.norm.isf(ALARM / 2)


@pytest.mark.some(every=2)
@pytest.mark.parametrize("cells", [64, 1 << 12])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_unbiased_in_fractions(cells: int, epsilon: float) -> None:
    """The mean of the very integers and codebook, in exact arithmetic, is the value."""
    for mechanism in (
        dt.Laplace(WIDE, epsilon=epsilon, cells=cells),
        dt.Staircase(UNIT, epsilon=epsilon, cells=cells),
        dt.Gaussian(UNIT, epsilon=epsilon, delta=1e-3, cells=cells),
    ):
        values = [Fraction(value) for value in mechanism.decode(np.arange(mechanism.outcomes)).tolist()]
        for x in mechanism.line.from_unit(np.array([0.0, 0.123, 1.0])):
            law = mechanism.probabilities(float(x))
            mean = sum(chance * value for chance, value in zip(law, values, strict=True))
            # The piles at the ends of the clamped range are not symmetric about x.
            low, high = mechanism.support
            allowed = 2e-9 * mechanism.line.length + 2e-10 * (high - low)
            assert abs(mean - Fraction(float(x))) <= Fraction(allowed)


@pytest.mark.parametrize("name", CASES_sampling)
def test_no_report_gives_the_input_away(name: str) -> None:
    mechanism = CASES_sampling[name](1.0)
    laws = [
        mechanism.probabilities(float(x))
        for x in mechanism.line.from_unit(np.array([0.0, 0.3, 0.300001, 1.0]))
    ]
    assert all(min(law) > 0 for law in laws)
    seen = mechanism.perturb(mechanism.line.from_unit(np.linspace(0, 1, 40_000)), source=dt.Seeded(4)).cells
    assert int(seen.max()) < mechanism.outcomes
    assert seen.dtype == np.min_scalar_type(mechanism.outcomes - 1)


@pytest.mark.slow
def test_the_sampled_law_is_near_the_closed_form() -> None:
    """What is sampled differs from the continuous mechanism by the lattice, and no more."""
    for mechanism in (
        dt.Laplace(WIDE, epsilon=0.5),
        dt.Laplace(WIDE, epsilon=3.0).truncated(),
        dt.Staircase(WIDE, epsilon=3.0, loss="squared"),
        dt.BoundedLaplace(WIDE, epsilon=3.0),
        dt.Gaussian(WIDE, epsilon=3.0, delta=1e-4),
        dt.rivals.Purkayastha(DEGREES, epsilon=2.0),
    ):
        unit = step(mechanism)
        xs = mechanism.line.from_unit(np.array([0.0, 0.04, 0.31, 0.5, 0.97]))
        sampled = mechanism.sampled
        assert sampled.error("absolute", xs) == pytest.approx(mechanism.error("absolute", xs), abs=unit)
        assert sampled.mean(xs) == pytest.approx(mechanism.mean(xs), abs=unit)
        x = float(xs[3])
        ys = x + unit * np.array([-100.0, -10.0, 0.0, 10.0, 100.0])
        top = 2 * unit * float(mechanism.pdf(x, x))
        assert sampled.cdf(ys, x) == pytest.approx(mechanism.cdf(ys, x), abs=top)


def test_truncated_reports_are_the_same_reports() -> None:
    plain = dt.Laplace(WIDE, epsilon=1.0)
    reports = plain.perturb(np.linspace(-3, 7, 5_000), source=dt.Seeded(6))
    cut = plain.truncated().reports(reports)
    assert np.array_equal(cut.values, np.clip(reports.values, -3, 7))
    assert cut == reports
    for _ in range(2):  # reading reports straight does not change how they are decoded
        straight = cut.question.plain_reading()  # type: ignore[attr-defined]
        assert np.array_equal(straight.values, plain.decode(np.arange(plain.outcomes)))
        assert cut.values.max() == 7.0


def test_many_shapes_and_types() -> None:
    for make in CASES_sampling.values():
        mechanism = make(1.0)
        grid = mechanism.line.from_unit(np.linspace(0, 1, 60))
        for values in (
            grid.reshape(3, 20),
            grid.astype(np.float32).clip(*_ends(mechanism)),
            grid.tolist(),
            [],
            1,
        ):
            assert mechanism.perturb(values).cells.shape == np.shape(values)


def _ends(mechanism: Any) -> tuple[np.float32, np.float32]:
    low, high = np.float32(mechanism.line.low), np.float32(mechanism.line.high)
    return low, high


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
