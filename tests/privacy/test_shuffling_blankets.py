"""Shuffled reports of mechanisms with a blanket: every pair of inputs, and few people, enumerated."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.advice.explain import batch_promise
from dither.core.kernels.sets.projective import Geometry
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal import shuffled_lower_bound
from dither.mechanisms.shuffled import _arrangements, shuffled
from dither.privacy.composition import repeat
from dither.privacy.shuffling import (
    Blanket,
    least_epsilon,
    lower_pair,
    sums_of_bits,
    two_report_failure,
    upper,
)


def codes(size: int) -> dt.Categories:
    return dt.Categories(range(size))


def laws_of(question: Any) -> Floats:
    """Return the probability of every report, a row for each input, without reports that never come."""
    domain = question.domain
    if isinstance(domain, dt.Categories):
        inputs: Any = range(len(domain))
    else:
        inputs = np.linspace(domain.low, domain.high, 7)
    laws = np.array(
        [[float(chance) for chance in question.question.kernel.probabilities(one)] for one in inputs]
    )
    return laws[:, laws.max(axis=0) > 0]


def mixed_law(people: list[Floats]) -> Floats:
    """Return the law of the counts of all reports but the last one's, one axis each."""
    size = people[0].size
    law = np.zeros((len(people) + 1,) * (size - 1))
    law[(0,) * (size - 1)] = 1.0
    for chances in people:
        new = law * chances[-1]
        for axis in range(size - 1):
            new += np.roll(law, 1, axis) * chances[axis]  # the last place is empty until the last person
        law = new
    return law


def exact_delta(laws: Floats, n: int, at: float) -> float:
    """Return the largest δ over all pairs of inputs, and all that the others may hold, or each input."""
    worst = 0.0
    held = itertools.combinations_with_replacement(range(len(laws)), n - 1)
    if math.comb(len(laws) + n - 2, n - 1) > 40:
        held = iter([(one,) * (n - 1) for one in range(len(laws))])
    for others in held:
        rest = mixed_law([laws[one] for one in others] + [np.eye(laws.shape[1])[-1]])
        with_each = [
            rest * law[-1] + sum(np.roll(rest, 1, axis) * law[axis] for axis in range(law.size - 1))
            for law in laws
        ]
        for one, two in itertools.permutations(with_each, 2):
            worst = max(worst, float(np.maximum(one - math.exp(at) * two, 0.0).sum()))
    return worst


FEW = [
    *((dt.KRR(codes(2), epsilon=epsilon), 12) for epsilon in (0.3, 1, 3, 5)),
    *((dt.KRR(codes(3), epsilon=epsilon), n) for epsilon in (0.5, 2, 4) for n in (3, 12)),
    *((dt.KRR(codes(5), epsilon=epsilon), 5) for epsilon in (1, 3)),
    *((dt.SubsetSelection(codes(4), epsilon=epsilon), 5) for epsilon in (0.3, 0.6, 1)),
    (dt.SubsetSelection(codes(4), epsilon=1.3), 4),
    *((dt.HadamardResponse(codes(3), epsilon=epsilon), 9) for epsilon in (0.5, 1, 3)),
    *((dt.OUE(codes(2), epsilon=epsilon), 9) for epsilon in (0.5, 2, 4)),
    (dt.OUE(codes(3), epsilon=1), 3),
    *((dt.ProjectiveResponse(codes(3), epsilon=epsilon), 8) for epsilon in (0.2, 1, 3)),
    *((dt.ProjectiveResponse(codes(7), epsilon=epsilon), 4) for epsilon in (0.5, 1.5)),
    *((dt.SW(dt.Interval(0, 1), epsilon=epsilon, cells=8), 3) for epsilon in (1, 3)),
]


@pytest.mark.parametrize(("question", "n"), FEW, ids=str)
@pytest.mark.some(every=4)
def test_no_bound_is_below_the_exact_failure_of_few_people(question: Any, n: int) -> None:
    laws = laws_of(question)
    bound, listed = question.question.kernel.blanket, Blanket.of_laws(laws, question.question.kernel.ratio)
    assert len(FEW) >= 30
    for at in (0.02, 0.3 * question.epsilon, 0.8 * question.epsilon):
        exact = exact_delta(laws, n, at)
        assert bound.failure(n)(at) >= exact
        assert listed.failure(n)(at) >= exact
        # The bound of one pair is at most that of all, and exact for up to four groups of reports.
        lower = [lower_pair(n, arranged)(at) for arranged in _arrangements(question)]
        assert max(lower) <= exact * (1 + 1e-12) + 1e-15
        assert max(lower) >= 0.3 * exact - 1e-12 or type(question) in (dt.SW, dt.SubsetSelection)


@pytest.mark.parametrize(
    "question",
    [
        dt.KRR(codes(5), epsilon=2),
        dt.SubsetSelection(codes(7), epsilon=0.7),
        dt.HadamardResponse(codes(9), epsilon=1),
        dt.OUE(codes(4), epsilon=1),
        dt.ProjectiveResponse(codes(13), epsilon=1),
        dt.ProjectiveResponse(codes(15), epsilon=0.5),
    ],
    ids=str,
)
def test_every_pair_of_inputs_has_the_law_of_the_blanket(question: Any) -> None:
    """So there is no worse pair: the lemma for sets that meet evenly, enumerated."""
    blanket = question.question.kernel.blanket
    laws = [question.question.kernel.probabilities(code) for code in range(len(question.domain))]
    least = [min(column) for column in zip(*laws, strict=True)]
    in_every_set = {dt.OUE: -1, dt.HadamardResponse: 0}.get(type(question))
    if in_every_set is not None:
        least[in_every_set] /= question.question.kernel.ratio
    expected = Counter[tuple[float, float]]()
    for mass, one, two in zip(blanket.masses, *blanket.ratios, strict=True):
        expected[round(one, 9), round(two, 9)] += mass
    for first, second in itertools.permutations(laws, 2):
        found = Counter[tuple[float, float]]()
        for mass, one, two in zip(least, first, second, strict=True):
            if mass:
                found[round(float(one / mass), 9), round(float(two / mass), 9)] += float(mass)
        assert {pair for pair, mass in found.items() if mass} == {pair for pair, m in expected.items() if m}
        for pair, mass in found.items():
            assert mass == pytest.approx(expected[pair], rel=1e-9)


@pytest.mark.parametrize(("order", "dimension"), [(2, 3), (2, 5), (3, 3), (4, 3), (3, 4), (5, 3), (7, 2)])
def test_any_two_hyperplanes_meet_in_the_same_number_of_points(order: int, dimension: int) -> None:
    geometry = Geometry(order, dimension)
    held = geometry.holds.astype(int)
    meets = {int(held @ np.roll(held, shift)) for shift in range(1, geometry.points)}
    assert meets == {geometry.meeting}


def test_the_grid_is_outward_and_near_for_sets_that_meet() -> None:
    """Against the expectation over all counts of the five values, added up."""
    ratio, share, both, n = math.exp(1.5), 0.3, 0.1, 10
    gamma = 1 / (1 + (ratio - 1) * share)
    rows = [(ratio, ratio, both), (ratio, 1, share - both), (1, ratio, share - both)]
    rows.append((1, 1, 1 - 2 * share + both))
    blanket = Blanket.of_sets(Fraction(ratio), Fraction(share), Fraction(both))
    for at in (0.05, 0.4, 1.0):
        values = [one - math.exp(at) * two for one, two, _ in rows] + [0.0]
        chances = [gamma * part for _, _, part in rows] + [1 - gamma]
        exact = 0.0
        for counts in itertools.product(range(n + 1), repeat=4):
            left = n - sum(counts)
            if left < 0:
                continue
            each = (*counts, left)
            ways = math.factorial(n) / math.prod(math.factorial(count) for count in each)
            chance = ways * math.prod(c**k for c, k in zip(chances, each, strict=True))
            exact += chance * max(0.0, sum(v * k for v, k in zip(values, each, strict=True)))
        assert exact / n <= blanket.failure(n)(at) <= exact / n * 1.001 + 1e-12
        assert exact / n <= blanket.failure(n, 256)(at)


def test_the_bound_over_all_rows_is_that_of_the_worst_pair() -> None:
    """A channel of a symmetric mechanism, compared pair by pair, has the bound of its one kind of pair."""
    question = dt.KRR(codes(6), epsilon=1.5)
    listed = Blanket.of_laws(laws_of(question), question.question.kernel.ratio)
    assert not listed.worst
    for n in (10, 1_000, 10**7):
        for at in (0.001, 0.1, 1.0):
            one, all_pairs = question.question.kernel.blanket.failure(n)(at), listed.failure(n)(at)
            assert one * (1 - 1e-6) <= all_pairs <= one * 1.01 + 1e-12


def test_many_laws_are_compared_by_what_they_share() -> None:
    laws = laws_of(dt.KRR(codes(120), epsilon=2))
    blanket = Blanket.of_laws(laws, dt.KRR(codes(120), epsilon=2).question.kernel.ratio)
    assert blanket.worst
    assert blanket.share == pytest.approx(1 / 120)


def test_two_reports_sent_as_one_are_worst_where_both_differ() -> None:
    one, two = dt.KRR(codes(3), epsilon=1), dt.KRR(codes(4), epsilon=0.5)
    joined = one.question.kernel.blanket.join(two.question.kernel.blanket)
    assert joined is not None
    product = np.array([np.multiply.outer(a, b).reshape(-1) for a in laws_of(one) for b in laws_of(two)])
    listed = Blanket.of_laws(product, one.question.kernel.ratio * two.question.kernel.ratio)
    for at in (0.01, 0.2, 1.0):
        assert joined.failure(500)(at) == pytest.approx(listed.failure(500)(at), rel=0.01)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
@pytest.mark.parametrize("design", [dt.SubsetSelection, dt.ProjectiveResponse])
def test_sets_fall_by_a_third(design: Any, epsilon: float) -> None:
    question = design(codes(100), epsilon=epsilon)
    general = least_epsilon(upper(10**6, math.exp(epsilon)), 1e-6, epsilon)
    assert 1.3 * shuffled(question, n=10**6, delta=1e-6).epsilon <= general


@pytest.mark.slow
def test_places_have_a_bound_of_their_own() -> None:
    line = dt.Places(range(6), distances=np.abs(np.subtract.outer(range(6), range(6))).astype(float))
    listed = dt.Optimal(line, epsilon=2)
    laws = np.array(
        [[float(chance) for chance in listed.question.kernel.probabilities(at)] for at in range(6)]
    )
    for at in (0.1, 0.6, 1.5):
        assert listed.question.kernel.blanket.failure(3)(at) >= exact_delta(laws, 3, at)
    town = dt.Optimal(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=2)
    found = shuffled(town, n=10**5, delta=1e-6)
    assert found.epsilon < 0.95 * shuffled(2.0, n=10**5, delta=1e-6).epsilon
    assert "a person tells one place alone" in found.assumes


@pytest.mark.parametrize("epsilon", [0.3, 1, 3, 5])
def test_two_reports_are_exact_for_few_people(epsilon: float) -> None:
    """Up to 50 people every arrangement has a block of its own: nothing is told, and nothing is lost."""
    question = dt.KRR(codes(2), epsilon=epsilon)
    laws, ratio = laws_of(question), float(question.question.kernel.ratio)
    for n in (2, 3, 12):
        failure = two_report_failure(n, ratio)
        for at in (0.02, 0.3 * epsilon, 0.8 * epsilon):
            exact = exact_delta(laws, n, at)
            assert exact <= failure(at) <= max(exact * (1 + 1e-6), 1e-16)


@pytest.mark.parametrize("ratio", [math.exp(0.5), math.exp(3)])
def test_two_reports_are_never_below_any_arrangement(ratio: float) -> None:
    """All arrangements of 200 people by convolution, against the bound by blocks."""
    n, q = 200, 1.0 / (ratio + 1.0)
    laws = [np.ones(1)]
    for _ in range(n - 1):
        laws.append(np.convolve(laws[-1], [q, 1 - q]))
    mirrored = [law[::-1] for law in laws]
    for at in (0.05, 0.2, 0.6):
        e, worst = math.exp(at), 0.0
        for ones in range(n):
            law = np.convolve(laws[ones], mirrored[n - 1 - ones])
            own, other = np.convolve(law, [q, 1 - q]), np.convolve(law, [1 - q, q])
            worst = max(worst, float(np.maximum(own - e * other, 0.0).sum()))
        assert worst <= two_report_failure(n, ratio)(at)
        # By 50 blocks at most 3 of 199 people are told.
        told = max(bits.failure(at) for bits in sums_of_bits(n, ratio, 50))
        assert worst <= told <= max(worst * 1.6, 1e-16)


def test_two_reports_of_two_days_hold() -> None:
    """The exact curve of three people who answer on two days, all others with the same value."""
    question, n, at = dt.KRR(codes(2), epsilon=2), 3, 1.2
    laws, ratio = laws_of(question), float(question.question.kernel.ratio)
    composed = repeat(two_report_failure(n, ratio), 2, 2.0, 200)
    for others in itertools.product(range(2), repeat=n - 1):
        counts = [mixed_law([laws[one] for one in (own, *others)]) for own in (0, 1)]
        both = [np.outer(count, count) for count in counts]
        assert float(np.maximum(both[0] - math.exp(at) * both[1], 0.0).sum()) <= composed(at)


@pytest.mark.slow
def test_randomized_response_and_duchi_are_within_two_percent_of_the_truth() -> None:
    asked = dt.KRR(codes(2), epsilon=2)
    spent = shuffled(asked, n=10**6, delta=1e-6).epsilon
    assert spent <= 1.02 * shuffled_lower_bound(asked, n=10**6, delta=1e-6)
    assert spent == shuffled(dt.Duchi(dt.Interval(0, 1), epsilon=2), n=10**6, delta=1e-6).epsilon
    general = shuffled(2.0, n=10**6, delta=1e-6, times=30).epsilon
    assert 1.25 * shuffled(asked, n=10**6, delta=1e-6, times=30).epsilon < general


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 10, 100])
@pytest.mark.parametrize(("delta", "many"), [(1e-6, 10**6), (1e-9, 10**9)])
def test_answers_among_several_are_within_two_percent_of_the_truth(
    size: int, delta: float, many: int
) -> None:
    for epsilon, n in itertools.product((0.5, 2, 4, 6), (10**3, many)):
        question = dt.KRR(codes(size), epsilon=epsilon)
        proved = shuffled_lower_bound(question, n=n, delta=delta)
        # At ε = 6 a thousand people have about 25 reports from the blanket; δ = 10⁻⁹ is their far tail.
        slack = 1.03 if (size, epsilon, n, delta) == (10, 6, 10**3, 1e-9) else 1.02
        assert proved <= shuffled(question, n=n, delta=delta).epsilon <= slack * proved


@pytest.mark.parametrize(
    ("question", "slack"),
    [
        (dt.KRR(codes(2), epsilon=4), 1.003),
        (dt.KRR(codes(3), epsilon=6), 1.001),
        (dt.KRR(codes(100), epsilon=6), 1.002),
        (dt.HadamardResponse(codes(10), epsilon=1), 1.01),
        (dt.SubsetSelection(codes(100), epsilon=1), 1.23),
        (dt.SubsetSelection(codes(60), epsilon=6), 1.5),  # sets that its kernel does not list
        (dt.OUE(codes(50), epsilon=1), 1.24),
        (dt.SW(dt.Interval(0, 1), epsilon=1), 1.03),
        (dt.OGPM(dt.Circle(), epsilon=1), 1.24),
        (dt.Optimal(dt.Sphere(), epsilon=1), 1.23),
        (dt.Exponential(dt.Interval(0, 1), epsilon=1, points=[0.0, 0.5, 1.0]), 1.35),
    ],
    ids=str,
)
@pytest.mark.some(every=4)
def test_the_bound_of_one_pair_is_near_that_of_all(question: Any, slack: float) -> None:
    """It would fail if a law were counted wrong on either side: they share only the tails of a binomial."""
    proved, stated = (bound(question, n=1000, delta=1e-6) for bound in (shuffled_lower_bound, shuffled))
    assert proved <= stated.epsilon <= slack * proved


def test_what_has_no_bound_of_one_pair_says_so() -> None:
    for question in (dt.OLH(codes(9), epsilon=1), dt.Each(a=dt.KRR(codes(2), epsilon=1))):
        with pytest.raises(InvalidParameter, match="a lower bound of shuffled reports is known"):
            shuffled_lower_bound(question, n=100, delta=1e-6)
    told = batch_promise({"a": dt.KRR(codes(9), epsilon=1)}, minimum_batch=10_000)
    assert "No analysis can state less than ε = 0.02" in told.officer
    assert "at most 1.01 times the least" in told.officer
