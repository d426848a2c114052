"""Sums, counts, single numbers, the swap model, and whether intervals cover."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither.core.domains import Interval
from dither.errors import InvalidParameter
from dither.estimation.estimate import Estimate
from dither.extensions import central
from dither.extensions.central.integer_noise import DiscreteStaircase
from dither.extensions.central.learned_bounds import LearnedBounds
from dither.extensions.central.pairs import MeanMethodName, PairNoiseName
from dither.foundation.randomness import Seeded
from dither.results import Answer

UNIT = Interval(0, 1)


RELEASES: dict[str, tuple[Callable[[Seeded], Answer], float]] = {
    "sum": (lambda source: central.sum([3, 4, -2], Interval(-5, 2), epsilon=0.5, source=source), 2.0),
    "sum, positive": (lambda source: central.sum([3, 4], Interval(1, 9), epsilon=2, source=source), 7.0),
    "count": (lambda source: central.count([1] * 40, epsilon=1, source=source), 40.0),
    "count of a tally": (
        lambda source: central.count(central.Tally.of([1] * 9, UNIT), epsilon=1, source=source),
        9.0,
    ),
    "staircase": (lambda source: central.staircase(-7, 3, epsilon=1.5, source=source), -7.0),
    "laplace": (lambda source: central.laplace(10, 4, epsilon=1, source=source), 10.0),
    "swap": (lambda source: central.swap_mean([0.4] * 100, UNIT, epsilon=1, source=source), 0.4),
    "mean": (lambda source: central.mean([0.4] * 300, UNIT, epsilon=1, source=source), 0.4),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", RELEASES)
def test_stated_error_is_the_real_one(name: str) -> None:
    release, truth = RELEASES[name]
    source, size = Seeded(31), 2_000
    answers = [release(source) for _ in range(size)]

    def excess(shift: float) -> float:
        """The mean square of the error in units of the stated one, less the one that it should be."""
        return sum(((float(a) - truth) / a.standard_error + shift) ** 2 for a in answers) / size - 1

    tolerance = 4.9 * math.sqrt(6 / size)  # the squares of such noise vary by five or six times their mean
    assert abs(excess(0.0)) < tolerance
    assert abs(excess(0.7)) > tolerance


COVERED: list[tuple[int, float, PairNoiseName, MeanMethodName]] = [
    (1, 1.0, "hourglass", "transformed"),
    (5, 0.2, "hourglass", "transformed"),
    (40, 4.0, "hourglass", "transformed"),
    (40, 1.0, "staircase", "transformed"),
    (40, 1.0, "laplace", "independent"),
    (40, 1.0, "laplace", "shifted"),
]


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("n", "epsilon", "noise", "method"), COVERED)
def test_intervals_cover(n: int, epsilon: float, noise: PairNoiseName, method: MeanMethodName) -> None:
    """At every n, also one: the interval is made of the noise's own law and not of a normal approximation."""
    domain, source, size, level = Interval(-1, 1), Seeded(32), 300, 0.9
    secret = central.Tally.of([-0.7] * n, domain)
    covered = 0
    for _ in range(size):
        answer = central.mean(secret, epsilon=epsilon, noise=noise, method=method, source=source)
        low, high = answer.interval(level)
        assert -1 <= low <= float(answer) <= high <= 1
        covered += low <= -0.7 + 1e-9 and high >= -0.7 - 1e-9
    assert covered / size > level - 4.9 * math.sqrt(level * (1 - level) / size)
    if n == 40 and epsilon == 1:
        assert covered / size < 1  # an interval that always covers says nothing


def test_intervals_of_many_records() -> None:
    """With eight million records the interval is as narrow as the noise: about two standard errors."""
    secret = central.Tally.of(np.full(1000, 0.3), UNIT)
    for _ in range(13):
        secret = secret + secret
    for epsilon, sigmas in ((0.2, 2.1), (1.0, 2.05), (4.0, 2.1)):
        answer = central.mean(secret, epsilon=epsilon, source=Seeded(34))
        low, high = answer.interval()
        assert answer.half_width() == pytest.approx(sigmas * answer.standard_error, rel=0.1)
        assert high - low == pytest.approx(2 * sigmas * answer.standard_error, rel=0.1)
        assert answer.standard_error < 1e-5


@pytest.mark.slow
def test_symmetric_intervals_cover() -> None:
    source, size, level = Seeded(33), 1_500, 0.8
    for release in (
        lambda: central.count([1] * 9, epsilon=0.5, source=source),
        lambda: central.laplace(9, 5, epsilon=1, source=source),
        lambda: central.staircase(9, 5, epsilon=1, source=source),
    ):
        covered = sum(low <= 9 <= high for low, high in (release().interval(level) for _ in range(size)))
        assert abs(covered / size - level) < 0.08  # on the integers a little more than asked for
        assert covered / size > level - 4.9 * math.sqrt(level * (1 - level) / size)


def test_sum_has_the_noise_of_its_sensitivity() -> None:
    """The least variance for one number: σ²·max(|low|, |high|)², and less than the sum of a released pair."""
    for domain in (UNIT, Interval(-2, 2), Interval(18, 100), Interval(-7, 3)):
        answer = central.sum([domain.low] * 5, domain, epsilon=1, source=Seeded(1))
        farthest = max(abs(domain.low), abs(domain.high))
        assert answer.standard_error == pytest.approx(math.sqrt(1.9181035) * farthest, rel=1e-6)
        assert abs(float(answer) - 5 * domain.low) < 20 * farthest
        assert answer.n == 0
        assert "n =" not in repr(answer)
        assert str(answer.guarantee) == "ε ≤ 1 for one record"


def test_sum_of_whole_numbers_is_whole() -> None:
    answer = central.sum(central.Tally.of([3, 4, 5], Interval(0, 10), cells=10), epsilon=1, source=Seeded(2))
    assert float(answer).is_integer()


def test_count() -> None:
    answer = central.count(np.zeros(1000), epsilon=1, source=Seeded(3))
    assert isinstance(answer.value, int)
    assert answer.value == answer.n
    assert answer.standard_error == pytest.approx(math.sqrt(2 * math.exp(-1)) / (1 - math.exp(-1)))
    assert repr(answer) == "1000 ± 3 (95 %, n = 1 000)" or abs(answer.n - 1000) < 20
    assert central.count([None, "x", float("nan")], epsilon=50).value == 3


def test_yes_or_no_data_has_geometric_noise() -> None:
    """One cell: the hourglass is two independent geometric laws, better than any γ on a fine grid."""
    secret = central.Tally.of([True] * 30 + [False] * 70, UNIT, cells=1)
    answer = central.mean(secret, epsilon=4, source=Seeded(4))
    ratio = math.exp(-4)
    sigma = math.sqrt(2 * ratio) / (1 - ratio)
    share = float(answer)
    assert answer.standard_error == pytest.approx(sigma * math.hypot(share, 1 - share) / answer.n)


def test_swap_mean() -> None:
    values = np.linspace(0, 1, 501)
    answer = central.swap_mean(values, UNIT, epsilon=1, source=Seeded(5))
    assert answer.n == 501
    assert answer.standard_error == pytest.approx(math.sqrt(1.9181035) / 501)
    assert abs(float(answer) - 0.5) < 0.05
    assert str(answer.guarantee) == "ε ≤ 1 for one record, assuming that the number of records is public"
    assert answer.swap_guarantee == answer.guarantee
    empty = central.swap_mean([], UNIT, epsilon=1, source=Seeded(6))
    assert empty.n == 0
    assert 0 <= float(empty) <= 1
    with pytest.raises(InvalidParameter, match="public domain"):
        central.swap_mean(values, LearnedBounds(), epsilon=1)  # type: ignore[arg-type]


def test_swapped_record_moves_the_sum_by_at_most_the_sensitivity() -> None:
    for cells in range(1, 7):
        law = DiscreteStaircase(cells, (cells + 1) // 2, Fraction(1))
        for old in range(cells + 1):
            for new in range(cells + 1):
                steps = [abs(law.level(z + new - old)) - abs(law.level(z)) for z in range(-30, 31)]
                assert {abs(step) for step in steps} <= {0, 1}


@pytest.mark.parametrize("value", [0, -5, 10**40, np.int64(7), True])
def test_single_numbers(value: int) -> None:
    for release in (central.staircase, central.laplace):
        answer = release(value, 3, epsilon=50)
        assert abs(int(answer.value) - int(value)) <= 3
        assert isinstance(answer.value, int)


@pytest.mark.parametrize("value", [0.5, "7", None, float("nan"), [1]])
def test_single_numbers_are_integers(value: object) -> None:
    with pytest.raises(InvalidParameter, match="integer") as caught:
        central.staircase(value, 3, epsilon=1)  # type: ignore[arg-type]
    assert "7" not in str(caught.value)


@pytest.mark.parametrize("sensitivity", [0, -1, 1.5, True, None])
def test_sensitivities_are_whole(sensitivity: object) -> None:
    for release in (central.staircase, central.laplace):
        with pytest.raises(InvalidParameter, match="sensitivity"):
            release(7, sensitivity, epsilon=1)  # type: ignore[arg-type]


def test_answers_are_estimates() -> None:
    answer = central.mean([0.5] * 100, UNIT, epsilon=1, source=Seeded(12))
    assert isinstance(answer, Estimate)
    assert np.asarray(answer) == float(answer)
    for level in (0, 1, -1, 2):
        with pytest.raises(InvalidParameter, match="level"):
            answer.interval(level)
    narrow, wide = answer.interval(0.5), answer.interval(0.99)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_public_names_are_sorted_and_there() -> None:
    names = list(central.__all__)
    assert all(hasattr(central, name) for name in names)
    constants = [name for name in names if name.isupper()]
    classes = [name for name in names if name[0].isupper() and not name.isupper()]
    functions = [name for name in names if name[0].islower()]
    assert names == sorted(constants) + sorted(classes) + sorted(functions)


def test_no_error_depends_on_how_large_the_data_are() -> None:
    domain = Interval(0, 1e30)
    for values in ([], [1e30] * 100):
        for seed in range(40):  # one of thirteen sums of nothing lies below the floats
            answer = central.sum(values, domain, epsilon=1, source=Seeded(seed))
            low, high = answer.interval()
            assert low <= float(answer) <= high
            repr(answer)
        repr(central.mean(values, domain, epsilon=1))
        repr(central.swap_mean(values, domain, epsilon=1))
    repr(central.staircase(10**400, 3, epsilon=1))
    assert (
        central.laplace(10**30, 3, epsilon=1).half_width()
        == central.laplace(0, 3, epsilon=1).half_width()
        > 0
    )


def test_two_numbers_by_the_hourglass() -> None:
    pairs = [central.hourglass(300, 500, 100, epsilon=2, source=Seeded(seed)) for seed in range(1500)]
    totals = {(int(first.value) + int(second.value)) % 100 for first, second in pairs}
    assert totals == {0}  # one record moves the sum by exactly 100, and the noise by whole records
    for place, truth in ((0, 300), (1, 500)):
        noise = np.array([float(pair[place].value) - truth for pair in pairs])
        stated = float(pairs[0][place].error)
        assert stated == pytest.approx(DiscreteStaircase.best(100, Fraction(2)).variance ** 0.5 * 100)
        assert noise.std() == pytest.approx(stated, rel=0.1)
        assert abs(noise.mean()) < 5 * stated / len(pairs) ** 0.5
        assert np.mean([pair[place].covers(truth) for pair in pairs]) > 0.93
    assert pairs[0][0].guarantee.epsilon == 2
    narrow = central.hourglass(300, 500, 100, epsilon=2, gamma=0.1, source=Seeded(1))
    assert narrow[0].error > pairs[0][0].error  # the default has the least variance


@pytest.mark.parametrize(
    "arguments",
    [
        {"first": 0.5, "second": 1, "sensitivity": 3, "epsilon": 1},
        {"first": 1, "second": "7", "sensitivity": 3, "epsilon": 1},
        {"first": 1, "second": 1, "sensitivity": 0, "epsilon": 1},
        {"first": 1, "second": 1, "sensitivity": 3, "epsilon": 0},
        {"first": 1, "second": 1, "sensitivity": 3, "epsilon": 1, "gamma": 1.5},
        {"first": 1, "second": 1, "sensitivity": 3, "epsilon": 1, "gamma": float("nan")},
    ],
)
def test_the_hourglass_refuses_what_is_no_integer_or_width(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        central.hourglass(**arguments)
    assert "7" not in str(caught.value)
