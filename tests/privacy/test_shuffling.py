"""Shuffled reports: the bounds against exact enumeration, reference values, and broken twins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.privacy.composition import repeat
from dither.privacy.shuffling import least_epsilon, lower_pair, proven_epsilon, upper

# ε at δ = 1e-6 and 1e-8, computed independently with 15 digits and finer nodes.
GENERAL = [
    (1e3, 0.5, 0.0626866, 0.0810666),
    (1e3, 4.0, 1.85291, 2.84971),
    (1e4, 1.0, 0.0432062, 0.0564473),
    (1e6, 2.0, 0.00951723, 0.0130369),
    (1e8, 6.0, 0.00855600, 0.0117661),
    (1e10, 2.0, 4.55587e-5, 9.51304e-5),
]
RESPONSE_10 = [(1e3, 2.0, 0.272766), (1e4, 1.0, 0.0232548), (1e6, 2.0, 0.00659808)]


def blanket_delta(epsilon: float, n: int, ratio: float, share: float) -> float:
    """Return E[(ΣL)₊]/n for the extreme law of L, by adding over all counts."""
    e, gamma = math.exp(epsilon), 1 / (1 + (ratio - 1) * share)
    values = np.array([ratio - e, 1 - e * ratio, 1 - e, 0.0])
    chances = (gamma * share, gamma * share, gamma * (1 - 2 * share), 1 - gamma)
    total = 0.0
    # Three of the four counts are free: the first is added by hand for speed.
    for b in range(n + 1):
        for c in range(n + 1 - b):
            left = n - b - c
            a = np.arange(left + 1)
            log = math.lgamma(n + 1) - math.lgamma(b + 1) - math.lgamma(c + 1)
            log = log - np.array([math.lgamma(x + 1) + math.lgamma(left - x + 1) for x in range(left + 1)])
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = [
                    np.where(k > 0, k * np.log(p) if p else -np.inf, 0.0)
                    for k, p in (
                        (a, chances[0]),
                        (np.array(b), chances[1]),
                        (np.array(c), chances[2]),
                        (left - a, chances[3]),
                    )
                ]
            sums = a * values[0] + b * values[1] + c * values[2]
            total += float((np.exp(log + sum(terms)) * np.maximum(sums, 0)).sum())
    return total / n


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("n", "epsilon", "at_6", "at_8"), GENERAL)
def test_the_general_bound_meets_the_reference(n: float, epsilon: float, at_6: float, at_8: float) -> None:
    for delta, expected in ((1e-6, at_6), (1e-8, at_8)):
        spent = least_epsilon(upper(int(n), math.exp(epsilon)), delta, epsilon)
        assert expected * (1 - 2e-5) <= spent <= expected * (1 + 3e-4)


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("n", "epsilon", "expected"), RESPONSE_10)
def test_response_among_ten_meets_the_reference_from_both_sides(
    n: float, epsilon: float, expected: float
) -> None:
    ratio = math.exp(epsilon)
    spent = least_epsilon(upper(int(n), ratio, 0.1), 1e-6, epsilon)
    laws = (np.ones((3, 10)) + (ratio - 1.0) * np.eye(3, 10)) / (ratio + 9.0)
    proved = proven_epsilon(lower_pair(int(n), laws), 1e-6, epsilon)
    assert expected * (1 - 1e-4) <= spent <= expected * (1 + 1.5e-3)
    assert expected * (1 - 5e-3) <= proved <= spent


@pytest.mark.slow
def test_what_was_asked_for() -> None:
    assert 0.0432062 <= dt.shuffled(1.0, n=10_000, delta=1e-6).epsilon <= 0.04322
    assert dt.shuffled(2.0, n=10**6, delta=1e-6).epsilon <= 0.009520
    ten = dt.KRR(dt.Categories(range(10)), epsilon=2)
    assert 0.006596 <= dt.shuffled(ten, n=10**6, delta=1e-6).epsilon <= 0.00661
    assert dt.shuffled(dt.PM(dt.Interval(0, 1), epsilon=2), n=10**6, delta=1e-6).epsilon <= 0.00861
    assert dt.shuffled(2.0, n=10**6, delta=1e-6, times=365).epsilon <= 0.2290


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    ("n", "epsilon", "share"), [(12, 2.0, 0.1), (20, 1.0, 0.27), (25, 4.0, 0.12), (20, 2.0, 0.5)]
)
def test_a_bound_is_never_below_enumeration(n: int, epsilon: float, share: float) -> None:
    ratio = math.exp(epsilon)
    bound = upper(n, ratio, share)
    for at in (0.02, 0.2, 0.6 * epsilon):
        exact = blanket_delta(at, n, ratio, share)
        assert exact <= bound(at) <= 1.25 * exact + 1e-9
        assert not exact <= upper(n, 0.97 * ratio, share)(at)  # a ratio that is too small is noticed


def test_two_reference_values_at_two_hundred() -> None:
    assert 0.00198058113862 <= upper(200, math.exp(2), 0.1)(0.3) <= 0.0020
    assert 0.102050797815 <= upper(200, math.exp(4), 1 / (1 + math.exp(2)))(0.6) <= 0.10206


@pytest.mark.some(every=4)
@pytest.mark.parametrize("seed", range(12))
def test_no_mechanism_of_a_few_reports_breaks_the_general_bound(seed: int) -> None:
    """Random pure mechanisms, exact multiset laws, every neighbouring pair and every choice of the others."""
    random = np.random.default_rng(seed)
    n, outcomes, epsilon = 4, 3, float(random.uniform(0.3, 3))
    base = random.dirichlet(np.ones(outcomes))
    laws = []
    for _ in range(3):
        raw = base * np.where(
            random.random(outcomes) < 0.5, 1.0, math.exp(epsilon / 2)
        )  # within e^ε once normalised
        laws.append(raw / raw.sum())
    ratio = max(float((one / other).max()) for one in laws for other in laws)
    bound = upper(n, ratio)
    for others in itertools.combinations_with_replacement(laws, n - 1):
        counts: list[dict[tuple[int, ...], float]] = []
        for first in laws[:2]:
            law: dict[tuple[int, ...], float] = {}
            for told in itertools.product(range(outcomes), repeat=n):
                chance = first[told[0]] * math.prod(o[t] for o, t in zip(others, told[1:], strict=True))
                key = tuple(np.bincount(told, minlength=outcomes))
                law[key] = law.get(key, 0.0) + float(chance)
            counts.append(law)
        for at in (0.0, 0.1, 0.3 * math.log(ratio)):
            lost = sum(max(p - math.exp(at) * counts[1][key], 0.0) for key, p in counts[0].items())
            assert lost <= bound(at) + 1e-12


def test_composition_is_exact_for_randomized_response() -> None:
    """The curve of RR has its losses on two points of the grid; k of 6 answers tell the truth."""
    epsilon, times = 0.8, 6
    ratio = math.exp(epsilon)
    composed = repeat(lambda at: max(0.0, (ratio - math.exp(at)) / (ratio + 1)), times, epsilon, 16)
    for at in (0.0, 0.5, 1.7, 3.3, 4.7):
        exact = sum(
            math.comb(times, k)
            * max(0.0, ratio**k - math.exp(at) * ratio ** (times - k))
            / (ratio + 1) ** times
            for k in range(times + 1)
        )
        assert exact - 1e-14 <= composed(at) <= exact + 1e-9


@pytest.mark.parametrize("times", [2, 3])
def test_composed_bound_holds_for_two_people(times: int) -> None:
    """Two people, RR, the other one known: the exact law of a day, to the power of the days."""
    epsilon, p = 1.5, 1 / (1 + math.exp(-1.5))
    yes = [(1 - p) * p, p * p + (1 - p) ** 2, p * (1 - p)]  # ones among two reports; the other says no
    no = [p * p, 2 * p * (1 - p), (1 - p) ** 2]
    composed = repeat(upper(2, math.exp(epsilon)), times, epsilon, 96)
    for at in (0.2, 0.9, 2.0):
        for first, second in ((yes, no), (no, yes)):
            lost = sum(
                max(
                    math.prod(first[d] for d in days) - math.exp(at) * math.prod(second[d] for d in days), 0.0
                )
                for days in itertools.product(range(3), repeat=times)
            )
            assert lost <= composed(at)


@pytest.mark.slow
def test_lower_bounds_stay_below() -> None:
    for epsilon, size, n in ((0.5, 2, 10_000), (2.0, 3, 100), (5.0, 10, 1_000)):
        question = dt.KRR(dt.Categories(range(size)), epsilon=epsilon)
        proved = dt.optimal.shuffled_lower_bound(question, n=n, delta=1e-6)
        assert 0 < proved <= dt.shuffled(question, n=n, delta=1e-6).epsilon
    assert dt.optimal.shuffled_lower_bound(
        dt.KRR(dt.Categories(["a", "b"]), epsilon=2), n=10**6, delta=1e-6
    ) == pytest.approx(0.00699972, rel=2e-5)


def test_the_guarantee_says_what_it_assumes() -> None:
    once = dt.shuffled(dt.SW(dt.Interval(0, 1), epsilon=1), n=1000, delta=1e-6)
    assert once.unit == "person"
    assert once.delta == 1e-6
    assert any("1000 people" in line for line in once.assumes)
    assert any("mixes" in line for line in once.assumes)
    year = dt.shuffled(1.0, n=1000, delta=1e-6, times=7)
    assert any("different days" in line for line in year.assumes)
    assert year.epsilon > once.epsilon


@pytest.mark.slow
def test_windows_hashing_and_answers_among_many_are_hidden_better() -> None:
    general = dt.shuffled(2.0, n=1_000, delta=1e-6).epsilon
    many = dt.Categories(range(50))
    for question in (
        dt.SW(dt.Interval(0, 1), epsilon=2),
        dt.OGPM(dt.Circle(), epsilon=2),
        dt.KRR(many, epsilon=2),
        dt.OLH(many, epsilon=2),
        dt.OUE(many, epsilon=2),
    ):
        assert dt.shuffled(question, n=1_000, delta=1e-6).epsilon < 0.98 * general
    question = dt.Laplace(dt.Interval(0, 1), epsilon=2)
    assert dt.shuffled(question, n=1_000, delta=1e-6).epsilon == pytest.approx(general, rel=1e-3)


@pytest.mark.slow
def test_more_people_hide_better_and_more_days_tell_more() -> None:
    spent = [dt.shuffled(1.0, n=n, delta=1e-6).epsilon for n in (2, 100, 10**4, 10**7, 10**10)]
    assert spent == sorted(spent, reverse=True)
    assert spent[0] <= 1.0
    days = [dt.shuffled(1.0, n=10**4, delta=1e-6, times=t).epsilon for t in (1, 7, 30, 365)]
    assert days == sorted(days)
    assert dt.shuffled(45.0, n=100, delta=1e-6).epsilon == 45.0


@pytest.mark.parametrize(
    ("question", "given", "words"),
    [
        (1.0, {"n": 1, "delta": 1e-6}, "n must be an integer from 2"),
        (1.0, {"n": 10**11, "delta": 1e-6}, "10000000000"),
        (1.0, {"n": 10.0, "delta": 1e-6}, "integer"),
        (1.0, {"n": 10, "delta": 0.0}, "delta must be at least 1e-12"),
        (1.0, {"n": 10, "delta": None}, "delta must be at least 1e-12"),
        (1.0, {"n": 10, "delta": 0.1, "times": 0}, "times"),
        (dt.Gaussian(dt.Interval(0, 1), epsilon=1, delta=1e-6), {"n": 10, "delta": 0.1}, "a pure guarantee"),
        (
            dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1),
            {"n": 10, "delta": 0.1},
            "one location",
        ),
        (dt.JRR(dt.Categories(["a", "b"]), p=0.7, rho=-0.2, n=4), {"n": 10, "delta": 0.1}, "."),
    ],
)
def test_what_cannot_be_shuffled_is_refused(question: object, given: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.shuffled(question, **given)  # type: ignore[arg-type]


def test_memoised_reports_do_not_compose() -> None:
    kept = dt.Memoised(dt.SW(dt.Interval(0, 1), epsilon=1), bytes(32), name="steps")
    assert dt.shuffled(kept, n=1000, delta=1e-6).epsilon < 1
    with pytest.raises(InvalidParameter, match="memoised"):
        dt.shuffled(kept, n=1000, delta=1e-6, times=2)
