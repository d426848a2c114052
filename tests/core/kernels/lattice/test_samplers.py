"""Samples on lattices follow the exact law, at a false-alarm rate of 10⁻⁶; broken twins do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.lattice.integers import Clamped
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.lattice.noise import End, LatticeNoise, Stairs
from tests.support.chi_square import ALARM, p_value

UNIT, WIDE, DEGREES = dt.Interval(0, 1), dt.Interval(-3, 7), dt.Circle(360)

CASES = {
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
        mechanism.question.unbiased_reading().values[:2]
        if mechanism.question.unbiased_reading()
        else mechanism.question.decode(np.arange(2))
    )
    return float(second - first)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 4.0])
def test_blocks_follow_the_law(name: str, epsilon: float) -> None:
    mechanism = CASES[name](epsilon)
    for unit in (0.0, 0.313, 1.0):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        assert p_value(draw(mechanism, x, 100_000, 5), mechanism.probabilities(x)) > ALARM


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", CASES)
def test_one_by_one_follows_the_same_law(name: str) -> None:
    """Few values go through plain integers, many through blocks: one law."""
    mechanism = CASES[name](1.5)
    x = float(mechanism.line.from_unit(np.asarray(0.4)))
    source = dt.Seeded(9)
    cells = np.array([int(mechanism.perturb(x, source=source).cells) for _ in range(6_000)])
    assert p_value(cells, mechanism.probabilities(x)) > ALARM


def test_two_threads_and_the_secure_source_follow_the_law() -> None:
    for name in ("Laplace", "BoundedLaplace", "Exponential"):
        mechanism = CASES[name](1.0)
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
    kernel, decay = honest.question.kernel.lattice, honest.question.kernel.lattice.noise.decay
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
        values = [
            Fraction(value)
            for value in mechanism.question.decode(np.arange(mechanism.question.outcomes)).tolist()
        ]
        for x in mechanism.line.from_unit(np.array([0.0, 0.123, 1.0])):
            law = mechanism.probabilities(float(x))
            mean = sum(chance * value for chance, value in zip(law, values, strict=True))
            # The piles at the ends of the clamped range are not symmetric about x.
            low, high = mechanism.support
            allowed = 2e-9 * mechanism.line.length + 2e-10 * (high - low)
            assert abs(mean - Fraction(float(x))) <= Fraction(allowed)


@pytest.mark.parametrize("name", CASES)
def test_no_report_gives_the_input_away(name: str) -> None:
    mechanism = CASES[name](1.0)
    laws = [
        mechanism.probabilities(float(x))
        for x in mechanism.line.from_unit(np.array([0.0, 0.3, 0.300001, 1.0]))
    ]
    assert all(min(law) > 0 for law in laws)
    seen = mechanism.perturb(mechanism.line.from_unit(np.linspace(0, 1, 40_000)), source=dt.Seeded(4)).cells
    assert int(seen.max()) < mechanism.question.outcomes
    assert seen.dtype == np.min_scalar_type(mechanism.question.outcomes - 1)


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
        straight = cut.question.unbiased_reading()  # type: ignore[attr-defined]
        assert np.array_equal(straight.values, plain.question.decode(np.arange(plain.question.outcomes)))
        assert cut.values.max() == 7.0


def test_many_shapes_and_types() -> None:
    for make in CASES.values():
        mechanism = make(1.0)
        grid = mechanism.line.from_unit(np.linspace(0, 1, 60))
        for values in (
            grid[::-3],
            grid.astype(np.float32).clip(*_ends(mechanism)),
            grid.tolist(),
            [],
            1,
        ):
            assert mechanism.perturb(values).cells.shape == np.shape(values)


def _ends(mechanism: Any) -> tuple[np.float32, np.float32]:
    low, high = np.float32(mechanism.line.low), np.float32(mechanism.line.high)
    return low, high
