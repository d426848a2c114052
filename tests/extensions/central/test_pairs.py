"""The laws of the noise: private by enumeration, drawn as stated, with moments that were computed apart."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest

from dither.core.domains import Interval
from dither.errors import InvalidParameter
from dither.extensions.central.integer_noise import (
    DiscreteLaplace,
    DiscreteStaircase,
    GeometricRatio,
    radius_at,
    squared_error_gamma,
)
from dither.extensions.central.pairs import (
    METHODS,
    HourglassLattice,
    LaplaceLattice,
    MeanMethod,
    Pair,
    StaircaseLattice,
)
from dither.extensions.central.tally import RecordGrid
from dither.foundation.randomness import Seeded, Source
from tests.extensions.central.checks import REFERENCE
from tests.support.chi_square import fits

ONE = Fraction(1)
Exponent = Callable[[int, int], Fraction | None]


def steps(method: MeanMethod, grid: RecordGrid) -> Iterator[tuple[int, int]]:
    """What one record more can do to the two integers: every place on the grid."""
    return (method.query(place, 1, grid) for place in range(grid.cells + 1))


def losses(exponent: Exponent, moves: list[tuple[int, int]], reach: int) -> set[Fraction | None]:
    """By how much each move changes the exponent, over a square of pairs; None where one side cannot be."""
    found: set[Fraction | None] = set()
    for first, second in product(range(-reach, reach + 1), repeat=2):
        before = exponent(first, second)
        for move in moves:
            after = exponent(first + move[0], second + move[1])
            if before is None or after is None:
                if before is not after:
                    found.add(None)
            else:
                found.update((after - before, before - after))  # a record added, and one removed
    return found


@pytest.mark.some("[1-6]")
@pytest.mark.parametrize("cells", range(1, 13))
def test_hourglass_changes_by_exactly_epsilon(cells: int) -> None:
    """[AddRemove23, Thm 2] on the grid: every ratio is e^ε or e^(−ε), for every radius, place and sign."""
    grid = RecordGrid(Interval(0, 1), cells)
    moves = list(steps(METHODS["transformed"], grid))
    for radius in range(1, cells + 1):
        law = HourglassLattice(DiscreteStaircase(cells, radius, ONE))
        found: set[Fraction | None] = set()
        for first, line in product(range(-4 * cells, 4 * cells + 1), range(-5, 6)):
            second = line * cells - first
            before = law.exponent(first, second)
            for move in moves:
                after = law.exponent(first + move[0], second + move[1])
                assert before is not None
                assert after is not None
                found.update((after - before, before - after))
        assert found == {-1, 1}


def ceiled(law: HourglassLattice) -> Exponent:
    """A broken twin: eq. (10) as printed, with a ceiling for x ≥ 0."""

    def exponent(first: int, second: int) -> Fraction | None:
        step, radius = law.staircase.sensitivity, law.staircase.radius
        line, off = divmod(first + second, step)
        centre = -((-first - step + radius) // step) if first >= 0 else law.staircase.level(first)
        return None if off else Fraction(abs(law.staircase.level(first)) + abs(line - centre))

    return exponent


def test_the_printed_ceiling_loses_twice_as_much() -> None:
    law = HourglassLattice(DiscreteStaircase(5, 2, ONE))
    moves = list(steps(METHODS["transformed"], RecordGrid(Interval(0, 1), 5)))
    assert losses(law.exponent, moves, 20) == {-1, 1}
    found = losses(ceiled(law), moves, 20)
    assert None not in found
    assert max(loss for loss in found if loss is not None) >= 2


@pytest.mark.some(every=3)
@pytest.mark.parametrize("method", list(METHODS.values()))
@pytest.mark.parametrize("domain", [Interval(0, 1), Interval(-1, 2), Interval(2, 3)])
@pytest.mark.parametrize("cells", [1, 3])
def test_pairs_lose_at_most_epsilon(method: MeanMethod, domain: Interval, cells: int) -> None:
    grid = RecordGrid(domain, cells)
    sensitivity = method.sensitivity(grid)
    moves = list(steps(method, grid))
    assert max(abs(first) + abs(second) for first, second in moves) == sensitivity
    laws: list[Pair] = [LaplaceLattice(sensitivity, ONE)]
    laws += [
        StaircaseLattice(sensitivity, radius, ONE) for radius in {1, (sensitivity + 1) // 2, sensitivity}
    ]
    for law in laws:
        found = losses(law.exponent, moves, 3 * sensitivity // 2)
        assert None not in found
        assert max(abs(loss) for loss in found if loss is not None) == 1


@pytest.mark.parametrize("sensitivity", [1, 2, 5, 12])
def test_one_number_loses_at_most_epsilon(sensitivity: int) -> None:
    for radius, move in product(range(1, sensitivity + 1), range(-sensitivity, sensitivity + 1)):
        law = DiscreteStaircase(sensitivity, radius, ONE)
        for noise in range(-5 * sensitivity, 5 * sensitivity + 1):
            assert abs(abs(law.level(noise + move)) - abs(law.level(noise))) <= 1


def test_hourglass_exponents_are_those_of_the_density() -> None:
    """The literal density (7) at single points, by a program that knew nothing of this one."""
    for gamma, x, line, expected in REFERENCE["exponents"]:
        law = HourglassLattice(DiscreteStaircase(100, round(100 * gamma), ONE))
        first = round(100 * x)
        assert law.exponent(first, 100 * line - first) == expected


def test_printed_normaliser_is_not_one() -> None:
    """The 2-D constant as printed has mass 1.41 at ε = 1; the lattice's, by counting points, has mass 1."""
    for row in REFERENCE["laws"]:
        if not 0.05 < row["epsilon"] < 5:
            continue
        cells = 200
        law = StaircaseLattice(cells, radius_at(row["gamma_2d"], cells), Fraction(row["epsilon"]))
        mass = sum(
            (1 if ring == 0 else 4 * ring) * math.exp(-row["epsilon"] * float(law.exponent(ring, 0)))
            for ring in range(int(60 * cells / row["epsilon"]))
        )
        assert mass / cells**2 == pytest.approx(1 / row["a_2d"], rel=0.02)
        assert mass / cells**2 != pytest.approx(1 / row["a_2d_printed"], rel=0.02)


def masses(law: Pair, reach: int) -> dict[tuple[int, int], float]:
    epsilon = float(law.staircase.epsilon if isinstance(law, HourglassLattice) else law.epsilon)  # type: ignore[attr-defined]
    return {
        pair: math.exp(-epsilon * float(exponent))
        for pair in product(range(-reach, reach + 1), repeat=2)
        if (exponent := law.exponent(*pair)) is not None
    }


LAWS: list[Pair] = [
    LaplaceLattice(2, Fraction(1.5)),
    StaircaseLattice(3, 2, Fraction(1.2)),
    StaircaseLattice(3, 1, Fraction(3.5)),
    StaircaseLattice(1, 1, Fraction(1)),
    HourglassLattice(DiscreteStaircase(3, 2, Fraction(1.2))),
    HourglassLattice(DiscreteStaircase(4, 1, Fraction(2.5))),
    HourglassLattice(DiscreteStaircase(5, 5, Fraction(1))),
    HourglassLattice(DiscreteStaircase(1, 1, Fraction(0.7))),
]


@pytest.mark.some(every=4)
@pytest.mark.parametrize("law", LAWS)
def test_pairs_are_drawn_as_stated(law: Pair) -> None:
    source = Seeded(11)
    assert fits([law.draw(source) for _ in range(15_000)], masses(law, 60))


def draw_with_ceiling(law: HourglassLattice, source: Source) -> tuple[int, int]:
    staircase = law.staircase
    first = staircase.draw(source)
    centre = staircase.level(first) + (first >= 0)  # ⌈x + 1 − γ⌉ in place of ⌊x + 1 − γ⌋
    return first, (centre + staircase.ratio.two_sided(source)) * staircase.sensitivity - first


def draw_uncoined(law: HourglassLattice, source: Source) -> tuple[int, int]:
    """A broken twin: 2^(−m) in place of e^(−ε), the coins forgotten."""
    staircase, ratio = law.staircase, law.staircase.ratio
    inner = (2 * staircase.radius - 1) << ratio.halvings
    place = source.below(inner + 2 * staircase.sensitivity)
    if place < inner:
        first = (place >> ratio.halvings) - (staircase.radius - 1)
    else:
        side, within = divmod(place - inner, staircase.sensitivity)
        first = staircase.radius + staircase.sensitivity * ratio.geometric(source) + within
        first = -first if side else first
    line = staircase.level(first) + ratio.two_sided(source)
    return first, line * staircase.sensitivity - first


@pytest.mark.some(every=2)
@pytest.mark.parametrize("twin", [draw_with_ceiling, draw_uncoined])
def test_broken_hourglasses_are_rejected(
    twin: Callable[[HourglassLattice, Source], tuple[int, int]],
) -> None:
    law = HourglassLattice(DiscreteStaircase(3, 2, Fraction(1.2)))
    source = Seeded(12)
    assert not fits([twin(law, source) for _ in range(15_000)], masses(law, 60))


@pytest.mark.slow
def test_wrong_ring_weight_is_rejected() -> None:
    """The misprint in the 2-D constant, as a sampler would have it: one term without its factor of two."""
    law = StaircaseLattice(3, 2, Fraction(1.2))
    source = Seeded(13)
    draws = [
        pair
        for pair in (law.draw(source) for _ in range(20_000))
        if law.exponent(*pair) != 2 or source.bits(1)
    ]
    assert not fits(draws, masses(law, 60))


def test_second_number_averages_to_zero() -> None:
    """E[Z₂] = 0; the ceiling moves it by half a sensitivity, which no mean squared error reveals."""
    law = HourglassLattice(DiscreteStaircase.best(1 << 20, ONE))
    source, size = Seeded(14), 6_000
    error = 4.9 * math.sqrt(law.moments[0] / size)
    right = sum(law.draw(source)[1] for _ in range(size)) / (size << 20)
    wrong = sum(draw_with_ceiling(law, source)[1] for _ in range(size)) / (size << 20)
    assert abs(right) < error
    assert abs(wrong) > error


@pytest.mark.parametrize("row", REFERENCE["laws"], ids=lambda row: f"{row['epsilon']:g}")
def test_moments_at_the_best_gamma(row: dict[str, float]) -> None:
    epsilon = Fraction(row["epsilon"])
    assert squared_error_gamma(row["epsilon"]) == pytest.approx(row["gamma"], rel=1e-12)
    law = HourglassLattice(DiscreteStaircase.best(1 << 32, epsilon))
    grain = 2.0**-32 / row["gamma"]  # one cell of the grid, as a share of γ: 0.5 % at ε = 50
    variance, covariance = law.moments
    assert variance == pytest.approx(row["variance"], rel=1e-10 + 2 * grain**2)  # γ is a minimum
    assert law.line_variance == pytest.approx(row["count_variance"], rel=1e-10 + 2 * grain)
    assert covariance == pytest.approx(0.0, abs=(1e-10 + 2 * grain) * variance)
    assert StaircaseLattice.best(1 << 32, epsilon).moments[0] == pytest.approx(row["variance_2d"], rel=1e-6)
    assert DiscreteLaplace(1 << 32, epsilon).variance == pytest.approx(2 / row["epsilon"] ** 2, rel=1e-12)


@pytest.mark.parametrize("row", REFERENCE["gammas"], ids=lambda row: f"{row['epsilon']:g}-{row['gamma']:g}")
def test_moments_at_other_gammas(row: dict[str, float]) -> None:
    cells, epsilon = 1 << 32, Fraction(row["epsilon"])
    radius = radius_at(row["gamma"], cells)
    law = HourglassLattice(DiscreteStaircase(cells, radius, epsilon))
    assert law.moments == pytest.approx((row["variance"], row["covariance"]), rel=1e-6)
    assert law.line_variance == pytest.approx(row["count_variance"], rel=1e-6)
    flat = StaircaseLattice(cells, radius, epsilon)
    assert flat.moments[0] == pytest.approx(row["variance_2d"], rel=1e-6)


@pytest.mark.parametrize("row", REFERENCE["grids"], ids=str)
def test_best_radius_on_a_grid(row: tuple[float, int, int, float]) -> None:
    epsilon, cells, radius, variance = row
    law = DiscreteStaircase.best(cells, Fraction(epsilon))
    assert law.radius == radius
    assert law.variance == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_best_radius_of_rings_is_the_best_of_all(epsilon: float) -> None:
    for cells in (1, 2, 7, 40):
        laws = [StaircaseLattice(cells, radius, Fraction(epsilon)) for radius in range(1, cells + 1)]
        assert StaircaseLattice.best(cells, Fraction(epsilon)) == min(laws, key=lambda law: law.moments[0])


@pytest.mark.some(every=3)
@pytest.mark.parametrize("law", LAWS)
def test_moments_by_counting(law: Pair) -> None:
    table = masses(law, 120 if isinstance(law, HourglassLattice) else 90)
    total = math.fsum(table.values())
    sensitivity = law.staircase.sensitivity if isinstance(law, HourglassLattice) else law.sensitivity  # type: ignore[attr-defined]
    scale = total * sensitivity**2
    variance = math.fsum(mass * first * first for (first, _), mass in table.items()) / scale
    covariance = math.fsum(mass * first * second for (first, second), mass in table.items()) / scale
    assert law.moments == (pytest.approx(variance, rel=1e-6), pytest.approx(covariance, abs=1e-6 * variance))


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_law_of_the_count(epsilon: float) -> None:
    """P(N = k) of the sum of both numbers, in the continuous limit."""
    [row] = [row for row in REFERENCE["laws"] if row["epsilon"] == epsilon]
    tail = 1 - row["count"][0] - 2 * math.fsum(row["count"][1:])
    expected: dict[object, float] = {0: row["count"][0], "beyond": tail}
    expected |= {sign * k: row["count"][k] for k in range(1, 6) for sign in (1, -1)}
    law, source = HourglassLattice(DiscreteStaircase.best(1 << 32, Fraction(epsilon))), Seeded(15)
    lines = [sum(law.draw(source)) >> 32 for _ in range(8_000)]
    assert fits([line if abs(line) <= 5 else "beyond" for line in lines], expected)
    assert not fits([line + 1 if -1 <= line + 1 <= 5 else "beyond" for line in lines], expected)


@pytest.mark.parametrize(
    "law", [DiscreteStaircase(3, 2, Fraction(0.8)), DiscreteStaircase(1, 1, ONE), DiscreteLaplace(4, ONE)]
)
def test_tail_of_one_number(law: DiscreteStaircase | DiscreteLaplace) -> None:
    def mass(noise: int) -> float:
        step = abs(law.level(noise)) if isinstance(law, DiscreteStaircase) else abs(noise) / law.sensitivity
        return math.exp(-float(law.epsilon) * step)

    total = math.fsum(map(mass, range(-200, 201)))
    for size in range(12):
        beyond = math.fsum(mass(noise) for noise in range(-200, 201) if abs(noise) >= size)
        assert law.tail(size) == pytest.approx(beyond / total, rel=1e-9)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("noise", ["laplace", "rings", "hourglass"])
def test_tail_of_a_pair(epsilon: float, noise: str) -> None:
    cells, exact = 1 << 20, Fraction(epsilon)
    law: Pair = {
        "laplace": LaplaceLattice(cells, exact),
        "rings": StaircaseLattice.best(cells, exact),
        "hourglass": HourglassLattice(DiscreteStaircase.best(cells, exact)),
    }[noise]
    source, size = Seeded(16), 4_000
    pairs = [law.draw(source) for _ in range(size)]
    for weights in ((1.0, 0.0), (0.7, -0.3), (0.5, -0.5), (1.0, 0.4)):
        for sigmas in (0.5, 1.0, 2.0, 3.0):
            bar = sigmas * law.deviation(weights)
            seen = sum(abs(weights[0] * x + weights[1] * y) > bar * cells for x, y in pairs) / size
            expected = law.tail(weights, bar)
            assert abs(seen - expected) < 5.5 * math.sqrt(expected * (1 - expected) / size) + 2 / size
    assert law.tail((0.7, -0.3), 0.0) == pytest.approx(1.0)


def test_radii_are_checked() -> None:
    for kind in (DiscreteStaircase, StaircaseLattice):
        for radius in (0, 4):
            with pytest.raises(InvalidParameter):
                kind(3, radius, ONE)
    assert GeometricRatio(ONE).halvings == 1
